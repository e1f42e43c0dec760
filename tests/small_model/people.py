"""What each packaged workflow is given in this trial, and what the person wants at its checkpoints. Data.

Inputs are short, so that prompts are: a small model on one core reads about a hundred tokens in a second.
"""

from __future__ import annotations

from typing import NamedTuple

MODEL = "llamacpp:smollm2"


class Wish(NamedTuple):
    """An option that the person takes where it is offered, so many times at most."""

    option: str
    times: int = 1000
    feedback: str = ""
    remark: str = ""  # said before the decision, in free words that the model reads
    fields: dict[str, object] = {}  # noqa: RUF012 - never changed


class Person(NamedTuple):
    wishes: tuple[Wish, ...]  # the first that is offered and not used up counts
    inputs: dict[str, str] = {}  # noqa: RUF012 - of texts and files, what stands in them
    files: tuple[str, ...] = ()  # the inputs that are files
    models: tuple[str, ...] = ()  # agents and the forms that hold them
    settings: tuple[str, ...] = ()
    environ: dict[str, str] = {}  # noqa: RUF012
    project: dict[str, str] = {}  # noqa: RUF012 - path → text of the repository that it works on
    words: tuple[str, ...] = ()  # more for the command that starts it


_COMPANY = """# Aldermoor Glass

Aldermoor Glass makes bottles at Wenbury. Furnace 2 must be rebuilt by 2029. Revenue: £420M. Net debt: £100M. The
bank allows 3.25 times EBITDA. Corran Brewers takes 31 % of the volume.
"""
_SPEC = """# Draft and Check

A drafter writes one page of a manual. A checker reads it and writes findings. The clerk starts both again until the
page is good enough. Then the editor releases it.

## Rules

- A page has at most 900 words.
- A released page is changed by nobody but the editor.
"""
_PROJECT = {
    "pantry.py": 'def add(pantry, item):\n    """Adds an item."""\n    pantry.append(item)\n    return pantry\n',
    "test_pantry.py": 'from pantry import add\n\n\ndef test_add():\n    assert add([], "milk") == ["milk"]\n',
}

PEOPLE: dict[str, Person] = {
    # not packaged: tests/small_model/tools.yaml
    "tools": Person((), words=("--doc", "papers", "--datasource", "shop.db")),
    "early-exit": Person(
        (Wish("Fix and retry", 1), Wish("Abort workflow", feedback="It must be settled with the sales team first.")),
    ),
    "quality-gate": Person((Wish("No, fix tests", 1), Wish("Yes, continue"))),
    "review-before-changes": Person(
        (Wish("Revise plan", 1, "new context: Keep it behind a flag."), Wish("Looks good, proceed")),
    ),
    "skip-optional": Person((Wish("Optimize now"),)),
    "market-entry": Person(
        (
            Wish("Look again", 1, "correction: Revenue is $900M, not $850M.", "Harbours are closed in winter."),
            Wish("Accept the memo"),
        ),
        models=("specialists=headed", "moderator=prose", "writer=headed"),
        environ={"RECONVENE_FEEDBACK_MODEL": MODEL},
    ),
    "spec-refinement": Person(
        (
            Wish("Begin"),
            Wish("Continue", 1, "new context: Some pages are only a warning."),
            Wish("Accept as complete"),
            Wish("Force complete"),
            Wish("Continue", 4),
            Wish("Abandon"),
        ),
        inputs={"spec": _SPEC},
        files=("spec",),
        models=("engineer=proposals", "reviewer=review", "mediator=headed"),
    ),
    "job": Person(
        (Wish("Finish with what is there"), Wish("Approve"), Wish("Skip review and run"), Wish("Accept")),
        inputs={"description": "Write letters.md: which of our letters are late, in three lines."},
    ),
    "brainstorm": Person(
        (
            Wish("Discuss", 1, "Could this be one batch?"),
            Wish("Override — needs exploration"),  # the long way: questions, approaches, design
            Wish("Agree — quick design outline"),
            Wish("Agree — questions, approaches, design"),
            Wish("Agree — more questions, deeper design"),
            Wish("Skip to planning"),
            Wish("Done"),
            Wish("Choose"),
            Wish("Approve"),
            Wish("Use my words", fields={"words": "Names are compared without spaces and in lower case."}),
            Wish("Build it"),
            Wish("Have it done again", 1, "Compare the names in lower case."),
            Wish("Take it as it is", 3),
            Wish("Continue to the next batch", 1),
            Wish("Stop here"),
            Wish("Stop here, with the plan"),
        ),
        inputs={"description": "“Milk ” and “milk” should be the same item."},
        models=("coder=change",),
        settings=("coder=", "can_execute=true"),
        project=_PROJECT,
    ),
    "scenario-planning": Person(
        (
            Wish("That is right"),
            Wish(
                "One more round",
                1,
                "correction: Net debt is £150M, not £100M",
                fields={"gap": "Does it still fit inside the covenant?", "agents": ["economist"]},
            ),
            Wish("Looks good", 2),
            Wish("Skip, I'm good"),  # leaves a phase after its first round, for the sake of time
            Wish("Finish", fields={"captured": "yes", "words": "Yes."}),
        ),
        inputs={"company": _COMPANY, "question": "How should Aldermoor Glass rebuild furnace 2 at Wenbury by 2029?"},
        files=("company",),
        models=("specialists=report", "moderator=prose"),
    ),
}
