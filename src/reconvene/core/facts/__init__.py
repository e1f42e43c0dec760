"""What has happened in a run, and what that adds up to: commands ask, events state, `evolve` folds them into a state.

Nothing here decides anything: whatever had to be worked out is inside the event.
"""
