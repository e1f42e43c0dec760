"""What changed, at a terminal: a diff in colours with the person's pager, one key away from the decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconvene.doors.cli.text import clean

if TYPE_CHECKING:
    from questionary import Question

KEY = "d"
_PLAIN = "\x1b[0m"
_COLOURS = (
    ("diff --git ", "\x1b[1;36m"), ("+++ ", "\x1b[1m"), ("--- ", "\x1b[1m"), ("@@", "\x1b[36m"), ("+", "\x1b[32m"),
    ("-", "\x1b[31m"), ("\\", "\x1b[33m"),
)  # fmt: skip


def of(files: Sequence[str]) -> str:
    """Among the files of a checkpoint, the one that is a diff; "" for none."""
    return next((path for path in files if path.endswith((".diff", ".patch"))), "")


def coloured(diff: str) -> str:
    """Harmless first, so that the colours are ours."""
    return "\n".join(_line(line) for line in clean(diff).split("\n"))


def _line(line: str) -> str:
    colour = next((colour for start, colour in _COLOURS if line.startswith(start)), "")
    return f"{colour}{line}{_PLAIN}" if colour else line


def with_key(question: Question, result: object) -> Question:
    """The same question, which this key answers at once."""
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings

    own = KeyBindings()

    @own.add(KEY, eager=True)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=result)

    application = question.application
    known = application.key_bindings
    application.key_bindings = merge_key_bindings([known, own]) if known is not None else own
    return question
