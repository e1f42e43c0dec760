"""One module of this package at work in a process of its own: limited in time, memory and output, and in a sandbox.

It sees the system's libraries, Python, and what it is shown. Files that come from anywhere are read in here, and so are
queries that anybody may have written: whatever they do to the process, the engine goes on.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from reconvene.adapters.box import bounded, seen_inside
from reconvene.core.definition.workflow import Agent
from reconvene.material_ports import NOTHING, Bounds, Ended, Sight
from reconvene.sandbox_ports import Ground, Sandbox, Start

_ENTRY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boxed_entry.py")
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # a Python may not start without


class Boxes:
    """material_ports.Box."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._lock = threading.Lock()

    @contextmanager
    def folder(self) -> Iterator[str]:
        with self._lock:  # the first of several threads makes it
            scratch = self._sandbox.scratch()
        with tempfile.TemporaryDirectory(prefix="box-", dir=scratch) as path:
            yield os.path.realpath(path)

    def run(
        self,
        module: str,
        words: Sequence[str],
        given: int | bytes,
        bounds: Bounds,
        sight: Sight = NOTHING,
        *,
        folder: str = "",
        strict: bool = False,
    ) -> Ended:
        if not folder:
            with self.folder() as made:
                return self.run(module, words, given, bounds, sight, folder=made, strict=strict)
        limits = f"{bounds.memory} {int(bounds.seconds) + 1} {bounds.writes}"
        argv = (os.path.abspath(sys.executable), "-I", "-B", "-X", "utf8", _ENTRY, limits, module, *words)
        env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        agent = Agent(
            module.rpartition(".")[2],
            kind="command",
            sandbox="strict" if strict else "auto",
            network=sight.network,
            sockets=sight.sockets,
        )
        readable = (*seen_inside.needed(network=sight.network), *sight.readable)
        ground = Ground(hidden=seen_inside.hidden(), readable=readable)
        with self._sandbox.keep(Start(agent, argv, {"PATH": os.defpath, **env}, folder, ground)) as kept:
            return bounded.run(kept, given, folder, bounds)
