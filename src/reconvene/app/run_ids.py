"""Which run a person means by an id, or by the beginning of one."""

from __future__ import annotations

from reconvene.errors import UserError
from reconvene.language.closest import closest
from reconvene.ports import EventLog


def named_run(log: EventLog, prefix: str) -> str:
    if prefix and log.head(prefix):
        return prefix
    runs = [row.run for row in log.index()]
    matching = [run for run in runs if run.startswith(prefix)]
    parents = [run for run in matching if not any(run.startswith(f"{other}.") for other in matching)]
    if len(parents) == 1:  # the runs it started have its id at the beginning of theirs
        return parents[0]
    if len(matching) > 1:
        raise UserError(f"{prefix!r} may be {', '.join(matching[:6])}.", hint="Give more of the id.")
    near = closest(prefix, runs, 3)
    raise UserError(
        f"There is no run {prefix!r}.",
        hint=f"Did you mean {', '.join(near)}?" if near else "reconvene runs lists them.",
    )
