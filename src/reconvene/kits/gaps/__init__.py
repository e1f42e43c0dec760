"""Gaps of a specification: their identity, lifecycle, convergence and conflicts. Pure; the state is one JSON value."""
