"""Gaps come in, move from state to state, merge and split; none is taken out, and each keeps all its moves."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.gap_ids import Counter, area_in, canonical, nearest, tidy
from reconvene.kits.gaps.likeness import Titles, normal, share_words
from reconvene.kits.gaps.markdown import at_lines, clip
from reconvene.kits.gaps.records import TITLE, Book, Gap, Merge, Moved, Similar, is_open
from reconvene.kits.gaps.vocabulary import ORDER, Severity, State

_SPEC_LINES = re.compile(r"\blines? (\d{1,6})(?:\s?(?:[-–]|to)\s?(\d{1,6}))?", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"`]([^“”\"`\n]{6,200})[”\"`]")
_LEFT_OUT = "left out of the list when it was looked at again"


class Origin(NamedTuple):
    """Who raises a gap, and where: `file` as people find it, `source` the gap whose solution brought it up."""

    by: str
    file: str
    source: str = ""
    parent: str = ""


class Ledger:
    def __init__(self, book: Book, round: int, spec: str = "") -> None:
        self.book = book
        self.round = round
        self._spec = spec
        self._known = {canonical(name): name for name in book.gaps}
        self._counter = Counter(book.gaps)
        self._titles = Titles()
        self._by_title: dict[str, list[str]] = {}
        for gap in book.gaps.values():
            self._remember(gap)

    def find(self, name: str) -> Gap | None:
        """The gap of that id, or the one it was merged into."""
        kept = self._known.get(canonical(name))
        for _ in range(len(self.book.gaps)):
            gap = self.book.gaps.get(kept) if kept else None
            if gap is None or not gap.into:
                return gap
            kept = gap.into
        return None

    def titled(self, title: str) -> Gap | None:
        names = self._by_title.get(normal(title), [])
        return self.find(names[0]) if title and names else None

    def unknown(self, name: str, title: str = "") -> str:
        """The id that was probably meant by an unknown one."""
        meant = self.titled(title)
        return meant.id if meant else nearest(name, list(self.book.gaps))

    def notice(self, code: str, text: str, gap: str = "") -> None:
        self.book.notice(self.round, code, text, gap)

    def put(self, gap: Gap) -> None:
        self.book.gaps[gap.id] = gap

    def move(self, gap: Gap, state: State, by: str, why: str = "") -> Gap:
        """Recorded even when the state stays: a gap sent back twice has two entries."""
        entry = Moved(self.round, state, by, clip(why, TITLE))
        moved = replace(gap, state=state, history=(*gap.history, entry))
        self.put(moved)
        return moved

    def rate(self, gap: Gap, severity: Severity, by: str, why: str = "") -> Gap:
        """Another severity than before, kept in the history as a move that changes no state."""
        if severity == gap.severity:
            return gap
        told = f"severity {gap.severity} → {severity}" + (f": {why}" if why else "")
        return self.move(replace(gap, severity=severity), gap.state, by, told)

    def raise_all(self, found: list[Found], origin: Origin) -> list[Gap]:
        """The gap that each entry stands for. Those with ids first, so that numbers given out never collide with
        numbers written further down."""
        return [gap for gap, _ in self._raised(found, origin)]

    def relist(self, found: list[Found], origin: Origin) -> None:
        """A second list by the same hand, in the place of its first: ratings are put right, what is listed no more is
        deferred, where a person can reopen it."""
        first = [
            gap.id for gap in self.book.gaps.values() if gap.raised_by == origin.by and gap.raised_in == self.round
        ]
        listed = set()
        for gap, said in self._raised(found, origin):
            if (kept := self.find(gap.id)) is not None:
                self._put_right(kept, said, origin.by)
                listed.add(kept.id)
        for name in first:
            gap = self.book.gaps[name]
            if name not in listed and is_open(gap):
                self.move(gap, "deferred", origin.by, _LEFT_OUT)

    def _put_right(self, gap: Gap, said: Found, by: str) -> None:
        if gap.state == "deferred" and gap.history[-1].why == _LEFT_OUT:
            gap = self.move(gap, "open", by, "listed again")
        if said.severity:
            gap = self.rate(gap, said.severity, by, "looked at again")
        blocking = gap.blocking if said.blocking is None else said.blocking
        detail, spec_lines = said.detail or gap.detail, said.about or gap.spec_lines
        self.put(replace(gap, blocking=blocking, detail=detail, spec_lines=spec_lines))

    def _raised(self, found: list[Found], origin: Origin) -> list[tuple[Gap, Found]]:
        for one in found:
            if one.id:
                self._counter.take(tidy(one.id))
        made = [(self.raise_one(one, origin), one) for one in found]
        return [(gap, one) for gap, one in made if gap is not None]

    def raise_one(self, found: Found, origin: Origin) -> Gap | None:
        """The gap as kept: new, or the one already known. None when there is nothing in it."""
        title = clip(found.title, TITLE)
        if found.id and (known := self._known.get(canonical(found.id))):
            kept = self.book.gaps[known]
            if self._is_same(kept, title):
                return self.find(known)
            fresh = self._counter.next(known.rpartition("-")[0])
            taken = f"{known} is already taken (“{clip(kept.title, 80)}”)"
            self.notice("DUPLICATE_GAP", f"{taken}; “{clip(title, 80)}” is kept as {fresh}.", fresh)
            return self._new(fresh, title, found, origin)
        if not title and not found.id:
            return None
        area = found.area or area_in(origin.parent or origin.source) or "SPEC"
        name = tidy(found.id) if found.id else self._counter.next(f"GAP-{area}")
        while canonical(name) in self._known:
            name = self._counter.next(name.rpartition("-")[0])
        return self._new(name, title or "(named without a description)", found, origin)

    def _is_same(self, kept: Gap, title: str) -> bool:
        """Whether an id met again means the gap it belongs to: restated in other words, it mostly shares some."""
        if not title or kept.title.startswith("(named"):
            if title:
                self.put(replace(kept, title=title))
            return True
        return share_words(kept.title, title)

    def _new(self, name: str, title: str, found: Found, origin: Origin) -> Gap:
        parent = found.parent or origin.parent
        whole = self.find(parent) if parent else None
        severity: Severity = found.severity or (whole.severity if whole else "MEDIUM")
        # A part that does not say is as grave as the whole, and blocks as it did: a split is no way round a rule.
        blocks = severity == "CRITICAL" or (whole is not None and whole.blocking)
        gap = Gap(
            id=name,
            title=title,
            severity=severity,
            blocking=blocks if found.blocking is None else found.blocking,
            blocked_by=tuple(tidy(one) for one in found.blocked_by if canonical(one) != canonical(name)),
            raised_by=origin.by,
            raised_in=self.round,
            lines=found.lines,
            where=at_lines(origin.file, found.lines),
            spec_lines=found.about or self._spec_lines(f"{found.title} {found.detail}"),
            parent=tidy(parent) if parent and canonical(parent) != canonical(name) else "",
            source=origin.source,
            question=found.question,
            detail=found.detail,
            history=(Moved(self.round, "open", origin.by, f"raised in {origin.file}"),),
        )
        self._known[canonical(name)] = name
        self._counter.take(name)
        self.put(gap)
        gap = self._compared(gap)
        self._remember(gap)
        if found.state is not None and is_open(gap) and origin.by == "person":  # an agent's word settles nothing
            return self.move(gap, found.state, origin.by, found.why or f"settled before, as {origin.file} says")
        if is_open(gap) and self.book.scope == "blocking" and not gap.blocking:
            gap = self.move(gap, "deferred", "the narrowed scope", "raised while only blocking gaps are worked on")
        return gap

    def _remember(self, gap: Gap) -> None:
        self._titles.add(gap.id, gap.title)
        self._by_title.setdefault(normal(gap.title), []).append(gap.id)

    def _compared(self, gap: Gap) -> Gap:
        """The same words in the same area: merged, and shown. Alike: shown only, a person decides."""
        for name in self._by_title.get(normal(gap.title), []) if normal(gap.title) else []:
            other = self.book.gaps[name]
            if other.id == gap.parent or other.into or gap.title.startswith("(named"):
                continue
            if is_open(other) and area_in(other.id) == area_in(gap.id):
                return self.merge(gap, other, "the tracker", "the same words")
            state = "the same words" if is_open(other) else f"the same words, and {other.id} is {other.state}"
            self._alike(gap, other, state)
            return gap
        near, why = self._titles.like(gap.title)
        if near and near != gap.parent and not self.book.gaps[near].into:
            self._alike(gap, self.book.gaps[near], why)
        return gap

    def _alike(self, gap: Gap, other: Gap, why: str) -> None:
        text = f"{gap.id} “{clip(gap.title, 80)}” looks like {other.id} “{clip(other.title, 80)}”: {why}."
        self.book.similar.append(Similar(gap.id, other.id, why, text))

    def restore(self, found: list[Found], origin: Origin) -> None:
        """What a list of our own says was replaced: merged gaps live on in another, split ones in their parts."""
        for one in found:
            gap = self.book.gaps.get(tidy(one.id)) if one.id and one.into else None
            others = [other for name in one.into if (other := self.find(name)) and gap and other.id != gap.id]
            if gap is None or not others or not is_open(gap):
                continue
            if one.replaced == "merged":
                self.merge(gap, others[0], origin.by, "as the list says")
            else:
                for other in others:
                    self.put(replace(other, parent=gap.id))
                names = tuple(other.id for other in others)
                self.move(replace(gap, children=names), "split", origin.by, "into " + ", ".join(names))

    def merge(self, gap: Gap, into: Gap, by: str, why: str) -> Gap:
        """`gap` lives on in `into`, which takes the graver rating and waits for what either waited for."""
        graver = min((gap.severity, into.severity), key=ORDER.index)
        waits = dict.fromkeys((*into.blocked_by, *(one for one in gap.blocked_by if one != into.id)))
        into = replace(into, severity=graver, blocking=gap.blocking or into.blocking, merged=(*into.merged, gap.id))
        blocked_by = tuple(one for one in waits if one != gap.id)
        self.put(replace(into, blocked_by=blocked_by, question=into.question or gap.question))
        gap = self.move(replace(gap, into=into.id), "merged", by, f"into {into.id}: {why}")
        self.book.merges.append(Merge(self.round, gap.id, into.id, gap.title, why, by))
        return gap

    def split(self, gap: Gap, parts: list[Found], origin: Origin) -> list[Gap]:
        """The parts are new gaps that name their parent; a split into fewer than one new part is none."""
        known = set(self.book.gaps)
        made = self.raise_all([part._replace(parent=gap.id) for part in parts], origin._replace(parent=gap.id))
        children = [one for one in made if one.id not in known and one.id != gap.id]
        if children:
            parent = self.book.gaps[gap.id]
            names = tuple(dict.fromkeys((*parent.children, *(one.id for one in children))))
            self.move(replace(parent, children=names), "split", origin.by, "into " + ", ".join(names))
        return children

    def _spec_lines(self, text: str) -> str:
        if named := _SPEC_LINES.search(text):
            return named[1] if not named[2] else f"{named[1]}–{named[2]}"
        for quoted in list(_QUOTED.finditer(text))[:5]:
            at = self._spec.find(quoted[1])
            if at >= 0:
                return str(self._spec.count("\n", 0, at) + 1)
        return ""
