"""What programs are still at work although the process of the engine that started them is gone: found and ended.

Each program gets a mark into its environment that nobody else has, the folder of its attempt, and whatever it starts
inherits it. A keeper also gives it a limit that nobody reaches, and no other attempt has: it is inherited where the
environment is cleared. Beside that counts which process was started, and when. So no foreign process is ever taken for
one of them: where an id was given to another process since, neither the marks nor the time fit.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from reconvene.adapters.sandbox.keeper import FAR

MARK = "RECONVENE_MARK"
_RECORD, _STARTED = "attempt", "started"
GRACE = 2.0  # seconds from SIGTERM to SIGKILL: longer than a keeper takes
_LONGEST = 10.0  # seconds for killing what forks faster than it is found
_LOOKS = 100
_ENDING, _OF_THE_KERNEL = 0x4, 0x200000  # flags of processes on Linux
_ENTRY = os.fsencode(f"{MARK}=")


class Attempt(msgspec.Struct, frozen=True):
    """Whose program it is. `home`: see `home_key`."""

    home: str
    run: str
    task: str
    attempt: int
    agent: str
    command: str
    began: float  # seconds since 1970
    effects: bool = False


def home_key(home: str) -> str:
    """A home wherever it is moved to; a copy of it is another."""
    try:
        found = os.stat(home)
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


def note(folder: str, attempt: Attempt) -> None:
    """Before anything is started."""
    with open(os.path.join(folder, _RECORD), "wb") as file:
        file.write(msgspec.json.encode(attempt))


def note_started(folder: str, pid: int) -> None:
    with contextlib.suppress(OSError), open(os.path.join(folder, _STARTED), "w", encoding="ascii") as file:
        file.write(f"{pid} {_start_time(pid)}")


def noted(folder: str) -> Attempt | None:
    try:
        with open(os.path.join(folder, _RECORD), "rb") as file:
            return msgspec.json.decode(file.read(), type=Attempt)
    except (OSError, msgspec.MsgspecError):
        return None


def leader(folder: str) -> int:
    """The process that was started, while it lives; else 0."""
    try:
        with open(os.path.join(folder, _STARTED), encoding="ascii") as file:
            pid, _, start = file.read().partition(" ")
        return int(pid) if start and _start_time(int(pid)) == start else 0
    except (OSError, ValueError):
        return 0


def alive(folders: Collection[str]) -> set[int]:
    """Every process of these attempts: marked, started for them, or below one of those.

    Who is just replacing its program or ending shows no mark for a moment: nobody is gone before two looks say so."""
    found: set[int] = set()
    without: dict[int, int] = {}
    for turn in range(_LOOKS):
        found = set(_marked(folders)) | {pid for pid in map(leader, folders) if pid}
        without = {pid: without.get(pid, 0) + 1 for pid in (() if found else _unsure())}
        if found or (turn and not any(looks < 3 or _is_ending(pid) for pid, looks in without.items())):
            break
        time.sleep(0.002)
    return _with_descendants(found) - _self_and_above() if found else found


def end(folders: Collection[str], *, at_once: bool = False) -> set[int]:
    """End all of them; the ones that could not be ended. The processes that were started go last: a keeper takes in
    what the others leave behind."""
    began = time.monotonic()
    asked: set[int] = set()
    while left := alive(folders):
        waited = time.monotonic() - began
        if at_once or waited > GRACE:
            for pid in left - {leader(folder) for folder in folders} or left:
                _signal(pid, signal.SIGKILL, folders)
        else:
            for pid in left - asked:
                _signal(pid, signal.SIGTERM, folders)
            asked |= left
        if waited > GRACE + _LONGEST:
            return left
        time.sleep(0.01)
    return set()


def _signal(pid: int, number: int, folders: Collection[str]) -> None:
    """Held while it is looked at, where the system can: the id cannot come to mean another process meanwhile."""
    with contextlib.suppress(OSError):
        if sys.platform != "linux":
            os.kill(pid, number)
            return
        handle = os.pidfd_open(pid)
        try:
            if pid in _with_descendants({*_marked(folders, [pid, *_above(pid)]), *map(leader, folders)}):
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _marked(folders: Collection[str], among: Iterable[int] | None = None) -> Iterator[int]:
    if not os.path.isdir("/proc/self"):
        yield from _listed(folders)
        return
    wanted = {_ENTRY + os.fsencode(folder) for folder in folders}
    limits = {limit for folder in folders if (limit := _limit(folder))}
    for pid in _processes() if among is None else among:
        if _has(pid, "environ", b"\0", wanted) or (limits and _has(pid, "limits", None, limits)):
            yield pid


def _has(pid: int, file: str, separator: bytes | None, wanted: set[bytes]) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/{file}", "rb") as text:
        return not wanted.isdisjoint(text.read().split(separator))
    return False


def _limit(folder: str) -> bytes:
    """As the keeper sets it; b"" where the folder's name is no number of 48 bits."""
    name = os.path.basename(folder)
    with contextlib.suppress(ValueError):
        return str(FAR + int(name, 16)).encode() if len(name) == 12 else b""
    return b""


def _unsure() -> Iterator[int]:
    """Living processes that show no environment."""
    for pid in _processes() if os.path.isdir("/proc/self") else ():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            fields = _stat(pid) if not file.read(1) else []
            if fields and fields[0] not in ("Z", "X") and not int(fields[6]) & _OF_THE_KERNEL:
                yield pid


def _is_ending(pid: int) -> bool:
    fields = _stat(pid)
    return bool(fields) and fields[0] not in ("Z", "X") and bool(int(fields[6]) & _ENDING)


def _listed(folders: Collection[str]) -> Iterator[int]:
    """The same where there is no /proc: what `ps` shows of environments, and the groups of what was started."""
    groups = {pid for pid in map(leader, folders) if pid}
    for line in _ps("-axEww", "-o", "pid=,pgid=,command="):
        pid, group, command = (*line.split(None, 2), "")[:3]
        if int(group) in groups or any(f"{MARK}={folder}" in command.split() for folder in folders):
            yield int(pid)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _stat(pid: int) -> list[str]:
    """From the state on: state, parent, …; [] where there is no such process (any more)."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].decode("ascii", "replace").split()
    return []


def _start_time(pid: int) -> str:
    """ "" where it does not live."""
    if os.path.isdir("/proc/self"):
        fields = _stat(pid)
        return f"{fields[19]} {_boot()}" if fields and fields[0] not in ("Z", "X") else ""
    return "".join(_ps("-o", "lstart=", "-p", str(pid))).strip()


def _boot() -> str:
    """Times are counted from it."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
    return ""


def _ps(*words: str) -> list[str]:
    try:
        done = subprocess.run(["ps", *words], capture_output=True, text=True, errors="replace", timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line for line in done.stdout.splitlines() if line.strip()]


def _parents() -> Mapping[int, int]:
    if os.path.isdir("/proc/self"):
        rows = ((pid, _stat(pid)) for pid in _processes())
        return {pid: int(row[1]) for pid, row in rows if row and row[0] not in ("Z", "X")}
    return {int(pid): int(parent) for pid, parent in (line.split() for line in _ps("-axo", "pid=,ppid="))}


def _with_descendants(found: set[int]) -> set[int]:
    parents = _parents()
    whole, before = {pid for pid in found if pid in parents}, -1
    while len(whole) != before:
        before = len(whole)
        whole |= {pid for pid, parent in parents.items() if parent in whole}
    return whole


def _above(pid: int) -> list[int]:
    parents, found = _parents(), list[int]()
    while (pid := parents.get(pid, 0)) > 1 and pid not in found:
        found.append(pid)
    return found


def _self_and_above() -> set[int]:
    return {os.getpid(), *_above(os.getpid())}
