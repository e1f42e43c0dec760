"""The Jinja behind `language.templates`: a sealed environment and its filters."""
