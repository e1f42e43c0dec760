"""The list of gaps, edited by the person in plain lines: `rate GAP-A-001 LOW`, `add HIGH: question`, and so on.

A line that does not fit is refused with a reason; the others are carried out. It must not know who asked, or where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.kits.gaps.found import Found, item_of
from reconvene.kits.gaps.gap_ids import gaps_in
from reconvene.kits.gaps.gap_states import Ledger, Origin
from reconvene.kits.gaps.markdown import clip
from reconvene.kits.gaps.records import TITLE, Gap, is_open, opened
from reconvene.kits.gaps.vocabulary import severity_named

PERSON = "person"
FORMS = {
    "rate": "rate GAP-A-001 HIGH",
    "add": "add HIGH blocking: what is missing",
    "drop": "drop GAP-A-001: why it is no gap",
    "merge": "merge GAP-A-002 into GAP-A-001",
    "split": "split GAP-A-001 into: first question | second question",
    "defer": "defer GAP-A-001",
    "block": "block GAP-A-002 by GAP-A-001",
    "unblock": "unblock GAP-A-002 from GAP-A-001",
    "blocking": "blocking GAP-A-001 yes",
    "reopen": "reopen GAP-A-001: why",
}


class Done(NamedTuple):
    """One line carried out, or refused."""

    line: str
    gap: str = ""
    title: str = ""
    decision: str = ""
    refused: str = ""


def unfit(value: object, order: object) -> list[str]:
    """Why lines would be refused, each told once, where the list is as this value has it. Changes nothing."""
    ledger = Ledger(opened(value), 0)
    return [done.refused for done in Editor(ledger, PERSON).all(order) if done.refused]


def lines_of(order: object) -> list[str]:
    """Several lines, or several parts between semicolons, or a list of them."""
    if isinstance(order, str):
        parts: Iterable[object] = re.split(r"[\n\r]+|;\s+(?=[a-z]+\s)", order)
    else:
        parts = order if isinstance(order, (list, tuple)) else [order]
    return [line for part in parts if (line := str(part).strip().lstrip("-*• ").strip())]


class Editor:
    def __init__(self, ledger: Ledger, by: str) -> None:
        self._ledger = ledger
        self._book = ledger.book
        self._by = by
        self._work: dict[str, Callable[[str], Done | str]] = {
            "rate": self._rate,
            "add": self._add,
            "drop": self._drop,
            "merge": self._merge,
            "split": self._split,
            "defer": self._defer,
            "block": self._block,
            "unblock": self._unblock,
            "blocking": self._blocking,
            "reopen": self._reopen,
        }

    def all(self, order: object) -> list[Done]:
        return [self._one(line) for line in lines_of(order)]

    def _one(self, line: str) -> Done:
        verb, _, rest = line.partition(" ")
        apply = self._work.get(verb.lower().rstrip(":"))
        if apply is None:
            return Done(line, refused=f"“{clip(line, 60)}”: write it as one of {'; '.join(FORMS.values())}.")
        done = apply(rest.strip())
        if isinstance(done, str):
            return Done(line, refused=f"“{clip(line, 60)}”: {done} Write it as: {FORMS[verb.lower().rstrip(':')]}")
        return done._replace(line=line)

    def _named(self, text: str) -> list[Gap] | str:
        names = gaps_in(text) or [word.strip(",:") for word in text.split()[:1]]
        found = []
        for name in names:
            gap = self._ledger.find(name)
            if gap is None:
                near = self._ledger.unknown(name)
                return f"{clip(name, 40) or 'that'} is not a known gap{f'; did you mean {near}?' if near else '.'}"
            found.append(gap)
        return found or "it names no gap."

    def _single(self, text: str) -> Gap | str:
        found = self._named(text)
        return found if isinstance(found, str) else found[0]

    def _rate(self, text: str) -> Done | str:
        gap = self._single(text)
        severity = next((found for word in reversed(text.split()) if (found := severity_named(word))), None)
        if isinstance(gap, str) or severity is None:
            return gap if isinstance(gap, str) else "it names no severity (CRITICAL, HIGH, MEDIUM, LOW)."
        self._ledger.rate(gap, severity, self._by)
        return Done("", gap.id, gap.title, f"rated {severity}, not {gap.severity}")

    def _add(self, text: str) -> Done | str:
        head, colon, title = text.partition(":")
        if not colon or not title.strip():
            head, title = "", text
        words = head.replace(",", " ").split()
        severity = next((rated for word in words if (rated := severity_named(word))), None)
        blocking = None if not words else any(word.lower() == "blocking" for word in words)
        found = item_of(next(iter(gaps_in(head)), ""), title.strip(), "")
        if not found.title:
            return "it says nothing."
        found = found._replace(severity=severity or found.severity, blocking=blocking or found.blocking)
        made = self._ledger.raise_one(found, Origin(PERSON, "your own list"))
        if made is None:
            return "it says nothing."
        return Done("", made.id, made.title, f"added ({made.severity}{', blocking' if made.blocking else ''})")

    def _drop(self, text: str) -> Done | str:
        gap = self._single(text)
        if isinstance(gap, str):
            return gap
        why = text.partition(":")[2].strip() or "it is no gap"
        self._ledger.move(replace(gap, question=""), "dropped", self._by, why)
        return Done("", gap.id, gap.title, f"dropped: {clip(why, TITLE)}")

    def _merge(self, text: str) -> Done | str:
        found = self._named(text)
        if isinstance(found, str):
            return found
        if len(found) != 2 or found[0].id == found[1].id:
            return "it takes two gaps."
        if not is_open(found[0]):
            return f"{found[0].id} is {found[0].state}, not open."
        self._ledger.merge(found[0], found[1], self._by, "the person says that they are the same")
        return Done("", found[0].id, found[0].title, f"merged into {found[1].id}")

    def _split(self, text: str) -> Done | str:
        gap = self._single(text)
        if isinstance(gap, str):
            return gap
        parts = re.split(r"\s*\|\s*", re.sub(r"^.*?\binto\b\s*:?\s*", "", text, count=1))
        found = [Found("", clip(part, TITLE)) for part in parts if part.strip()]
        if not is_open(gap):
            return f"{gap.id} is {gap.state}, not open."
        if len(found) < 2 or not re.search(r"\binto\b", text):
            return "it takes at least two parts."
        made = self._ledger.split(gap, found, Origin(PERSON, "your own list"))
        return Done("", gap.id, gap.title, "split into " + ", ".join(one.id for one in made))

    def _defer(self, text: str) -> Done | str:
        gap = self._single(text)
        if isinstance(gap, str):
            return gap
        if not is_open(gap):
            return f"{gap.id} is {gap.state}, not open."
        self._ledger.move(gap, "deferred", self._by, text.partition(":")[2].strip() or "put aside by name")
        return Done("", gap.id, gap.title, "deferred")

    def _block(self, text: str) -> Done | str:
        found = self._named(text)
        if isinstance(found, str):
            return found
        if len(found) < 2:
            return "it takes the gap that waits, and the one that it waits for."
        gap, others = found[0], tuple(one.id for one in found[1:] if one.id != found[0].id)
        waits = tuple(dict.fromkeys((*gap.blocked_by, *others)))
        self._ledger.move(replace(gap, blocked_by=waits), gap.state, self._by, f"waits for {', '.join(others)}")
        return Done("", gap.id, gap.title, f"waits for {', '.join(others)}")

    def _unblock(self, text: str) -> Done | str:
        found = self._named(text)
        if isinstance(found, str):
            return found
        gap, others = found[0], {one.id for one in found[1:]}
        waits = tuple(one for one in gap.blocked_by if others and one not in others)
        if waits == gap.blocked_by:
            return f"{gap.id} waits for {', '.join(gap.blocked_by) or 'nothing'}."
        gone = ", ".join(one for one in gap.blocked_by if one not in waits)
        self._ledger.move(replace(gap, blocked_by=waits), gap.state, self._by, f"waits no more for {gone}")
        return Done("", gap.id, gap.title, f"waits no more for {gone}")

    def _blocking(self, text: str) -> Done | str:
        gap = self._single(text)
        said = re.search(r"\b(yes|no|true|false)\b", text, re.IGNORECASE)
        if isinstance(gap, str) or said is None:
            return gap if isinstance(gap, str) else "it says neither yes nor no."
        blocks = said[1].lower() in ("yes", "true")
        told = "blocks the rest" if blocks else "does not block the rest"
        self._ledger.move(replace(gap, blocking=blocks), gap.state, self._by, told)
        return Done("", gap.id, gap.title, told)

    def _reopen(self, text: str) -> Done | str:
        gap = self._single(text)
        if isinstance(gap, str):
            return gap
        if is_open(gap):
            return f"{gap.id} is open already."
        why = text.partition(":")[2].strip()
        self._ledger.move(gap, "open", self._by, f"reopened{': ' + why if why else ''}")
        return Done("", gap.id, gap.title, f"reopened{': ' + clip(why, TITLE) if why else ''}")
