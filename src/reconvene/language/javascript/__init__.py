"""The JavaScript behind `language.expressions`: reading a source, and running it in a sealed engine."""
