"""What a workflow says, already valid: phases, steps, agents, checkpoints, options, fields.

Made by `reconvene.wire` and pinned with every run. Nothing here knows what has happened in a run.
"""
