"""A run's state as the read model shows it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict, TypeVar

from msgspec import convert, structs

from reconvene.app.views import read_model as model
from reconvene.app.views import talk_lines
from reconvene.app.views.mendings import Bound, Reopened, Upgraded
from reconvene.app.views.open_checkpoints import checkpoint as checkpoint
from reconvene.app.views.where_it_stands import todo
from reconvene.app.views.who import is_proved
from reconvene.core.definition.workflow import Workflow, every_phase
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.round import Unasked, Unshown
from reconvene.core.facts.rows import BoundAt, PassedOver
from reconvene.core.facts.state import RunState, TalkEntry, children_of
from reconvene.core.shown import conversation, on_record, scope
from reconvene.core.working import spending
from reconvene.language.late_patterns import late
from reconvene.prompts.documents import said


def run(state: RunState) -> model.Run:
    """As lists show it."""
    frame = state.world.top if state.world.cursor else None
    children = children_of(state) if state.record.children else []
    return model.Run(
        run=state.run,
        status=state.status,
        phase=frame.phase if frame and frame.phase else None,
        round=frame.round.n if frame and frame.round else None,
        checkpoint=checkpoint(state),
        workflow=state.name,
        started=state.started,
        updated=state.updated,
        outcome=state.outcome,
        why=state.why,
        reason="provider" if state.awaits is not None else "",
        provider=provider(state),
        passed_over=tuple(map(passed, passed_since(state))),
        unasked=tuple(map(unasked, unasked_since(state))),
        unshown=unshown(unshown_since(state)) if state.record.unshown else (),
        found=tuple(sorted(state.world.found)) if state.world.found else (),
        project=_project(state),
        parent=state.parent,
        piece=state.piece if state.parent else "",
        title=state.title if state.parent else "",
        place=state.place,
        children=tuple(model.Child(one.run or one.child.run, one.child.title) for one in children),
        unmade=sum(not one.run for one in children),
        pinned=state.workflow,
        imported=state.imported > 0,
    )


def _project(state: RunState) -> model.Project | None:
    project, head = state.record.project, state.world.head
    if project is None or not head:
        return None
    import shlex

    merge = f"git -C {shlex.quote(project.path)} merge {project.branch or head}"
    return model.Project(project.path, project.branch, head, merge)


_Passed = TypeVar("_Passed", PassedOver, Unasked)
_Kind = TypeVar("_Kind")


def _since(state: RunState, rows: Sequence[_Passed]) -> list[_Passed]:
    """Of these, in the order in which they happened, those since the last checkpoint, the open one left aside."""
    before = state.record.checkpoints - (state.world.open is not None)
    return [one for one in rows if one.before == before] if rows else []


def passed_since(state: RunState) -> list[PassedOver]:
    """Those since the last checkpoint that the person could see, the open one left aside."""
    return _since(state, state.record.passed_over)


def passed(one: PassedOver) -> model.PassedOver:
    text = f"the checkpoint of {one.phase}, round {one.n}, was not asked: its condition failed: {one.why}"
    return model.PassedOver(one.phase, one.n, one.at, one.why, text)


def provider(state: RunState) -> model.Provider | None:
    awaits = state.awaits
    if awaits is None:
        return None
    agents = tuple(parse_task(task)[2] for task in awaits.tasks)
    return model.Provider(awaits.model, awaits.outcome, awaits.why, awaits.since, awaits.not_before, agents)


def unasked_since(state: RunState) -> list[Unasked]:
    """Those since the last checkpoint that the person decided."""
    return _since(state, state.record.unasked)


def unasked(one: Unasked) -> model.Unasked:
    text = f"a gate of {one.agent} ({one.phase}, round {one.n}) could not be asked, and its output stands: {one.why}"
    return model.Unasked(one.agent, one.phase, one.n, one.at, one.why, text)


def unshown_since(state: RunState) -> list[Unshown]:
    """Those since the last checkpoint that the person decided, of each agent and phase the last."""
    before = state.record.checkpoints - (state.world.open is not None)
    return list({(one.phase, one.agent): one for one in state.record.unshown if one.before == before}.values())


def unshown(rows: Iterable[Unshown]) -> tuple[model.Unshown, ...]:
    """Agents of a round that lacked the same are told together."""
    together: dict[tuple[str, int, tuple[e.LeftOut, ...]], list[Unshown]] = {}
    for row in rows:
        together.setdefault((row.phase, row.n, row.documents), []).append(row)
    return tuple(_unshown(same) for same in together.values())


def _unshown(rows: list[Unshown]) -> model.Unshown:
    one, agents = rows[-1], tuple(sorted(row.agent for row in rows))
    documents = tuple(model.LeftOut(row.name, row.shown, row.of, row.summary) for row in one.documents)
    lacked = "; ".join(said(row) for row in one.documents)
    were = "was" if len(agents) == 1 else "were"
    text = f"{', '.join(agents)} ({one.phase}, round {one.n}) {were} not shown everything: {lacked}"
    return model.Unshown(agents, one.phase, one.n, one.at, documents, text)


def asking_gates(workflow: Workflow) -> tuple[str, ...]:
    """The agents some gate of which asks a model. What comes from a recording is not judged."""
    found = {agent.name for agent in workflow.agents.values() if any(gate.ask for gate in agent.gates)}
    for step in (step for phase in every_phase(workflow) for step in phase.steps if any(g.ask for g in step.gates)):
        found |= set(step.agents)
    return tuple(name for name, agent in workflow.agents.items() if name in found and agent.kind != "recorded")


# --- in full ---


def in_full(state: RunState, book: Book) -> model.RunInFull:
    """All that the state says of it."""
    record, listed = state.record, run(state)
    own = {name: getattr(listed, name) for name in listed.__struct_fields__}
    own["passed_over"] = tuple(map(passed, record.passed_over))
    own["unasked"] = tuple(map(unasked, record.unasked))
    own["unshown"] = unshown(record.unshown)
    return model.RunInFull(
        **own,
        context=scope.context(state, book),
        workspace=state.workspace,
        files=files(state),
        remarks=remarks(state, map(record.remarks.__getitem__, on_record.standing(state))),
        decisions=tuple(_answered(state, book)),
        withdrawn=remarks(state, map(record.remarks.__getitem__, sorted(record.withdrawn))),
        tasks=tasks(state),
        usage=model.Usage(
            record.tasks,
            record.rounds,
            record.input_tokens,
            record.output_tokens,
            round(record.cost, 6),
            tuple(map(_budget, spending.budgets(state, book))),
        ),
        failures=record.failures,
        errors=tuple(error.said for error in record.errors),
        todo=todo(state, book),
        talk=talk(state, book),
        bindings=bindings(state),
        settled=settled(state),
        upgrades=tuple(structs.replace(_as(Upgraded, one), **_who(one)) for one in record.upgrades),
        reopened=tuple(structs.replace(_as(Reopened, one), **_who(one)) for one in record.reopened),
    )


def bindings(state: RunState) -> tuple[Bound, ...]:
    return tuple(
        Bound(name, at.binding.who, at.binding.fallback, at.by, at.at, at.binding.source, **_who(at))
        for name, at in sorted(state.record.bindings.items())
    )


_ITEM = late(r"\[(.*?)\](?=/|$)")


def decisions(state: RunState) -> tuple[model.Decision, ...]:
    """Those at checkpoints of the workflow, in order, each with the item that it was about."""
    rows = convert(on_record.checkpoints(state), tuple[model.Decision, ...])
    made = [state.record.decisions[number] for number in sorted(state.record.decisions)]
    taken = [one for one in made if not one.attention]
    return tuple(
        structs.replace(
            row,
            item=" / ".join(_ITEM.findall(one.scope)),
            version=one.digest,
            source=one.source,
            since=one.since,
            approved=one.approved,
            deadline=one.late,
            **_who(one),
        )
        for row, one in zip(rows, taken)
    )


def _answered(state: RunState, book: Book) -> Iterator[model.Decision]:
    """The same, with what was answered."""
    made = [state.record.decisions[number] for number in sorted(state.record.decisions)]
    for row, one in zip(decisions(state), (one for one in made if not one.attention)):
        yield structs.replace(row, answers=book.object(one.fields)) if one.fields else row


class _Who(TypedDict):
    user: str
    proved: bool


def _who(act: e.Act | BoundAt) -> _Who:
    return {"user": act.user, "proved": is_proved(act.by, act.user)}


def _as(kind: type[_Kind], act: e.Act) -> _Kind:
    return convert(act, kind, from_attributes=True)


def settled(state: RunState) -> tuple[model.Decision, ...]:
    """Those about trouble, in order."""
    made = [state.record.decisions[number] for number in sorted(state.record.decisions)]
    return tuple(
        model.Decision(
            phase=one.phase,
            decision=one.decision,
            feedback=one.feedback,
            option=one.option,
            by=one.by,
            timestamp=one.at,
            item=" / ".join(_ITEM.findall(one.scope)),
            version=one.digest,
            source=one.source,
            since=one.since,
            user=one.user,
            proved=is_proved(one.by, one.user),
        )
        for one in made
        if one.attention
    )


def _budget(one: spending.CostLimit) -> model.Budget:
    spent = one.spent
    cost, allowed = round(spent.cost, 6), round(one.allowed, 6)
    return model.Budget(one.name, cost, allowed, spent.calls, spent.unpriced, spent.tokens)


def remarks(state: RunState, said: Iterable[e.RemarkAdded]) -> tuple[model.Remark, ...]:
    said = list(said)
    rows = convert(on_record.views_of(state, said), tuple[model.Remark, ...])
    gone = state.record.withdrawn
    return tuple(structs.replace(row, withdrawn=gone.get(one.number), **_who(one)) for row, one in zip(rows, said))


def tasks(state: RunState) -> tuple[model.Task, ...]:
    """The open step's."""
    round_ = state.world.top.round if state.world.cursor else None
    step = round_.open if round_ is not None else None
    if step is None:
        return ()
    found = [(agent, step.tasks[agent]) for agent in step.order]
    return tuple(
        model.Task(agent, task.status, task.attempt, task.parked.why, task.parked.not_before)
        if task.parked is not None
        else model.Task(agent, task.status, task.attempt, task.why)
        for agent, task in found
    )


def files(state: RunState) -> tuple[model.File, ...]:
    found = sorted(state.world.files.items())
    return tuple(model.File(path, one.size, one.by, one.at, one.phase) for path, one in found)


def converses(state: RunState, book: Book) -> bool:
    """Whether the agents of the phase in front read the conversation."""
    phase = state.world.top.phase if state.world.cursor else ""
    steps = book.phase(phase).steps if phase else ()
    return any(conversation.WORD in (step.reads or ()) for step in steps)


def talk(state: RunState, book: Book) -> tuple[model.Said, ...]:
    """What was said in the phase (and item) in front; empty where its agents do not talk with the person."""
    if not converses(state, book):
        return ()
    return tuple(_said(state, book, entry) for entry in conversation.thread(state, state.world.spot))


def whole_talk(state: RunState, book: Book) -> dict[str, tuple[model.Said, ...]]:
    """What was said in all of the run, by where it was said, in the order in which it began there."""
    spots = dict.fromkeys(state.record.talk[number].spot for number in sorted(state.record.talk))
    return {
        spot: tuple(_said(state, book, entry) for entry in conversation.thread(state, spot))
        for spot in spots
        if spot in state.record.threads
    }


def _said(state: RunState, book: Book, entry: TalkEntry) -> model.Said:
    text = talk_lines.told(state, book, entry)
    said = model.Said(entry.kind, entry.role, entry.n, entry.at, text)
    if entry.kind == "decision":
        decided = state.record.decisions.values()
        same = [one for one in decided if (one.at, one.option) == (entry.at, entry.text)]
        return structs.replace(said, source=same[0].source, **_who(same[0])) if same else said
    if entry.kind != "remark":
        return said
    made = state.record.remarks[entry.number]
    return structs.replace(said, id=made.id, remark=made.kind, checkpoint=made.checkpoint, **_who(made))
