"""What a person does at a checkpoint and says about a run, for every door over HTTP: the role that it takes, the
version that it is about, and what does not fit, by field. Nothing is parsed or drawn here.

A decision names the version that was shown. Where others said or changed something since, it is refused once, with what
came and the version that there is now; `anyway` with that version decides all the same, and that is on record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from reconvene.app import queries
from reconvene.app.file_versions import version_of
from reconvene.app.saying import say
from reconvene.app.views.projections import remarks as as_shown
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import Lines, RemarkAdded
from reconvene.core.kit_finder import reader
from reconvene.core.person.remarking import require_addressee
from reconvene.doors.http.refusals import Missing, WhichVersion, WrongField
from reconvene.doors.http.service import recorded
from reconvene.doors.shared.fields import answer_in, wrong
from reconvene.doors.shared.meant_version import Meant, meant
from reconvene.doors.shared.options import fields_of, match_option
from reconvene.errors import Refused, StaleDecision, UserError
from reconvene.settings import system_user
from reconvene.showing_ports import Showing, Viewer
from reconvene.wiring import showings

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint, Field, Option, Remark, Run
    from reconvene.core.facts.state import Record, RunState
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service


_MOST_EVENTS = 1_000  # of one append of remarks


class Said(NamedTuple):
    """One thing that a person says. kind "": as the text itself tells ("correction: …"), else a comment."""

    text: str
    kind: str = ""
    target: str = ""
    was: str = ""
    now: str = ""
    path: str = ""  # these four: lines of a file that it is about, in the version that was shown
    version: str = ""
    first: int = 0
    last: int = 0
    level: str = ""  # minor or major, "" = as it is read
    replaces: str = ""  # the id of a remark in whose place it stands


def require_run(engine: Engine, run: str) -> str:
    """Its whole id: beginnings are for people who type."""
    if not engine.log.head(run) or engine.log.index_row(run) is None:
        was = "was deleted" if engine.log.head(run) else ""
        raise Missing(f"Run {run} {was}." if was else f"There is no run {run!r}.", hint="GET /api/v1/runs lists them.")
    return run


# --- which version ---


def note_shown(service: Service, caller: Caller, run: str, point: Checkpoint) -> None:
    """It was shown whole to this person."""
    showings(service.home).note(run, Showing(point.digest, _viewer(caller)))


def last_shown(service: Service, caller: Caller, run: str) -> str:
    """The version of a checkpoint that was last shown whole to this person, "" = none."""
    to = _viewer(caller)
    own = [one for one in showings(service.home).of(run) if (one.to.user, one.to.name) == (to.user, to.name)]
    seen = [one.version for one in own if not one.after_decide]
    return seen[-1] if seen else ""


def _viewer(caller: Caller) -> Viewer:
    user = system_user()
    return Viewer(user, "" if caller.name == user else caller.name, caller.door)


def _meant(service: Service, engine: Engine, caller: Caller, run: str, version: str) -> Meant:
    if not version:
        raise WhichVersion(
            "nothing was decided: say which version of the checkpoint was shown",
            hint="send it as If-Match; it is the checkpoint's digest, and the ETag of GET …/checkpoint",
        )
    state = engine.load(run)
    if state.world.open is None and state.awaits is not None:
        raise Refused(f"{run} waits for {state.awaits.model}, not for a decision: there is nothing to decide")
    try:
        return meant(engine, showings(service.home).of(run), _viewer(caller), run, version)
    except Refused:
        raise
    except UserError as error:
        point = queries.standing(engine, run).checkpoint
        raise StaleDecision(error.message, hint="look at it again", now=point.digest if point else "") from None


# --- deciding ---


async def decide(
    service: Service,
    caller: Caller,
    run: str,
    option: str,
    *,
    version: str,
    fields: Mapping[str, object] | None = None,
    remarks: Sequence[Said] = (),
    anyway: str = "",
    limits: tuple[float, Sequence[str]] | None = None,
) -> RunState:
    """Repeated where exactly this was decided before. `anyway`: the version that a refusal named. `limits`: what the
    run may cost, and which tools ask first, on record with the decision."""
    caller.require("decider", "to decide")

    def work(engine: Engine) -> RunState:
        require_run(engine, run)
        seen = _meant(service, engine, caller, run, version)
        chosen = _option(seen, option)
        answers = _answers(seen.point, chosen, fields or {})
        said = all_said(engine, run, remarks)
        if chosen.remark == "required" and not said and seen.is_open and not _unheard(engine, run):
            raise WrongField("remarks", f"“{chosen.label}” needs your words", hint="say what should be different")
        by, door = caller.name, caller.door
        bounds = c.SetLimits(limits[0], tuple(limits[1]), by, door) if limits is not None else None
        command = c.AnswerCheckpoint(
            seen.point.id, chosen.label, answers, said, seen.version, by, door, anyway=anyway, limits=bounds
        )
        return recorded(engine, caller, run, command, once=True)

    return await service.change(run, work)


def _unheard(engine: Engine, run: str) -> bool:
    from reconvene.core.shown import on_record

    return on_record.unheard(engine.load(run))


def _option(seen: Meant, option: str) -> Option:
    try:
        chosen = match_option(seen.point, option)
    except Refused as error:
        raise WrongField("option", error.message, hint=error.hint) from None
    return chosen


def _answers(point: Checkpoint, chosen: Option, given: Mapping[str, object]) -> c.Answers:
    known, answers = fields_of(point, chosen), dict[str, object]()
    for name, value in given.items():
        if name not in known:
            raise WrongField(name, f"there is no field {name!r} here", hint=f"there is: {', '.join(known) or 'none'}")
        answers[name] = _answer(known[name], value)
    return answers


def _answer(field: Field, value: object) -> object:
    """A text may stand for what it says: forms and command lines know no other values."""
    try:
        answer = answer_in(field, value) if isinstance(value, str) and value else value
    except UserError as error:
        raise WrongField(field.id, error.message, hint=error.hint) from None
    if answer not in (None, "") and (why := wrong(field, answer)):
        raise WrongField(field.id, why)
    return answer


async def decide_calls(
    service: Service, caller: Caller, run: str, rulings: Mapping[str, tuple[str, str]], *, version: str
) -> RunState:
    """On calls of tools that wait: by the name of each, what is decided, and the words that go with it."""
    from reconvene.core.person.rulings import EACH

    fields: dict[str, object] = {}
    for name, (ruling, words) in rulings.items():
        fields[name] = ruling
        if words.strip():
            fields[f"{name}_words"] = words
    return await decide(service, caller, run, EACH, version=version, fields=fields)


async def roll_back(
    service: Service,
    caller: Caller,
    run: str,
    *,
    version: str,
    remarks: Sequence[Said] = (),
    run_again: bool = False,
    anyway: str = "",
) -> RunState:
    """The round in front is undone and run again."""
    caller.require("decider", "to undo a round")

    def work(engine: Engine) -> RunState:
        from reconvene.core.definition.workflow import Again
        from reconvene.core.working.acting import again

        require_run(engine, run)
        session = engine.session(run)
        command = c.Rollback(by=caller.name, door=caller.door, remarks=all_said(engine, run, remarks), anyway=anyway)
        if session.state.world.open is not None:
            seen = _meant(service, engine, caller, run, version)
            command = replace(command, checkpoint=seen.point.id, digest=seen.version)
        told = require_told(again(session.state, session.book, Again(), undo=True), given=run_again)
        return recorded(engine, caller, run, replace(command, told=told))

    return await service.change(run, work)


def require_told(agents: tuple[str, ...], *, given: bool) -> tuple[str, ...]:
    """The agents that would act again; the person says with `run_again` that they may."""
    from reconvene.core.working.acting import named

    if agents and not given:
        what = f"{named(agents)}, and would act again: what was done already may be done twice"
        raise WrongField("run_again", f"nothing was done: {what}", hint="to have it so, say run_again")
    return agents


async def save_answers(
    service: Service, caller: Caller, run: str, checkpoint: str, fields: Mapping[str, object]
) -> RunState:
    """Answers so far, which everybody sees; None takes one back."""
    caller.require("reviewer", "to answer fields")

    def work(engine: Engine) -> RunState:
        require_run(engine, run)
        point = queries.standing(engine, run).checkpoint
        if point is not None and checkpoint in ("", point.id):
            known = {field.id: field for field in point.fields}
            for name in fields:
                if name not in known:
                    raise WrongField(name, f"there is no field {name!r} here")
            given = {name: _answer(known[name], value) for name, value in fields.items()}
            return recorded(engine, caller, run, c.SaveDraft(checkpoint, given, caller.name))
        return recorded(engine, caller, run, c.SaveDraft(checkpoint, dict(fields), caller.name))

    return await service.change(run, work)


# --- saying ---


class Told(NamedTuple):
    """What was recorded of what was said, as it is read; and how the run stands."""

    run: Run
    remarks: tuple[Remark, ...]
    note: str = ""  # what was said before


async def remark(service: Service, caller: Caller, run: str, said: Sequence[Said], *, understand: bool = False) -> Told:
    """`understand`: free text, split and sorted by rules."""
    caller.require("reviewer", "to remark")

    def work(engine: Engine) -> Told:
        require_run(engine, run)
        entries = [entry for one in said if one.text.strip() for entry in _read(engine, run, one, understand)]
        if not entries and not understand:
            raise WrongField("text", "nothing is said")
        before = engine.load(run).record
        commands = [c.AddRemark(entry, caller.name, caller.door) for entry in entries]
        after = say(engine, run, commands, caller.actor, caller.request).record
        made = [one.id for number, one in after.remarks.items() if number not in before.remarks]
        return _told(engine, run, made)._replace(note=_known(before, caller.name, entries, len(made)))

    return await service.change(run, work)


def _known(before: Record, by: str, entries: Sequence[c.RemarkIn], made: int) -> str:
    """What was said before is recorded once; that is told."""
    if made >= len(entries):
        return ""
    said = {(one.kind, one.text, one.by): one.id for at, one in before.remarks.items() if at not in before.withdrawn}
    ids = [said[key] for entry in entries if (key := (entry.kind, entry.text, by)) in said]
    return f"{', '.join(ids) or 'a remark'}: you said this before, and it is not recorded again"


async def said_by(service: Service, run: str, seq: int) -> Told:
    """What the append that ends with this event recorded of what was said."""

    def look(engine: Engine) -> Told:
        events = [event for at, event in engine.log.read(run, max(0, seq - _MOST_EVENTS)) if at <= seq]
        made = [one.id for one in events if isinstance(one, RemarkAdded) and one.at == events[-1].at]
        return _told(engine, run, made)

    return await service.do(look)


def _told(engine: Engine, run: str, ids: Sequence[str]) -> Told:
    state = engine.load(run)
    made = [one for one in state.record.remarks.values() if one.id in ids]
    return Told(queries.summary(engine, run), as_shown(state, made))


async def read_remark(service: Service, caller: Caller, run: str, id: str, changes: Mapping[str, str | None]) -> Told:
    """What a remark is after all: kind, target, was, now, level; what is not named stays."""
    caller.require("reviewer", "to change how a remark is read")

    def work(engine: Engine) -> Told:
        _require_remark(engine, run, id)
        command = c.ReadRemark(id, **{name: value for name, value in changes.items() if value is not None})
        recorded(engine, caller, run, replace(command, by=caller.name, door=caller.door))
        return _told(engine, run, [id])

    return await service.change(run, work)


async def withdraw(service: Service, caller: Caller, run: str, id: str) -> Told:
    caller.require("reviewer", "to take a remark back")

    def work(engine: Engine) -> Told:
        _require_remark(engine, run, id)
        recorded(engine, caller, run, c.WithdrawRemark(id, caller.name, caller.door))
        return _told(engine, run, [])

    return await service.change(run, work)


async def settle(service: Service, caller: Caller, run: str, id: str) -> Told:
    """The person says that a remark is answered."""
    caller.require("reviewer", "to call a remark answered")

    def work(engine: Engine) -> Told:
        _require_remark(engine, run, id)
        recorded(engine, caller, run, c.SettleRemark(id, caller.name, caller.door))
        return _told(engine, run, [id])

    return await service.change(run, work)


def _require_remark(engine: Engine, run: str, id: str) -> None:
    require_run(engine, run)
    if not any(one.id == id for one in engine.load(run).record.remarks.values()):
        raise Missing(f"{run} has no remark {id!r}.", hint=f"GET /api/v1/runs/{run} lists them.")


def all_said(engine: Engine, run: str, said: Sequence[Said]) -> tuple[c.RemarkIn, ...]:
    """What goes with a decision: read as what is typed at a terminal is, so that "looks good" is no remark."""
    return tuple(entry for one in said if one.text.strip() for entry in _read(engine, run, one, understand=True))


def _read(engine: Engine, run: str, one: Said, understand: bool) -> list[c.RemarkIn]:
    if not understand or any((one.kind, one.was, one.now, one.target, one.level, one.replaces)):
        return [_remark(engine, run, one)]
    from reconvene.doors.shared.remarks import said_with_decision

    workflow, about = engine.session(run).book.workflow, _lines(engine, run, one)
    found = said_with_decision(one.text, tuple(workflow.agents), workflow.kits)
    return [replace(each, on=about, lines=about.name) for each in found] if about is not None else found


def _remark(engine: Engine, run: str, one: Said) -> c.RemarkIn:
    """As the run's own reader types it, and with what the person said of it themselves."""
    workflow = engine.session(run).book.workflow
    kinds = reader(workflow.kits)
    if one.kind and one.kind not in kinds.kinds:
        raise WrongField("kind", f"{one.kind!r} is no kind of remark", hint=f"kinds: {', '.join(kinds.kinds)}")
    require_addressee(workflow, one.target)
    made = c.RemarkIn(one.text.strip(), one.kind) if one.kind else kinds.typed(one.text)
    named = ("target", "was", "now", "level", "replaces")
    own = {name: value for name in named if (value := getattr(one, name))}
    about = _lines(engine, run, one)
    if about is not None:
        own |= {"lines": about.name}
    made = replace(made, **own)
    return replace(made, on=about) if about is not None else made


def _lines(engine: Engine, run: str, one: Said) -> Lines | None:
    """Of a version that the file had in this run: other contents are nobody's to quote."""
    if not one.path:
        return None
    if version_of(engine, run, one.path, one.version) is None:
        raise WrongField("path", f"{run} has no file {one.path!r} with the version {one.version[:12]!r}")
    return Lines(one.path, one.version, one.first, one.last or one.first)
