"""The cockpit in a real browser."""
