"""Names that the check accepts are null in templates until there is something behind them, and no error."""

from __future__ import annotations

import pytest

from reconvene.core.shown.scope import render as render_with
from reconvene.language.as_text import Growing
from reconvene.language.templates import TemplateError, render
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

WORKFLOW = """
name: grows
agents: {a: {}}
phases:
  - {id: first, checkpoint: {fields: [{id: budget, type: number}]}}
  - {id: loop, each: {of: "['x']"}, phases: [{id: d, agents: [a], output: text}]}
  - {id: last, agents: [a], output: later}
"""
LATER = (
    "items.loop", "items.loop.a", "items.loop.a.text", "items.loop.items()", "items['loop']", "drafts.budget",
    "inputs.feature", "inputs.feature.flags", "context.inputs.feature", "rounds_by_phase.last",
    "context.phases.skipped.last", "context.phases.iteration_counts.last", "context.phases.ended.last", "up.last",
    "up.last.round.n",
)  # fmt: skip


@pytest.mark.parametrize("name", LATER)
def test_a_name_that_is_checked_is_null_until_it_is_there(name: str) -> None:
    game = Play(parse_workflow(WORKFLOW, "w.yaml", {}))
    failed: list[str] = []
    template = f"<{{{{ {name} | join }}}}>{{{{ {name}|length }}}}"
    assert render_with(template, game.state, game.book, failed.append) == "<>0"
    assert failed == []


def test_a_name_that_never_comes_is_an_error() -> None:
    scope = {"counts": Growing({"a": 1}, ("a", "b"))}
    assert render("{{ counts.a }}{{ counts.b }}{{ counts['b'].x }}", scope) == "1"
    with pytest.raises(TemplateError, match="'c' is not there"):
        render("{{ counts.c }}", scope)
