"""Decides a run's checkpoints from a file of answers, and prints each as somebody reads it who need not decide."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import DOOR, note, put, say
from reconvene.doors.cli.stops import HERE, Decider, not_asked
from reconvene.doors.cli.text import one_line
from reconvene.doors.shared import passages
from reconvene.doors.shared.glance import project_lines
from reconvene.doors.shared.options import match_option, on_offer
from reconvene.doors.shared.whole_checkpoint import put_down, to_read
from reconvene.errors import Repeated, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint
    from reconvene.core.facts.commands import RemarkIn
    from reconvene.wire.answers_file import Answer

_RULE = 80


def _as_read_here(engine: Engine, run: str, remarks: tuple[RemarkIn, ...], by: str) -> tuple[RemarkIn, ...]:
    """What has no kind yet is read by the run's own reader, like what is typed: agreement alone is no remark. The lines
    that a remark is about are those of the file as it is now."""
    from msgspec.structs import replace

    from reconvene.doors.cli.typed_lines import lines_meant
    from reconvene.doors.shared.remarks import said_with_decision

    workflow = engine.session(run).book.workflow
    read: list[RemarkIn] = []
    for said in remarks:
        typed = [said] if said.kind else said_with_decision(said.text, tuple(workflow.agents), workflow.kits)
        if said.lines:
            about = lines_meant(engine, run, said.lines, by)
            typed = [replace(one, on=about, lines=about.name) for one in typed]
        read += typed
    return tuple(read)


def _wanted_by_recordings(engine: Engine, run: str) -> bool:
    """Whether all that needs attention are calls that recorded agents want to make: it is known which ones come."""
    session = engine.session(run)
    troubles, agents = session.state.world.trouble, session.book.workflow.agents
    whose = [agent for trouble in troubles for agent in trouble.agents]
    return {trouble.kind for trouble in troubles} == {"calls"} and {agents[one].kind for one in whose} == {"recorded"}


class FromFile(Decider):
    """Answers taken in order. One that does not fit stops everything and stays unused; nothing is guessed."""

    def __init__(self, answers: list[Answer], file: str, by: str, *, tell: bool) -> None:
        self.tells = tell
        self._left = answers
        self._file = file
        self._by = by
        self._asked = ""  # the last question for feedback that was printed

    def decide(self, engine: Engine, run: str, checkpoint: Checkpoint) -> bool:
        from reconvene.core.facts.commands import AnswerCheckpoint

        if not self._left or (checkpoint.attention and not _wanted_by_recordings(engine, run)):
            if self._left:
                note("this checkpoint needs a person's attention; the answers file is not used for it")
            return False
        answer = self._left[0]
        by, source = answer.by or self._by, f"{os.path.basename(self._file)}:{answer.line}"
        if self.tells:
            self._tell(engine, run, checkpoint)
        try:
            option = match_option(checkpoint, answer.option)
            if answer.remarks:
                answer = answer._replace(remarks=_as_read_here(engine, run, answer.remarks, by))
                self._hear(engine, run, answer)
            decision = AnswerCheckpoint(  # on what is there, seen or not: the record says that a file decided
                checkpoint.id, option.label, answer.fields, answer.remarks, by=by, door=DOOR, source=source
            )
            engine.submit(run, decision, driving=True, once=True)
        except Repeated as error:
            note(f"{self._file}:{answer.line}: entry {answer.number}: {error.message}")
        except UserError as error:
            changes = "".join(f"\n{change}" for change in getattr(error, "changes", ()))
            told = f"{self._file}:{answer.line}: entry {answer.number}: {error.message}{changes}"
            hint = f"{error.hint}; {run} stays parked there".removeprefix("; ")
            raise UserError(told, hint=hint) from error
        self._left = self._left[1:]
        if self.tells:
            put(f"▸ {option.label}   ({os.path.basename(self._file)}:{answer.line})")
            for name, value in answer.fields.items():
                say(f"  {one_line(name)}: {one_line(value)}")
            put()
        return True

    def _tell(self, engine: Engine, run: str, checkpoint: Checkpoint) -> None:
        """The checkpoint as somebody reads it who need not decide: what can be chosen in a line, a question once."""
        from reconvene.app import queries

        summary = queries.standing(engine, run)
        for line in not_asked(summary):
            say(line)
        title = one_line(engine.session(run).book.phase(summary.phase or "").title or summary.phase)
        put(f"\n── {title}, round {summary.round} ".ljust(_RULE, "─") + "\n")
        current = summary.checkpoint or checkpoint
        lines = [*project_lines(summary.project), *to_read(current, HERE)]
        asks = put_down(passages.wanted(current), HERE)
        if asks and asks != self._asked:
            lines += ["", asks]
            self._asked = asks
        say("\n".join(lines))
        put(f"\n[{'] ['.join(one_line(option.label) for option in on_offer(current.options))}]\n")

    def _hear(self, engine: Engine, run: str, answer: Answer) -> None:
        """As a person does: first what is said, then, with what follows from it in view, the decision."""
        from reconvene.app import queries
        from reconvene.app.measures import review
        from reconvene.core.facts.commands import AddRemark
        from reconvene.doors.shared.advice import preview_line, weighed

        for remark in answer.remarks:
            engine.submit(run, AddRemark(remark, by=answer.by or self._by, door=DOOR))
        current = queries.summary(engine, run).checkpoint
        beside = review(engine, run) if self.tells else None
        if beside and current:
            for remark in answer.remarks:
                say(f"▸ “{one_line(remark.text)}”{f' ({one_line(remark.lines)})' if remark.lines else ''}")
            said = {remark.text for remark in answer.remarks}  # some may be on record from a try that was refused
            for one in beside.remarks:
                if one.text in said:
                    say(f"  {weighed(one)}")
            if beside.preview and any(option.recommend for option in current.options):
                say(f"  recommended: {preview_line(beside.preview)}")

    def ended(self) -> None:
        if self._left:
            note(f"{self._rest} not needed, from entry {self._left[0].number} on")

    def parked(self) -> None:
        if self._left:
            first = self._left[0].number
            note(f"{self._rest} not used yet; give `resume --answers` a file that begins with entry {first}")

    @property
    def _rest(self) -> str:
        count = f"{len(self._left)} answers were" if len(self._left) > 1 else "one answer was"
        return f"{self._file}:{self._left[0].line}: {count}"
