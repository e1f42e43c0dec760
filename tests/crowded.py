"""A run whose checkpoint has too much of everything: 27 conflicts, nine options, a synthesis of 40 kB, and ten things
that happened since the person last looked."""

from __future__ import annotations

from reconvene.app.engine import Engine
from reconvene.core.facts import commands as c
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow

CONFLICTS = 27
OPTIONS = 9
SYNTHESIS = 40_000  # characters
PERSON, OTHER = "ann", "ben"
_LONG = "whichever way this is settled, all that was planned for the third quarter has to be looked at once more"
_LABELS = [f"Way {number}, {_LONG[:40]}" for number in range(3, OPTIONS + 1)]
_OPTIONS = "\n".join(f"        - {{label: '{label}', then: {{end: {label[:5]}}}}}" for label in _LABELS)
_ITEM = f"{{id: 'C' + at, text: 'Conflict ' + at + ': {_LONG}?', type: 'choice', options: ['A', 'B', 'C']}}"
_EACH = f"Array.from({{length: {CONFLICTS}}}, (_, at) => ({_ITEM}))"
FLOW = f"""
name: crowded
description: {_LONG}
inputs: {{question: {{type: text, required: true}}}}
agents: {{analyst: {{}}, sceptic: {{}}, absent: {{retries: 0}}, moderator: {{}}}}
phases:
  - id: assess
    title: Assess the plan with everything that is known about it
    rounds: {{max: 5}}
    steps:
      - {{agents: [analyst, sceptic, absent]}}
      - {{agents: [moderator], output: synthesis}}
    checkpoint:
      question: "Of all that was found, and {_LONG}, is enough known to go on?"
      prompt: |
        Here is what they found.

        {{{{ context.synthesis }}}}

        Is enough known to go on?
      feedback: "What should be different?"
      show_files: [report.md]
      fields:
        - {{each: "{_EACH}", type: item}}
      options:
        - {{label: Go on with it as it is, recommend: "true", then: continue}}
        - {{label: Look again, then: again}}
{_OPTIONS}
  - id: report
    agents: [moderator]
    checkpoint: {{question: Publish?, options: [{{label: Publish, then: continue}}]}}
"""
_PROSE = "The covenant holds only on last year's EBITDA, and in the year of the rebuild it breaks by a tenth. "


def _said(figure: str, rating: int) -> str:
    return (
        f"# Findings\n\nThe all-electric furnace {figure} against 3.25x; {_LONG}.\n\n"
        "## Ratings\n\n| Item | Rating | Why |\n|---|---|---|\n"
        f"| Capital | {rating} | {_LONG} |\n| Demand | 5 | open |\n"
    )


def agents() -> ScriptedAgents:
    rounds = [("fits inside the covenant, at 3.10x", 3), ("breaks the covenant, at 3.89x", 9)]
    analyst = [
        {"text": _said(*one), "files": {"report.md": f"# Report\n\n{one[0]}\n", f"new-{at}.md": "new\n"}}
        for at, one in enumerate(rounds)
    ]
    long = (_PROSE * (SYNTHESIS // len(_PROSE) + 1))[:SYNTHESIS]
    return ScriptedAgents(
        {
            "analyst": analyst,
            "sceptic": [_said("cannot be financed, at 4.1x", 2), _said("may be financed, at 3.2x", 8)],
            "absent": [{"text": "I am here."}, RuntimeError("nobody answers")],
        },
        default={"text": long},
    )


def crowded(engine: Engine) -> str:
    """The run, at its second checkpoint."""
    run = engine.start(parse_workflow(FLOW), {"question": f"How should furnace 2 be rebuilt? {_LONG}. " * 5}, by=PERSON)
    engine.drive_sync(run)
    decide(engine, run, "Look again", "correction: Debt is £150M, not £100M")
    engine.drive_sync(run)
    return run


def decide(engine: Engine, run: str, option: str, *said: str, by: str = PERSON) -> None:
    point = engine.load(run).world.open
    assert point is not None
    engine.submit(run, c.AnswerCheckpoint(point.id, option, {}, tuple(map(c.RemarkIn, said)), by=by))


def others_act(engine: Engine, run: str) -> None:
    """What somebody else does at the open checkpoint."""
    engine.submit(run, c.AddRemark(c.RemarkIn(f"Our bank has agreed to a waiver; {_LONG}.", "new context"), OTHER))
    engine.submit(run, c.SaveDraft("", {"C0": "A"}, OTHER))
