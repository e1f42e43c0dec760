"""What a run does without a person: steps and their outputs, gates, limits, moves, kept documents, child runs.

Each function takes the transaction under way and adds events to it.
"""
