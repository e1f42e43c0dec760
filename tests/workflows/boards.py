"""A run of scenario planning with scripted agents, and the person in front of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypedDict

from reconvene.core.facts import commands as c
from reconvene.core.facts.events import PhaseClosed
from reconvene.kits.reading.feedback import parse_remark
from reconvene.ports import Assignment
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_engine

from .seats import WORKFLOWS, Seat

FOLDER = WORKFLOWS / "scenario-planning"
SPECIALISTS = ("economist", "geopolitics", "technologist", "ecologist", "sociologist", "industry_analyst", "contrarian")
PHASES = {"predetermined": 2, "uncertainties": 3, "scenarios": 4, "signals": 5, "strategy": 6}
STANDARD = {"predetermined": 1, "uncertainties": 2, "scenarios": 3, "signals": 1, "strategy": 1}
FEWEST = {"predetermined": 7, "uncertainties": 14, "scenarios": 21, "signals": 7, "strategy": 7}
MOST = {"predetermined": 14, "uncertainties": 21, "scenarios": 28, "signals": 14, "strategy": 14}
FUTURES = tuple(f"scenarios/scenario_{n}.md" for n in range(1, 5))
WRITTEN = {
    "predetermined": "predetermined_elements.md",
    "uncertainties": "critical_uncertainties.md",
    "scenarios": "scenario_matrix.md",
    "signals": "signals.md",
    "strategy": "strategies.md",
}
LOOKS_GOOD, MORE, OPT_OUT, SKIP = "Looks good", "One more round", "No more rounds, let's proceed", "Skip, I'm good"
INCORPORATED = "User feedback from checkpoints incorporated"
LIMIT_NOTE = (
    "Additional user context captured in scenario_context.md but not re-analyzed by specialists due to round limit"
)
COMPANY = "# Quillmark Paper\n\nQuillmark makes uncoated paper in Tarnside. Revenue: $850M. Debt: $100M.\n"
QUESTION = "Should Quillmark close the Tarnside mill before 2035?"
GIVEN: dict[str, object] = {"company": COMPANY, "question": QUESTION}


def specialist(work: Assignment) -> str:
    heard = " ".join(f"[{remark['id']}]" for remark in work.remarks)
    return (
        f"## Findings\n\n**Quillmark depends on Tarnside.** {work.agent.name}, {work.phase}, {work.round}. {heard} "
        + "The mill at Tarnside carries most of the revenue of Quillmark, and so the decision rests on it. " * 4
        + f"SECRET-{work.phase}-{work.agent.name}-{work.round}\n\n"
        "## Assumptions\n\n- Quillmark stays independent.\n- Debt is $100M.\n\n"
        "## Ratings\n\n| item | rating | reason |\n|---|---|---|\n| Demand | 7 | Tarnside sells less each year |\n\n"
        f"## Summary\n\nSUMMARY-{work.phase}-{work.agent.name}-{work.round}: Tarnside decides.\n"
    )


_WRITTEN = {
    "predetermined_file": "## Elements\n\n### The mill\n\nTarnside is old.\n",
    "uncertainties_file": (
        "## Uncertainties\n\n### Demand\n\nOpen.\n\n### Rules\n\nOpen.\n\n"
        "## Axes\n\n### Axis 1: Demand\n\nHigh or low.\n\n"
        "### Axis 2: Rules\n\nStrict or lax.\n\n## Corners\n\n1. High and strict.\n"
    ),
    "scenario_matrix": (
        "## Four scenarios\n\n| number | name | axis ends | in one sentence |\n|---|---|---|---|\n"
        + "".join(f"| {n} | Future {n} | end {n} | It differs. |\n" for n in range(1, 5))
    ),
    "signals_file": (
        "## Signals\n\n| signal | indicator | threshold | source | how often | points to | lead time |\n"
        "|---|---|---|---|---|---|---|\n"
        + "".join(f"| Sign {n} | orders | {n} | the ledger | monthly | Future {n} | a year |\n" for n in range(1, 5))
    ),
    "strategy_file": (
        "## Recommendation\n\nWait.\n\n## Tested against every scenario\n\n"
        "| strategy | Future 1 | Future 2 | Future 3 | Future 4 | robust? |\n|---|---|---|---|---|---|\n"
        "| Wait | holds | holds | holds | suffers | yes |\n\n## Moves\n\nNone.\n"
    ),
}
_LIVES = ("floods in spring", "buys a rival forest", "sells envelopes abroad", "burns bark for heat")


def future(path: str) -> str:
    number = int(path[-4])
    lives = f"Quillmark {_LIVES[number - 1]}."
    return (
        f"# Future {number}\n\n{lives}\n\n## How it came about\n\nIn year {number}.\n\n"
        f"## What it means for the company\n\n{lives}\n\n## Signs on the way\n\nNone.\n"
    )


def moderator(work: Assignment) -> object:
    # Only what the task asks for: earlier deliverables, which are in the prompt too, may carry the same words.
    notes = "\n".join(note for note in (INCORPORATED, LIMIT_NOTE) if f'word for word: "{note}' in work.prompt)
    if work.phase == "focal_question":
        return f"# Focal question\n\n{QUESTION}\n"
    if work.phase == "scenarios_file":
        return {"files": {path: future(path) for path in work.writes}}
    if work.phase in _WRITTEN:
        told = f"The moderator on Quillmark, round {work.round}."
        return f"# {work.phase}\n\n{told}\n\n{_WRITTEN[work.phase]}\n{notes}\n"
    return (
        f"The moderator on Quillmark, round {work.round}. All seven agree on the mill.\n\n"
        f"They disagree on its roof, and nobody looked at the river.\n\n{notes}\n"
    )


class Metadata(TypedDict):
    scenario_id: str
    phase: str
    checkpoints: dict[str, list[dict[str, object]]]
    total_rounds_by_phase: dict[str, int]


class Board(Seat):
    """A run with scripted agents, and the person in front of it."""

    def __init__(
        self, home: Path, inputs: Mapping[str, object] | None = None, **replies: Callable[[Assignment], object]
    ) -> None:
        everybody = dict.fromkeys(SPECIALISTS, specialist) | {"moderator": moderator} | replies
        self.agents = ScriptedAgents(everybody)
        engine = open_engine(home, runner=self.agents)
        given = GIVEN if inputs is None else inputs
        super().__init__(engine, engine.start(load_workflow(FOLDER), given, by="ann"))

    def say(self, *said: str) -> Board:
        remarks = tuple(parse_remark(text) for text in said)
        for remark in remarks:
            self.engine.submit(self.run, c.AddRemark(remark, by="ann"))
        self.state = self.engine.load(self.run)
        return self

    def on_to(self, phase: str) -> Board:
        """Agree until the first checkpoint of this phase."""
        while self.phase != phase:
            self.agree()
        return self

    def agree(self) -> Board:
        if self.phase == "completeness":
            return self.decide("Finish", captured="yes")
        return self.decide("That is right" if self.phase in ("company", "focal_question") else LOOKS_GOOD)

    def to_the_end(self) -> Board:
        while self.state.status == "waiting":
            self.agree()
        assert self.state.status == "completed"
        return self

    @property
    def files(self) -> set[str]:
        root = Path(self.state.workspace)
        return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}

    @property
    def metadata(self) -> Metadata:
        found: Metadata = json.loads(self.file("metadata.json"))
        return found

    @property
    def calls(self) -> Counter[str]:
        return Counter(call.phase for call in self.agents.calls if call.agent.name != "moderator")

    def ended(self, phase: str) -> str:
        closed = [e for _, e in self.engine.log.read(self.run) if isinstance(e, PhaseClosed) and e.phase == phase]
        return closed[-1].ended_by

    def clean(self) -> None:
        """No template failed on the way, and no prompt was left as written."""
        assert list(self.state.record.errors) == []
        for call in self.agents.calls:
            assert "{%" not in call.prompt
            assert "{{" not in call.prompt


Sit = Callable[..., Board]
