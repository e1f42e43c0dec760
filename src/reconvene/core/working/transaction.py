"""One transaction of `handle`: the working state, the events made so far, and the questions put to expressions."""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.core.definition.workflow import Phase, Workflow
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import NOBODY, Actor
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.evolve import evolve
from reconvene.core.facts.round import RoundAt
from reconvene.core.facts.state import Frame, ItemAt, RunState
from reconvene.core.shown import scope
from reconvene.core.shown.unfilled import Unfilled, unfilled
from reconvene.errors import Bug, KitFailed, UserError
from reconvene.language.expressions import ExpressionError, ExpressionLimit, evaluate, truth

_NOWHERE = Frame(phase="", scope="", entry=0, stage="round")
_WHOLE_RUN = Phase(id="")


def _phase_of(book: Book, frame: Frame) -> Phase:
    return book.phase(frame.phase) if frame.phase else _WHOLE_RUN


class Transaction:
    """Mutable, lives for one call of `handle`; everything in it is derived from the call's arguments."""

    def __init__(self, state: RunState, book: Book, now: str, claim: str, actor: Actor = NOBODY) -> None:
        self.state = state
        self.book = book
        self.now = now
        self.claim = claim
        self.actor = actor
        self.user = actor.user  # who vouches for what is done here
        self.events: list[e.AnyEvent] = []
        self.blobs: dict[str, bytes] = {}
        self.steps = 0  # from stage to stage, in this transaction
        self.frame: Frame = state.world.cursor[-1] if state.world.cursor else _NOWHERE  # the top one
        self.phase: Phase = _phase_of(book, self.frame)  # its definition

    def emit(self, event: e.AnyEvent) -> None:
        kind = type(event)
        if self.user and kind in e.ACTS and isinstance(event, e.Act) and (event.by or kind in e.OF_PEOPLE):
            event = replace(event, by=event.by or self.user, user=self.user)
        self.events.append(event)
        self.state = evolve(self.state, event)
        before, self.frame = self.frame, self.state.world.cursor[-1]
        if self.frame.phase != before.phase:
            self.phase = _phase_of(self.book, self.frame)

    def go_on_with(self, workflow: Workflow) -> None:
        self.book = self.book.under(workflow)
        self.phase = _phase_of(self.book, self.frame)

    @property
    def round(self) -> RoundAt:
        """The round in front, where there must be one."""
        if self.frame.round is None:
            raise Bug(f"{self.frame.scope} has no round")
        return self.frame.round

    def keep(self, value: object) -> e.Ref:
        """A JSON value as an artefact."""
        data = to_json(value)
        digest = self.book.keep(data)
        self.blobs[digest] = data
        return e.Ref(digest, "json", len(data))

    def keep_text(self, text: str) -> str:
        data = text.encode()
        digest = self.book.keep(data)
        self.blobs[digest] = data
        return digest

    def met(self, kind: str, key: str, message: str, **more: object) -> None:
        self.emit(e.TroubleMet(at=self.now, trouble=e.Trouble(kind, key, message, **more)))  # type: ignore[arg-type]

    def _met_in(self, error: ExpressionError, source: str, where: str, **more: object) -> None:
        """What a person can mend in a file of the run is told as such; the rest names the expression."""
        if isinstance(error.__cause__, KitFailed) and error.__cause__.file:
            self.met("expression", where, str(error), paths=(error.__cause__.file,), **more)
        else:
            self.met("expression", where, f"`{source}` ({where}) failed: {error}", **more)

    def kit_failed(self, error: KitFailed, where: str, **more: object) -> None:
        """Only a person can say whether to ask the kit again or to go on without it."""
        self.met("kit", f"kit at {where}", error.message, **more)

    def left_out(self, where: str) -> bool:
        """Whether the person has said to go on without what a kit says here."""
        return self.state.world.rulings.get(f"kit at {where}") == "without"

    def truth(self, source: str, where: str, *, item: ItemAt | None = None) -> bool | None:
        """True or false; None when only a person can say (the trouble is then on record).

        `item`: as seen from that item of the phase in front, which has just been done.
        """
        ruling = self.state.world.rulings.get(where)
        if ruling is not None:
            return ruling == "true"
        try:
            return truth(source, scope.for_expression(self._at(item), self.book, source))
        except ExpressionError as error:
            self._met_in(error, source, where, boolean=True)
            return None

    def _at(self, item: ItemAt | None) -> RunState:
        if item is None:
            return self.state
        cursor = (*self.state.world.cursor[:-1], replace(self.frame, item=item))
        return replace(self.state, world=replace(self.state.world, cursor=cursor))

    def names(self, source: str, where: str) -> list[object] | None:
        """A list; None when only a person can say."""
        if self.state.world.rulings.get(where) is not None:
            return []
        try:
            result = evaluate(source, scope.for_expression(self.state, self.book, source))
        except ExpressionError as error:
            self._met_in(error, source, where)
            return None
        if result is None:
            return []
        if isinstance(result, list):
            return result
        self.met("expression", where, f"`{source}` ({where}) must give a list, not {type(result).__name__}")
        return None

    def failed(self, where: str, source: str, message: str) -> None:
        """What went wrong in a text of the workflow, on record."""
        self.emit(e.ExpressionFailed(at=self.now, where=where, source=source, message=message))

    def lenient(self, source: str, where: str) -> tuple[bool, str]:
        """For what is only shown to a person: (truth, "" or what went wrong). The error is recorded."""
        try:
            return truth(source, scope.for_expression(self.state, self.book, source)), ""
        except ExpressionError as error:
            self.failed(where, source, str(error))
            return False, str(error)

    def condition(self, source: str, where: str) -> bool:
        """A condition that errs is recorded and skips the checkpoint; one that a limit or a kit fails is asked."""
        try:
            return truth(source, scope.for_expression(self.state, self.book, source))
        except ExpressionError as error:
            self.failed(where, source, str(error))
            return isinstance(error, ExpressionLimit) or isinstance(error.__cause__, KitFailed)

    def value(self, source: str, where: str) -> object:
        """Any JSON value for display; None with the error recorded when it fails."""
        try:
            return evaluate(source, scope.for_expression(self.state, self.book, source))
        except ExpressionError as error:
            self.failed(where, source, str(error))
            return None

    def filled(self, text: str, where: str) -> str:
        """A template over the run. Where it fails, that is said in its place, and the failure is recorded."""
        found = self.tried(text, where)
        return found if isinstance(found, str) else found.text

    def tried(self, text: str, where: str) -> str | Unfilled:
        """The same for whoever wants to know that it failed."""
        wrong: list[str] = []
        said = scope.render(text, self.state, self.book, wrong.append)
        if not wrong:
            return said
        self.failed(where, text[:200], wrong[0])
        if said != text:
            return said  # a kit is at fault, and that is said
        return unfilled(text, wrong[0], self._part)

    def theirs(self, source: str, text: str) -> tuple[e.Stretch, ...]:
        """The lines of `text`, which `source` was filled in to, that may hold words of agents."""
        return tuple(e.Stretch(*each) for each in scope.filled_lines(source, text, self.state, self.book))

    def _part(self, text: str) -> str:
        def refuse(message: str) -> None:
            raise UserError(message)

        return scope.render(text, self.state, self.book, refuse)
