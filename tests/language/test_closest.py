"""Which word may have been meant: a slip of the fingers is found, a word that only looks alike is not named."""

from __future__ import annotations

import pytest

from reconvene.language.closest import closest


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("writter", ["writer", "reviewer"], "writer"),
        ("reviwer", ["writer", "reviewer"], "reviewer"),
        ("Writer", ["writer"], "writer"),
        ("agent", ["agents", "always"], "agents"),
        ("prmopt", ["prompt", "phases"], "prompt"),
        ("prompt_file", ["prompt", "phases"], "prompt"),
        ("desc", ["description"], ""),  # not alike enough
        ("descr", ["description"], "description"),
        ("ollam", ["ollama", "openai"], "ollama"),
        ("ids", ["id"], "id"),
    ],
)
def test_a_slip_is_found(typed: str, known: list[str], meant: str) -> None:
    assert closest(typed, known) == ([meant] if meant else [])


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        ("temperature", ["template", "pause"]),
        ("loops", ["tools", "log"]),
        ("instructions", ["section", "runs"]),
        ("needs", ["reads", "rounds"]),
        ("role", ["rules", "rollback"]),
        ("list", ["limits"]),
        ("cancel", ["accept"]),
        ("continue", ["condition", "completion"]),
        ("format", ["from", "fork"]),
    ],
)
def test_what_only_looks_alike_is_not_named(typed: str, known: list[str]) -> None:
    assert closest(typed, known, 3, cutoff=0.5) == []
