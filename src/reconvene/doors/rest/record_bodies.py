"""What is asked for and given of the record of a run: what agents were sent and wrote, what of it was kept aside."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from reconvene.doors.rest.bodies import Limit, Short
from reconvene.doors.rest.operations import Body, Query


class Outputs(Query, frozen=True):
    agent: Short = ""
    round: Annotated[str, Meta(max_length=20, description="2, or R7; else the last one.")] = ""
    after: Annotated[int, Meta(ge=0, le=2**31, description="The `next` of the page before.")] = 0
    limit: Limit = 50


class AttemptsShown(Struct, frozen=True):
    """Each attempt with its prompt, reply and output as texts. A page ends where its texts become long; `next`: the
    number with which the rest begins, 0 = there is no more."""

    run: str
    attempts: tuple[dict[str, Any], ...]
    next: int = 0


class KeptAside(Struct, frozen=True):
    """Their paths. What they hold is not given: one of them is taken into the run, or at the home elsewhere."""

    run: str
    kept_aside: tuple[str, ...]


class ListEditBody(Body, frozen=True):
    """One change of the list of gaps each, such as "rate GAP-A-001 LOW"."""

    edit: Annotated[tuple[Annotated[str, Meta(max_length=4_000)], ...], Meta(min_length=1, max_length=200)]


class TakeBody(Body, frozen=True):
    path: Annotated[str, Meta(min_length=1, max_length=2_000)]
