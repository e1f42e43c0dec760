"""What keeps commands in, put together: what is hidden from them, and what is said of it before a run starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from reconvene.settings import own_folder, state_folder, usual_sandbox
from reconvene.trust import own_homes

if TYPE_CHECKING:
    from reconvene.adapters.agents.preflight import Lack, Way
    from reconvene.adapters.sandbox import Sandboxes


def sandbox_for(homes: Callable[[], Iterable[str]], environ: Mapping[str, str], home: str = "") -> Sandboxes:
    """`homes`: what is hidden beside what is the person's own. `home`: whose runs are worked on."""
    from reconvene.adapters.sandbox import Sandboxes

    def ours() -> list[str]:
        return [*homes(), *own_homes(), own_folder(), state_folder()]

    return Sandboxes(os.path.join(state_folder(), "attempts"), environ, ours, usual_sandbox(), home)


def _runs(way: Way) -> str:
    """What is kept in, or is not: a command, a function, the shell among a model's tools; "" = nothing."""
    if way.kind != "model":
        return way.kind
    return "shell" if any(tool.name == "shell" for tool in way.agent.tools) else ""


def kept_in(ways: Sequence[Way], environ: Mapping[str, str]) -> tuple[tuple[str, ...], list[Lack]]:
    """What the sandbox is for these, in lines, and where it is less than they ask for."""
    from reconvene.adapters.agents.preflight import Lack

    kinds = [_runs(way) for way in ways]
    if not any(kinds):
        return (), []
    from reconvene.adapters.sandbox import about

    asked = [about.Asked(way.agent, way.who, kind, way.line) for way, kind in zip(ways, kinds) if kind]
    told = about.told(asked, environ, usual_sandbox(), [*own_homes(), own_folder(), state_folder()])
    return told.lines, [Lack(*lack) for lack in told.lacks]
