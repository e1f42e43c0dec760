"""Who may do what to a run, where people are set up: the role that each command takes."""

from __future__ import annotations

from reconvene.core.facts import commands as c
from reconvene.core.facts.actors import UNKNOWN, Actor, Role
from reconvene.errors import Forbidden

# What is not here, agents and the engine do.
_TAKES: dict[type, tuple[Role, str]] = {
    c.StartRun: ("decider", "to start a run"),
    c.AnswerCheckpoint: ("decider", "to decide"),
    c.AddRemark: ("reviewer", "to remark"),
    c.ReadRemark: ("reviewer", "to change how a remark is read"),
    c.WithdrawRemark: ("reviewer", "to withdraw a remark"),
    c.SettleRemark: ("reviewer", "to call a remark answered"),
    c.SaveDraft: ("reviewer", "to answer a question"),
    c.RecordEdits: ("reviewer", "to change files of a run"),
    c.DisallowTool: ("decider", "to say which calls are asked about"),
    c.MoveInQueue: ("decider", "to change the queue"),
    c.DropQueued: ("decider", "to change the queue"),
    c.Pause: ("decider", "to pause a run"),
    c.Resume: ("decider", "to go on with a run"),
    c.SetLimits: ("decider", "to set what a run may cost and which tools ask"),
    c.BindAgents: ("decider", "to say who carries agents out"),
    c.Upgrade: ("decider", "to change the workflow of a run"),
    c.Reopen: ("decider", "to reopen a run"),
    c.Abort: ("decider", "to end a run"),
    c.Rollback: ("decider", "to roll a round back"),
    c.Replan: ("decider", "to have a run planned anew"),
    c.Assign: ("decider", "to hand a checkpoint over"),
    c.PruneArchives: ("decider", "to remove files of undone rounds"),
}


def require(actor: Actor, command: c.Command) -> None:
    """Forbidden where this person may not give this command to any run."""
    leaves = isinstance(command, c.Pause) and command.left  # a process that has to go, and nobody in person
    if actor.role and not leaves and (takes := _TAKES.get(type(command))) is not None:
        require_role(actor, *takes)


def require_role(actor: Actor, role: Role, what: str) -> None:
    """`what`: "to decide"."""
    if actor.may(role):
        return
    if actor.role == UNKNOWN:
        raise Forbidden(
            f"{actor.user} is none of the people of this home, and {what} takes the role {role}. Nothing was done.",
            hint=f"An admin can add you: reconvene people add NAME --role {role} --account {actor.user}",
        )
    raise Forbidden(
        f"{actor.user} has the role {actor.role} here, and {what} takes the role {role}. Nothing was done.",
        hint=f"An admin can change that: reconvene people change {actor.user} --role {role}",
    )
