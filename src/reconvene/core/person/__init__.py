"""What a person meets and does: checkpoints, options, answers, remarks, decisions.

Each function takes the transaction under way and adds events to it. Only a person decides.
"""
