"""Sees which agents are alive: each keeps a connection open, and the system closes it when the process is gone.

Whoever is there when somebody of a later attempt comes has overlapped its successor. Nothing is measured in seconds.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LONGEST = 300  # seconds: reached only where it never comes

# What an agent does: it says who it is, does as it is told (`stay` or `go`), and takes no notice of signals.
AGENT = """
import os, signal, socket, subprocess, sys
port, way, role, attempt = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
attempt = os.environ["RECONVENE_ATTEMPT"] if role == "first" else attempt
if role == "first" and way != "plain":
    again = [sys.executable, "-S", __file__, str(port), way, "other", attempt]
    env = {} if way == "cleared" else None
    if way == "setsid":
        subprocess.Popen(again, start_new_session=True, env=env)
    elif not os.fork():
        os.setsid()
        subprocess.Popen(again, start_new_session=True, env=env)
        os._exit(0)
door = socket.create_connection(("127.0.0.1", port))
door.sendall(f"{attempt} {role} {os.getpid()}\\n".encode())
if door.recv(10) == b"stay":
    while door.recv(10) not in (b"go", b""):
        pass
print("done")
"""


class Witness:
    """`stays`: of each attempt, whether its agents stay at work."""

    def __init__(self, folder: Path, stays: Callable[[int], bool]) -> None:
        self.script = folder / "agent.py"
        self.script.write_text(AGENT)
        self.seen: list[tuple[int, str]] = []
        self.overlaps: list[str] = []
        self._stays = stays
        self._new: dict[socket.socket, bytes] = {}  # who has not said yet who it is
        self._alive: dict[socket.socket, tuple[int, str]] = {}
        self._news = threading.Condition()
        self._door = socket.create_server(("127.0.0.1", 0))
        self._stop, self._ended = socket.socketpair()
        self.port: int = self._door.getsockname()[1]
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def __enter__(self) -> Witness:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.close()
        self._thread.join()
        for each in (self._door, self._ended, *self._new, *self._alive):
            each.close()

    def until(self, holds: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(holds, LONGEST), f"seen {self.seen}, alive {self.alive}"

    @property
    def alive(self) -> list[tuple[int, str]]:
        return sorted(self._alive.values())

    def let_go(self) -> None:
        for each in [*self._alive]:
            each.sendall(b"go")

    def _watch(self) -> None:
        while not _is_over(self._ended):
            with selectors.DefaultSelector() as waiting:
                for each in (self._door, self._ended, *self._new, *self._alive):
                    waiting.register(each, selectors.EVENT_READ)
                ready = [key.fileobj for key, _ in waiting.select()]
            with self._news:
                self._forget_the_dead()
                for new in [new for new in self._new if new in ready]:
                    self._greet(new)
                if self._door in ready:
                    self._new[self._door.accept()[0]] = b""
                self._news.notify_all()

    def _greet(self, new: socket.socket) -> None:
        try:
            part = new.recv(100)
        except OSError:
            part = b""
        self._new[new] += part
        if part and not part.endswith(b"\n"):
            return
        data = self._new.pop(new)
        if not part:
            return new.close()
        attempt, role, _pid = data.decode().split()
        self._forget_the_dead()
        early = [one for one in self._alive.values() if one[0] < int(attempt)]
        self.overlaps += [f"attempt {attempt} began while {one} was alive" for one in early]
        self._alive[new] = (int(attempt), role)
        self.seen.append((int(attempt), role))
        with suppress(OSError):
            new.sendall(b"stay" if self._stays(int(attempt)) else b"go")

    def _forget_the_dead(self) -> None:
        for each in [*self._alive]:
            if _is_over(each):
                each.close()
                del self._alive[each]


def _is_over(door: socket.socket) -> bool:
    """Whether whoever was at the other end is gone."""
    try:
        return not door.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
