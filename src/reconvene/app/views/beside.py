"""The read model of what stands beside a checkpoint: what is open, what another round would take, the stop meter.

Apart from `read_model` because few commands show it and what it measures with takes long to import.
"""

from __future__ import annotations

from reconvene.app.views.estimates import Estimate
from reconvene.app.views.ratings import Meter
from reconvene.app.views.read_model import Remark, Shown


class OpenRemark(Shown, frozen=True):
    """A remark that is open: nothing proves that it was taken up, and nobody declined it."""

    id: str
    kind: str
    text: str
    lines: str = ""  # of a comment on lines of a file: plan.md:3-5
    status: str = ""  # captured, delivered or claimed


class Route(Shown, frozen=True):
    """An agent that would run again: by which rule, and why in words."""

    agent: str
    rule: str
    why: str


class Preview(Shown, frozen=True):
    """What another round would take."""

    option: str
    agents: tuple[Route, ...]
    estimate: Estimate
    line: str


class Review(Shown, frozen=True):
    remarks: tuple[Remark, ...]  # made here
    open: tuple[OpenRemark, ...]
    preview: Preview | None = None
    meter: Meter | None = None
