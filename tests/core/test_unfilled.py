"""A question that cannot be filled in: people read which part, why and what to do, and never braces."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.acceptance.support.stage import Stage

from reconvene.wire.workflow_file import load_workflow

ASKS = """
name: w
agents: {{a: {{}}}}
phases:
  - id: one
    steps: [{{agents: [a], output: plan}}]
    checkpoint:
      prompt: {prompt}
      show_files: ["{{{{ context.plan.file }}}}", "draft.md"]
      options:
        - {{label: Fine, then: continue}}
        - {{label: No, when: "false", why_not: "Not {{{{ context.plan.reason }}}} yet", then: continue}}
"""


def asked(tmp_path: Path, prompt: str) -> Stage:
    file = tmp_path / "asks.yaml"
    file.write_text(ASKS.format(prompt=prompt), encoding="utf-8")
    stage = Stage(tmp_path / "home", file.read_text(), {"a": '{"title": "A"}'})
    stage.run = stage.engine.start(load_workflow(file), by="ann")
    stage.drive()
    return stage


def test_the_parts_that_can_be_shown_are_and_the_rest_says_why(tmp_path: Path) -> None:
    stage = asked(tmp_path, '"Is {{ context.plan.title }} good, {{ context.plan.titel | upper }}?"')
    shown = stage.point.prompt
    assert shown.startswith("Is A good, (not shown: 'titel' is not there; did you mean 'title'?)?\n")
    assert "! A part of this question cannot be shown: `context.plan.titel | upper`: 'titel' is not there" in shown
    assert f"What there is: reconvene show {stage.run}\n" in shown
    assert shown.endswith(f"in asks.yaml, line 8, then: reconvene upgrade {stage.run} --to asks.yaml")


@pytest.mark.parametrize(
    ("prompt", "part"),
    [
        ('"{% for one in context.plan.many %}{{ one }}{% endfor %}"', "for one in context.plan.many"),
        ('"{% if 1 %}{{ context.plan.titel + 1 }}{% endif %}"', "if 1"),
    ],
)
def test_a_question_with_loops_and_conditions_says_where_it_failed(tmp_path: Path, prompt: str, part: str) -> None:
    shown = asked(tmp_path, prompt).point.prompt
    assert shown.startswith("(not shown: ")
    assert f"cannot be shown: `{part}`: " in shown


def test_no_braces_reach_a_person(tmp_path: Path) -> None:
    point = asked(tmp_path, '"{{ context.plan.none.of.it }}"').point
    told = [point.prompt, *point.show_files, *(option.why_not for option in point.options)]
    assert not any("{" in text or "}" in text for text in told)
    assert point.show_files == ("draft.md",)
    assert point.options[1].why_not.startswith("Not (not shown: 'reason' is not there")
