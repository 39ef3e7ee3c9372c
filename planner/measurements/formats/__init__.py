"""One module a format of measurements."""
