"""What an agent, a person, an expression or a template is shown of a run.

Reads a state and writes nothing: the same state always shows the same.
"""
