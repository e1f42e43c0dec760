"""A person's decision and answers: checked against what is offered and was shown, then carried out. Rules 13–19."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from reconvene.core.definition.field_types import fits, typed
from reconvene.core.definition.workflow import Again, Continue, End, Goto, Move, Option
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.book import to_json
from reconvene.core.facts.ids import digest_of
from reconvene.core.person import approving, attention, checkpoint, deadlines
from reconvene.core.person.checkpoint import current_digest
from reconvene.core.person.remarking import add_remarks, add_to_draft, keep_draft, require_alive
from reconvene.core.person.undoing import undo
from reconvene.core.shown import drafts, on_record, scope
from reconvene.core.working import acting, children, tracking
from reconvene.core.working.moves import make_move
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Bug, Refused, StaleDecision
from reconvene.language.closest import closest

DEADLINE = "the deadline"  # who took an option that nobody chose in time; nobody can be called so


def answer(tx: Transaction, command: c.AnswerCheckpoint) -> None:
    key = digest_of(to_json([command.option, command.fields, [[r.kind, r.target, r.text] for r in command.remarks]]))
    point = tx.state.world.open
    if command.checkpoint and (point is None or point.id != command.checkpoint):
        _already_decided(tx, command, key)
        return
    require_alive(tx)
    if point is None and tx.state.awaits is not None:
        raise Refused(
            f"Run {tx.state.run} waits for {tx.state.awaits.model}, not for a decision: there is nothing to decide.",
            hint=f"reconvene resume {tx.state.run}",
        )
    if point is None:
        raise Refused(
            f"Run {tx.state.run} is {tx.state.status}: nothing waits for a decision.",
            hint=f"reconvene show {tx.state.run}",
        )
    approving.require_one_of_them(tx)
    offered = _find_option(point, command.option)
    saw = bool(command.digest)
    command = replace(command, digest=checkpoint.shown(tx, command))
    if not offered.available and point.fields and command.fields:
        offered = _with_answers(tx, point, offered, command)
    if not offered.available:
        raise Refused(f"{offered.label!r} is not available: {offered.why_not}.", hint=_options_hint(point))
    said = any(remark.text.strip() for remark in command.remarks) or on_record.unheard(tx.state)
    if offered.remark == "required" and not said:
        raise Refused(f"{offered.label!r} needs your words.", hint='Add --feedback "…"', field="remarks")
    if point.attention:
        attention.settle(tx, point, offered.label, command, key)
    else:
        _decide(tx, point, offered, command, key, saw=saw)


def _with_answers(
    tx: Transaction, point: e.CheckpointOpened, offered: e.OptionOffered, command: c.AnswerCheckpoint
) -> e.OptionOffered:
    """The option as it is once the answers that come with the decision are given. A refusal takes them along."""
    asked = {field.id for field in point.fields}
    answered = {name: value for name, value in command.fields.items() if name in asked}
    add_to_draft(tx, point, answered, command.by)
    checkpoint.revise(tx)
    now = tx.state.world.open or point
    return next((option for option in now.options if option.label == offered.label), offered)


def _already_decided(tx: Transaction, command: c.AnswerCheckpoint, key: str) -> None:
    number = tx.state.record.decided.get(command.checkpoint)
    if number is None:
        raise StaleDecision(
            f"Checkpoint {command.checkpoint} is not open in run {tx.state.run}.",
            hint=f"reconvene show {tx.state.run}",
        )
    decision = tx.state.record.decisions[number]
    same = decision.by == command.by and (decision.user or tx.user) == tx.user
    if decision.key == key and same and command.digest in ("", decision.digest):
        return
    claimed = f" (claimed by {decision.user})" if decision.user and decision.user != decision.by else ""
    raise StaleDecision(
        f"Checkpoint {command.checkpoint} was decided already: {decision.option!r} by "
        f"{decision.by or 'somebody'}{claimed} at {decision.at}.",
        changes=(f"decided: {decision.option}",),
        hint=f"reconvene show {tx.state.run}",
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


def lapse(tx: Transaction) -> None:
    """Time has passed: remind, or do what the workflow says of a deadline. Twice is once."""
    point, due = tx.state.world.open, deadlines.next_due(tx.state)
    if point is None or not due or tx.now < due:
        return
    if not deadlines.has_passed(tx.state, tx.now):
        deadlines.remind(tx, point)
        return
    if not point.late_option:
        deadlines.escalate(tx, point)
        return
    offered = _find_option(point, point.late_option)
    why = offered.why_not if not offered.available else ""
    if not why:
        shown = current_digest(tx.state)
        command = c.AnswerCheckpoint(point.id, offered.label, door="deadline", digest=shown)
        try:
            _decide(tx, point, offered, command, "", late=True)
            return
        except Refused as error:  # it asks for an answer that only a person has; nothing was emitted before that
            why = error.message
    deadlines.escalate(tx, point, f"{offered.label!r} cannot be taken: {why.rstrip('.')}")


def _decide(
    tx: Transaction,
    point: e.CheckpointOpened,
    offered: e.OptionOffered,
    command: c.AnswerCheckpoint,
    key: str,
    *,
    late: bool = False,
    saw: bool = False,
) -> None:
    """`saw`: the person names the version that they were shown."""
    definition = tx.phase.checkpoint
    if definition is None:
        raise Bug(f"{point.phase} has no checkpoint")
    option = definition.options[offered.index] if offered.index >= 0 else Option(label=offered.label)
    move = option.then
    leaving = _leaves(option)
    if offered.needs > 1:
        command = replace(command, fields=approving.with_earlier_answers(tx, offered, command, shown=saw))
    answers = _merged(tx, offered, command.fields, leaving=leaving)
    together = approving.approved(tx, point, offered, command, answers) if offered.needs > 1 else ()
    if offered.needs > 1 and not together:
        return
    agents = _chosen_agents(offered, answers)
    if isinstance(move, Again) and agents:
        move = Again(agents)
    ids = add_remarks(tx, command.remarks, command.by, command.door)
    fresh_answers = {f.id: answers.get(f.id) for f in point.fields if f.id in command.fields}
    add_to_draft(tx, point, fresh_answers, command.by)
    _forget_told(tx, point)
    tx.emit(
        e.DecisionRecorded(
            at=tx.now,
            checkpoint=point.id,
            number=point.number,
            phase=point.phase,
            scope=point.scope,
            serial=point.serial,
            option=offered.label,
            decision=option.alias or _decision_name(option),
            move=move,
            fields=tx.keep(answers).digest if answers else "",
            skipped=option.skip,
            target=move.target if isinstance(move, Goto) else "",
            feedback="\n".join(r.text for r in command.remarks if r.text.strip()),
            remarks=ids,
            by=DEADLINE if late else command.by,
            door=command.door,
            digest=command.digest,
            key=key,
            n=tx.frame.round.n if tx.frame.round else 0,
            last=tx.frame.round.last if tx.frame.round else False,
            extra=tx.frame.round.extra if tx.frame.round else False,
            source=command.source,
            since=command.since,
            acts=acting.again(tx.state, tx.book, move, undo=option.undo),
            approved=together,
            late=late,
        )
    )
    undone = option.undo and undo(tx, point, dropped=not isinstance(move, Again), by=command.by, why=offered.label)
    fields = (*(point.fields if leaving else ()), *offered.fields)
    if writes := written(tx, fields, answers, option.set, command.by):
        tx.emit(e.ValuesSet(at=tx.now, values=writes))
    fresh = tuple(phase for phase in option.skip if phase not in tx.state.world.skips)
    if fresh:
        tx.emit(e.SkipsChanged(at=tx.now, added=fresh))
    if option.start is not None:
        children.queue(tx, option.start, point, command)
    _move(tx, move, command.by, undone=undone)


def _forget_told(tx: Transaction, point: e.CheckpointOpened) -> None:
    """What a tracker was told is about this round's gaps: it stands with the decision, and answers nothing later."""
    kept = tracking.tracked(tx.book)
    told = {field.id for field in point.fields if field.into.partition(".")[0] in kept}
    so_far = drafts.here(tx.state, tx.book)
    if told & set(so_far):
        keep_draft(tx, {name: so_far[name] for name in so_far if name not in told}, point.id, drafts.ENGINE)


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


def _move(tx: Transaction, move: Move, by: str, *, undone: bool) -> None:
    if isinstance(move, End):
        tx.emit(e.RunEnded(at=tx.now, status=move.status, outcome=move.outcome, by=by))
    elif undone and isinstance(move, Again | Continue):
        pass  # the restored world goes on by itself: the round again, or the one after it
    elif isinstance(move, Continue):
        world = tx.state.world
        if world.visit < len(world.visits) - 1:
            clean = world.dirty < 0 or world.dirty > world.visit
            tx.emit(e.WentOn(at=tx.now, visit=world.visit + 1 if clean else -1))
    else:
        make_move(tx, move)


# --- answers to fields: checked, completed, and turned into values ---


def _merged(tx: Transaction, option: e.OptionOffered, given: c.Answers, *, leaving: bool) -> c.Answers:
    """Defaults, then drafts, then what was given; `blank` and `required` count only when the checkpoint is left."""
    point = tx.state.world.open
    assert point is not None
    asked = {field.id: field for field in (*point.fields, *option.fields)}
    unknown = [name for name in given if name not in asked]
    if unknown:
        near = closest(unknown[0], asked)
        known = ", ".join(asked) or "none"
        raise Refused(
            f"There is no field {unknown[0]!r} here (fields: {known}).",
            hint=f"Did you mean {near[0]!r}?" if near else "",
            field=unknown[0],
        )
    before = drafts.here(tx.state, tx.book)
    answers: c.Answers = {}
    for name, field in asked.items():
        draft = before.get(name)
        answer = given.get(name, draft if draft is not None and fits(field, draft) else field.default)
        if answer is not None:
            answers[name] = typed(field, answer)
    _complete(answers, option.fields)
    if leaving:
        _complete(answers, point.fields)
    return answers


def _complete(answers: c.Answers, fields: tuple[e.FieldAsked, ...]) -> None:
    for field in fields:
        empty = answers.get(field.id) in (None, "")
        if empty and field.blank is not None:
            answers[field.id] = field.blank
        elif field.required and field.type == "confirm" and answers.get(field.id) is not True:
            raise Refused(
                f"{field.prompt or field.id} needs an answer of yes first.",
                hint=f"Add --field {field.id}=yes, or choose another option.",
                field=field.id,
            )
        elif field.required and empty:
            needed = f"{field.prompt or field.id} needs an answer first."
            raise Refused(needed, hint=f"Add --field {field.id}=…", field=field.id)


def _chosen_agents(option: e.OptionOffered, answers: c.Answers) -> tuple[str, ...]:
    for field in option.fields:
        names = answers.get(field.id)
        if field.type == "agents" and isinstance(names, list):
            return tuple(str(name) for name in names)
    return ()


def written(
    tx: Transaction, fields: tuple[e.FieldAsked, ...], answers: c.Answers, constants: Mapping[str, object], by: str
) -> tuple[e.ValueWrite, ...]:
    """The values that these answers and `set` constants make, one write per name, unchanged ones left out."""
    paths = [(field.into, answers[field.id]) for field in fields if field.into and field.id in answers]
    fresh: dict[str, object] = {}
    for path, value in (*paths, *constants.items()):
        name, *rest = path.split(".")
        if name not in fresh:
            fresh[name] = scope.load_value(tx.book, scope.value_at(tx.state, tx.book, name))
        fresh[name] = _put(fresh[name], rest, value)
    for path in _replaced(fields):
        name, *rest = path.split(".")
        if name in fresh and rest:
            fresh[name] = _without(fresh[name], rest)
    found: list[e.ValueWrite] = []
    for name, value in fresh.items():
        owner = tx.book.workflow.names.get(name, "")
        key = scope.value_key(tx.state.world.cursor, owner, name)
        ref = tx.keep(tracking.settled(tx, name, value, by))
        old = tx.state.world.values.get(key)
        if old is None or old.ref is None or old.ref.digest != ref.digest:
            found.append(e.ValueWrite(key, ref, by))
    return tuple(found)


def _replaced(fields: tuple[e.FieldAsked, ...]) -> list[str]:
    """Where the answers to fields stand whose place another has taken."""
    asked = {field.id for field in fields}
    return [
        f"{field.into.rpartition('.')[0]}.{name}"
        for field in fields
        for name in field.replaces
        if name not in asked and "." in field.into
    ]


def _without(whole: object, path: list[str]) -> object:
    if not isinstance(whole, dict) or path[0] not in whole:
        return whole
    rest = {key: value for key, value in whole.items() if key != path[0]}
    return rest if len(path) == 1 else {**rest, path[0]: _without(whole[path[0]], path[1:])}


def _put(whole: object, path: list[str], value: object) -> object:
    if not path:
        return value
    base: dict[str, object] = dict(whole) if isinstance(whole, dict) else {}
    base[path[0]] = _put(base.get(path[0]), path[1:], value)
    return base


def save_draft(tx: Transaction, command: c.SaveDraft) -> None:
    point = tx.state.world.open
    if point is None or (command.checkpoint and point.id != command.checkpoint):
        raise Refused("That checkpoint is not open any more.", hint=f"reconvene show {tx.state.run}")
    asked = {field.id: field for field in point.fields}
    unknown = [name for name in command.fields if name not in asked]
    if unknown:
        raise Refused(f"There is no field {unknown[0]!r} here.", field=unknown[0])
    answers = {
        name: value if value in (None, "") else typed(asked[name], value) for name, value in command.fields.items()
    }
    add_to_draft(tx, point, answers, command.by)
