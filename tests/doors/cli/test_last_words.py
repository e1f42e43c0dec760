"""How a run ends is never said in silence: an `outcome` that fails asks, a `closing` that fails says why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command

WORKFLOW = """\
name: last
inputs: {feature: json}
outcome: "inputs.feature.flags.length ? 'shipped' : {status: 'failed', why: 'no flags'}"
closing: "{{ inputs.feature.flags|sort(attribute='n')|join }}{{ 'x' + 1 }}"
phases:
  - {id: only}
"""


@pytest.fixture
def last(folder: Path) -> str:
    (folder / "last.yaml").write_text(WORKFLOW, encoding="utf-8")
    return "last.yaml"


def test_an_outcome_that_fails_asks_a_person(reconvene: Command, last: str) -> None:
    done = reconvene("run", last)
    assert done.code == 3
    assert "last-1 is waiting" in done.out
    assert "(outcome) failed: TypeError: cannot read property 'flags'" in " ".join(done.out.split())
    assert "Count it as" not in done.out
    ended = reconvene("decide", "last-1", "--option", "Go on without")
    assert ended.code == 0
    assert "last-1 is completed" in ended.out
    assert "Its outcome is not known" in reconvene("show", "last-1").out


def test_the_person_may_stop_the_run_instead(reconvene: Command, last: str) -> None:
    reconvene("run", last)
    assert "last-1 is aborted" in reconvene("decide", "last-1", "--option", "Stop the run").out


def test_closing_words_that_fail_say_why(reconvene: Command, last: str) -> None:
    done = reconvene("run", last, "--input", 'feature={"flags": [1]}')
    assert done.code == 0
    assert "last-1 is completed (shipped)" in done.out
    assert "! the workflow's closing words failed: line 1:" in done.out
