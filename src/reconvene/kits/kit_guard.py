"""Every call into a kit of somebody else goes through here: what it raises, or gives in a wrong shape, is its failure.

A kit is wrapped once, when it is found. What a run is built on (a tracker's value, a gate, a field, a word of `reads`,
a view) then raises `KitFailed`, and whoever called decides how the run goes on. What the engine can do without (how a
remark is read, whom it concerns, who cites it, what an output proves) is answered with the least there is, and the
failure is told: see `unheard`. Packaged kits are not wrapped: they are typed and tested with the engine, and what they
raise is a bug.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import getattr_static
from typing import Annotated, Literal, NamedTuple, ParamSpec, TypeVar, cast

import msgspec
from msgspec.structs import replace

from reconvene.core import extensions as ports
from reconvene.core.facts.commands import RemarkIn
from reconvene.errors import KitFailed, UserError
from reconvene.language.entries import ListEntry

P = ParamSpec("P")
T = TypeVar("T")

_DEEPEST = 100  # levels of a JSON value
_LARGEST = 2**63  # of a whole number
_LONGEST_REASON = 300  # characters of what an exception says
_PLAIN = "comment"  # the kind of a remark that nobody sorts
_TRACKER = ("expressions", "outputs", "schema", "track", "objection", "facts", "settle")
_READER = ("kinds", "typed", "split", "read", "concerned", "words", "tokens", "asserted", "stated")
_unheard: dict[str, None] = {}


class _Unfit(ValueError):
    """What a part gives cannot be kept."""


def unheard() -> list[str]:
    """What failed and was answered without the kit, since this was asked last. For whoever talks with the person."""
    told = list(_unheard)
    _unheard.clear()
    return told


def guarded(kit: ports.Kit) -> ports.Kit:
    """The same kit, whose parts can fail in one way only. UserError where it is no kit at all."""
    if wrong := _malformed(kit):
        raise UserError(
            f"The kit {kit.name!r} is broken: {wrong}.", hint="Tell whoever made it, or install another version."
        )
    at = _Part(kit.name)
    return replace(
        kit,
        tracker=_Tracker(kit.tracker, at.of("tracker")) if kit.tracker is not None else None,
        reader=_Reader(kit.reader, at.of("reader")) if kit.reader is not None else None,
        judge=_judge(kit.judge, at.of("judge")) if kit.judge is not None else None,
        examiner=_examiner(kit.examiner, at.of("examiner")) if kit.examiner is not None else None,
        gates={name: at.of(f"gate {name!r}").guard(gate, ports.Objection | None) for name, gate in kit.gates.items()},
        reads={name: at.of(f"word {name!r}").guard(pick, tuple[str, ...]) for name, pick in kit.reads.items()},
        fields={name: at.of(f"field {name!r}").guard(field, object) for name, field in kit.fields.items()},
        views={name: _view(view, at.of(f"view {name!r}")) for name, view in kit.views.items()},
        list=_list(kit.list, at.of("list")) if kit.list is not None else None,
    )


def _malformed(kit: ports.Kit) -> str:
    for part in ("gates", "reads", "fields", "views"):
        held = getattr(kit, part)
        if not isinstance(held, Mapping) or not all(isinstance(name, str) for name in held):
            return f"its {part} are of type {type(held).__name__}, not a mapping from names"
        for name, one in held.items():
            if part == "views" and not isinstance(one, ports.View):
                return f"its view {name!r} is of type {type(one).__name__}, not a View"
            if not callable(one.rows if isinstance(one, ports.View) else one):
                return f"its {part[:-1]} {name!r} is of type {type(one).__name__}, not a function"
    for part, named in (("tracker", _TRACKER), ("reader", _READER)):
        held = getattr(kit, part)
        missing = [name for name in named if held is not None and getattr_static(held, name, None) is None]
        if missing:
            return f"its {part} has no {', '.join(missing)}"
    if kit.judge is not None and not callable(kit.judge):
        return f"its judge is of type {type(kit.judge).__name__}, not a function"
    if kit.examiner is not None and not (isinstance(kit.examiner, ports.Examiner) and callable(kit.examiner.examine)):
        return f"its examiner is of type {type(kit.examiner).__name__}, not an Examiner with a function"
    if kit.list is not None and not (isinstance(kit.list, ports.ListFile) and callable(kit.list.entries)):
        return f"its list is of type {type(kit.list).__name__}, not a ListFile with a function"
    return "" if isinstance(kit.workflows, str) else "its workflows is not the path of a folder"


class _Part(NamedTuple):
    """A part of a kit, as messages name it, and how it is asked."""

    kit: str
    name: str = ""

    def of(self, name: str) -> _Part:
        return self._replace(name=name)

    def asked(
        self, make: Callable[[], T], shape: object, instead: Callable[[str], T] | None = None, may_refuse: bool = False
    ) -> T:
        """What it gives, as plain data of this shape. `may_refuse`: a UserError of its own is no failure.

        Where it fails: what `instead` can say, given why, and the failure is told.
        """
        try:
            return cast(T, msgspec.convert(plain(make()), cast(type, shape)))
        except (Exception, SystemExit) as error:  # it is another's code: whatever it raises
            if may_refuse and isinstance(error, UserError):
                raise
            failed = KitFailed(self.kit, self.name, _why(error))
            if instead is None:
                raise failed from error
        _unheard[failed.message] = None
        return instead(failed.message)

    def guard(self, own: Callable[P, T], shape: object) -> Callable[P, T]:
        def call(*given: P.args, **named: P.kwargs) -> T:
            return self.asked(lambda: own(*given, **named), shape)

        return call


def _why(error: BaseException) -> str:
    """In one line that can be stored, whatever the exception says of itself."""
    try:
        said = " ".join(str(error).encode("utf-8", "replace").decode().split())[:_LONGEST_REASON]
    except Exception:
        said = ""
    if isinstance(error, _Unfit):
        return said
    if isinstance(error, msgspec.ValidationError):
        return f"what it gives has the wrong shape: {said}"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def plain(value: object, left: int = _DEEPEST) -> object:
    """The same as JSON knows it, of structs and tuples too; nothing that would come back as something else."""
    if left < 0:
        raise _Unfit("what it gives is nested too deep")
    match value:
        case None | bool():
            return value
        case str():
            value.encode()  # half a character cannot be stored
            return value
        case int() if abs(value) < _LARGEST:
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [plain(one, left - 1) for one in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {str(plain(key, left)): plain(one, left - 1) for key, one in value.items()}
        case msgspec.Struct() if value.__struct_config__.array_like:
            return [plain(one, left - 1) for one in msgspec.structs.astuple(value)]
        case msgspec.Struct():
            return {name: plain(one, left - 1) for name, one in msgspec.structs.asdict(value).items()}
        case int() | float():
            raise _Unfit("what it gives is no JSON: a number that is none, or too large")
        case dict():
            raise _Unfit("what it gives is no JSON: keys that are no text")
    raise _Unfit(f"what it gives is no JSON: {type(value).__name__}")


# --- the parts ---


def _view(view: ports.View, at: _Part) -> ports.View:
    """Rows may hold whatever has one form as JSON, such as dates."""
    return ports.View(str(view.help), at.guard(lambda state, book: msgspec.to_builtins(view.rows(state, book)), list))


def _judge(own: ports.Judge, at: _Part) -> ports.Judge:
    return lambda text: at.asked(lambda: own(text), tuple[ports.Citation, ...], lambda _: ())


def _examiner(own: ports.Examiner, at: _Part) -> ports.Examiner:
    """Where it fails, nothing is proved: what was claimed stays open."""

    def examine(given: ports.Examined) -> Sequence[ports.Finding]:
        known = {remark.id for remark in given.remarks}
        found = at.asked(lambda: own.examine(given), tuple[ports.Finding, ...], lambda why: _unproved(given, why))
        return tuple(one for one in found if one.id in known)

    return ports.Examiner(int(own.version), examine)


def _unproved(given: ports.Examined, why: str) -> tuple[ports.Finding, ...]:
    cited = {one.id: one for one in given.cited}
    return tuple(
        ports.Finding(one.id, "unseen", "taken up", why, cited[one.id].reason, cited[one.id].line, (), ())
        for one in given.remarks
        if one.id in cited
    )


def _list(own: ports.ListFile, at: _Part) -> ports.ListFile:
    def entries(text: str) -> Sequence[ListEntry]:
        return at.asked(lambda: own.entries(text), tuple[ListEntry, ...], lambda _: ())

    return ports.ListFile(str(own.path), str(own.kept), entries)


class _Tracker(NamedTuple):
    own: ports.Tracker
    at: _Part

    @property
    def expressions(self) -> Mapping[str, str]:
        return self.at.asked(lambda: dict(self.own.expressions), dict[str, str])

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.at.asked(lambda: self.own.outputs, tuple[str, ...])

    @property
    def documents(self) -> tuple[str, ...]:
        return self.at.asked(lambda: getattr(self.own, "documents", ()), tuple[str, ...])

    def schema(self) -> object:
        return self.at.asked(self.own.schema, dict[str, object] | bool | None)

    def track(self, before: object, seen: ports.Seen) -> object:
        return self.at.asked(lambda: self.own.track(before, seen), object)

    def objection(self, before: object, role: str, text: str, seen: ports.Seen) -> ports.Objection | None:
        return self.at.asked(lambda: self.own.objection(before, role, text, seen), ports.Objection | None)

    def facts(self, value: object, round: int) -> Mapping[str, object]:
        return self.at.asked(lambda: self.own.facts(value, round), dict[str, object], lambda _: {})

    def settle(self, value: object, round: int, by: str, at: str) -> object:
        return self.at.asked(lambda: self.own.settle(value, round, by, at), object)


class _Reader(NamedTuple):
    """Where it fails, a remark is what the person typed, weighs little, and may concern everybody."""

    own: ports.Reader
    at: _Part

    @property
    def kinds(self) -> tuple[str, ...]:
        return self.at.asked(lambda: self.own.kinds, _Kinds, lambda _: (_PLAIN,))

    def typed(self, text: str) -> RemarkIn:
        return self.at.asked(lambda: self.own.typed(text), RemarkIn, lambda _: RemarkIn(text.strip()), may_refuse=True)

    def split(self, text: str, agents: tuple[str, ...] = ()) -> tuple[ports.Understood, ...]:
        def whole(why: str) -> tuple[ports.Understood, ...]:
            return (ports.Understood(RemarkIn(text.strip()), f"kept whole: {why}"),) if text.strip() else ()

        found = self.at.asked(lambda: self.own.split(text, agents), tuple[_Split, ...], whole)
        return tuple(ports.Understood(one.remark, one.rule) for one in found)

    def order(self, text: str) -> str:
        return self.at.asked(lambda: self.own.order(text), str, lambda _: "")

    def refuses_round(self, text: str) -> bool:
        return self.at.asked(lambda: self.own.refuses_round(text), bool, lambda _: False)

    def read(self, remark: RemarkIn, outputs: Mapping[str, str]) -> ports.Reading:
        def unread(why: str) -> ports.Reading:
            return ports.Reading(remark.was, remark.now, "minor", f"it was not read: {why}")

        read = self.at.asked(lambda: self.own.read(remark, outputs), _Weighed, unread)
        return ports.Reading(read.was, read.now, read.level, read.reason)

    def concerned(
        self, remarks: Sequence[ports.RemarkLike], agents: Mapping[str, ports.AgentProfile], always: tuple[str, ...]
    ) -> tuple[ports.Concerned, ...]:
        def everybody(why: str) -> tuple[ports.Concerned, ...]:
            return tuple(ports.Concerned(agent, "unknown", why) for agent in agents)

        made = lambda: self.own.concerned(remarks, agents, always)  # noqa: E731
        return tuple(one for one in self.at.asked(made, tuple[ports.Concerned, ...], everybody) if one.agent in agents)

    def words(self, text: str) -> dict[str, str]:
        return self.at.asked(lambda: self.own.words(text), dict[str, str], lambda _: {})

    def tokens(self, text: str) -> list[tuple[str, str, bool]]:
        return self.at.asked(lambda: self.own.tokens(text), list[tuple[str, str, bool]], lambda _: [])

    def asserted(self, text: str) -> str:
        return self.at.asked(lambda: self.own.asserted(text), str, lambda _: text)

    def stated(self, text: str) -> ports.Stated:
        return _Stated(self.own, self.at, text)


class _Stated(NamedTuple):
    own: ports.Reader
    at: _Part
    text: str

    def holds(self, value: str) -> bool:
        return self.at.asked(lambda: self.own.stated(self.text).holds(value), bool, lambda _: False)


class _Split(msgspec.Struct, array_like=True):
    remark: RemarkIn
    rule: str


class _Weighed(msgspec.Struct, array_like=True):
    was: str
    now: str
    level: Literal["minor", "major"]
    reason: str


_Kinds = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
