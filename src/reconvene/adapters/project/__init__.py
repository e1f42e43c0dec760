"""The person's project: worktrees for agents, and a look at what is there."""

from reconvene.adapters.project.projects import GitProjects

__all__ = ["GitProjects"]
