"""A person's decision: checked against what is offered and what was shown, then carried out. Rules 13–19."""

from __future__ import annotations

from reconvene.core.definition.workflow import Again, Continue, End, Goto, Move, Option
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.book import to_json
from reconvene.core.facts.ids import digest_of
from reconvene.core.paths import is_safe
from reconvene.core.person import answering, attention, checkpoint
from reconvene.core.person.remarking import add_remarks, add_to_draft, keep_draft, require_alive
from reconvene.core.shown import drafts, naming
from reconvene.core.working import children, limits, tracking
from reconvene.core.working.moves import make_move
from reconvene.core.working.turn import Turn
from reconvene.errors import Bug, ReconveneError, Refused, StaleDecision
from reconvene.language.closest import closest


def answer(turn: Turn, command: c.AnswerCheckpoint) -> None:
    key = digest_of(to_json([command.option, command.fields, [[r.kind, r.target, r.text] for r in command.remarks]]))
    point = turn.state.world.open
    if command.checkpoint and (point is None or point.id != command.checkpoint):
        _already_decided(turn, command, key)
        return
    require_alive(turn)
    if point is None:
        raise Refused(
            f"Run {turn.state.run} is {turn.state.status}: nothing waits for a decision.",
            hint=f"reconvene show {turn.state.run}",
        )
    offered = _find_option(point, command.option)
    _check_digest(turn, point, command)
    if not offered.available and point.fields and command.fields:
        offered = _with_answers(turn, point, offered, command)
    if not offered.available:
        raise Refused(f"{offered.label!r} is not available: {offered.why_not}.", hint=_options_hint(point))
    if offered.remark == "required" and not any(remark.text.strip() for remark in command.remarks):
        raise Refused(f"{offered.label!r} needs your words.", hint='Add --feedback "…"')
    if point.attention:
        attention.settle(turn, point, offered.label, command, key)
    else:
        _decide(turn, point, offered, command, key)


def _with_answers(
    turn: Turn, point: e.CheckpointOpened, offered: e.OptionOffered, command: c.AnswerCheckpoint
) -> e.OptionOffered:
    """The option as it is once the answers that come with the decision are given. A refusal takes them along."""
    asked = {field.id for field in point.fields}
    answered = {name: value for name, value in command.fields.items() if name in asked}
    add_to_draft(turn, point, answered, command.by)
    checkpoint.revise(turn)
    now = turn.state.world.open or point
    return next((option for option in now.options if option.label == offered.label), offered)


def _already_decided(turn: Turn, command: c.AnswerCheckpoint, key: str) -> None:
    number = turn.state.record.decided.get(command.checkpoint)
    if number is None:
        raise StaleDecision(
            f"Checkpoint {command.checkpoint} is not open in run {turn.state.run}.",
            hint=f"reconvene show {turn.state.run}",
        )
    decision = turn.state.record.decisions[number]
    if decision.key == key:
        return
    raise StaleDecision(
        f"Checkpoint {command.checkpoint} was decided already: {decision.option!r} by {decision.by or 'somebody'} at "
        f"{decision.at}.",
        changes=(f"decided: {decision.option}",),
        hint=f"reconvene show {turn.state.run}",
    )


def _find_option(point: e.CheckpointOpened, label: str) -> e.OptionOffered:
    for option in point.options:
        if option.label == label:
            return option
    same = [option for option in point.options if option.label.casefold() == label.casefold()]
    if len(same) == 1:
        return same[0]
    near = closest(label, [option.label for option in point.options])
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise Refused(f"{label!r} is not an option here.", hint=hint + _options_hint(point))


def _options_hint(point: e.CheckpointOpened) -> str:
    return "Options: " + ", ".join(option.label for option in point.options if option.available)


def _check_digest(turn: Turn, point: e.CheckpointOpened, command: c.AnswerCheckpoint) -> None:
    now = checkpoint.current_digest(turn.state)
    if not command.digest or command.digest == now:
        return
    remarks = turn.state.record.remarks.values()
    changes = tuple(sorted(r.text for r in remarks if r.kind == "edit" and r.checkpoint == point.id))
    what = "; ".join(changes) if changes and command.digest == point.digest else "the run moved on since"
    raise StaleDecision(
        f"What you decided on is not what is there now: {what}.",
        changes=changes or (what,),
        hint=f"reconvene show {turn.state.run}, then decide again",
    )


def _decide(
    turn: Turn, point: e.CheckpointOpened, offered: e.OptionOffered, command: c.AnswerCheckpoint, key: str
) -> None:
    definition = turn.phase.checkpoint
    if definition is None:
        raise Bug(f"{point.phase} has no checkpoint")
    option = definition.options[offered.index] if offered.index >= 0 else Option(label=offered.label)
    move = option.then
    leaving = _leaves(option)
    given = answering.merge(turn, offered, command.fields, leaving=leaving)
    agents = answering.chosen_agents(offered, given)
    if isinstance(move, Again) and agents:
        move = Again(agents)
    ids = add_remarks(turn, command.remarks, command.by, command.door)
    fresh_answers = {f.id: given.get(f.id) for f in point.fields if f.id in command.fields}
    add_to_draft(turn, point, fresh_answers, command.by)
    _forget_orders(turn, point)
    serial = point.serial
    turn.emit(
        e.DecisionRecorded(
            at=turn.now,
            checkpoint=point.id,
            number=point.number,
            phase=point.phase,
            scope=point.scope,
            serial=serial,
            option=offered.label,
            decision=option.alias or _decision_name(option),
            move=move,
            fields=turn.keep(given).digest if given else "",
            skipped=option.skip,
            target=move.target if isinstance(move, Goto) else "",
            feedback="\n".join(r.text for r in command.remarks if r.text.strip()),
            remarks=ids,
            by=command.by,
            door=command.door,
            digest=command.digest or checkpoint.digest(turn.state, serial, point.options, point.show_files),
            key=key,
            n=turn.frame.round.n if turn.frame.round else 0,
            last=turn.frame.round.last if turn.frame.round else False,
            extra=turn.frame.round.extra if turn.frame.round else False,
        )
    )
    undone = option.undo and _undo(turn, point, dropped=not isinstance(move, Again), by=command.by, why=offered.label)
    fields = (*(point.fields if leaving else ()), *offered.fields)
    writes = answering.writes(turn, fields, given, option.set, command.by)
    if writes:
        turn.emit(e.ValuesSet(at=turn.now, values=writes))
    fresh = tuple(phase for phase in option.skip if phase not in turn.state.world.skips)
    if fresh:
        turn.emit(e.SkipsChanged(at=turn.now, added=fresh))
    if option.start is not None:
        children.queue(turn, option.start, point, command)
    _move(turn, move, command.by, undone=undone)


def _forget_orders(turn: Turn, point: e.CheckpointOpened) -> None:
    """What a tracker was told is about this round's gaps: it stands with the decision, and answers nothing later."""
    kept = tracking.tracked(turn.book)
    orders = {field.id for field in point.fields if field.into.partition(".")[0] in kept}
    so_far = drafts.here(turn.state, turn.book)
    if orders & set(so_far):
        keep_draft(turn, {name: so_far[name] for name in so_far if name not in orders}, point.id, drafts.ENGINE)


def _leaves(option: Option) -> bool:
    """Whether the answers to the checkpoint's fields are final. Who takes the round back, or gives up, owes none."""
    match option.then:
        case Continue():
            return not option.undo
        case End(status=status):
            return status != "aborted"
    return False


def _decision_name(option: Option) -> str:
    match option.then:
        case Continue():
            return "skip_phases" if option.skip else "continue"
        case Again():
            return "again"
        case Goto(rerun=rerun):
            return "repeat_phase" if rerun else "goto"
        case End(status=status):
            return "abort" if status == "aborted" else "end"


def _move(turn: Turn, move: Move, by: str, *, undone: bool) -> None:
    if isinstance(move, End):
        turn.emit(e.RunEnded(at=turn.now, status=move.status, outcome=move.outcome, by=by))
    elif undone and isinstance(move, Again | Continue):
        pass  # the restored world goes on by itself: the round again, or the one after it
    elif isinstance(move, Continue):
        world = turn.state.world
        if world.visit < len(world.visits) - 1:
            clean = world.dirty < 0 or world.dirty > world.visit
            turn.emit(e.WentOn(at=turn.now, visit=world.visit + 1 if clean else -1))
    else:
        make_move(turn, move)


def _undo(turn: Turn, point: e.CheckpointOpened, *, dropped: bool, by: str, why: str) -> bool:
    frame = turn.frame
    if frame.round is None:
        raise Bug(f"{frame.scope} has no round to undo")
    folder, archived = _archive(turn)
    turn.emit(
        e.RoundUndone(
            at=turn.now,
            serial=frame.round.serial,
            phase=frame.phase,
            scope=frame.place,
            n=frame.round.n,
            dropped=dropped,
            by=by,
            why=why,
            checkpoint=point.id,
            folder=folder,
            archived=archived,
        )
    )
    return True


def _archive(turn: Turn) -> tuple[str, tuple[e.FileOut, ...]]:
    """The files of the round's own folder, under a name that no other round's archive has."""
    try:
        folder = naming.folder(turn.state, turn.book)
    except ReconveneError as error:  # a name that cannot be filled in costs the copy in the workspace, not the undo
        turn.emit(e.RenderFailed(at=turn.now, path=turn.phase.rounds.folder, message=str(error)))
        folder = ""
    files = turn.state.world.files
    inside = [path for path in sorted(files) if folder and path.startswith(f"{folder}/")]
    if not inside:
        return "", ()
    taken = {path.rpartition("/")[0] for path in (*turn.state.record.archives, *files)}
    taken |= {
        undone.folder for undone in turn.state.record.rollbacks.values()
    }  # pruned ones too: a name is one round's
    name, number = f"{folder}_rolled_back", 1
    while any(each == name or each.startswith(f"{name}/") for each in taken):
        number += 1
        name = f"{folder}_rolled_back_{number}"
    moved = [e.FileOut(name + path.removeprefix(folder), files[path].digest, files[path].size) for path in inside]
    if unsafe := next((file.path for file in moved if not is_safe(file.path)), ""):
        message = f"the files of the undone round are not kept beside it: {unsafe[:80]!r} is no path that can be used"
        turn.emit(e.RenderFailed(at=turn.now, path=folder, message=message))
        return "", ()
    return name, tuple(moved)


def rollback(turn: Turn, command: c.Rollback) -> None:
    require_alive(turn)
    point = turn.state.world.open
    if point is None:
        raise Refused(
            f"Run {turn.state.run} is {turn.state.status}: a round is rolled back at its checkpoint.",
            hint=f"reconvene pause {turn.state.run}, or fork it from an earlier point",
        )
    if command.checkpoint not in ("", point.id):
        raise StaleDecision(
            f"Checkpoint {command.checkpoint} is not open any more.", hint=f"reconvene show {turn.state.run}"
        )
    refused = limits.undo_refused(turn.state, turn.book)
    if refused:
        raise Refused(f"This round cannot be rolled back: {refused}.")
    add_remarks(turn, command.remarks, command.by, command.door)
    _undo(turn, point, dropped=False, by=command.by, why="rollback")
