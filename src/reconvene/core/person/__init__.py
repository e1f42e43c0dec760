"""What a person meets and does: checkpoints, options, answers, remarks, decisions.

Each function takes the turn that is being handled and adds events to it. Only a person decides.
"""
