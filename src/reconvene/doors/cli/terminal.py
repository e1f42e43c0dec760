"""The person at the terminal: asked with arrow keys and free text, told when the world changed meanwhile.

Only ever used where stdin and stdout are a terminal. Ctrl-C and Ctrl-D at any question leave the checkpoint open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.doors.cli.common import DOOR
from reconvene.doors.cli.options import CheckpointShape, FieldShape, OptionShape, checkpoint_in
from reconvene.doors.cli.paper import Paper
from reconvene.doors.cli.session import explain_stale, headline, keep_history
from reconvene.doors.cli.text import clean, one_line, wrapped
from reconvene.errors import UserError

if TYPE_CHECKING:
    from questionary import Choice, Question

    from reconvene.app.engine import Engine
    from reconvene.core.commands import RemarkIn

_ANSWER, _REMARK, _FILE, _PARK = "answer", "remark", "file", "park"
_KINDS = "correction, new context, clarification, strategic shift, reaction to AGENT, missing factor"


class Person:
    """Decides checkpoints by asking. `decide` is one checkpoint from first sight to a recorded decision."""

    shows = True

    def __init__(self, by: str) -> None:
        self._by = by

    def decide(self, engine: Engine, run: str, checkpoint: CheckpointShape) -> bool:
        keep_history(engine, run)
        try:
            return _Sitting(engine, run, self._by).sit(checkpoint)
        except (KeyboardInterrupt, EOFError):
            return False

    def ended(self) -> None:
        pass


class _Sitting:
    """One checkpoint in front of one person."""

    def __init__(self, engine: Engine, run: str, by: str) -> None:
        self._engine = engine
        self._run = run
        self._by = by
        self._paper = Paper(engine, run)
        self._drafts: dict[str, object] = {}
        self._said: tuple[
            RemarkIn, ...
        ] = ()  # with decisions that were refused; noted already, and not asked for again

    def sit(self, checkpoint: CheckpointShape) -> bool:
        """True: the run may go on (decided here, or by somebody else meanwhile). False: it stays parked."""
        current: CheckpointShape | None = self._look(checkpoint)
        if current and current.get("fields"):
            self._answer_fields(current)
        while current is not None:
            choice = self._choose(current)
            match choice:
                case "park":
                    return False
                case "remark":
                    self._remark()
                    current = self._now()
                case "file":
                    self._show_file()
                case "answer":
                    self._answer_fields(current)
                case int():
                    if self._submit(current, current["options"][choice]):
                        return True
                    after = self._now()
                    current = after if after is None or after["digest"] == current["digest"] else self._look(after)
        self._paper.line("the run has moved on meanwhile", "yellow")
        return True

    def _look(self, checkpoint: CheckpointShape) -> CheckpointShape | None:
        """Take in what the person edited in the workspace, then show what is there."""
        from reconvene.app import queries

        if self._engine.scan(self._run, by=self._by, door=DOOR):
            checkpoint = self._now() or checkpoint
        summary = queries.summary(self._engine, self._run)
        self._paper.checkpoint(headline(summary), checkpoint)
        return self._now()

    def _now(self) -> CheckpointShape | None:
        from reconvene.app import queries

        return checkpoint_in(queries.summary(self._engine, self._run))

    def _choose(self, checkpoint: CheckpointShape) -> str | int:
        import questionary

        options = checkpoint.get("options", [])
        choices = [_choice(index, option) for index, option in enumerate(options)]
        extra = [(_REMARK, "Add a remark"), (_FILE, "Show a file"), (_PARK, "Pause here, decide later")]
        if checkpoint.get("fields"):
            extra.insert(0, (_ANSWER, "Change the answers"))
        listed = [*choices, questionary.Separator(), *(questionary.Choice(title, value) for value, title in extra)]
        first = next(
            (one for one, option in zip(choices, options) if option.get("recommend") and not one.disabled), None
        )
        self._paper.line()
        picked = _ask(questionary.select("Your decision", choices=listed, default=first, qmark="▸"))
        return picked if isinstance(picked, int) else str(picked)

    def _submit(self, checkpoint: CheckpointShape, option: OptionShape) -> bool:
        from reconvene.core.commands import AnswerCheckpoint

        fields = {**self._drafts, **ask_fields(option.get("fields") or [], {})}
        wanted = option.get("remark", "none")
        remarks = self._said + ask_remarks("optional" if self._said and wanted == "required" else wanted)
        try:
            self._engine.submit(
                self._run,
                AnswerCheckpoint(
                    checkpoint["id"],
                    option["label"],
                    fields=fields,
                    remarks=remarks,
                    digest=checkpoint.get("digest", ""),
                    by=self._by,
                    door=DOOR,
                ),
            )
        except UserError as error:
            self._paper.line(explain_stale(error), "yellow")
            for remark in remarks:  # the decision was refused; what was said stands all the same
                self._add(remark)
            self._said = remarks
            return False
        return True

    def _remark(self) -> None:
        for remark in ask_remarks("optional"):
            self._add(remark)

    def _add(self, remark: RemarkIn) -> None:
        from reconvene.core.commands import AddRemark

        try:
            self._engine.submit(self._run, AddRemark(remark, by=self._by, door=DOOR))
            self._paper.line(f"noted: {remark.kind}: {one_line(remark.text, 120)}", "green")
        except UserError as error:
            self._paper.line(explain_stale(error), "yellow")

    def _answer_fields(self, checkpoint: CheckpointShape) -> None:
        from reconvene.core.commands import SaveDraft

        self._drafts = ask_fields(checkpoint.get("fields", []), self._drafts)
        try:
            self._engine.submit(self._run, SaveDraft(checkpoint["id"], dict(self._drafts)))
        except UserError as error:
            self._paper.line(explain_stale(error), "yellow")

    def _show_file(self) -> None:
        import questionary

        paths = self._paper.files()
        if not paths:
            self._paper.line("there are no files yet", "dim")
            return
        choices = [questionary.Choice(one_line(path), index) for index, path in enumerate(paths)]
        picked = _ask(questionary.select("Which file?", choices=choices, qmark="▸"))
        if isinstance(picked, int):
            self._paper.file(paths[picked])


def _ask(question: Question) -> object:
    answer: object = question.unsafe_ask()
    return answer


def _choice(index: int, option: OptionShape) -> Choice:
    import questionary

    title = one_line(option["label"]) + ("  (recommended)" if option.get("recommend") else "")
    why_not = None if option.get("available", True) else one_line(option.get("why_not") or "not now", 80)
    return questionary.Choice(title, index, disabled=why_not)


def ask_remarks(wanted: str) -> tuple[RemarkIn, ...]:
    """One remark per line until an empty line; a pasted text of several lines is several remarks."""
    import questionary

    from reconvene.core.feedback import parse_remarks

    if wanted not in ("optional", "required"):
        return ()
    print(wrapped(f'Your feedback, one remark per line, as "kind: text" or plain text. Kinds: {_KINDS}.'))
    remarks: list[RemarkIn] = []
    while True:
        more = " (empty line = done)" if remarks or wanted == "optional" else ""
        typed = str(_ask(questionary.text(f"Remark{more}:", qmark="▸")))
        said = parse_remarks(clean(typed))
        remarks.extend(said)
        if not said and (remarks or wanted == "optional"):
            return tuple(remarks)
        if not said:
            print("This option needs at least one remark.")


def ask_fields(fields: list[FieldShape], before: dict[str, object]) -> dict[str, object]:
    """Ask each field in turn; what is left empty is left out."""
    answers: dict[str, object] = {}
    for field in fields:
        answer = _ask_field(field, before.get(field["id"], field.get("default")))
        if answer is not None:
            answers[field["id"]] = answer
    return answers


def _ask_field(field: FieldShape, given: object) -> object:
    import questionary

    title = one_line(field.get("prompt") or field["id"]) + ("" if field.get("required") else " (optional)")
    options = field.get("options") or []
    match field.get("type", "text"):
        case "choice":
            blank = [] if field.get("required") else [questionary.Choice("(no answer)", -1)]
            choices = [questionary.Choice(one_line(text), index) for index, text in enumerate(options)]
            start = choices[options.index(str(given))] if given is not None and str(given) in options else None
            picked = _ask(questionary.select(title, choices=[*choices, *blank], default=start, qmark="▸"))
            return options[picked] if isinstance(picked, int) and picked >= 0 else None
        case "confirm":
            return bool(_ask(questionary.confirm(title, default=given if isinstance(given, bool) else True, qmark="▸")))
        case "agents":
            chosen = given if isinstance(given, list) else []
            ticks = [questionary.Choice(one_line(name), name, checked=name in chosen) for name in options]
            return _ask(questionary.checkbox(title, choices=ticks, qmark="▸")) or None
        case "number":
            return _ask_number(title, given)
        case _:
            typed = str(_ask(questionary.text(f"{title}:", default="" if given is None else clean(given), qmark="▸")))
            return typed if typed.strip() else None


def _ask_number(title: str, given: object) -> object:
    import questionary

    from reconvene.doors.cli.inputs import typed

    def valid(text: str) -> bool | str:
        try:
            return not text.strip() or typed("this", "number", text) is not None
        except UserError as error:
            return error.message

    start = "" if given is None else clean(given)
    text = str(_ask(questionary.text(f"{title}:", default=start, validate=valid, qmark="▸")))
    return typed(title, "number", text) if text.strip() else None


def ask_text(title: str) -> str:
    import questionary

    return str(_ask(questionary.text(one_line(title), qmark="▸")))
