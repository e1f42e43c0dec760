"""A file with its comments, as a text for an editor, and what a person made of it.

Lines that begin with `>>` are comments: `>>#` explains, `>>=` was said before, anything else is new. All others are the
file. A line of the file that begins so itself is written with a backslash before it: what an agent wrote is never taken
for a comment. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from reconvene.app.views.comment_rows import Comment
from reconvene.app.views.who import told as by_whom
from reconvene.doors.shared.comment_lines import fate, quoted, where
from reconvene.doors.shared.harmless import clean, one_line
from reconvene.language.following import is_blank, lines_of
from reconvene.language.late_patterns import late

_LOOKS_LIKE_ONE = late(r"\s*\\*>>")
_MARKED = late(r"\s*>>")
_ESCAPED = late(r"(\s*)\\(\\*>>)")
_ABOUT_SEVERAL = late(r"(\d{1,3})(?:\s+|$)")
_RETURN = "\r"


class Noted(Struct, frozen=True):
    """A new comment, and the lines of the new text that it is about."""

    text: str
    first: int
    last: int


class Reviewed(Struct, frozen=True):
    """problems: what was written and could not be taken, each with its line of the sheet."""

    text: str
    comments: tuple[Noted, ...] = ()
    problems: tuple[str, ...] = ()


def write(run: str, path: str, text: str, comments: Sequence[Comment]) -> str:
    """`comments`: those on this file."""
    lines = [f">># {line}" for line in _explained(run, path)]
    lines += [f">>= {_said(one)}: {one_line(one.text)}" for one in comments if one.outdated]
    for number, line in enumerate(_plain(text), 1):
        lines.append(_escaped(line))
        for one in comments:
            if not one.outdated and one.last == number:
                lines += _existing(one)
    return "".join(f"{line}\n" for line in lines)


def _explained(run: str, path: str) -> Iterator[str]:
    yield f"{one_line(path)} of {run}. Lines that begin with >> are comments, and not part of the file."
    yield "Write yours below the line that it is about, beginning with >> and a blank:"
    yield "   >> Which figures?          about the line above"
    yield "   >>3 Too long.              about the three lines above"
    yield "Lines of comment that follow each other are one comment; a line with only >> parts two."
    yield "Any other change of the text is your edit of the file; you are asked before it is taken."
    yield "What was said before begins with >>= and stays as it was said."
    yield "A line of the file that begins with >> itself is written as \\>> here."


def _existing(one: Comment) -> Iterator[str]:
    first, *more = clean(one.text).strip().split("\n")
    yield f">>= {_said(one)}: {first}"
    yield from (f">>=   {line}" for line in more)
    yield from (f">>=   {line}" for line in fate(one))


def _said(one: Comment) -> str:
    about = f", {where(one)} {quoted(one.quote, 60)}" if one.outdated else ""
    about += f", the {one.last - one.first + 1} lines above" if one.last > one.first else ""
    return f"{one.id} ({', '.join(filter(None, (by_whom(one.by, one.user), one.status)))}{about})"


def _plain(text: str) -> list[str]:
    return lines_of(text) if _returns(text) else text.removesuffix("\n").split("\n") if text else []


def _returns(text: str) -> bool:
    """Whether every line ends with a carriage return as well: editors see to it in their own way."""
    return "\n" in text and text.count("\n") == text.count("\r\n")


def _escaped(line: str) -> str:
    if not _LOOKS_LIKE_ONE.match(line):
        return line
    inner = len(line) - len(line.lstrip())
    return f"{line[:inner]}\\{line[inner:]}"


# --- reading it again ---


class _Block(Struct):
    after: int  # lines of the text above it
    several: int
    at: int  # its line in the sheet
    lines: list[str]


def read(sheet: str, before: str, text: str) -> Reviewed:
    """`before`: the sheet as it was written; `text`: the file that it was made of."""
    known = set(before.split("\n"))
    lines: list[str] = []
    blocks: list[_Block] = []
    problems: list[str] = []
    block: _Block | None = None
    written = sheet.removesuffix("\n").split("\n") if sheet.strip() else []
    for number, line in enumerate(written, 1):
        row = line.removesuffix(_RETURN) if _MARKED.match(line) or _returns(text) else line
        mark = _MARKED.match(row)
        if mark is None:
            block = None
            lines.append(_ESCAPED.sub(r"\1\2", row, count=1) if _ESCAPED.match(row) else row)
            continue
        body = row[mark.end() :]
        if body.startswith(("#", "=")):
            block = None
            if row not in known:
                problems.append(f"line {number}: what was said or explained stays as it is; not taken: {row.strip()}")
        elif not body.strip():
            block = None
        elif block is not None and not _ABOUT_SEVERAL.match(body):
            block.lines.append(body.removeprefix(" "))
        else:
            block = _begun(body, len(lines), number)
            blocks.append(block)
    return _reviewed(lines, blocks, problems, text)


def _begun(body: str, after: int, at: int) -> _Block:
    several = _ABOUT_SEVERAL.match(body)
    if several is None:
        return _Block(after, 1, at, [body.removeprefix(" ")])
    return _Block(after, max(int(several[1]), 1), at, [body[several.end() :]])


def _reviewed(lines: list[str], blocks: list[_Block], problems: list[str], text: str) -> Reviewed:
    found: list[Noted] = []
    for block in blocks:
        said = "\n".join(block.lines).strip()
        last = _nearest(lines, block.after)
        if not said:
            continue
        if not last:
            problems.append(f"line {block.at}: there is no line that this could be about; not taken: {said}")
            continue
        found.append(Noted(said, max(1, last - block.several + 1), last))
    ends = "\r\n" if _returns(text) else "\n"
    made = ends.join(lines) + (ends if lines and (text.endswith("\n") or not text) else "")
    return Reviewed(made, tuple(found), tuple(problems))


def _nearest(lines: Sequence[str], after: int) -> int:
    """The line with something in it above this place, else the first below; from 1, 0 = there is none."""
    above = [number for number in range(after, 0, -1) if not is_blank(lines[number - 1])]
    below = [number for number in range(after + 1, len(lines) + 1) if not is_blank(lines[number - 1])]
    return next(iter((*above, *below)), 0)
