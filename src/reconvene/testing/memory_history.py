"""The history of workspaces in memory, for tests: the commits as they were given, and no git."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reconvene.core.facts.ids import digest_of
from reconvene.ports import Commit, Witness

_RUN = "Reconvene-Run"


class MemoryHistory:
    """ports.History; it has no witness and makes no diffs. `step` is called before each change, and may raise."""

    def __init__(self, step: Callable[[str], None] = lambda what: None, of: MemoryHistory | None = None) -> None:
        """`of`: the same history, as another process has it."""
        self.witness: Witness | None = None
        self._step = step
        self._commits: dict[str, list[Commit]] = of._commits if of is not None else {}
        self._heads: dict[str, tuple[int, str]] = of._heads if of is not None else {}

    def last_seq(self, run: str) -> int:
        made = self._commits.get(run)
        return made[-1].seq if made else 0

    def commit(self, run: str, commits: Iterable[Commit], blob: Callable[[str], bytes]) -> None:
        for one in commits:
            for digest in one.files.values():
                blob(digest)
            self._step("commit")
            if one.seq <= self.last_seq(run):  # another process was faster
                continue
            self._commits.setdefault(run, []).append(one._replace(trailers=(*one.trailers, (_RUN, run))))

    def runs(self) -> list[str]:
        return list(self._commits)

    def note_head(self, run: str, seq: int, value: str) -> None:
        self._step("note head")
        if seq >= self._heads.get(run, (0, ""))[0]:
            self._heads[run] = (seq, value)

    def noted_head(self, run: str) -> tuple[int, str]:
        return self._heads.get(run, (0, ""))

    def forget(self, run: str) -> None:
        self._commits.pop(run, None)
        self._heads.pop(run, None)

    def unsound(self, run: str) -> str:
        return ""

    def diff(self, run: str, old: str, new: str, path: str = "") -> str:
        raise NotImplementedError("a history in memory makes no diffs")

    def commits(self, run: str) -> list[tuple[str, Commit]]:
        return [(digest_of(repr(one).encode()), one._replace(files={})) for one in self._commits.get(run, ())]
