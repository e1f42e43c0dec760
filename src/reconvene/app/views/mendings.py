"""What people changed in how a run goes on, as doors show it: who carries agents out, another workflow, a reopening."""

from __future__ import annotations

from msgspec import Struct


class Bound(Struct, frozen=True, omit_defaults=True):
    """Who carries an agent out in place of what the workflow says. agent "": every agent of a model."""

    agent: str
    who: str  # a model, a command line, or python:module:function
    fallback: bool  # only agents whose model the workflow leaves open
    by: str
    at: str
    source: str  # the settings file and line that says so; "" = a person did
    user: str = ""  # this and the next: as in Decision
    proved: bool = False


class Upgraded(Struct, frozen=True, omit_defaults=True):
    """A run went on with another workflow. Both are told by digest; the rounds up to `rounds` had the one before."""

    at: str
    by: str
    before: str
    workflow: str
    rounds: int
    dropped: tuple[str, ...] = ()  # values on record that it has no name for
    user: str = ""
    proved: bool = False


class Reopened(Struct, frozen=True, omit_defaults=True):
    """A run that had ended was taken up again."""

    at: str
    by: str
    status: str  # how it had ended
    outcome: str
    phase: str
    grants: dict[str, float]  # limit → what was added to it
    user: str = ""
    proved: bool = False
