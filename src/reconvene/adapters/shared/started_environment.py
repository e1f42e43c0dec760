"""The environment of a program that is started for an agent: what is allowed of the engine's, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reconvene.ports import Assignment

_ALLOWED = ("PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL")


def environment(
    assignment: Assignment, root: str, environ: Mapping[str, str], names: Iterable[str] = ()
) -> dict[str, str]:
    """`names`: further variables that it may see. `root`: the folder in which it works."""
    wanted = {*_ALLOWED, *names}
    env = {name: value for name, value in environ.items() if name in wanted or name.startswith("LC_")}
    return env | {
        "RECONVENE_RUN": assignment.run,
        "RECONVENE_TASK": assignment.task,
        "RECONVENE_ATTEMPT": str(assignment.attempt),
        "RECONVENE_WORKDIR": root,
    }
