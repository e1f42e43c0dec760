"""The review companion: the tools with which it looks at one run, and which of them it has when."""
