"""What can keep a program in on this machine: bubblewrap, else Landlock, else nothing. Each is really tried."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from reconvene.adapters.sandbox import landlock
from reconvene.adapters.sandbox.landlock import Allowed
from reconvene.adapters.sandbox.socket_filter import works

Name = Literal["bubblewrap", "landlock", "none"]
KEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeper.py")
_SECONDS = 10.0

WITH_PARENT = "--die-with-parent"
# Everything is there to read; processes, shared memory and devices are the sandbox's own; no privileges.
_BASE = (
    "--unshare-pid", "--unshare-ipc", WITH_PARENT, "--cap-drop", "ALL",
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
)  # fmt: skip
_OWN_USERS = ("--unshare-user",)
# Root needs this one, and only over what is in the sandbox, to let programs in it have a sandbox of their own.
_NESTING = ("--cap-add", "CAP_SETFCAP")
# Root may write the kernel's settings without any privilege, and some of them name a program that the kernel starts
# outside of every sandbox. The kernel keeps others from them.
_KERNEL = ("--ro-bind", "/proc/sys", "/proc/sys")


class Level(NamedTuple):
    name: Name
    detail: str = ""  # its version
    bubblewrap: tuple[str, ...] = ()  # its command line, as far as it is the same for all
    nests: bool = False  # programs in it may have a sandbox of their own
    abi: int = 0  # of Landlock
    filters: bool = False  # programs can be kept from making sockets
    lacks: tuple[str, ...] = ()  # why nothing better is in force

    @property
    def told(self) -> str:
        return f"{self.name} {self.detail}".strip()


def find(environ: Mapping[str, str]) -> Level:
    """The best that works here. Tried once in a process."""
    return _found(environ.get("PATH", os.defpath))


def has_keeper() -> bool:
    return sys.platform == "linux" and bool(sys.executable)


def write_plan(path: str, landlock: Sequence[str] = (), closed: bytes = b"", *, stays: bool = False) -> None:
    """What the keeper is told. `closed`: the filter that is put into force, if any. `stays`: also when this process is
    gone, until its program has ended."""
    fields = ("0" if stays else str(os.getpid()), closed.hex(), *landlock)
    with open(path, "wb") as file:
        file.write(b"".join(os.fsencode(field) + b"\0" for field in fields))


def keeper(plan: str, argv: Sequence[str]) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", KEEPER, plan, *argv)


@cache
def _found(path: str) -> Level:
    if not has_keeper():
        return Level("none", lacks=(f"neither bubblewrap nor Landlock exists on {sys.platform}",))
    program = shutil.which("bwrap", path=path) or ""
    why = "bubblewrap is not installed"
    if program:
        first, *others = _ways(program)
        why = _bubblewrap_failure(first, path)
        found = first if not why else next((way for way in others if not _bubblewrap_failure(way, path)), None)
        if found:
            return Level("bubblewrap", _version(program), found, _nests(found, path), filters=works())
        why = f"bubblewrap does not work here: {why}"
    version = landlock.abi()
    if not version:
        return Level("none", lacks=(why, "the kernel has no Landlock"))
    if failed := _landlock_failure(version, path):
        return Level("none", lacks=(why, f"Landlock does not work here: {failed}"))
    return Level("landlock", f"(ABI {version})", abi=version, filters=works(), lacks=(why,))


def _ways(program: str) -> list[tuple[str, ...]]:
    """With users of its own. Root may do without where the kernel does not allow that."""
    if os.geteuid():
        return [(program, *_OWN_USERS, *_BASE)]
    return [(program, *_OWN_USERS, *_BASE, *_KERNEL, *_NESTING), (program, *_BASE, *_KERNEL)]


def _bubblewrap_failure(way: tuple[str, ...], path: str) -> str:
    return _failure([*way, "--unshare-net", "--tmpfs", "/tmp", "--", "true"], path)


def _nests(way: tuple[str, ...], path: str) -> bool:
    return not _failure([*way, "--", way[0], "--unshare-user", "--ro-bind", "/", "/", "--", "true"], path)


def _failure(argv: Sequence[str], path: str) -> str:
    """Why a trial did not succeed, "" where it did."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"PATH": path},
            cwd="/",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"exit code {done.returncode}")


def _landlock_failure(version: int, path: str) -> str:
    """A trial in which something is hidden: it must not be found."""
    with tempfile.TemporaryDirectory(prefix="reconvene-") as folder:
        hidden, plan = os.path.join(os.path.realpath(folder), "hidden"), os.path.join(folder, "plan")
        os.mkdir(hidden)
        rules = landlock.plan(version, Allowed(frozenset({hidden}), (), (), (), network=True))
        write_plan(plan, rules)
        shell = f"if ls {hidden} >/dev/null 2>&1; then echo it hides nothing >&2; exit 1; fi; ls {os.sep}usr >/dev/null"
        return _failure(keeper(plan, ["sh", "-c", shell]), path)


def _version(program: str) -> str:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, timeout=_SECONDS, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.decode("utf-8", "replace").strip().rpartition(" ")[2]
