"""The history of workspaces as plain git: `GitHistory` implements ports.History."""

from reconvene.adapters.git.history import GitHistory

__all__ = ["GitHistory"]
