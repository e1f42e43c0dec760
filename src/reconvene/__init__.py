"""Reconvene: a human-in-the-loop engine for teams of agents. The public door of the library: re-exports only.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.for_programs import checkpoint, decide, inbox, show, subscribe, subscribe_async
    from reconvene.app.views.read_model import Checkpoint, Event, Run, RunInFull
    from reconvene.core.definition.workflow import Workflow
    from reconvene.core.facts.commands import (
        Abort,
        AddRemark,
        AnswerCheckpoint,
        Pause,
        RemarkIn,
        Resume,
        Rollback,
        SaveDraft,
    )
    from reconvene.core.facts.events import Lines
    from reconvene.core.facts.state import RunState
    from reconvene.errors import (
        AgentError,
        Bug,
        ReconveneError,
        Refused,
        StaleDecision,
        StoreError,
        UserError,
        WorkflowError,
    )
    from reconvene.wire.workflow_file import load_workflow, parse_workflow
    from reconvene.wiring import open_engine

_HOMES = {
    "Engine": "app.engine",
    **dict.fromkeys(("checkpoint", "decide", "inbox", "show", "subscribe", "subscribe_async"), "app.for_programs"),
    **dict.fromkeys(("Checkpoint", "Event", "Run", "RunInFull"), "app.views.read_model"),
    "Lines": "core.facts.events",
    "RunState": "core.facts.state",
    "Workflow": "core.definition.workflow",
    "load_workflow": "wire.workflow_file",
    "parse_workflow": "wire.workflow_file",
    "open_engine": "wiring",
    **dict.fromkeys(
        ("Abort", "AddRemark", "AnswerCheckpoint", "Pause", "RemarkIn", "Resume", "Rollback", "SaveDraft"),
        "core.facts.commands",
    ),
    **dict.fromkeys(
        ("AgentError", "Bug", "ReconveneError", "Refused", "StaleDecision", "StoreError", "UserError", "WorkflowError"),
        "errors",
    ),
}

__all__ = [
    "Abort",
    "AddRemark",
    "AgentError",
    "AnswerCheckpoint",
    "Bug",
    "Checkpoint",
    "Engine",
    "Event",
    "Lines",
    "Pause",
    "ReconveneError",
    "Refused",
    "RemarkIn",
    "Resume",
    "Rollback",
    "Run",
    "RunInFull",
    "RunState",
    "SaveDraft",
    "StaleDecision",
    "StoreError",
    "UserError",
    "Workflow",
    "WorkflowError",
    "checkpoint",
    "decide",
    "inbox",
    "load_workflow",
    "open_engine",
    "parse_workflow",
    "show",
    "subscribe",
    "subscribe_async",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'reconvene' has no attribute {name!r}")
    return getattr(import_module(f"reconvene.{home}"), name)
