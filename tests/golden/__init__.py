"""Golden files: what earlier releases wrote, and must be read for ever. Only ever added to, never changed."""
