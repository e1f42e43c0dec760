"""What an option starts: one child run for each piece, wholly settled in the decision itself. Rule 19.

Makes no run. One event says which are to be made and with what, in the append of the decision; `plan` names those that
are still missing. So whatever happens afterwards, none is lost and none is made twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct, structs

from reconvene.core.definition.run_inputs import ALWAYS, Values, complete_inputs, complete_settings
from reconvene.core.definition.workflow import Start, Workflow
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import at_the_end, child_id
from reconvene.core.paths import why_no_run_id
from reconvene.core.shown import scope
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused, UserError
from reconvene.language.expressions import ExpressionError, evaluate

DROPPED = "dropped"  # the outcome of a run that was taken out of the queue before it began
_LONGEST_KEY = 40
_LONGEST_TITLE = 120


class Piece(Struct, frozen=True):
    """One thing to be done by a run of its own."""

    key: str
    title: str
    description: str
    view: scope.Scope  # what `item` is for the inputs' expressions


class _Target(Struct, frozen=True):
    """The workflow to start, by digest, and the settings that a run of it keeps from its parent."""

    workflow: Workflow
    digest: str
    settings: Values


def queue(tx: Transaction, start: Start, point: e.CheckpointOpened, command: c.AnswerCheckpoint) -> None:
    """Put on record what is to be started. A piece that this run started before, with the same inputs, is not new."""
    target = _target(tx, start, command)
    taken = {key.casefold(): _identity(one.child) for key, one in tx.state.record.children.items()}
    fresh: list[e.Child] = []
    for piece in _pieces(tx, start):
        child = _child(tx, start, target, piece)
        key = _free_key(piece.key, taken, _identity(child))
        if key:
            run = child_id(tx.state.run, key)
            if why := why_no_run_id(run):
                raise _no_start(f"the id {run!r} {why}")
            place = at_the_end(tx.now, len(taken) + 1, run)
            fresh.append(structs.replace(child, key=key, run=run, place=place))
            taken[key.casefold()] = _identity(child)
    most = tx.book.workflow.limits.children
    if len(taken) > most:
        raise Refused(
            f"Run {tx.state.run} would start {len(taken)} runs; limit children is {most}.",
            hint="ask for fewer pieces, or raise limits: {children: …} in the workflow",
        )
    if fresh:
        tx.emit(
            e.ChildrenQueued(
                at=tx.now,
                checkpoint=point.id,
                serial=point.serial,
                children=tuple(fresh),
                remarks=len(tx.state.record.remarks),
                by=command.by,
                door=command.door,
            )
        )


def record(tx: Transaction, command: c.RecordChild) -> None:
    known = tx.state.record.children.get(command.key)
    if known is not None and not known.run:
        tx.emit(e.ChildStarted(at=tx.now, key=command.key, run=command.run))


def require_queued(tx: Transaction) -> None:
    if not tx.state.place:
        raise Refused(
            f"Run {tx.state.run} is {tx.state.status}, not in the queue.",
            hint=f"reconvene show {tx.state.run}, or reconvene queue for those that are",
        )


# --- the pieces ---


def _pieces(tx: Transaction, start: Start) -> list[Piece]:
    found = _evaluated(tx, start.each)
    if not isinstance(found, list):
        raise _no_start(f"`{start.each}` must give a list, not {type(found).__name__}")
    if not found:
        raise _no_start(f"`{start.each}` gives no piece")
    return [_piece(item, index) for index, item in enumerate(found)]


def _piece(item: object, index: int) -> Piece:
    fields: Mapping[str, object] = item if isinstance(item, dict) else {"value": item}
    said = item if isinstance(item, str) else ""
    description = _text(fields.get("description")) or said.strip() or _text(fields.get("title"))
    description = description or _text(fields.get("id"))
    if not description:
        raise _no_start(f"piece {index + 1} says nothing: it needs a title or a description")
    title = " ".join((_text(fields.get("title")) or description).split())
    title = title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…"
    key = _safe_key(_text(fields.get("id"))) or str(index + 1)
    view = {**fields, "id": key, "title": title, "description": description, "key": key, "index": index}
    return Piece(key, title, description, view)


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _safe_key(text: str) -> str:
    """Letters, digits, - and _: run ids, folders and branches are made of it, and agents chose the text."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:_LONGEST_KEY].strip("-")


def _free_key(key: str, taken: Mapping[str, str], identity: str) -> str:
    """The key, or the next one that is free; "" where this very piece has one already. Case makes no difference: it
    makes none in the folders of some systems."""
    number, candidate = 1, key
    while candidate.casefold() in taken:
        if taken[candidate.casefold()] == identity:
            return ""
        number += 1
        candidate = f"{key}-{number}"
    return candidate


def _identity(child: e.Child) -> str:
    return f"{child.workflow}/{child.inputs}"


# --- what each of them is given ---


def _target(tx: Transaction, start: Start, command: c.AnswerCheckpoint) -> _Target:
    own = tx.book.workflow
    if start.workflow == own.name:
        return _Target(own, tx.state.workflow, _chosen_settings(tx))
    pinned = command.workflows.get(start.workflow)
    if pinned is None:
        raise Refused(
            f"The workflow {start.workflow!r}, which this option starts, was not loaded.",
            hint="reconvene workflows lists those that can be",
        )
    return _Target(pinned.workflow, pinned.digest, {})


def _chosen_settings(tx: Transaction) -> Values:
    """Those that somebody chose: one that follows from the inputs follows from the child's own."""
    own, inputs = tx.book.workflow, tx.book.object(tx.state.inputs)
    settings = tx.book.object(tx.state.settings)
    try:
        usual = complete_settings(own, {}, inputs)
    except ExpressionError as error:
        raise _no_start(f"a setting failed: {error}") from None
    return {name: value for name, value in settings.items() if name in own.settings and value != usual[name]}


def _child(tx: Transaction, start: Start, target: _Target, piece: Piece) -> e.Child:
    inputs = _inputs(tx, start, target.workflow, piece)
    try:
        settings = complete_settings(target.workflow, target.settings, inputs)
    except ExpressionError as error:
        raise _no_start(f"a setting of {target.workflow.name} failed: {error}") from None
    return e.Child(
        key=piece.key,
        run="",
        title=piece.title,
        workflow=target.digest,
        name=target.workflow.name,
        inputs=tx.keep(inputs).digest,
        settings=tx.keep(settings).digest,
    )


def _inputs(tx: Transaction, start: Start, workflow: Workflow, piece: Piece) -> Values:
    """The parent's, with the piece where the workflow says what it is about, and what `inputs` says."""
    parent = tx.book.object(tx.state.inputs)
    inputs = {name: value for name, value in parent.items() if name in workflow.inputs or name == ALWAYS}
    about = text_input(workflow)
    if about:
        inputs[about] = piece.description
    for name, source in start.inputs.items():
        inputs[name] = _evaluated(tx, source, {"item": piece.view})
    try:
        return complete_inputs(workflow, inputs)
    except UserError as error:
        raise _no_start(error.message.rstrip(".")) from None


def text_input(workflow: Workflow) -> str:
    """The input that says what a run is about: `description`, or the first text that it cannot start without."""
    texts = {name: spec for name, spec in workflow.inputs.items() if spec.type == "text"}
    return "description" if "description" in texts else next((n for n, spec in texts.items() if spec.required), "")


def _evaluated(tx: Transaction, source: str, extra: Mapping[str, object] | None = None) -> object:
    try:
        return evaluate(source, scope.for_expression(tx.state, tx.book, source, extra))
    except ExpressionError as error:
        raise _no_start(f"`{source}` failed: {error}") from None


def _no_start(why: str) -> Refused:
    return Refused(
        f"This option cannot start its runs: {why}.", hint="nothing was recorded; choose another option, or go back"
    )
