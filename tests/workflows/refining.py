"""A spec refinement with scripted agents: real log, real files, a clock that ticks a minute at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from reconvene.adapters.git import GitHistory
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.events import AttemptEnded, CheckpointOpened
from reconvene.ports import Assignment
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_log

from .seats import WORKFLOWS, Seat

FOLDER = WORKFLOWS / "spec-refinement"
SPEC = """# Parcel Lockers

How parcels get into a locker and out again.

## Flow

1. The courier opens a box and puts the parcel in.
2. The customer gets a code and fetches it.

## Limits

A parcel stays for a while.
"""
GAPS = """# Gaps

- GAP-BOX-001 (HIGH, blocking): What if no box is free?
- GAP-BOX-002 (HIGH, blocking): How is the code made and checked?
- GAP-BOX-003 (MEDIUM): How long is "a while"?
- GAP-BOX-004 (LOW): What does the screen say at night?
"""
ONE, TWO, THREE, FOUR = (f"GAP-BOX-00{n}" for n in range(1, 5))
Script = Callable[[Assignment], object] | str


class Ticks:
    """A minute later at every look."""

    def __init__(self) -> None:
        self._minutes = 1

    def now(self) -> str:
        self._minutes += 1
        hours, minutes = divmod(self._minutes, 60)
        return f"2026-03-02T{9 + hours:02d}:{minutes:02d}:00.000Z"


# --- what the agents write, in their formats --------------------------------------------------------------------------


def proposal(gap: str, solution: str = "", *, new: Sequence[str] = (), confidence: str = "HIGH") -> str:
    rule = solution or f"For {gap} the locker follows one written rule, and says so on its screen."
    opened = "\n".join(f"- {line}" for line in new) or "None."
    return (
        f"## Gap Resolution: {gap}\n\n**Gap:** {gap}\n\n**Confidence:** {confidence}\n\n"
        f"### Proposed Solution\n\n{rule}\n\n### Examples\n\nA parcel on a Monday, fetched on a Tuesday.\n\n"
        f"### Trade-offs\n\nIt is simple, and it costs a box now and then.\n\n### New Gaps Introduced\n\n{opened}\n"
    )


def proposals(n: int, *parts: str) -> str:
    return f"# Engineer Proposals - Round {n}\n\n" + "\n".join(parts)


def disagree(issue: str, why: str, instead: str = "") -> str:
    alternative = f"**Alternative View:** {instead}\n\n" if instead else ""
    return (
        f'## Response to {issue}\n\n**Reviewer Concern:** "as written"\n\n**Engineer Position:** DISAGREE\n\n'
        f"**Rationale:** {why}\n\n{alternative}**Request:** Escalate to user for decision\n"
    )


def review(
    n: int, verdicts: Mapping[str, str], *, issues: Sequence[str] = (), new: Sequence[str] = (), approve: bool = False
) -> str:
    judged = "\n".join(f"{at}. {gap}: as proposed - **{word}**" for at, (gap, word) in enumerate(verdicts.items(), 1))
    raised = "\n".join(f"- {line}" for line in issues) or "None."
    opened = "\n".join(f"- {line}" for line in new) or "None."
    return (
        f"## Review: Round {n} - as it stands\n\n### Proposals Reviewed\n{judged}\n\n### Issues\n{raised}\n\n"
        "### Completeness Checks\n- [x] Every proposal has a rule for failure\n- [x] Names are those of the draft\n\n"
        f"### New Gaps Identified\n{opened}\n\n### Recommendation\n"
        f"**{'APPROVE' if approve else 'REVISE'}** - as the verdicts say.\n"
    )


def said(text: str) -> Callable[[Assignment], object]:
    """An output that is the one file asked for."""
    return lambda work: {"text": "done", "files": {work.writes[0]: text} if work.writes and text else {}}


def _summary(work: Assignment) -> object:
    return f"Round {work.round} brought what the verdicts say. The mediator has nothing to decide."


def worked_in(work: Assignment) -> str:
    """spec.md as an honest mediator gives it back: all that it was asked to work in, and the limitations at the end."""
    text = work.files["spec.md"].decode()
    body, _, _ = text.partition("\n## Known Limitations")
    asked, _, listed = work.prompt.partition("- Close with the section")
    due = re.findall(r"^- (?:GAP|D)-\S+[^“\n]*“.*?” “(.*)”$", asked, re.MULTILINE)
    gone = re.findall(r"^- GAP-\S+ \(lines ([^)]*)\): ", asked, re.MULTILINE)
    lines = body.split("\n")
    for span in ", ".join(gone).split(", ") if gone else []:
        first, _, last = span.partition("–")
        for at in range(int(first), int(last or first) + 1):
            lines[at - 1] = ""
    rules = "".join(f"\n{rule}\n" for rule in due)
    text = "\n".join(lines).rstrip() + "\n" + rules
    if work.phase != "final":
        return text
    known = re.findall(r"^- (GAP-\S+): “(.*)” \((.*)\)$", listed, re.MULTILINE)
    told = "\n".join(f"- {gap}: {title} ({state})" for gap, title, state in known) or "None."
    return f"{text}\n## Known Limitations\n\n{told}\n"


def mediated(work: Assignment) -> object:
    """The mediator of these tests: keeps spec.md, and sums up."""
    return said(worked_in(work))(work) if work.writes else _summary(work)


# --- the run ----------------------------------------------------------------------------------------------------------


class Refinement(Seat):
    """Replies of engineer and reviewer are taken in order, the last one repeats; `found` is what the reviewer finds.

    The given list is confirmed and the final text accepted by themselves, unless `ask_all`.
    """

    def __init__(
        self,
        folder: Path,
        engineer: Sequence[Script] = (),
        reviewer: Sequence[Script] = (),
        *,
        found: Sequence[Script] = (),
        spec: str = SPEC,
        gaps: str | None = GAPS,
        mediator: Callable[[Assignment], object] | None = None,
        workflow: Workflow | None = None,
        ask_all: bool = False,
        **settings: object,
    ) -> None:
        self._left = {"engineer": list(engineer), "reviewer": list(reviewer), "find": list(found)}
        self._mediator = mediator or mediated
        self.agents = ScriptedAgents({"engineer": self._next, "reviewer": self._next, "mediator": self._mediator})
        home = str(folder / "home")
        engine = Engine(
            open_log(home),
            Ticks(),
            self.agents,
            lambda run, place: FolderWorkspace(place, f"{home}/{run}.json"),
            lambda: GitHistory(f"{home}/history.git"),
            home,
        )
        inputs: dict[str, object] = {"spec": spec, "spec_name": "lockers"}
        if gaps is not None:
            inputs["gaps"] = gaps
        run = engine.start(workflow or load_workflow(FOLDER), inputs, settings=settings, by="ann")
        self._ask_all = ask_all
        super().__init__(engine, run)
        self._nod()

    def answer(self, option: str, fields: Mapping[str, object], *said: str, at: CheckpointOpened | None = None) -> Self:
        super().answer(option, fields, *said, at=at)
        self._nod()
        return self

    def _nod(self) -> None:
        nods = {"confirm": "Begin", "final": "Accept"}
        point = self.state.world.open
        if point is None or point.attention or self._ask_all:
            return
        if nods.get(self.phase) in self.offered:
            super().answer(nods[self.phase], {})
            self._nod()

    def _next(self, work: Assignment) -> object:
        replies = self._left["find" if work.phase == "find" else work.agent.name]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, str) and reply.startswith("## Review") and "### Rulings" not in reply:
            asked = re.findall(r"^- (D-\d+): FOLLOWED, or", work.prompt, re.MULTILINE)
            reply += "".join(("\n### Rulings\n", *(f"- {one}: FOLLOWED\n" for one in asked))) if asked else ""
        return said(reply)(work) if isinstance(reply, str) else reply(work)

    @property
    def asked(self) -> str:
        """What the person reads; blanks that only end a line are no part of it."""
        return self.open.prompt.replace("  \n", "\n")

    @property
    def recommended(self) -> list[str]:
        return [option.label for option in self.open.options if option.recommend]

    def why_not(self, label: str) -> str:
        return next(option.why_not for option in self.open.options if option.label == label)

    @property
    def gaps(self) -> dict[str, object]:
        shown = queries.show(self.engine, self.run)
        assert shown.errors == ()
        context = shown.context
        assert isinstance(context, dict)
        value = context["gaps"]
        assert isinstance(value, dict)
        return value

    @property
    def states(self) -> dict[str, str]:
        rows = self.gaps["list"]
        assert isinstance(rows, list)
        return {str(row["id"]): str(row["state"]) for row in rows}

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """The convergence table."""
        rounds = self.gaps["rounds"]
        assert isinstance(rounds, list)
        keys = ("round", "start", "resolved", "new", "end", "net", "state")
        return [tuple(row[key] for key in keys) for row in rounds]

    @property
    def conflicts(self) -> list[dict[str, object]]:
        found = self.gaps["conflicts"]
        assert isinstance(found, list)
        return found

    @property
    def files(self) -> list[str]:
        root = Path(self.state.workspace)
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())

    @property
    def attempts(self) -> list[tuple[str, str, str]]:
        """(task, verdict, code) of everything tried."""
        events = [event for _, event in self.engine.log.read(self.run) if isinstance(event, AttemptEnded)]
        return [(event.task, event.verdict, event.why.partition(":")[0]) for event in events]

    def prompts(self, agent: str) -> list[str]:
        return [work.prompt for work in self.agents.of(agent)]


Start = Callable[..., Refinement]
