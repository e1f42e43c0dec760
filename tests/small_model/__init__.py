"""A real model, small enough for any machine, plays each packaged workflow to an end. `make real-model` runs it.

It proves the way of an answer, not its worth: what the model writes is nonsense, often cut short, empty or without end,
and each such answer must have a clear outcome. It takes long, so `make test` leaves it out; what needs no model is
tested there (`test_small_model.py`).
"""
