"""Text to Document: YAML 1.2 with the position of every node, `extends`, limits. Knows no domain."""
