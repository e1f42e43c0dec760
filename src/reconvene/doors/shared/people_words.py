"""What people, teams and accounts may be called."""

from __future__ import annotations

from reconvene.core.facts.named_people import TEAM
from reconvene.errors import UserError

_MOST = 60  # characters


def one_word(what: str, text: str) -> str:
    """`what`: "a name"."""
    if not text.strip() or len(text) > _MOST or not text.isprintable() or any(sign.isspace() for sign in text):
        raise UserError(f"{text!r} cannot be {what}", hint="use one word, such as ada")
    if text.startswith(TEAM):
        raise UserError(f"{text!r} cannot be {what}", hint=f"leave out {TEAM}: checkpoints name teams so")
    return text
