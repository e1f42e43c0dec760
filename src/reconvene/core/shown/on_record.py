"""What a run has on record, as rows: decisions, remarks, attempts, rollbacks, files, the project.

For expressions, templates and the read side alike. Knows nothing of scopes: which of these an expression sees is
`scope`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Again
from reconvene.core.extensions import AgentProfile, Concerned
from reconvene.core.facts.book import Book
from reconvene.core.facts.events import RemarkAdded, RemarkRead
from reconvene.core.facts.ids import parse_task, remark_number
from reconvene.core.facts.rows import ClaimAt
from reconvene.core.facts.state import RunState

Row = dict[str, object]  # of a list that expressions and templates read


def checkpoints(state: RunState) -> list[Row]:
    """Decisions as context.checkpoints lists them."""
    rows: list[Row] = []
    for number in sorted(state.record.decisions):
        decision = state.record.decisions[number]
        if decision.attention:
            continue
        row: Row = {"phase": decision.phase, "decision": decision.decision}
        if decision.target:
            row["target"] = decision.target
        if decision.skipped:
            row["skipped"] = list(decision.skipped)
        if decision.feedback:
            row["feedback"] = decision.feedback
        row |= {"option": decision.option, "by": decision.by, "timestamp": decision.at}
        rows.append(row)
    return rows


def deliverables(state: RunState) -> list[Row]:
    files = sorted(state.world.files.items(), key=lambda pair: (pair[1].at, pair[0]))
    return [
        {"phase": version.phase, "path": path, "size": version.size, "time": version.at}
        for path, version in files
        if not version.person and not version.rendered
    ]


_SAID = (
    *("id", "kind", "text", "target", "by", "phase", "at", "path", "lines", "was", "now"),
    *("level", "reason", "opinion", "because", "checkpoint", "origin"),
)


def remark_view(remark: RemarkAdded, reading: RemarkRead | None = None) -> dict[str, str]:
    """`reading`: the last one, where the rules' was not the last."""
    read_by = reading.by if reading else "" if remark.diff else "rules"
    quote = remark.anchor.quote if remark.anchor is not None else ""
    own = {"round": str(remark.n), "read_by": read_by, "quote": quote}
    return {name: getattr(remark, name) for name in _SAID} | own


def remark_views(state: RunState, book: Book, most: int | None = None) -> list[dict[str, str]]:
    """Of all remarks that stand, or of those among the first so many, in order."""
    record = state.record
    views = book.told(record, "view", lambda remark: remark_view(remark, record.readings.get(remark.number)))
    return [views[number - 1] for number in standing(state, most)] if record.withdrawn else views[:most]


def standing(state: RunState, most: int | None = None) -> Sequence[int]:
    """The numbers of the remarks that nobody took back, among the first so many."""
    every, gone = range(1, (len(state.record.remarks) if most is None else most) + 1), state.record.withdrawn
    return [number for number in every if number not in gone] if gone else every


def unheard(state: RunState) -> bool:
    """Whether the person said something that no agent has been shown yet."""
    shown = max(state.record.seen.values(), default=0)
    return any(number > shown for number in standing(state))


def feedback_view(state: RunState, book: Book, keys: frozenset[str] | None = None) -> Row:
    """All remarks; those given at the checkpoint that is open; and whether one of these is major.

    `keys`: which of it is asked for; None = everything.
    """

    made: dict[str, Callable[[], object]] = {
        "count": lambda: len(state.record.remarks) - len(state.record.withdrawn),
        "all": lambda: remark_views(state, book),
        "here": lambda: views_of(state, remarks_here(state)),
        "major": lambda: any("major" in (remark.level, remark.opinion) for remark in remarks_here(state)),
    }
    return {key: make() for key, make in made.items() if keys is None or key in keys}


def views_of(state: RunState, remarks: Iterable[RemarkAdded]) -> list[dict[str, str]]:
    return [remark_view(remark, state.record.readings.get(remark.number)) for remark in remarks]


def remarks_here(state: RunState) -> list[RemarkAdded]:
    """What was said at the checkpoint that is open, or while agents worked towards it, and not taken back, oldest
    first."""
    if state.world.open is None:
        return []
    earlier = [state.record.remarks[remark_number(id)] for id in reversed(state.world.open.weighs)]
    found: list[RemarkAdded] = []
    for number in range(len(state.record.remarks), 0, -1):
        remark = state.record.remarks[number]
        if remark.checkpoint == state.world.open.id:
            if number not in state.record.withdrawn:
                found.append(remark)
        elif remark.checkpoint:  # an earlier checkpoint's: nothing older can be of this one
            break
    found += [remark for remark in earlier if remark.number not in state.record.withdrawn]
    return found[::-1]


def workers_here(state: RunState, book: Book) -> list[str]:
    """Who can be asked again in the phase in front: the agents of its steps, those with a remit where there are any."""
    frame = state.world.top
    steps = book.phase(frame.phase).steps if frame.phase else ()
    named = list(dict.fromkeys(agent for step in steps for agent in step.agents))
    return [agent for agent in named if book.workflow.agents[agent].remit] or named


def routes(state: RunState, book: Book) -> tuple[Concerned, ...]:
    """Which agents of the phase in front the remarks made here affect, and by which rule."""
    outputs = {output.agent: output for output in state.world.top.outputs}
    workers = workers_here(state, book)
    said = {agent: book.text(outputs[agent].output.digest) for agent in workers if agent in outputs}
    profiles = {agent: AgentProfile(agent, book.workflow.agents[agent].remit, said.get(agent, "")) for agent in workers}
    always = tuple(agent for agent in workers if book.workflow.agents[agent].always)
    return kit_finder.reader(book.workflow.kits).concerned(remarks_here(state), profiles, always)


def budget_view(state: RunState, book: Book) -> Row:
    """Of each group with a budget: how many calls its agents may still make, and how many they may make in all."""
    workflow, record = book.workflow, state.record
    rows: Row = {}
    for group, size in workflow.limits.group_calls.items():
        most = size + record.grants.get(f"calls.{group}", 0)
        made = sum(record.calls.get(agent, 0) for agent in workflow.groups.get(group, ()))
        rows[group] = {"left": max(most - made, 0), "of": most}
    return rows


def changed_view(state: RunState, book: Book) -> Row:
    """What the round in front made of the remarks that its agents were shown: by agent and remark, what stood before
    and what stands now. `nobody`: there were remarks, and nothing that an agent says was changed by one."""
    round_ = state.world.top.round if state.world.cursor else None
    serial = round_.serial if round_ is not None else 0
    rows: list[Row] = []
    for agent in workers_here(state, book) if serial else ():
        claims: Mapping[str, ClaimAt] = state.world.claims.get(agent, {})
        for key in sorted(claims, key=lambda key: (len(key), key)):
            kind, _, remark = key.partition(" ")
            claim = claims[key]
            if kind == "remark" and claim.task and parse_task(claim.task)[0] == serial:
                own = {"verdict": claim.verdict, "was": claim.was, "now": claim.now, "why": claim.why}
                rows.append({"agent": agent, "remark": remark, **own, "reason": claim.reason})
    moved = any(row["verdict"] == "seen" for row in rows)
    return {"rows": rows, "nobody": bool(rows) and not moved}


def decision_rows(state: RunState) -> list[Row]:
    """Every decision at a checkpoint of the workflow, with what was said there and how much it weighs."""
    said: dict[str, list[RemarkAdded]] = {}
    for number in standing(state):
        remark = state.record.remarks[number]
        said.setdefault(remark.checkpoint or state.record.weighed.get(remark.id, ""), []).append(remark)
    rows: list[Row] = []
    for number in sorted(state.record.decisions):
        decision = state.record.decisions[number]
        if decision.attention:
            continue
        here = said.get(decision.checkpoint, [])
        levels = {remark.level for remark in here}
        rows.append(
            {
                "phase": decision.phase,
                "round": decision.n,
                "at": decision.at,
                "option": decision.option,
                "decision": decision.decision,
                "checkpoint": decision.checkpoint,
                "by": decision.by,
                "approved": list(decision.approved),
                "late": decision.late,
                "remarks": [remark.id for remark in here],
                "feedback": bool(here),
                "level": "major" if "major" in levels else "minor" if here else "",
                "again": isinstance(decision.move, Again),
                "last": decision.last,
                "extra": decision.extra,
            }
        )
    return rows


def project_view(state: RunState) -> Row:
    """The branch that the run has in the person's project. `head` is the commit with all accepted work."""
    project = state.record.project
    if project is None:
        return {"path": "", "branch": "", "base": "", "head": "", "changed": False}
    return {
        "path": project.path,
        "branch": project.branch,
        "base": project.base,
        "head": state.world.head or project.base,
        "changed": bool(state.world.head),
    }


def attempt_rows(state: RunState) -> list[Row]:
    """Attempts that were not accepted, and the accepted ones after them, oldest first."""
    rows: list[Row] = []
    for number in range(1, len(state.record.notes) + 1):
        note = state.record.notes[number]
        serial, step, agent = parse_task(note.task)
        rows.append(
            {
                "at": note.at,
                "phase": note.phase,
                "round": note.n,
                "serial": serial,
                "step": step,
                "agent": agent,
                "attempt": note.attempt,
                "verdict": note.verdict,
                "then": note.then,
                "code": note.code,
                "why": note.why,
            }
        )
    return rows


def rollback_rows(state: RunState, book: Book) -> list[Row]:
    """Rounds that were taken back, with what the person asked to be different."""
    rows: list[Row] = []
    kept = state.record.archives
    said: dict[str, list[RemarkAdded]] = {}
    for remark in map(state.record.remarks.__getitem__, standing(state)) if state.record.rollbacks else ():
        said.setdefault(remark.checkpoint, []).append(remark)
    for number in range(1, len(state.record.rollbacks) + 1):
        undone = state.record.rollbacks[number]
        decided = state.record.decided.get(undone.checkpoint)
        rows.append(
            {
                "at": undone.at,
                "phase": undone.phase,
                "round": undone.n,
                "serial": undone.serial,
                "by": undone.by,
                "why": undone.why,
                "folder": undone.folder,
                "pruned": bool(undone.folder) and not any(path.startswith(f"{undone.folder}/") for path in kept),
                "dropped": undone.dropped,
                "fields": book.object(state.record.decisions[decided].fields) if decided is not None else {},
                "remarks": views_of(state, said.get(undone.checkpoint, ())),
            }
        )
    return rows
