"""How a run goes on: a command is handled, what follows from it is worked out, and what is left to do is named."""
