"""The arithmetic of inference: pure functions on SI floats (or numpy arrays of them)."""
