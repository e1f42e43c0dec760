"""A whole run, from start to end, in a process that a fuse may kill anywhere on the way.

The people and agents of this run are deterministic: whatever was killed and resumed on the way, the log must tell the
same story in the end. What was acknowledged and who was called is noted on disk beside the run, outside the engine.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Mapping, Sequence

from reconvene.adapters.git import GitHistory
from reconvene.adapters.sqlite import SqliteLog
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app.engine import Engine
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.core.facts.events import Usage
from reconvene.core.facts.evolve import fold
from reconvene.core.facts.ids import digest_of
from reconvene.ports import Answer, Append, Assignment, History, Listener, Workspace
from reconvene.surroundings import SystemClock
from reconvene.wire.workflow_file import parse_workflow
from support.fuse import Fuse, note, noted

RUN = "crash-1"
EDIT = "A line of the person's own.\n"
_WORKFLOW = """
name: crash
agents: {{{agents}, editor: {{effects: {effects}}}}}
groups: {{team: [{names}]}}
files: [{{path: status.md, template: "{{{{ context.subagents_spawned }}}} tasks so far\\n"}}]
checkpoints:
  review:
    condition: round.last
    prompt: Good enough?
    show_files: [report.md]
    options:
      - {{label: Go on, then: continue}}
      - {{label: Once more, remark: optional, then: again}}
phases:
  - id: gather
    rounds: {{plan: [first, second], max: 3}}
    steps:
      - {{agents: team, output: notes}}
      - {{agents: [editor], output: {{name: report, file: report.md}}}}
    checkpoint: review
  - id: conclude
    rounds: {{plan: [first, second], max: 3}}
    steps:
      - {{agents: team, output: conclusions}}
      - {{agents: [editor], output: {{name: final, file: report.md}}}}
    checkpoint: review
"""
# Taken in order; the second one is preceded by an edit in the workspace.
_ANSWERS: Sequence[tuple[str, tuple[RemarkIn, ...]]] = (
    ("Once more", (RemarkIn("Revenue is $900M, not $850M", "correction"), RemarkIn("shorter please"))),
    ("Go on", ()),
    ("Go on", (RemarkIn("thank you"),)),
)


def workflow_text(agents: int, *, effects: bool = False) -> str:
    names = [f"agent{number}" for number in range(agents)]
    return _WORKFLOW.format(
        agents=", ".join(f"{name}: {{}}" for name in names), names=", ".join(names), effects=str(effects).lower()
    )


class CrashingLog(SqliteLog):
    """Notes every acknowledged seq before the engine learns of it."""

    def __init__(self, path: str, fuse: Fuse, acknowledged: str) -> None:
        super().__init__(path)
        self._fuse = fuse
        self._acknowledged = acknowledged

    def append(self, run: str, expected_seq: int, append: Append) -> int:
        self._fuse("before append")
        head = super().append(run, expected_seq, append)
        self._fuse("after append")
        note(self._acknowledged, str(head))
        self._fuse("acknowledged")
        return head


class CrashingWorkspace(FolderWorkspace):
    def __init__(self, root: str, manifest: str, fuse: Fuse) -> None:
        super().__init__(root, manifest)
        self._fuse = fuse

    def write(self, files: Mapping[str, bytes | None], known: Mapping[str, str]) -> None:
        """One file at a time, so that the process can die between any two of them, and before the manifest is kept."""
        for path, data in sorted(files.items()):
            self._fuse("before file")
            super().write({path: data}, known)
        super().write(files, known)
        self._fuse("files written")

    def _save(self, manifest: object, touched: set[str]) -> None:
        self._fuse("before manifest")
        super()._save(manifest, touched)  # type: ignore[arg-type]


class CrashingHistory(GitHistory):
    def __init__(self, path: str, fuse: Fuse) -> None:
        super().__init__(path)
        self._fuse = fuse

    def _move(self, branch: str, to: str, was: str) -> None:
        self._fuse("before branch")
        super()._move(branch, to, was)
        self._fuse("after branch")


class CrashingAgents:
    """Each call is noted durably before it does anything. What it says follows from what it was shown, nothing else."""

    def __init__(self, fuse: Fuse, calls: str, seed: int) -> None:
        self._fuse = fuse
        self._calls = calls
        self._seed = seed

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        name = f"{assignment.task}#{assignment.attempt}"
        note(self._calls, name)
        self._fuse("call")
        pace = random.Random(f"{self._seed}/{assignment.task}").randrange(8) if assignment.run == RUN else 1
        for _ in range(pace):  # in turns of the event loop, not in time: the same story on any machine
            await asyncio.sleep(0)
        self._fuse("return")
        said = "; ".join(remark["text"] for remark in assignment.remarks)
        read = digest_of(b"".join(assignment.files[path] for path in sorted(assignment.files)))
        text = f"{assignment.agent.name}, {assignment.phase} {assignment.round}: read {read}, heard: {said}\n"
        files = {} if assignment.agent.name == "editor" else {f"notes/{assignment.agent.name}.md": text.encode()}
        return Answer(text, None, False, files, (), Usage(requests=1, input_tokens=1), b"", b"")

    async def window(self, agent: Agent) -> int:
        return 0

    async def close(self) -> None:
        return None


def open_engine(home: str, fuse: Fuse, seed: int) -> Engine:
    def workspace_for(run: str, folder: str) -> Workspace:
        return CrashingWorkspace(folder, os.path.join(home, "manifests", f"{run}.json"), fuse)

    def history_for() -> History:
        return CrashingHistory(os.path.join(home, "history.git"), fuse)

    log = CrashingLog(os.path.join(home, "reconvene.db"), fuse, os.path.join(home, "acknowledged.txt"))
    agents = CrashingAgents(fuse, os.path.join(home, "calls.txt"), seed)
    return Engine(log, SystemClock(), agents, workspace_for, history_for, home)


def play(
    home: str, place: str = "", at: int = 0, agents: int = 3, seed: int = 0, effects: bool = False
) -> dict[str, object]:
    """Play the run to its end, or to an attention checkpoint; where it was left before, go on from there."""
    fuse = Fuse(place, at)
    engine = open_engine(home, fuse, seed)
    if not engine.log.head(RUN):
        engine.start(parse_workflow(workflow_text(agents, effects=effects)), by="ann")
    _say_again(engine, home)
    while True:
        state = asyncio.run(engine.drive(RUN, by="ann", door="test"))
        point = state.world.open
        if point is None or point.attention:
            break
        number = sum(not decision.attention for decision in state.record.decisions.values())
        if number == 1:
            _edit(state.workspace)
        _decide(engine, home, point.id, number)
    engine.commit_history(RUN)
    asyncio.run(engine.close())
    return {"status": state.status, "passed": dict(fuse.passed)}


def _say_again(engine: Engine, home: str) -> None:
    """A person who never heard back says it again: it must count once."""
    for line in noted(os.path.join(home, "decisions.txt")):
        checkpoint, _, number = line.partition(" ")
        _submit(engine, checkpoint, int(number))


def _decide(engine: Engine, home: str, checkpoint: str, number: int) -> None:
    note(os.path.join(home, "decisions.txt"), f"{checkpoint} {number}")
    _submit(engine, checkpoint, number)


def _submit(engine: Engine, checkpoint: str, number: int) -> None:
    option, remarks = _ANSWERS[number]
    engine.submit(RUN, AnswerCheckpoint(checkpoint, option, remarks=remarks, by="ann", door="test"))


def _edit(workspace: str) -> None:
    path = os.path.join(workspace, "report.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if EDIT in text:
        return
    with open(path + "~", "w", encoding="utf-8") as file:
        file.write(text + EDIT)
    os.replace(path + "~", path)


def rule(home: str, option: str, **arguments: object) -> dict[str, object]:
    """Answer the attention checkpoint, then go on."""
    engine = open_engine(home, Fuse(), 0)
    engine.submit(RUN, AnswerCheckpoint("", option, by="ann", door="test"))
    asyncio.run(engine.close())
    return play(home, **arguments)  # type: ignore[arg-type]


_LONG = """
name: long
agents: {a: {}}
phases:
  - {id: work, agents: [a], output: notes, rounds: {until: "round.n >= 120", max: 200}}
"""


def play_long(home: str, place: str = "", at: int = 0) -> dict[str, object]:
    """So many events that states are kept as snapshots on the way."""
    engine = open_engine(home, Fuse(place, at), 0)
    if not engine.log.head("long-1"):
        engine.start(parse_workflow(_LONG))
    state = engine.drive_sync("long-1")
    folded = fold(event for _, event in engine.log.read("long-1"))
    same = engine.load("long-1") == folded
    asyncio.run(engine.close())
    return {"status": state.status, "seq": state.seq, "same": same}
