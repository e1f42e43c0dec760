"""Taking what an agent thought out of what it said. Pure text work; it knows no provider.

Many models write their thinking into the reply, between `<think>` and `</think>` or tags like it. How that is told from
a document that only mentions such a tag:

- A block at the very beginning of a reply is thinking. Without a closing tag, all of it is.
- Further on, a block is thinking if it is closed. In the middle of a line, what reads like a sentence about the tags is
  text: nothing that is a word, or a few words with blanks on both sides (`<think> and </think>`). So is all of a reply
  that is JSON.
- A block in a block ends where the outer one does, if that is in the same paragraph and nothing is quoted before it.
- Models that write in channels (`<|channel|>analysis … <|channel|>final …`) say what stands in the channel `final`.
- A closing tag that was never opened ends the thinking of a model whose opening tag was part of the prompt: only if it
  stands alone in its line, or a blank line, JSON or a code fence follows it. Everything before it goes.
- What stands in a code fence, in `code` or in a `<file>` block is never thinking; inside a block of thinking, neither
  fences nor `code` mean anything.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import msgspec

_NAMES = r"think|thinking|thought|thoughts|reasoning|seed:think"
_OPEN = re.compile(rf"<({_NAMES})(?:\s[^<>\n]*)?>|\[(THINK)\]", re.IGNORECASE)
_CLOSE = re.compile(rf"</({_NAMES})\s*>|\[/(THINK)\]", re.IGNORECASE)
_TAG = re.compile(f"{_OPEN.pattern}|{_CLOSE.pattern}", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_FILE = re.compile(r"<file\s+path\s*=[^>\n]*>|</file>")
_CODE = re.compile(r"(`+)[^`\n]+\1")
_SPACE = re.compile(r"\s*")
_LINE_ENDS = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_BREAKS = re.compile(r"[\r\n]*")
_MOST_LOOKS = 20
_FARTHEST = 2_000  # characters between the ends of an inner and an outer block
_NEW_PART = re.compile(r"\n[ \t]*\r?\n|`")
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(analysis|commentary|final)\b(?:[^<\n]{0,200}(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>)?"
)
_ENDS_CHANNEL = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_MENTION = re.compile(r"\W*|[ \t]+(?:\S+[ \t]+){1,6}")
_AFTER_THINKING = re.compile(r"[ \t]*(?:\r?\n[ \t]*(?:\r?\n|\Z)|\s*(?:[{\[]|`{3})|\Z)")


class Split(NamedTuple):
    text: str  # what was said
    thought: bool  # whether something was taken out


def without_thinking(reply: str) -> Split:
    """What is left of a reply; the text as it is where nothing was thought in it."""
    text = _final(reply)
    for _ in range(_MOST_LOOKS):
        shorter = _unopened(_leading(text))
        if shorter == text:
            shorter = _later(text)
        if shorter == text and not _is_json(text):
            shorter = _within(text)
        if shorter == text:
            break
        text = shorter
    return Split(reply, False) if text == reply else Split(text.strip("\r\n"), True)


def without_any(reply: str) -> str:
    """Without every block, also in the middle of a line, and without one that is never closed."""
    kept: list[str] = []
    position = 0
    while opening := _OPEN.search(reply, position):
        kept.append(reply[position : opening.start()])
        closing = _closing(reply, opening)
        if closing is None:
            return "".join(kept)
        position = closing.end()
    return "".join(kept) + reply[position:]


def _leading(text: str) -> str:
    """Without the blocks that it begins with."""
    position = 0
    while opening := _OPEN.match(text, _SPACE.match(text, position).end()):  # type: ignore[union-attr]
        closing = _closing(text, opening)
        if closing is None:
            return ""
        position = closing.end()
    return text[position:]


def _unopened(text: str) -> str:
    """Without what stands before closing tags that have no opening one."""
    if not _CLOSE.search(text):
        return text
    quoted = _Quoted(text)
    opened = {_name(one): one.start() for one in reversed(list(_OPEN.finditer(text))) if one.start() not in quoted}
    position = 0
    for closing in _CLOSE.finditer(text):
        if closing.start() in quoted or opened.get(_name(closing), len(text)) < closing.start():
            continue
        if _alone(text, closing):
            position = closing.end()
    return text[position:]


def _later(text: str) -> str:
    """Without closed blocks whose opening tag begins a line."""
    if not _OPEN.search(text):
        return text
    quoted = _Quoted(text)
    closed = {_name(one): one.end() for one in _CLOSE.finditer(text)}  # where the last tag of each name ends
    kept: list[str] = []
    position = 0
    for opening in _OPEN.finditer(text):
        if opening.start() < position or opening.start() in quoted or not _begins_line(text, opening.start()):
            continue
        closing = _closing(text, opening) if closed.get(_name(opening), 0) > opening.end() else None
        if closing is None:
            continue
        kept.append(text[position : opening.start()])
        position = _BREAKS.match(text, closing.end()).end()  # type: ignore[union-attr]
        if "```" in text[opening.end() : closing.start()]:
            break  # it may have hidden where the rest quotes: look again
    return "".join(kept) + text[position:]


def _within(text: str) -> str:
    """Without closed blocks in the middle of lines."""
    if not _OPEN.search(text):
        return text
    quoted = _Quoted(text)
    kept: list[str] = []
    position = 0
    for opening, closing in _pairs(text, quoted):
        if opening.start() < position or _MENTION.fullmatch(text, opening.end(), closing.start()):
            continue
        before = text[position : opening.start()]
        kept.append(before)
        position = closing.end()
        if before.endswith((" ", "\t")) and text[position : position + 1] in (" ", "\t"):
            position += 1
    return "".join(kept) + text[position:]


def _pairs(text: str, quoted: _Quoted) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Opening tags with the next closing one of the same name, without those that are quoted."""
    tags = sorted([*_OPEN.finditer(text), *_CLOSE.finditer(text)], key=lambda tag: tag.start())
    waiting: dict[str, re.Match[str]] = {}
    for tag in tags:
        if tag.start() in quoted:
            continue
        if tag.re is _OPEN:
            waiting.setdefault(_name(tag), tag)
        elif opening := waiting.pop(_name(tag), None):
            yield opening, tag


def _final(text: str) -> str:
    """Of a reply in channels, what stands in the last `final` one; without such a channel, what stands before them."""
    if "<|channel|>" not in text:
        return text
    quoted = _Quoted(text)
    channels = [one for one in _CHANNEL.finditer(text) if one.start() not in quoted]
    if not channels:
        return text
    final = next((one for one in reversed(channels) if one[1] == "final"), None)
    if final is None:
        return text[: channels[0].start()].removesuffix("<|start|>assistant")
    end = next((one for one in _ENDS_CHANNEL.finditer(text, final.end()) if one.start() not in quoted), None)
    return text[final.end() : end.start() if end else len(text)].lstrip(" ")


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _closing(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    """The end of a block: its first closing tag, or a later one where blocks of the same name lie in it."""
    name, deep, first, limit = _name(opening), 1, None, len(text)
    for tag in _TAG.finditer(text, opening.end()):
        if tag.start() >= limit:
            break
        if (tag[1] or tag[2] or tag[3] or tag[4]).lower() != name:
            continue
        closes = tag[0][1] == "/"
        deep += -1 if closes else 1
        if deep == 0:
            return _CLOSE.match(text, tag.start())
        if closes and first is None:
            first, limit = tag, min(limit, tag.end() + _FARTHEST)
            part = _NEW_PART.search(text, tag.end(), limit)
            limit = part.start() if part else limit
    return _CLOSE.match(text, first.start()) if first else None


def _name(tag: re.Match[str]) -> str:
    return (tag[1] or tag[2]).lower()


def _begins_line(text: str, position: int) -> bool:
    while position > 0 and text[position - 1] in " \t":
        position -= 1
    return position == 0 or text[position - 1] == "\n"


def _alone(text: str, closing: re.Match[str]) -> bool:
    if _begins_line(text, closing.start()) and _LINE_ENDS.match(text, closing.end()):
        return True
    return _AFTER_THINKING.match(text, closing.end()) is not None


class _Quoted:
    """Where a text quotes: closed code fences, `<file>` blocks, `code`."""

    def __init__(self, text: str) -> None:
        spans = sorted([*_fences(text), *_files(text), *(match.span() for match in _CODE.finditer(text))])
        self._starts = [start for start, _ in spans]
        self._ends = list(accumulate((end for _, end in spans), max))

    def __contains__(self, position: int) -> bool:
        before = bisect_right(self._starts, position)
        return before > 0 and position < self._ends[before - 1]


def _fences(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            opening = line
        elif line[1].startswith(opening[1]) and not line[2].strip():
            spans.append((opening.start(), line.end()))
            opening = None
    return spans


def _files(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    began: int | None = None
    for tag in _FILE.finditer(text):
        if tag[0] != "</file>":
            began = tag.start() if began is None else began
        elif began is not None:
            spans.append((began, tag.end()))
            began = None
    return spans
