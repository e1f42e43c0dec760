"""What a person says about a run, and what becomes of it, as commands."""

from __future__ import annotations

from msgspec import Struct

from reconvene.core.facts.events import Lines


class RemarkIn(Struct, frozen=True):
    """Something a person said, already split into kind, target and text; a corrected figure also as was → now."""

    text: str
    kind: str = "comment"
    target: str = ""
    was: str = ""
    now: str = ""
    lines: str = ""  # "plan.md:3-5": what it is about; follows from `on`
    on: Lines | None = None
    level: str = ""  # minor | major, where who says it says how much it weighs
    replaces: str = ""  # the id of a remark in whose place it stands


class AddRemark(Struct, frozen=True):
    remark: RemarkIn
    by: str = ""
    door: str = ""


class ReadRemark(Struct, frozen=True):
    """What a remark is after all. None: as it is now; a level of None follows from the rest."""

    id: str
    kind: str | None = None
    target: str | None = None
    was: str | None = None
    now: str | None = None
    level: str | None = None
    reason: str = ""
    model: str = ""  # the model that read it; "" = a person did
    by: str = ""
    door: str = ""


class WithdrawRemark(Struct, frozen=True):
    """It holds no more. Agents that were shown it are told."""

    id: str
    by: str = ""
    door: str = ""


class SettleRemark(Struct, frozen=True):
    """A person says that a remark is answered, whatever the texts prove."""

    id: str
    by: str = ""
    door: str = ""


class JudgeClaim(Struct, frozen=True):
    """What a model thinks of a claim that rules left open: these words stood there before, and those stand there now.
    It counts only where they do."""

    id: str
    task: str
    model: str
    was: str
    now: str
    path: str = ""  # "" = the output
    why: str = ""
