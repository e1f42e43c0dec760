"""Words on their way to a terminal or a script: made harmless, laid out, never interpreted.

What agents write is not trusted: no escape sequence, control character or direction override of theirs reaches a
terminal. Imports nothing heavy, so that `inbox` stays quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from reconvene.doors.shared.harmless import UNSEEN, clean, nearest, one_line
from reconvene.language.late_patterns import late

__all__ = ["clean", "clock_time", "column_widths", "columns", "command_line", "fitted", "folded", "harmless_json",
           "nearest", "one_line", "screen_width", "table", "to_json", "ungated", "wrapped"]  # fmt: skip

_RAW_IN_JSON = late(f"[{UNSEEN}]")
_LAID_OUT = late(r"[|│#>]|```|~~~|---|===|──")
_LISTED = late(r"(?P<indent>\s*(?:[-*•▸]\s+|\d+\.\s+)?)(?P<rest>.*)")


def wrapped(text: str, less: int = 0) -> str:
    """Prose broken between words at the edge of the screen. Indented lines and list items keep their places; headings,
    tables and code stay as they are, and a line that ends with two blanks ends there. `less`: columns to leave free."""
    import shutil
    import textwrap

    width = max(shutil.get_terminal_size().columns - 1 - less, 20)

    def filled(line: str, hang: str) -> str:
        return textwrap.fill(line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)

    done: list[str] = []
    prose: list[str] = []
    code = False

    def end_paragraph() -> None:
        if prose:
            done.append(filled(" ".join(prose), ""))
            prose.clear()

    for line in [*text.split("\n"), ""]:
        listed = _LISTED.fullmatch(line)
        hang = " " * len(listed["indent"]) if listed else ""
        code ^= line.startswith(("```", "~~~"))
        as_is = code or bool(_LAID_OUT.match(line))
        if line.strip() and not hang and not as_is:
            prose.append(line)
            if line.endswith("  "):  # as in Markdown: the line ends here
                end_paragraph()
            continue
        end_paragraph()
        done.append(line if as_is else filled(line, hang))
    return "\n".join(done[:-1])


def screen_width() -> int:
    """COLUMNS, else the terminal's own width, else 100. (`shutil` knows too, and takes long to import.)"""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 100
    except (OSError, ValueError):
        return 100


def harmless_json(encoded: str) -> str:
    """JSON leaves C1 controls and direction overrides as they are; a terminal would act on them."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)


def to_json(value: object, **more: object) -> str:
    """`more`: further keys beside those of the value."""
    from reconvene.app.views.encoding import encoded

    return harmless_json(encoded(value, **more))


def table(rows: Sequence[Sequence[object]], head: Sequence[str], width: int) -> Iterable[str]:
    """Columns as wide as they need be; the last one is cut at the edge of the screen."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = column_widths([list(head), *cells])
    room = max(width - sum(wide + 2 for wide in widths[:-1]), 12)
    for row in [list(head), *cells]:
        padded = [cell + " " * (wide - columns(cell)) for cell, wide in zip(row[:-1], widths)]
        yield "  ".join([*padded, fitted(row[-1], room)]).rstrip()


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(columns(row[column]) for row in rows) for column in range(len(rows[0]))]


def columns(text: str) -> int:
    """How many columns of a screen a line takes: Chinese characters and emoji take two, accents none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    from unicodedata import category, east_asian_width

    return 0 if category(char) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(char) in "WF")


def fitted(text: object, width: int) -> str:
    """On one line, cut so that it takes at most `width` columns."""
    line = one_line(text)
    if columns(line) <= width:
        return line
    taken, kept = 0, ""
    for char in line:
        taken += columns(char)
        if taken > width - 1:
            break
        kept += char
    return kept + "…"


def folded(text: str) -> str:
    """Each line broken between words at the edge of the screen; none is joined with another. The rest of one behind a
    bar stands behind a bar, too."""
    import textwrap

    from reconvene.doors.shared.passages import BAR

    width = max(screen_width() - 1, 20)

    def fold(line: str) -> str:
        if columns(line) <= width:
            return line
        bar = f"{BAR} " if line.startswith(BAR) else ""
        return textwrap.fill(
            line,
            width,
            subsequent_indent=bar,
            break_long_words=bool(bar),
            break_on_hyphens=False,
            replace_whitespace=False,
        )

    return "\n".join(map(fold, text.split("\n")))


def clock_time(at: str) -> str:
    """`2026-11-15T21:45:03.120Z` → `2026-11-15 21:45:03 UTC`"""
    return f"{at[:19].replace('T', ' ')} UTC" if at else "now"


def ungated(agents: Sequence[str]) -> str:
    """That gates ask a model while none is set."""
    whose = f"gates of {', '.join(agents)} ask"
    return f"{whose} a model, and none is set: they pass unasked. export RECONVENE_GATE_MODEL=PROVIDER:NAME sets one"


def command_line(*words: str) -> str:
    """A command that can be pasted into a shell."""
    import shlex

    return " ".join(shlex.quote(clean(word).replace("\n", " ")) for word in ("reconvene", *words))
