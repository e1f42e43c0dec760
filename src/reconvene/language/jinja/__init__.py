"""The Jinja behind `core.templates`: a sealed environment and its filters."""
