"""Opening a checkpoint: what the person is shown and offered, and the digest of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from reconvene.core.definition.field_types import TYPES
from reconvene.core.definition.workflow import Again, Checkpoint, Field, Option
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.book import to_json
from reconvene.core.facts.ids import checkpoint_id, digest_of
from reconvene.core.facts.state import RunState
from reconvene.core.person.remarking import keep_draft
from reconvene.core.shown import drafts, on_record
from reconvene.core.working.moves import move_refused, undo_refused
from reconvene.core.working.transaction import Transaction
from reconvene.errors import StaleDecision
from reconvene.language.expressions import compile as compile_expression
from reconvene.language.times import later

WITHOUT = "Go on without it"  # the way out when no option of the workflow is available
_ANYBODY = Checkpoint()


def open_checkpoint(tx: Transaction, *, reopened: bool = False) -> None:
    frame, point = tx.frame, tx.phase.checkpoint
    assert point is not None
    fields, kept = drafts.carry(tx.state, tx.book, frame.address, tuple(_ask(tx, point.fields)))
    keep_draft(tx, kept, checkpoint_id(tx.state.record.checkpoints + 1), drafts.ENGINE)
    show = tuple(shown for path in point.show_files if (shown := _shown(tx, path)))
    options = tuple(_offer(tx, option, index) for index, option in enumerate(point.options))
    if not any(option.available for option in options):
        options = (*options, e.OptionOffered(WITHOUT, index=-1))
    prompt, theirs = _question(tx, point)
    question = " ".join(tx.filled(point.question, f"question of {frame.phase}").split())
    feedback = tx.filled(point.feedback, f"feedback of {frame.phase}")
    emit_opened(
        tx,
        prompt=prompt,
        options=options,
        fields=fields,
        show_files=show,
        status=point.status,
        feedback=feedback,
        reopened=reopened,
        question=question,
        filled=e.Filled(theirs, bool(tx.theirs(point.question, question)), tx.theirs(point.feedback, feedback)),
        asked_of=point,
        weighs=tx.state.record.unweighed,
    )
    if tx.state.world.open is not None and tx.state.world.open.weighs:
        revise(tx)


def emit_opened(
    tx: Transaction,
    *,
    prompt: str,
    options: tuple[e.OptionOffered, ...],
    fields: tuple[e.FieldAsked, ...] = (),
    show_files: tuple[str, ...] = (),
    status: str = "",
    feedback: str = "",
    attention: bool = False,
    reopened: bool = False,
    question: str = "",
    filled: e.Filled,
    asked_of: Checkpoint = _ANYBODY,
    weighs: tuple[str, ...] = (),
) -> None:
    """`asked_of`: who decides, and until when. `weighs`: what was said while agents worked."""
    frame = tx.frame
    number = tx.state.record.checkpoints + 1
    serial = frame.round.serial if frame.round else 0
    tx.emit(
        e.CheckpointOpened(
            at=tx.now,
            id=checkpoint_id(number),
            number=number,
            phase=frame.phase,
            scope=frame.address,
            serial=serial,
            prompt=prompt,
            options=options,
            fields=fields,
            show_files=show_files,
            status=status,
            feedback=feedback,
            attention=attention,
            reopened=reopened,
            digest=digest(tx.state, checkpoint_id(number), serial, options, show_files),
            question=question,
            filled=filled,
            who=asked_of.who,
            deadline=later(tx.now, asked_of.within) if asked_of.within else "",
            reminder=later(tx.now, asked_of.within - asked_of.remind) if asked_of.within and asked_of.remind else "",
            late_who=asked_of.late.who if asked_of.late else (),
            late_option=asked_of.late.option if asked_of.late else "",
            weighs=weighs,
        )
    )


def _said_here(state: RunState, beside: tuple[str, ...]) -> list[str]:
    """What was said since the checkpoint opened. What it weighs from before is part of it, unless it was taken back."""
    weighs = state.world.open.weighs if state.world.open is not None else ()
    here = [remark.id for remark in on_record.remarks_here(state)]
    return [one for one in here if one not in beside and one not in weighs] + [
        f"-{one}" for one in weighs if one not in here
    ]


def digest(
    state: RunState, point: str, serial: int, options: tuple[e.OptionOffered, ...], show_files: tuple[str, ...]
) -> str:
    """Of what is shown: checkpoint, round, values, outputs, shown file versions, options, answers and remarks so far,
    the commit in the person's project; never rendered text. What people say with an approval stands beside it, so that
    what was approved stays the same; see `current_digest`."""
    world = state.world
    beside = world.pending.notes if world.pending.checkpoint == point else ()
    round_ = world.top.round
    parts = [
        state.run,
        point,
        serial,
        [[option.label, option.available] for option in options],
        [[path, world.files[path].digest if path in world.files else ""] for path in show_files],
        sorted(
            [key, value.ref.digest if value.ref else "", sorted((a, r.digest) for a, r in (value.parts or {}).items())]
            for key, value in world.values.items()
        ),
        [[output.agent, output.output.digest] for output in (round_.outputs if round_ else ())],
        _said_here(state, beside),
        state.record.drafts.get(world.spot, ""),
    ]
    if state.record.upgrades or state.record.reopened:  # what looks the same as before is another question
        parts.append([state.workflow, len(state.record.reopened)])
    if world.head:
        parts.append(world.head)
    return digest_of(to_json(parts))


def approved_digest(state: RunState) -> str:
    """Of what people approve who choose now: the words and answers of those who chose before stand beside it."""
    point = state.world.open
    return digest(state, point.id, point.serial, point.options, point.show_files) if point else ""


def current_digest(state: RunState) -> str:
    """Of what is shown now: what is approved, and what those who approve it said and answered."""
    now, pending = approved_digest(state), state.world.pending
    if not now or not (pending.approvals or pending.notes):
        return now
    said = [remark.id for remark in on_record.remarks_here(state) if remark.id in pending.notes]
    answered = sorted(
        [one.user, one.option, one.fields] for one in pending.approvals if one.fields and one.version == now
    )
    return digest_of(to_json([now, said, answered])) if said or answered else now


def shown(tx: Transaction, command: c.AnswerCheckpoint | c.Rollback) -> str:
    """The version that was shown. It must be the one that is open, but for what the person did themselves since."""
    now = current_digest(tx.state)
    if now != (command.current or command.digest or now):
        raise StaleDecision("What you decided on is not what is there now.", hint=f"reconvene show {tx.state.run}")
    return command.digest or now


# --- what is offered ---


def _offer(tx: Transaction, option: Option, index: int) -> e.OptionOffered:
    where = f"option {option.label!r} of {tx.frame.phase}"
    offered, why_not = _why_not(tx, option, where)
    recommend = False
    if option.recommend and not why_not:
        recommend, _ = tx.lenient(option.recommend, f"recommend of {where}")
    return e.OptionOffered(
        option.label,
        available=not why_not,
        why_not=why_not,
        recommend=recommend,
        remark=option.remark,
        fields=tuple(_ask(tx, option.fields)),
        index=index,
        offered=offered,
        needs=option.needs,
    )


def _why_not(tx: Transaction, option: Option, where: str) -> tuple[bool, str]:
    """Whether people see it at all, and why they cannot choose it."""
    if option.when:
        wanted, wrong = tx.lenient(option.when, f"when of {where}")
        if wrong:
            return True, f"its condition failed: {wrong}"
        if not wanted:
            said = tx.filled(option.why_not, f"why_not of {where}")
            return bool(said), said or "not offered here"
    if option.undo:
        refused = undo_refused(tx.state, tx.book)
        if refused or isinstance(option.then, Again):
            return True, refused
    return True, move_refused(tx, option.then)


def _ask(tx: Transaction, fields: tuple[Field, ...]) -> Iterator[e.FieldAsked]:
    for field in fields:
        if not field.each:
            yield _field(tx, field)
            continue
        items = tx.value(field.each, f"fields of {tx.frame.phase}")
        for index, item in enumerate(items if isinstance(items, list) else ()):
            yield _item_field(tx, field, item, index)


def _field(tx: Transaction, field: Field) -> e.FieldAsked:
    where = f"field {field.id} of {tx.frame.phase}"
    choices = _Choices(field.options)
    if field.options_expr:
        choices = _choices(tx.value(field.options_expr, where))
    if field.type == "agents":
        choices = _Choices(tuple(on_record.workers_here(tx.state, tx.book)) or tuple(tx.book.workflow.agents))
    default = tx.value(field.default_expr, where) if field.default_expr else field.default
    return e.FieldAsked(
        field.id,
        field.type,
        tx.filled(field.prompt, where),
        choices.options,
        field.required,
        field.blank,
        default,
        field.into,
        choices.titles,
        choices.recommend,
        other=field.other,
        under=_under(tx, field),
    )


def _under(tx: Transaction, field: Field) -> str:
    return str(tx.value(field.under, f"field {field.id} of {tx.frame.phase}")) if field.under else ""


def _item_field(tx: Transaction, field: Field, item: object, index: int) -> e.FieldAsked:
    """A field for one item of a list; with type `item`, the item itself says what kind of answer it wants."""
    data: dict[str, object] = item if isinstance(item, dict) else {field.key: item}
    name = str(data.get(field.key) or index + 1)
    kind, choices = field.type, _Choices(field.options)
    if field.options_expr and kind != "item":
        choices = _choices(tx.value(field.options_expr, f"field {name}"))
    elif kind == "item" or not field.options:
        choices = _choices(data.get("options"))
    if kind == "item":
        kind = str(data.get("type") or "")
        kind = kind if kind in TYPES and TYPES[kind].of_items else "choice" if choices.options else "text"
    recommended = str(data.get("recommended") or "")
    text = next((str(data[key]) for key in ("prompt", "question", "text", "title", "label") if data.get(key)), name)
    prompt = tx.filled(field.prompt, f"field {name}") if field.prompt else text
    into = f"{field.into}.{name}" if field.into else ""
    return e.FieldAsked(
        name,
        kind,
        prompt,
        choices.options,
        field.required,
        field.blank,
        field.default,
        into,
        choices.titles,
        recommended if recommended in choices.options else choices.recommend,
        _replaces(data.get("replaces")),
        other=field.other or data.get("other") is True,
        under=_under(tx, field),
    )


def _replaces(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    return tuple(str(name) for name in names if isinstance(name, str | int) and name != "")


class _Choices(Struct, frozen=True):
    options: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    recommend: str = ""


def _choices(value: object) -> _Choices:
    """A list as choices: what is answered, what people read, and which of them is recommended."""
    items = value if isinstance(value, list) else []
    options = tuple(_name(item, ("id", "label", "title", "name")) for item in items)
    titles = tuple(_name(item, ("title", "label", "name", "text", "id")) for item in items)
    marked = [option for option, item in zip(options, items) if isinstance(item, dict) and item.get("recommended")]
    return _Choices(options, titles if titles != options else (), marked[0] if len(marked) == 1 else "")


def _name(item: object, keys: tuple[str, ...]) -> str:
    if not isinstance(item, dict):
        return str(item)
    return next((str(item[key]) for key in keys if item.get(key)), str(item))


# --- texts ---


def _question(tx: Transaction, point: Checkpoint) -> tuple[str, tuple[e.Stretch, ...]]:
    """What is asked, and which of its lines were filled in. Where a part cannot be: which, why, and what to do."""
    found = tx.tried(point.prompt, f"prompt of {tx.frame.phase}")
    if isinstance(found, str):
        return found, tx.theirs(point.prompt, found)
    file = tx.book.workflow.file
    part = f"`{found.part}`: " if found.part else ""
    where = f"{file}, line {point.line}" if file and point.line else file or "the workflow"
    text = (
        f"{found.text}\n\n! A part of this question cannot be shown: {part}{found.why}.\n\n"
        f"- The options mean what they say. What there is: reconvene show {tx.state.run}\n"
        f"- Or correct the checkpoint in {where}, then: reconvene upgrade {tx.state.run} --to {file or 'FILE'}"
    )
    return text, (e.Stretch(0, found.text.count("\n") + 1),)


def revise(tx: Transaction) -> None:
    """What the person said may change what is recommended to them."""
    point = tx.state.world.open
    definition = tx.phase.checkpoint if point and not point.attention else None
    if point is None or definition is None or not any(map(_may_change, definition.options)):
        return
    options = tuple(
        _offer(tx, definition.options[offered.index], offered.index) if offered.index >= 0 else offered
        for offered in point.options
    )
    if options != point.options:
        tx.emit(e.OptionsRevised(at=tx.now, checkpoint=point.id, options=options))


def _may_change(option: Option) -> bool:
    """Whether what is offered depends on what the person says or answers while the checkpoint is open."""
    return bool(option.recommend) or (bool(option.when) and "drafts" in compile_expression(option.when).roots)


def _shown(tx: Transaction, path: str) -> str:
    """A shown file relative to the workspace, where it lies in it; "" where its name cannot be filled in."""
    rendered = tx.tried(path, f"show_files of {tx.frame.phase}")
    if not isinstance(rendered, str):
        return ""
    root = tx.state.workspace.rstrip("/") + "/"
    return rendered.removeprefix(root).removeprefix("./")
