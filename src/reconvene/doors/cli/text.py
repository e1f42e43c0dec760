"""Words on their way to a terminal or a script: made harmless, laid out, never interpreted.

What agents write is not trusted: no escape sequence, control character or direction override of theirs reaches a
terminal. Imports nothing heavy, so that `inbox` stays quick.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

# Whole sequences first (CSI, OSC and its kin, two-byte escapes), so that their parameters do not stay behind as litter.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_UNSEEN = "\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_CONTROLS = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSEEN}]")
_RAW_IN_JSON = re.compile(f"[{_UNSEEN}]")


def clean(text: object) -> str:
    """Text with line breaks and tabs, and nothing else that a terminal would act upon."""
    plain = str(text).replace("\r\n", "\n")
    return _CONTROLS.sub("", _SEQUENCES.sub("", plain))


def one_line(text: object, width: int = 0) -> str:
    """The same on one line, cut at `width` (0 = never)."""
    joined = " ".join(clean(text).split())
    return joined if not width or len(joined) <= width else joined[: max(width - 1, 1)] + "…"


_TALK = 400  # characters of one entry; the log has them all


def talk_line(row: Mapping[str, object]) -> str:
    """`ann: question 2 makes no sense`, `brainstormer presented: 4 items`, `ann chose “Discuss”`"""
    said = str(row.get("text") or "")
    text = one_line("; ".join(said.split("\n")) if row.get("kind") == "answer" else said, _TALK)
    who = one_line(row.get("who") or "the person")
    match row.get("kind"):
        case "remark":
            return f"{who}: {text} [{row.get('id')}]"
        case "output":
            return f"{who} presented: {text}"
        case "answer" if who == "reconvene":
            return f"set aside: {text}"
        case "answer":
            return f"{who} answered: {text}"
        case "decision":
            return f"{who} chose “{text}”"
    return f"{who} {text}"


def talk_lines(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The talk in lines. That somebody who spoke then chose to discuss goes without saying."""
    spoken = [row for row, before in zip(rows, [{}, *rows]) if not _goes_without_saying(row, before)]
    return [talk_line(row) for row in spoken]


def _goes_without_saying(row: Mapping[str, object], before: Mapping[str, object]) -> bool:
    same = row.get("who") == before.get("who") and row.get("round") == before.get("round")
    return same and row.get("kind") == "decision" and before.get("kind") == "remark"


def talk_before(rows: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
    """What was said before what is presented now: that is shown anyway, and what was said about it beside it."""
    last = max((at for at, row in enumerate(rows) if row.get("kind") == "output"), default=0)
    return rows[:last]


_LAID_OUT = re.compile(r"[|#>]|```|~~~|---|===|──")
_LISTED = re.compile(r"(?P<indent>\s*(?:[-*•▸]\s+|\d+\.\s+)?)(?P<rest>.*)")


def wrapped(text: str) -> str:
    """Prose broken between words at the edge of the screen. Indented lines and list items keep their places; headings,
    tables and code stay as they are, and a line that ends with two blanks ends there."""
    import shutil
    import textwrap

    width = max(shutil.get_terminal_size().columns - 1, 20)

    def filled(line: str, hang: str) -> str:
        return textwrap.fill(line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)

    done: list[str] = []
    prose: list[str] = []
    code = False
    for line in [*text.split("\n"), ""]:
        listed = _LISTED.fullmatch(line)
        hang = " " * len(listed["indent"]) if listed else ""
        code ^= line.startswith(("```", "~~~"))
        as_is = code or bool(_LAID_OUT.match(line))
        if line.strip() and not hang and not as_is:
            prose.append(line)
            if line.endswith("  "):  # as in Markdown: the line ends here
                done.append(filled(" ".join(prose), ""))
                prose = []
            continue
        if prose:
            done.append(filled(" ".join(prose), ""))
            prose = []
        done.append(line if as_is else filled(line, hang))
    return "\n".join(done[:-1])


def harmless_json(encoded: str) -> str:
    """JSON leaves C1 controls and direction overrides as they are; a terminal would act on them."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)


def to_json(value: object) -> str:
    return harmless_json(json.dumps(value, ensure_ascii=False, default=str))


def table(rows: Sequence[Sequence[object]], head: Sequence[str], width: int) -> Iterable[str]:
    """Columns as wide as they need be; the last one is cut at the edge of the screen."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [list(head), *cells]) for column in range(len(head))]
    for row in [list(head), *cells]:
        padded = [cell.ljust(wide) for cell, wide in zip(row[:-1], widths)]
        room = max(width - sum(len(cell) + 2 for cell in padded), 12)
        yield "  ".join([*padded, one_line(row[-1], room)]).rstrip()


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean …?`, or what there is."""
    import difflib

    names = [clean(name) for name in known]
    close = difflib.get_close_matches(word.casefold(), [name.casefold() for name in names], n=1, cutoff=0.5)
    if close:
        found = next(name for name in names if name.casefold() == close[0])
        return f"did you mean {found}?"
    return f"there is: {', '.join(names)}" if names else ""


def command_line(*words: str) -> str:
    """A command that can be pasted into a shell."""
    import shlex

    return " ".join(shlex.quote(clean(word).replace("\n", " ")) for word in ("reconvene", *words))
