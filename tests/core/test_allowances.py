"""A pattern that does not allow the call that it was made from: the person is told why."""

from __future__ import annotations

import pytest

from reconvene.core.facts.events import ToolAllowed
from reconvene.core.working import allowances

CALL = {"command": "echo second >> check.txt", "seconds": 5}


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ({"command": "echo *"}, "Every argument must be named: seconds is missing."),
        ({"command": "*", "seconds": "5", "cwd": "*"}, "The call has no argument cwd."),
        (
            {"command": "*", "seconds": "*"},
            "In command, * stands for nothing that a shell gives a meaning to, here >: write it out.",
        ),
        (
            {"command": "echo * >> check.txt", "seconds": "6*"},
            "seconds is '5', which does not have the form '6*'.",
        ),
    ],
)
def test_why_a_pattern_does_not_fit_is_said(pattern: dict[str, str], why: str) -> None:
    rule = ToolAllowed(at="", id="A1", agent="worker", tool="run_command", arguments=pattern)
    assert not allowances.allows(rule, "worker", "run_command", CALL)
    assert allowances.why_not(pattern, CALL) == why
