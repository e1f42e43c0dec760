"""What comments are about, for agents: the file, where the lines stand now, and the lines.

The lines are an agent's words as often as not. So they stand in a section of their own, as material, and never where
the person speaks: there, a comment is named by its id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Anchor, RemarkAdded
from reconvene.core.facts.state import RunState
from reconvene.core.shown.anchors import Standing, standing
from reconvene.language.diff_places import place_in

_MOST = 100  # the newest; the person's words are all told in any case
_LONGEST = 2_000  # characters of a quote


def lines(state: RunState, book: Book, numbers: Sequence[int]) -> str:
    """Of these remarks, those on lines of a file. "" where there are none."""
    on_lines = book.told(state.record, "on lines", lambda remark: remark.anchor is not None)
    about = [state.record.remarks[number] for number in numbers if on_lines[number - 1]]
    if not about:
        return ""
    told = [_told(state, book, remark) for remark in about[-_MOST:]]
    left_out = [f"… {len(about) - _MOST} older ones are left out"] if len(about) > _MOST else []
    return "\n\n".join(["## What the comments are about", *left_out, *told])


def _told(state: RunState, book: Book, remark: RemarkAdded) -> str:
    assert remark.anchor is not None
    if remark.origin:
        return f"[{remark.id}] {remark.anchor.path} of another run, {remark.origin}:\n{_quoted(remark.anchor.quote)}"
    now = standing(state, book, remark.anchor, remark.at)
    told = [f"[{remark.id}] {one}" for one in _where(remark.anchor, now)]
    return "\n".join(told + _changed(state, book, now, now.path or remark.anchor.path))


def _changed(state: RunState, book: Book, now: Standing, diff: str) -> list[str]:
    """A comment on a diff is about the file that the diff is of."""
    version = state.world.files.get(diff)
    if now.place is None or version is None or not diff.endswith((".diff", ".patch")):
        return []
    path, line = place_in(book.text(version.digest), now.place.first)
    return [f"That is {path}, line {line}."] if line else []


def _where(anchor: Anchor, now: Standing) -> Iterator[str]:
    under = f", under “{_plain(anchor.heading)}”" if anchor.heading else ""
    quote, place, path = _quoted(anchor.quote), now.place, now.path or anchor.path
    if place is None:
        gone = "the file is gone" if now.gone else f"it does not stand in {anchor.path} any more"
        yield f"outdated: {gone}. It was {anchor.path}, {_lines(anchor.first, anchor.last)}{under}:\n{quote}"
    elif place.same:
        yield f"{path}, {_lines(place.first, place.last)}:\n{_quoted(now.text)}"
    else:
        here = f"{anchor.path}, {_lines(place.first, place.last)}"
        yield f"{here}. The person saw:\n{quote}\nNow it says:\n{_quoted(now.text)}"


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _quoted(text: str) -> str:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text) - _LONGEST} more characters)"
    return "\n".join(f"> {line}".rstrip() for line in shown.splitlines())


def _plain(heading: str) -> str:
    return " ".join(heading.lstrip("# ").split())
