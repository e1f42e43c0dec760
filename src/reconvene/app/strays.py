"""Folders of runs that no log knows: what is left where a store was lost or replaced. Reads names only."""

from __future__ import annotations

import os

from reconvene.errors import StoreError
from reconvene.ports import EventLog

FOLDER = "runs"


def folders(home: str) -> list[str]:
    """The names of all folders of runs, in order. What is empty is nothing."""
    try:
        names = sorted(os.listdir(os.path.join(home, FOLDER)))
    except OSError:
        return []
    return [name for name in names if _holds_something(os.path.join(home, FOLDER, name))]


def strays(log: EventLog, home: str) -> list[str]:
    """Those that are no run's."""
    names = folders(home)
    known = {row.run for row in log.index()} | {one.run for one in log.deleted()} if names else set()
    return [name for name in names if name not in known]


def require_known(log: EventLog, home: str) -> None:
    """StoreError where the store knows no run while there are folders of some: an empty list would be no answer."""
    if not log.runs() and (names := strays(log, home)):
        raise StoreError(
            f"{told(names, all_of_them=True)[0].upper()}{told(names, all_of_them=True)[1:]}.",
            hint="Put it back from a backup: reconvene restore FILE. To begin anew, move the folder runs/ away. What is"
            " there: reconvene doctor",
        )


def _holds_something(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def told(names: list[str], *, all_of_them: bool) -> str:
    """`all_of_them`: the store knows no run at all."""
    some = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    if all_of_them:
        return f"the store knows no run, and yet there are folders of {some}: it was lost or replaced"
    return f"there are folders of {some}, and the store knows no such run"
