"""The person at the terminal: asked with arrow keys and free text, told when the world changed meanwhile.

A checkpoint's own questions are asked in one menu, and each answer is saved the moment it is given. Only ever used
where stdin and stdout are a terminal. Ctrl-C and Ctrl-D at any question leave the checkpoint open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.app.ordered_option import PAUSE, option_meant
from reconvene.doors.cli import shown_change
from reconvene.doors.cli.ask import MARK, ask, ask_field, ask_fields, ask_text, ask_yes, pick
from reconvene.doors.cli.common import DOOR
from reconvene.doors.cli.draw_checkpoint import READ_ON, Screen, as_choice
from reconvene.doors.cli.own_editor import editor
from reconvene.doors.cli.settling import claimed, settle_one, show_output
from reconvene.doors.cli.stops import Decider, explain_stale, headline, keep_history, not_asked
from reconvene.doors.cli.text import one_line, wrapped
from reconvene.doors.cli.typed_feedback import Hearing, said_here
from reconvene.doors.cli.unsent_answers import Unsent
from reconvene.doors.shared.advice import reasons, talk_before
from reconvene.doors.shared.fields import asked, needed, unanswered
from reconvene.doors.shared.glance import project_lines
from reconvene.doors.shared.options import Menu, build, find, recommended
from reconvene.errors import Repeated, StaleDecision, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.views.beside import Review
    from reconvene.app.views.read_model import Checkpoint, Field, Option, Remark
    from reconvene.core.facts.commands import AnswerCheckpoint, Answers, RemarkIn
    from reconvene.wire.answers_file import Answer

    Shown = Callable[[str, Checkpoint], None]

_REMARK, _EDITOR, _FILE, _PARK, _MOVED, _OUTPUT, _READ_ON, _COMMENT, _SETTLE, _CHANGE = (
    "remark", "editor", "file", "park", "moved", "output", "read on", "comment", "settle", "change",
)  # fmt: skip
_ANYTHING = "Anything to correct or to add? (Enter = no)"


class Person(Decider):
    """Decides checkpoints by asking. `decide` is one checkpoint from first sight to a recorded decision."""

    shows = True
    tells = True

    def __init__(self, by: str, shown: Shown, ideas: Iterable[Answer] = ()) -> None:
        """`shown` is told of each checkpoint that is on the screen. `ideas`: what somebody else said and decided in
        such a run, as an example of what can be said."""
        self._by = by
        self._shown = shown
        self._ideas = [answer for answer in ideas if answer.remarks]

    def decide(self, engine: Engine, run: str, checkpoint: Checkpoint) -> bool:
        keep_history(engine, run)
        try:
            return _Sitting(engine, run, self._by, self._shown, self._ideas).sit(checkpoint)
        except (KeyboardInterrupt, EOFError):
            return False


class _Sitting:
    """One checkpoint in front of one person."""

    def __init__(self, engine: Engine, run: str, by: str, shown: Shown, ideas: list[Answer]) -> None:
        self._engine = engine
        self._run = run
        self._by = by
        self._shown = shown
        self._refused = False  # somebody else changed it since: it is shown anew
        self._version = ""  # what is on the screen: it is decided, whatever happens meanwhile
        self._ideas = ideas  # those not suggested yet, or not taken up
        self._screen = Screen(engine, run)
        self._hearing = Hearing(engine, run, by, self._screen)
        self._talks = False  # whether the agents of this phase talk with the person
        self._advised = ""  # the checkpoint beside which everything has been shown once

    def sit(self, checkpoint: Checkpoint) -> bool:
        """True: the run may go on (decided here, or by somebody else meanwhile). False: it stays parked."""
        current = self._present(checkpoint)
        while current is not None:
            choice = self._choose(current)
            match choice:
                case "park":
                    return False
                case "moved":
                    current = self._after(current)
                case "remark" | "editor":
                    self._hear("What would you like to say?", in_editor=choice == _EDITOR)
                    current = self._now()
                case "comment":
                    current = self._commented()
                case "settle":
                    settle_one(self._engine, self._run, self._by, self._screen)
                case "file":
                    self._show_file()
                case "output":
                    show_output(self._engine, self._run, self._screen, current.outputs)
                case "read on":
                    self._screen.read_on()
                case "change":
                    self._screen.change(shown_change.of(current.show_files))
                case int():
                    now = self._now() if current.fields else current  # with the answers given since
                    if now and now.id == current.id and self._submit(now, current.options[choice]):
                        return True
                    current = self._after(current)
        self._screen.line("the run has moved on meanwhile", "yellow")
        return True

    def _present(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Show the checkpoint, ask for remarks where it wants some, and tell what another round would bring."""
        current = self._show(checkpoint)
        if current and current.feedback:
            self._screen.question(current)
            self._suggest(current, "For example: “{said}”, and then “{option}”")
            self._hearing.ask_back = self._screen.read_on if self._screen.left else None
            self._hear(_ANYTHING.replace(")", ", ? = read on)") if self._screen.left else _ANYTHING)
            self._hearing.ask_back = None
            current = self._now()
        if current and self._advised != current.id and not self._talks:
            self._advise(current.id)
        if current and not current.feedback:
            self._suggest(current, "\nFor example: “{option}”, and say “{said}”")
        return current

    def _suggest(self, checkpoint: Checkpoint, words: str) -> None:
        """Something that can be said here, where a recording has an example of it."""
        for idea in self._idea(checkpoint):
            said = one_line(" ".join(remark.text for remark in idea.remarks))
            self._screen.line(words.format(said=said, option=one_line(idea.option)), "dim")

    def _idea(self, checkpoint: Checkpoint) -> list[Answer]:
        """The first example that fits here, if there is one."""
        on_offer = [option.label for option in checkpoint.options if option.available]
        return [idea for idea in self._ideas if idea.option in on_offer][:1]

    def _after(self, before: Checkpoint) -> Checkpoint | None:
        """The checkpoint after a decision that was not taken: the same, the same with other contents, or another."""
        after = self._now()
        if after is None or after.id != before.id:
            return self._present(after) if after else None
        return self._show(after) if self._refused else after

    def _show(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Take in what the person edited in the workspace, then show what is there."""
        from reconvene.app import queries

        self._engine.scan(self._run, by=self._by, door=DOOR)
        summary = queries.standing(self._engine, self._run)
        checkpoint = summary.checkpoint or checkpoint
        self._talks = queries.converses(self._engine, self._run)
        talk = queries.talk(self._engine, self._run)
        # In trouble nothing is presented beside which it could stand: everything that was said is told.
        told = talk if checkpoint.attention else talk_before(talk)
        advised = self._advised == checkpoint.id or self._talks or bool(checkpoint.feedback)
        review = None if advised else self._review()  # where remarks are asked for first, advice comes after them
        asked = self._height(checkpoint)
        warnings = [*not_asked(summary), *project_lines(summary.project)]
        self._screen.checkpoint(headline(summary), checkpoint, told, warnings, review, asked)
        self._version, self._refused = checkpoint.digest, False
        self._shown(self._run, checkpoint)
        self._advised = checkpoint.id if review else self._advised
        return summary.checkpoint

    def _now(self) -> Checkpoint | None:
        """With what each option takes."""
        from reconvene.app import queries
        from reconvene.app.outlook import with_outlook

        point = queries.standing(self._engine, self._run).checkpoint
        return with_outlook(self._engine, self._run, point, None) if point is not None else None

    def _hear(self, title: str, *, in_editor: bool = False, brief: bool = False) -> None:
        """Remarks, recorded, and what follows from them."""
        try:
            made = self._heard(title, in_editor)
        except UserError as error:
            self._screen.line(explain_stale(error), "yellow")
            return
        if made:
            del self._ideas[:1]
        if made and self._talks:
            self._screen.line(f"recorded: {', '.join(remark.id for remark in made)}", "green")
        elif made:
            self._screen.weighed(made)
            current = self._now()
            if current and not brief:
                self._advise(current.id)

    def _heard(self, title: str, in_editor: bool) -> Sequence[Remark]:
        if in_editor:
            return self._hearing.written()
        return self._hearing.comment(title) if self._talks else self._hearing.typed(title)

    def _review(self) -> Review | None:
        from reconvene.app.measures import review

        return review(self._engine, self._run)

    def _advise(self, checkpoint: str) -> None:
        """Everything once; after that only what another remark may have changed."""
        if review := self._review():
            self._screen.advice(review, brief=self._advised == checkpoint)
        self._advised = checkpoint

    def _height(self, checkpoint: Checkpoint) -> int:
        """How many lines of the screen are taken by what is asked next."""
        example = 3 * any(self._idea(checkpoint))
        if checkpoint.feedback:
            return example + len(wrapped(checkpoint.feedback).split("\n")) + 4
        shown = sum(option.offered for option in checkpoint.options)
        if self._screen.has_menu(checkpoint):
            return example + shown + len(checkpoint.fields) + 6
        return example + shown + len(self._extras(checkpoint)) + 4

    def _extras(self, checkpoint: Checkpoint) -> list[tuple[str, str]]:
        """What can be done beside deciding."""
        extra = [(_CHANGE, f"See the change ({shown_change.KEY})")] if shown_change.of(checkpoint.show_files) else []
        extra += [(_REMARK, "Add a remark")]
        extra += [(_EDITOR, "Write it in your editor")] if editor() else []
        extra += [(_COMMENT, "Comment on a file in your editor")] if editor() and self._screen.files() else []
        extra += [(_SETTLE, "Settle a remark that is claimed")] if claimed(self._engine, self._run) else []
        extra += [(_READ_ON, READ_ON)] if self._screen.left else []
        extra += [(_OUTPUT, "Read what an agent wrote")] if checkpoint.outputs else []
        return [*extra, (_FILE, "Show a file"), (_PARK, "Pause here, decide later")]

    def _choose(self, checkpoint: Checkpoint) -> str | int:
        import questionary

        options, extra = checkpoint.options, self._extras(checkpoint)
        if self._screen.has_menu(checkpoint):
            return self._choose_in_menu(checkpoint, extra)
        choices = [as_choice(index, option) for index, option in enumerate(options) if option.offered]
        listed = [*choices, questionary.Separator(), *(questionary.Choice(title, value) for value, title in extra)]
        first = next((one for one in choices if options[int(str(one.value))].recommend and not one.disabled), None)
        meant = self._told()
        first = next((one for one in choices if options[int(str(one.value))].label == meant), first)
        if self._hearing.order == PAUSE:
            first = next(each for each in listed if isinstance(each, questionary.Choice) and each.value == _PARK)
        self._screen.line()
        question = questionary.select("Your decision", choices=listed, default=first, qmark=MARK)
        picked = ask(shown_change.with_key(question, _CHANGE) if extra[0][0] == _CHANGE else question)
        return picked if isinstance(picked, int) else str(picked)

    def _told(self) -> str:
        """The option that the person's words name as what is to be done; it is only marked, never taken for them."""
        meant, said = option_meant(self._engine, self._run, self._hearing.order)
        if said:
            self._screen.line(said, "dim" if meant else "yellow")
        return meant

    def _submit(self, checkpoint: Checkpoint, option: Option) -> bool:
        from reconvene.core.facts.commands import AnswerCheckpoint
        from reconvene.core.person.attention import WHO
        from reconvene.core.shown.on_record import unheard

        if option.ends and not ask_yes(f"“{one_line(option.label)}” {one_line(option.leads)}. Really?", default=False):
            return False
        if (
            (wanted := option.remark) != "none"
            and not self._said()
            and not (wanted == "optional" and checkpoint.feedback)
        ):
            self._hear(f"{one_line(option.label)}: what do you say?" if self._talks else "Your feedback:", brief=True)
        remarks = self._said() if wanted != "none" else ()
        if wanted == "required" and not remarks and not unheard(self._engine.load(self._run)):
            self._screen.line(f"“{one_line(option.label)}” needs your words", "yellow")
            return False
        why = reasons(self._review()) if option.fields else {}
        unsent = Unsent(self._engine.home, self._run, checkpoint.id, option.label)
        fields = ask_fields(option.fields, unsent.before() if option.fields else {}, why, unsent.keep)
        if checkpoint.attention and any(field.id == WHO for field in option.fields) and not self._can_be_asked(fields):
            return False
        decision = AnswerCheckpoint(checkpoint.id, option.label, fields, remarks, self._version, self._by, DOOR)
        if self._decided(decision):
            unsent.drop()
            return True
        missing = () if self._refused else needed(checkpoint)
        return bool(missing) and all(self._answer(checkpoint, field) for field in missing) and self._decided(decision)

    def _can_be_asked(self, fields: Answers) -> bool:
        """Of a field that says who does the work instead."""
        from reconvene.doors.cli.typed_bindings import check_said

        try:
            check_said(self._engine, self._run, fields)
        except UserError as error:
            self._screen.line(explain_stale(error), "yellow")
            return False
        return True

    def _decided(self, decision: AnswerCheckpoint) -> bool:
        try:
            self._engine.submit(self._run, decision, driving=True, once=True)
        except Repeated as error:
            self._screen.line(error.message, "yellow")
        except StaleDecision as error:
            self._refused = True
            self._screen.line("\n".join([error.message, *(f"  {change}" for change in error.changes)]), "yellow")
            return False
        except UserError as error:
            self._screen.line(explain_stale(error).partition("\nAdd --field")[0], "yellow")
            return False
        return True

    def _said(self) -> tuple[RemarkIn, ...]:
        return said_here(self._engine, self._run, self._by)

    # --- the questions of a checkpoint ---

    def _choose_in_menu(self, checkpoint: Checkpoint, extras: Sequence[tuple[str, str]]) -> str | int:
        """Answers until something else is picked: an option's index, an extra's word, or _MOVED."""
        current: Checkpoint | None = checkpoint
        while current is not None and current.id == checkpoint.id:
            menu = build(current, extras)
            self._screen.menu(menu, current)
            found = self._picked(menu, current)
            if not isinstance(found, list):
                return found
            if not all(self._answer(current, field) for field in found):
                return _MOVED
            current = self._now()
        return _MOVED

    def _picked(self, menu: Menu, checkpoint: Checkpoint) -> str | int | list[Field]:
        """Fields to answer, an option's index, or an extra's word; asked until it is one of them."""
        still_open = unanswered(checkpoint)
        if still_open:
            first = f"“{asked(still_open[0])}”"
            which = first if len(still_open) == 1 else f"the {len(still_open)} open ones in turn"
            self._screen.line(f"  Enter answers {which}", "dim")
        while True:
            typed = ask_text("Your choice:")
            if not typed.strip():
                if still_open:
                    return still_open
                answered = "everything is answered; " if checkpoint.fields else ""
                self._screen.line(f"{answered}choose one of: {menu.left}", "yellow")
                continue
            entry = find(menu, typed)
            if isinstance(entry, str):
                self._screen.line(entry, "yellow")
            elif entry.why_not:
                self._screen.line(f"“{entry.name}” is not possible any more: {entry.why_not}", "yellow")
                self._screen.line(f"what you can do: answer a question, {menu.left}", "yellow")
            elif entry.kind == "field":
                return [checkpoint.fields[int(entry.key)]]
            elif entry.kind == "choice":  # it answers the one question, and so decides
                decides = recommended(checkpoint)
                saved = self._save(checkpoint, checkpoint.fields[0], entry.key)
                return checkpoint.options.index(decides) if saved and decides else _MOVED
            else:
                return entry.key

    def _answer(self, checkpoint: Checkpoint, field: Field) -> bool:
        """Ask one question and save what is answered. False: the checkpoint is not open any more."""
        answers = checkpoint.answers or {}
        self._screen.choices(field, answers)
        answer = ask_field(field, answers.get(field.id, field.default))
        return answer == answers.get(field.id) or self._save(checkpoint, field, answer)

    def _save(self, checkpoint: Checkpoint, field: Field, answer: object) -> bool:
        from reconvene.core.facts.commands import SaveDraft

        try:
            self._engine.submit(self._run, SaveDraft(checkpoint.id, {field.id: answer}, self._by))
        except UserError as error:
            self._screen.line(explain_stale(error), "yellow")
            now = self._now()
            return now is not None and now.id == checkpoint.id
        return True

    # --- what there is to read ---

    def _commented(self) -> Checkpoint | None:
        """A file with its comments in the person's editor. What they change of its text is asked about once."""
        from reconvene.doors.cli.reviewing import review_at

        try:
            self._screen.weighed(review_at(self._screen, self._engine, self._run, self._by))
        except UserError as error:
            self._screen.line(explain_stale(error), "yellow")
        if current := self._now():
            self._screen.open_comments(current)
        return current

    def _show_file(self) -> None:
        paths = self._screen.files()
        if not paths:
            return self._screen.line("there are no files yet", "dim")
        self._screen.file(pick("Which file?", [(path, path) for path in paths]))
