"""Keeps commands in: from the home, from other runs and agents, from keys, and from staying when their attempt is over.

Three levels, the best that works on the machine: bubblewrap (a view of the machine of its own), Landlock (the kernel
refuses what is not allowed), none. Whatever the level, on Linux a keeper or a process namespace ends all that a program
started. What each level holds and does not hold: docs/security.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from reconvene.sandbox_ports import Kept, Left, Start

if TYPE_CHECKING:
    from reconvene.adapters.sandbox.keeping import Keeping


class Sandboxes:
    """A Sandbox, loaded when a command is first started. `root`: below it attempts have their folders. `ours`: what
    no program is ever shown. `usual`: what `auto` means here. `home`: whose runs' programs these are."""

    def __init__(
        self,
        root: str,
        environ: Mapping[str, str],
        ours: Callable[[], Iterable[str]],
        usual: str = "auto",
        home: str = "",
    ) -> None:
        self._root = root
        self._environ = environ
        self._ours = ours
        self._usual = usual
        self._home = home

    @cached_property
    def _keeping(self) -> Keeping:
        from reconvene.adapters.sandbox.keeping import Keeping

        return Keeping(self._root, self._environ, self._ours, self._usual, self._home)

    def scratch(self) -> str:
        return self._keeping.scratch()

    def keep(self, start: Start) -> AbstractContextManager[Kept]:
        return self._keeping.keep(start)

    # --- sandbox_ports.Leftovers ---

    def possible(self) -> bool:
        return "_keeping" in self.__dict__ or _holds_something(self._root)

    def of(self, run: str) -> list[Left]:
        """Most often nothing is there, and nothing is loaded."""
        return self._keeping.of(run) if self.possible() else []

    def is_alive(self, left: Left) -> bool:
        return self._keeping.is_alive(left)

    def end(self, left: Iterable[Left]) -> None:
        self._keeping.end(left)

    def end_own(self) -> None:
        if "_keeping" in self.__dict__:
            self._keeping.end_own()

    def close(self) -> None:
        if "_keeping" in self.__dict__:
            self._keeping.close()


def _holds_something(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False
