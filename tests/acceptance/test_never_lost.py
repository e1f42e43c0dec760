"""Whatever a person says, at whichever checkpoint, stands in the recorded prompt of every task that started later."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import Phase, given
from hypothesis import strategies as st

from exploring import examples
from reconvene.adapters.git import GitHistory
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app import as_sent
from reconvene.app import measures as review
from reconvene.app.engine import Engine
from reconvene.core.facts import events as e
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.surroundings import SystemClock
from reconvene.testing.memory import MemoryLog
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import load_workflow

WORKFLOW = Path(__file__).parent.parent.parent / "src" / "reconvene" / "workflows" / "scenario-planning"
COMPANY = "# Quillmark\nQuillmark makes uncoated paper in Dunmore; revenue £412M."
REPORT = """## Findings
Quillmark of Dunmore sells less uncoated paper every year, and its mill is old. Its buyers are publishers and schools.
That will not change before 2030, whatever the price of pulp does; energy is the larger risk by far, and it is local.
Nobody has yet shown that a second product would carry the mill, and the bank has asked for that twice since spring.

## Assumptions
- Revenue stays near £412M.

## Ratings
| item | rating | reason |
|---|---|---|
| energy price | 7 | it moves everything |

## Summary
Energy first. User feedback from checkpoints incorporated. Additional user context captured in scenario_context.md but
not re-analyzed by specialists due to round limit
"""
SCRIPTS = st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=60).filter(
    lambda text: text.strip()
)
STOPS = st.lists(st.tuples(st.integers(0, 3), st.lists(SCRIPTS, max_size=2)), min_size=4, max_size=14)


def reply(assignment: object) -> dict[str, object]:
    files = dict.fromkeys(getattr(assignment, "writes", ()), REPORT)
    return {"text": REPORT, "files": files}


@given(stops=STOPS)
@examples(8, phases=[Phase.generate])
def test_every_remark_is_in_the_prompt_of_every_later_task(stops: list[tuple[int, list[str]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        machine = Engine(
            MemoryLog(),
            SystemClock(),
            ScriptedAgents({}, default=reply),
            lambda run, place: FolderWorkspace(place, f"{folder}/manifest.json"),
            lambda: GitHistory(f"{folder}/history.git"),
            f"{folder}/home",
        )
        run = machine.start(load_workflow(WORKFLOW), {"company": COMPANY, "question": "Build a second mill by 2030?"})
        asyncio.run(play(machine, run, stops))
        check(machine, run)


async def play(machine: Engine, run: str, stops: list[tuple[int, list[str]]]) -> None:
    state = await machine.drive(run)
    for pick, said in stops:
        point = state.world.open
        if point is None:
            return
        offered = [option for option in point.options if option.available]
        option = offered[pick % len(offered)]
        fields = {field.id: answer(field) for field in (*point.fields, *option.fields)}
        remarks = tuple(RemarkIn(text) for text in said)
        if option.remark == "required" and not remarks:
            remarks = (RemarkIn("because"),)
        machine.submit(run, AnswerCheckpoint(point.id, option.label, fields, remarks, by="ann"))
        state = await machine.drive(run)


def answer(field: e.FieldAsked) -> object:
    if field.type == "agents":
        return []
    return field.options[0] if field.options else "why not"


def check(machine: Engine, run: str) -> None:
    """Against the recorded prompts themselves, and against what the ledger claims."""
    remarks: list[e.RemarkAdded] = []
    due: dict[str, list[e.RemarkAdded]] = {}
    begun: e.StepStarted | None = None
    for _, event in machine.log.read(run):
        match event:
            case e.RemarkAdded():
                remarks.append(event)
            case e.StepStarted():
                begun = event
                due |= {f"R{event.serial}/{event.step}/{task.agent}": list(remarks) for task in event.tasks}
            case e.TroubleSettled() if event.remarks and begun is not None:  # tried again, with what was said meanwhile
                due |= {f"R{begun.serial}/{begun.step}/{agent}": list(remarks) for agent in event.agents}
            case e.AttemptEnded() if event.prompt or event.asked:
                prompt = as_sent.whole(event, machine.log.artefact).decode()
                for remark in due[event.task]:
                    assert f"[{remark.id}]" in prompt
                    assert remark.text.splitlines()[0].strip() in prompt
    for entry in review.ledger(machine, run):
        promised = {task for task, delivered in due.items() if any(r.id == entry.id for r in delivered)}
        assert {delivery.task for delivery in entry.delivered} == promised
