"""An index in memory that counts shared words: enough to build against."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from reconvene.search_ports import Content, Cut, Hit, Kind


class WordIndex:
    model = ""

    def __init__(self) -> None:
        self._cuts: dict[tuple[str, str], Sequence[Cut]] = {}
        self._visible: dict[str, list[Content]] = {}

    def refresh(self, run: str, contents: Sequence[Content], cut: Callable[[Content], Sequence[Cut]]) -> None:
        self._visible[run] = list(contents)
        for one in contents:
            if (one.cut, one.digest) not in self._cuts:
                self._cuts[one.cut, one.digest] = cut(one)

    def find(self, run: str, query: str, kinds: Collection[Kind], limit: int, meaning: bool) -> list[Hit]:
        asked = set(re.findall(r"\w+", query.lower()))
        hits = [
            Hit(one, part, float(len(asked & set(re.findall(r"\w+", f"{part.heading} {part.text}".lower())))))
            for one in self._visible.get(run, ())
            if not kinds or one.kind in kinds
            for part in self._cuts[one.cut, one.digest]
        ]
        return sorted((hit for hit in hits if hit.score), key=lambda hit: -hit.score)[:limit]

    def forget(self, run: str) -> None:
        self._visible.pop(run, None)

    def close(self) -> None:
        return None
