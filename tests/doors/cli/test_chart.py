"""The chart of open gaps: drawn in a given width, with shades or with plain characters."""

from __future__ import annotations

import io

import pytest

from reconvene.doors.cli.gaps import PLAIN, SHADES, draw, marks

NAMES = ("CRITICAL", "HIGH", "MEDIUM", "LOW")


def row(label: str, *counts: int) -> tuple[str, dict[str, int]]:
    return label, dict(zip(NAMES, counts, strict=True))


def test_a_row_has_a_cell_for_each_gap_and_says_what_they_are() -> None:
    assert list(draw([row("start", 1, 2, 0, 3), row("round 1", 0, 0, 0, 0)], NAMES, 80, PLAIN)) == [
        "  start    #==...  6: 1 critical, 2 high, 3 low",
        "  round 1          0",
        "           # critical  = high  + medium  . low",
    ]


@pytest.mark.parametrize("width", [20, 80, 200])
@pytest.mark.parametrize("signs", [SHADES, PLAIN])
def test_many_gaps_are_drawn_to_scale_and_the_few_still_show(width: int, signs: str) -> None:
    lines = list(draw([row("start", 1, 200, 300, 400), row("round 1", 0, 0, 1, 0)], NAMES, width, signs))
    assert all(sign in lines[0] for sign in signs)
    assert signs[2] in lines[1]
    if width >= 80:
        assert max(map(len, lines)) <= width


def test_nothing_to_draw_draws_nothing() -> None:
    assert list(draw([], NAMES, 80, SHADES)) == []


@pytest.mark.parametrize(
    ("name", "value", "encoding", "wanted"),
    [
        ("TERM", "xterm", "utf-8", SHADES),
        ("TERM", "dumb", "utf-8", PLAIN),
        ("NO_COLOR", "1", "utf-8", PLAIN),
        ("NO_COLOR", "", "utf-8", SHADES),
        ("TERM", "xterm", "ascii", PLAIN),
    ],
)
def test_plain_characters_are_used_where_shades_cannot_or_should_not(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, encoding: str, wanted: str
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert marks() == wanted
