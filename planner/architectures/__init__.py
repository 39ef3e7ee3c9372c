"""Reading a published configuration (config.json, GGUF header) into a Model. One module a family, in `families`."""
