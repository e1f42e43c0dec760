"""Keeps commands in: from the home, from other runs and agents, from keys, and from staying when their attempt is over.

Three levels, the best that works on the machine: bubblewrap (a view of the machine of its own), Landlock (the kernel
refuses what is not allowed), none. Whatever the level, on Linux a keeper or a process namespace ends all that a program
started. What each level holds and does not hold: docs/security.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from reconvene.ports import Kept, Start

if TYPE_CHECKING:
    from reconvene.adapters.sandbox.keeping import Keeping


class Sandboxes:
    """ports.Sandbox, loaded when a command is first started. `root`: below it attempts have their folders. `ours`: what
    no program is ever shown. `usual`: what `auto` means here."""

    def __init__(
        self, root: str, environ: Mapping[str, str], ours: Callable[[], Iterable[str]], usual: str = "auto"
    ) -> None:
        self._root = root
        self._environ = environ
        self._ours = ours
        self._usual = usual

    @cached_property
    def _keeping(self) -> Keeping:
        from reconvene.adapters.sandbox.keeping import Keeping

        return Keeping(self._root, self._environ, self._ours, self._usual)

    def scratch(self) -> str:
        return self._keeping.scratch()

    def keep(self, start: Start) -> AbstractContextManager[Kept]:
        return self._keeping.keep(start)

    def close(self) -> None:
        if "_keeping" in self.__dict__:
            self._keeping.close()
