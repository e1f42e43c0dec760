"""Words and numbers in prose, behind `core.figures` and `core.routing`."""
