"""Who acts: a person, or an agent of a run. What people decide, agents must not.

A command agent carries the name of its task in its environment. One that clears its own still descends from a process
that has it: the program that the engine started, or the keeper, which takes in whatever detaches itself. A coding agent
that a person works with is no agent of a run, and may type what the person tells it. Looks at processes; ends none.
"""

from __future__ import annotations

import os

from reconvene.errors import UserError

_TASK = "RECONVENE_TASK"
_MOST = 200  # processes above this one that are looked at


def require_person(what: str = "this") -> None:
    """UserError where an agent of a run is at work."""
    if task := agents_task():
        raise UserError(
            f"{what} is for people, and here an agent of a run is at work ({task})",
            hint="say in the output what should be decided; the person reads it at the next checkpoint",
        )


def agents_task() -> str:
    """The task of the agent that this process belongs to, "" = of none."""
    return os.environ.get(_TASK, "") or next((task for task in map(_task_of, _ancestors()) if task), "")


def _ancestors() -> list[int]:
    """As far as the system tells: on Linux all of them."""
    found, pid = list[int](), os.getppid()
    while pid > 0 and pid not in found and len(found) < _MOST:
        found.append(pid)
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # after the name in brackets, which may hold anything: state, parent
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found


def _task_of(pid: int) -> str:
    """From the environment that the process was started with; "" where it is another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return ""
    start = f"{_TASK}=".encode()
    return next((entry[len(start) :].decode("utf-8", "replace") for entry in entries if entry.startswith(start)), "")
