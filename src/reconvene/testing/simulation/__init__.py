"""The engine in a simulated world: its real code over a simulated disk, clock, processes, agents and people, with
faults that are drawn from a seed. The same seed always gives the same history.

    python -m reconvene.testing.simulation 4711          replay one seed, with all that happened
    python -m reconvene.testing.simulation --seeds 200   try the seeds from 0 to 199
"""

from reconvene.testing.simulation.one_seed import Outcome, simulate

__all__ = ["Outcome", "simulate"]
