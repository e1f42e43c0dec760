"""What stands on the first screen of a checkpoint, once."""

from __future__ import annotations

import pytest

from reconvene.doors.shared.passages import to_read

from .made import checkpoint


@pytest.mark.parametrize(
    ("prompt", "rest"),
    [
        ("Go on?", ""),
        ("All is well.\n\nGo on?", "All is well."),
        ("Go on?\n\n! A part cannot be shown.", "! A part cannot be shown."),
        ("Go on? Perhaps.", "Go on? Perhaps."),
        ("All is well.", "All is well."),
    ],
)
def test_a_question_that_is_shown_apart_is_not_repeated(prompt: str, rest: str) -> None:
    found = to_read(checkpoint(prompt=prompt, question="Go on?"))
    assert "\n\n".join(one.text for one in found) == rest
