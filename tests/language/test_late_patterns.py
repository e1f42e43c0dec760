"""A pattern that is compiled late is like any other, and compiled once."""

from __future__ import annotations

import re

import pytest

from reconvene.language.late_patterns import late


def test_it_finds_what_the_pattern_finds() -> None:
    pattern = late(r"(?P<word>[a-z]+)\d", re.IGNORECASE)
    assert pattern.sub("-", "Ab1 cd2") == "- -"
    found = pattern.match("Ab1")
    assert found is not None
    assert found["word"] == "Ab"
    assert pattern.pattern == r"(?P<word>[a-z]+)\d"


def test_it_is_compiled_when_it_is_first_used_and_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    compiled = re.compile
    monkeypatch.setattr(re, "compile", lambda source, flags=0: (made.append(source), compiled(source, flags))[1])
    pattern = late("a+")
    assert made == []
    assert [pattern.findall("aa b a") for _ in range(3)] == [["aa", "a"]] * 3
    assert made == ["a+"]
