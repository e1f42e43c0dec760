"""Output → accepted, or rejected with what to change in the retry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from msgspec import Struct, structs

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Gate, Step
from reconvene.core.extensions import Asked, Judged, Objection
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.facts.state import RunState
from reconvene.core.paths import matches
from reconvene.core.shown import on_record, scope
from reconvene.core.working import tracking
from reconvene.core.working.transaction import Transaction
from reconvene.errors import KitFailed
from reconvene.language.expressions import ExpressionError, truth
from reconvene.language.plain_text import quoted


class _Output(Struct, frozen=True):
    """What is judged. `first`: no output of this task has been sent back before."""

    text: str
    value: object
    has_value: bool
    files: tuple[str, ...]
    first: bool
    commit: str = ""  # what it changed in the person's project
    diff: str = ""
    written: Mapping[str, str] = MappingProxyType({})  # path → digest of the files that came with it
    ignored: tuple[str, ...] = ()  # files that were not taken, each with the reason


class Rejection(Struct, frozen=True):
    """Why an output is sent back, in words for the agent. `failures`: how many rules it broke in all.

    The words begin with the code, where there is one.
    """

    why: str
    code: str = ""
    example: str = ""
    failures: int = 1


_Verdict = Literal["accepted", "rejected", "failed", "cancelled", "doubt"]
NOTHING = Rejection("", failures=0)


def verdict(tx: Transaction, command: c.RecordAttempt, step: StepAt, task: TaskAt) -> tuple[_Verdict, Rejection]:
    """In doubt where every rule of the workflow is kept and a kit could not say whether its own are."""
    if command.cancelled:
        return "cancelled", Rejection(command.why, failures=0)
    if command.failed or command.output is None:
        return "failed", Rejection(command.why or "it gave no output")
    agent = tx.book.workflow.agents[task.agent]
    definition = tx.phase.steps[step.index]
    schema = definition.schema if definition.schema is not None else agent.schema
    gates = (*agent.gates, *definition.gates)
    if not gates and schema is None and not definition.writes and tx.phase.track is None:
        return "accepted", NOTHING
    output = _Output(
        text=tx.book.text(command.output.digest),
        value=tx.book.load(command.value) if command.value else None,
        has_value=command.value is not None,
        files=tuple(file.path for file in command.files) or command.changed,
        first=task.rejected is None,
        commit=command.commit,
        diff=tx.book.text(command.diff.digest) if command.diff else "",
        written={file.path: file.digest for file in command.files},
        ignored=command.ignored,
    )
    return _judged(tx, definition, gates, schema, output, command.objections)


def judged_again(tx: Transaction, ended: e.AttemptEnded, step: StepAt, task: TaskAt) -> tuple[_Verdict, Rejection]:
    """By the rules of kits alone: those of the workflow were kept."""
    definition = structs.replace(tx.phase.steps[step.index], writes=())
    gates = (*tx.book.workflow.agents[task.agent].gates, *definition.gates)
    output = _Output(
        text=tx.book.text(ended.output.digest) if ended.output else "",
        value=tx.book.load(ended.value) if ended.value else None,
        has_value=ended.value is not None,
        files=tuple(file.path for file in ended.files),
        first=task.rejected is None,
        written={file.path: file.digest for file in ended.files},
    )
    return _judged(tx, definition, tuple(gate for gate in gates if gate.kit), None, output, ())


def _judged(
    tx: Transaction, step: Step, gates: tuple[Gate, ...], schema: object, output: _Output, objections: tuple[str, ...]
) -> tuple[_Verdict, Rejection]:
    try:
        wrong = _rejection(tx, step, gates, schema, output, objections)
    except ExpressionError as error:
        return "rejected", Rejection(f"the gate itself failed: {error}")
    except KitFailed as error:
        return "doubt", Rejection(error.message, failures=0)
    return ("rejected", wrong) if wrong else ("accepted", NOTHING)


def _rejection(
    tx: Transaction, step: Step, gates: tuple[Gate, ...], schema: object, output: _Output, objections: tuple[str, ...]
) -> Rejection | None:
    """None = accepted. All rules are tried, the first that fails is the reason; a model's objections come last. A kit
    that fails counts only where nothing else is wrong."""
    writes = scope.writes(tx.state, tx.book, step)
    missing = [pattern for pattern in writes if not any(matches(path, pattern) for path in output.files)]
    found: list[Rejection] = []
    failed: list[KitFailed] = []

    def of_kit(ask: Callable[[], Objection | None]) -> Objection | None:
        try:
            return ask()
        except KitFailed as error:
            failed.append(error)
            return None

    found += [_sent_back(wrong) for wrong in _missing(missing, output.ignored)]
    if schema is not None and (wrong := _against_schema(tx, schema, output)):
        found.append(_sent_back(wrong))
    for gate in gates:
        if gate.append:
            continue
        if wrong := of_kit(lambda gate=gate: _broken(tx, gate, output)):  # type: ignore[misc]
            wrong = structs.replace(wrong, code=gate.code or wrong.code)
            found.append(_sent_back(wrong, _filled(tx, gate.retry_with), gate.example))
    if not found and (wrong := of_kit(lambda: tracking.objection(tx, step, output.text))) is not None:
        example = next((gate.example for gate in gates if gate.example), "")
        found.append(_sent_back(wrong, example=example if wrong.code == "WRONG_FORMAT" else ""))
    found += [_sent_back(Objection("LOW_QUALITY", why)) for why in objections if not found]
    if failed and not found:
        raise failed[0]
    return structs.replace(found[0], failures=len(found)) if found else None


def completed(tx: Transaction, ended: e.AttemptEnded, task: TaskAt) -> e.AttemptEnded:
    """An accepted output with the sentences that the workflow has added. A value is left as it is."""
    step = tx.round.open
    own = tx.phase.steps[step.index].gates if step is not None else ()
    gates = [gate for gate in (*tx.book.workflow.agents[task.agent].gates, *own) if gate.append]
    if not gates or ended.output is None or ended.value is not None:
        return ended
    before = text = tx.book.text(ended.output.digest)
    for gate in gates:
        if _adds(tx, gate, _Output(text, None, False, tuple(file.path for file in ended.files), task.rejected is None)):
            text = f"{text.rstrip()}\n\n{_filled(tx, gate.append).strip()}\n"
    if text == before:
        return ended
    output = e.Ref(tx.keep_text(text), "text", len(text.encode()))
    files = [
        e.FileOut(file.path, output.digest, output.size) if file.digest == ended.output.digest else file
        for file in ended.files
    ]
    return structs.replace(ended, output=output, files=tuple(files))


def _missing(patterns: Sequence[str], ignored: tuple[str, ...]) -> Iterator[Objection]:
    """What was to be written: what is there and could not be taken, with the reason; and what is not there."""
    reasons = {pattern: why for pattern in patterns for why in ignored if matches(why.partition(": ")[0], pattern)}
    for why in dict.fromkeys(reasons.values()):
        yield Objection("FILE_NOT_TAKEN", f"write the file so that it can be taken. It was not: {quoted(why)}")
    if missing := [pattern for pattern in patterns if pattern not in reasons]:
        names = ", ".join(missing)
        many = len(missing) > 1
        are, files, these, them = ("are", "files", "these names", "them") if many else ("is", "file", "this name", "it")
        told = (
            f"{names} {are} not there. Write the {files} {names}, whole, under exactly {these}, relative to your "
            f"working directory; produce {them} even if parts are uncertain."
        )
        yield Objection("FILE_MISSING", told)


def _adds(tx: Transaction, gate: Gate, output: _Output) -> bool:
    try:
        return not gate.when or _broken(tx, gate, output) is not None
    except ExpressionError as error:
        tx.failed("append", gate.when, str(error))
        return False


def _sent_back(wrong: Objection, instead: str = "", example: str = "") -> Rejection:
    return Rejection(f"{wrong.said} {instead}".strip(), wrong.code, example)


def _against_schema(tx: Transaction, schema: object, output: _Output) -> Objection | None:
    if not output.has_value:
        return Objection(
            "WRONG_FORMAT", "the output is not JSON. Answer with JSON that fits the schema you were given."
        )
    problems = tx.book.validate(schema, output.value)
    return Objection("WRONG_FORMAT", f"{_one_line('; '.join(problems[:5]))}.") if problems else None


def _one_line(told: str) -> str:
    """What is wrong with a value quotes it: it must not begin a line of its own."""
    return " ".join(told.split())


def _broken(tx: Transaction, gate: Gate, output: _Output) -> Objection | None:
    text = output.text
    if gate.min_chars and len(text.strip()) < gate.min_chars:
        return Objection(
            "EMPTY_OUTPUT",
            f"{len(text.strip())} characters, at least {gate.min_chars} are needed. "
            "Produce an output even if you are uncertain, and say what you are uncertain about.",
        )
    if gate.headings:
        absent = [heading for heading in gate.headings if not _has_heading(text, heading)]
        if absent:
            return Objection("WRONG_FORMAT", f"these headings are missing: {', '.join(absent)}.")
    if gate.schema is not None:
        return _against_schema(tx, gate.schema, output)
    if gate.kit:
        documents = _documents(tx, gate.about, output.written)
        written = {path: tx.book.text(digest) for path, digest in output.written.items() if digest}
        shown = Judged(
            text, output.value, output.files, documents, gate.about, output.first, gate.options, written, said(tx.state)
        )
        return kit_finder.gate(gate.kit)(shown)
    judged = {"text": text, "value": output.value, "files": list(output.files)}
    seen = {"output": {**judged, "commit": output.commit, "diff": output.diff, "not_taken": list(output.ignored)}}
    if gate.when and truth(gate.when, scope.for_expression(tx.state, tx.book, gate.when, seen)):
        if output.ignored and "not_taken" in gate.when:
            return Objection("FILE_NOT_TAKEN", "; ".join(output.ignored))
        return Objection("REJECTED", "" if gate.retry_with else f"the output fails the rule `{gate.when}`.")
    return None


def said(state: RunState) -> tuple[Asked, ...]:
    """What people said and did not take back, as it was read last."""
    remarks = (state.record.remarks[number] for number in on_record.standing(state))
    return tuple(Asked(one.id, one.text, one.kind, one.was, one.now) for one in remarks)


def _documents(tx: Transaction, names: tuple[str, ...], written: Mapping[str, str]) -> tuple[str, ...]:
    """The texts of inputs and files by name, of those that exist; a file that came with the output, as it came."""
    every, files = tx.book.object(tx.state.inputs), tx.state.world.files
    inputs = (every.get(name.partition(".")[2]) for name in names if name.startswith("inputs."))
    found = [written.get(name) or (files[name].digest if name in files else "") for name in names]
    texts = (tx.book.text(digest) for digest in found if digest)
    return (*(text for text in inputs if isinstance(text, str)), *texts)


def _filled(tx: Transaction, text: str) -> str:
    """What cannot be filled in is not said: the reason stands without it, and the failure is on record."""
    wrong: list[str] = []
    said = scope.render(text, tx.state, tx.book, wrong.append)
    for message in wrong:
        tx.failed("retry_with", text[:200], message)
    return "" if wrong else said


def _has_heading(text: str, heading: str) -> bool:
    """A heading stands at the start of a line; "## Review" also accepts "## Review: more words"."""
    wanted = heading.strip()
    marks = "" if wanted.startswith("#") else r"#{1,6}\s+"
    return re.search(rf"^\s{{0,3}}{marks}{re.escape(wanted)}", text, re.MULTILINE | re.IGNORECASE) is not None
