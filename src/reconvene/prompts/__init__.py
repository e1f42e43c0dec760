"""What an agent is told: its documents, role, task, what the person said, and the form of its answer.

Reads a state and writes nothing. Pure like the core: no files, no clock, no chance, no workflow's names.
"""
