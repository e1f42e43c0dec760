"""The JavaScript behind `core.expressions`: reading a source, and running it in a sealed engine."""
