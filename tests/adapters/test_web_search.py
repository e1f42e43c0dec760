"""A program that searches the web for the companion: no secret goes out with a query, and none comes back."""

from __future__ import annotations

import os

import pytest

from reconvene.adapters.web_search import CommandSearch
from reconvene.errors import UserError

KEY = "sk-of-the-model-4242"


def search(command: str, asked: list[str]) -> CommandSearch:
    environ = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": KEY}
    return CommandSearch(command, environ, lambda query: not asked.append(query))


def test_a_secret_is_neither_asked_for_nor_told() -> None:
    asked: list[str] = []
    found = search("""sh -c 'echo "$1, with $OPENAI_API_KEY"' sh""", asked).search(f"herons  and {KEY}")
    assert asked == ["herons and [redacted]"]
    assert found == "herons and [redacted], with [redacted]\n"


def test_what_a_failing_program_says_is_told_without_secrets() -> None:
    with pytest.raises(UserError, match=r"sh failed with code 3: it was \[redacted\]"):
        search("""sh -c 'echo "it was $OPENAI_API_KEY" >&2; exit 3' sh""", []).search("x")
