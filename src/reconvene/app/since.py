"""What changed in a run since a person last decided, remarked, or marked it as read. A fold of the log; writes nothing.

Nothing is passed over: what another person did and no rule below tells of is told by the name of its event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reconvene.app import measures
from reconvene.app.engine import Engine
from reconvene.app.session import Session, state_after
from reconvene.app.views.changes import changes
from reconvene.app.views.news import KINDS, News, Since
from reconvene.app.views.remark_lives import fate
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.core.shown.drafts import ENGINE

_LONGEST = 300  # characters of what somebody said
_ORDER = list(KINDS)
_CHOSE = (e.DecisionRecorded, e.ApprovalRecorded)  # one decides, one is among several who must
_UNTOLD = (e.KeyIntroduced, e.CompanionSaid, e.RemarkRead, e.RunStarted, e.CallRuled, e.ArchivesPruned)
_SPOKEN = {
    e.Paused: "paused the run", e.Resumed: "had the run go on", e.RunReopened: "took the run up again",
    e.Replanned: "had it planned anew", e.AgentsBound: "named who carries agents out", e.LimitsSet: "set limits",
    e.Imported: "brought the run here",
    e.WorkflowUpgraded: "had the run go on with another workflow", e.RunEnded: "ended the run",
    e.Forked: "made the run from another one", e.ChildrenQueued: "put runs into the queue",
    e.QueueMoved: "moved the run in the queue", e.QueueLeft: "took the run from the queue",
    e.ToolAllowed: "allowed a tool for good", e.ToolDisallowed: "took back that a tool is allowed",
}  # fmt: skip


def since(engine: Engine, run: str, person: str, read: int = 0, *, after: int | None = None) -> Since:
    """`read`: up to which event they marked it as read. `after`: since that one, whatever they did."""
    session = engine.session(run)
    log = list(engine.log.read(run))
    last = _last(log, person, read)
    start = last.seq if after is None else max(min(after, len(log)), 0)
    what, at = (last.what, last.at) if after is None else (f"event {start}", log[start - 1][1].at if start else "")
    before = _state_at(run, log, start)
    fresh = [event for seq, event in log if seq > start]
    found = [*_of_events(fresh, person), *_of_states(session, before, fresh, person)]
    found += _turned(session, fresh) + _became(engine, run, person, at, fresh) + _moved(engine, session, fresh)
    own = [event for _, event in log if isinstance(event, _CHOSE) and event.by == person]
    return Since(
        start,
        at,
        what,
        tuple(sorted(found, key=lambda one: _ORDER.index(one.kind))),
        own[-1].option if own else "",
        own[-1].at if own else "",
        tuple(dict.fromkeys(_agents(fresh))),
    )


class _Last(NamedTuple):
    seq: int = 0
    what: str = ""
    at: str = ""


def _last(log: Sequence[tuple[int, e.AnyEvent]], person: str, read: int) -> _Last:
    """What this person last did that shows that they had looked."""
    found = _Last()
    for seq, event in log:
        if isinstance(event, _CHOSE) and event.by == person:
            found = _Last(seq, f"you chose “{event.option}”", event.at)
        elif isinstance(event, e.RemarkAdded) and event.by == person:
            found = _Last(seq, f"your remark {event.id}", event.at)
        elif seq == read and seq > found.seq:
            found = _Last(seq, "you marked it as read", event.at)
    return found


def _state_at(run: str, log: Sequence[tuple[int, e.AnyEvent]], until: int) -> RunState:
    state = EMPTY
    for seq, event in log:
        if seq > until:
            break
        state = state_after(run, state, seq, event)
    return state


def _agents(fresh: Sequence[e.AnyEvent]) -> Iterator[str]:
    for event in fresh:
        if isinstance(event, e.AttemptEnded) and event.verdict == "accepted":
            yield parse_task(event.task)[2]


# --- what events say by themselves ---


def _of_events(fresh: Sequence[e.AnyEvent], person: str) -> Iterator[News]:
    for event in fresh:
        yield from _by_itself(event)
        if isinstance(event, e.Act) and event.by not in (person, ENGINE, ""):
            yield from _by_others(event)


def _by_itself(event: e.AnyEvent) -> Iterator[News]:
    match event:
        case e.AttemptEnded(verdict="failed" | "doubt" | "rejected", then="missing" | "ask"):
            agent = parse_task(event.task)[2]
            yield News("trouble", f"{agent} gave nothing: {_short(event.why)}", who=agent, at=event.at)
        case e.TroubleMet():
            if event.trouble.kind != "calls":
                yield News("trouble", _short(event.trouble.message.split("\n")[0]), at=event.at)
        case e.ExpressionFailed():
            yield News("trouble", _short(f"{event.where}: {event.message}"), at=event.at)
        case e.ProviderAwaited():
            yield News("trouble", f"{event.model} did not answer: {_short(event.why)}", at=event.at)
        case e.FilesFound():
            names = ", ".join(file.path for file in event.files[:3])
            yield News("trouble", f"changed while agents worked, by nobody on record: {names}", at=event.at)
        case e.CheckpointEscalated():
            yield News("run", "the deadline passed", at=event.at)
        case e.PhaseSkipped():
            yield News("run", f"{event.phase} was skipped", at=event.at)
        case e.CheckpointSkipped():
            yield News("run", f"the checkpoint of {event.phase} was passed over", at=event.at)
        case _:
            pass


def _by_others(event: e.Act) -> Iterator[News]:
    who = event.by
    match event:
        case e.RemarkAdded():
            yield News("said", _short(event.text), who=who, id=event.id, at=event.at)
        case e.RemarkWithdrawn():
            yield News("said", f"took remark {event.id} back", who=who, at=event.at)
        case e.RemarkSettled():
            yield News("said", f"called remark {event.id} answered", who=who, at=event.at)
        case e.DecisionRecorded():
            yield News("decided", event.option, who=who, at=event.at)
        case e.FilesEdited():
            yield from (News("edited", file.path, who=who, id=file.path, at=event.at) for file in event.files)
        case e.ApprovalRecorded():
            yield News("decided", f"{event.option} (others must, too)", who=who, at=event.at)
        case e.CheckpointAssigned():
            yield News("run", f"handed it over to {', '.join(event.who)}", who=who, at=event.at)
        case e.Paused(left=True):
            pass  # a process had to end, and nobody said anything: it is due again
        case e.DraftSaved():
            yield News("answered", "answered questions here", who=who, at=event.at)
        case e.RoundUndone():
            yield News("run", f"took round {event.n} of {event.phase} back", who=who, at=event.at)
        case _ if not isinstance(event, _UNTOLD):
            yield News("run", _SPOKEN.get(type(event), type(event).__name__), who=who, at=event.at)
        case _:
            pass


# --- what is another in the state ---


def _of_states(session: Session, before: RunState, fresh: Sequence[e.AnyEvent], person: str) -> Iterator[News]:
    was, now = before.world.open, session.state.world.open
    if was is not None and now is not None and was.id == now.id:
        yield from _options(was, now)
    old, new = before.world.files, session.state.world.files
    edited = {file.path for one in fresh if isinstance(one, e.FilesEdited) for file in one.files}
    for path in sorted({*old, *new} - edited):
        one, other = old.get(path), new.get(path)
        if (one and one.digest) != (other and other.digest):
            how = "new" if one is None else "gone" if other is None else "changed"
            yield News("file", path, who=other.by if other else "", id=path, at=other.at if other else "", how=how)
    yield from (News("wrote", agent, who=agent) for agent in dict.fromkeys(_agents(fresh)))


def _options(was: e.CheckpointOpened, now: e.CheckpointOpened) -> Iterator[News]:
    old = {one.label: one for one in was.options}
    for one in now.options:
        before = old.get(one.label)
        if before is None or before.available != one.available or before.recommend != one.recommend:
            told = "can be chosen" if one.available else f"cannot be chosen: {one.why_not}"
            told = "is recommended" if one.recommend and before and not before.recommend else told
            yield News("option", f"“{one.label}” {told} now", id=one.label)


# --- what agents concluded ---


def _turned(session: Session, fresh: Sequence[e.AnyEvent]) -> list[News]:
    """The sentences that stand in another's place; of agents whose work came since. Who says the same is told once."""
    worked = set(_agents(fresh))
    said: dict[tuple[str, str], list[str]] = {}
    for one in changes(session):
        if one.agent in worked and (one.was or one.now):
            said.setdefault((one.was, one.now), []).append(one.agent)
    return [News("turned", now or "no longer said", was, now, ", ".join(who)) for (was, now), who in said.items()]


def _became(engine: Engine, run: str, person: str, at: str, fresh: Sequence[e.AnyEvent]) -> list[News]:
    """What became of what they said: those remarks on which something was said since."""
    if not any(True for _ in _agents(fresh)):
        return []
    found: list[News] = []
    for entry in measures.ledger(engine, run):
        answers = [one for one in entry.standing.values() if one.at >= at]
        if entry.by != person or not (answers or entry.reflected) or entry.status in ("captured", "delivered"):
            continue
        told = f"{entry.status}{fate(entry)}"
        found.append(News("became", told, entry.text[:_LONGEST], "", "", entry.id, entry.at, entry.status))
    return found


def _moved(engine: Engine, session: Session, fresh: Sequence[e.AnyEvent]) -> list[News]:
    if not any(True for _ in _agents(fresh)) or session.state.world.open is None:
        return []
    worked = set(_agents(fresh))
    found: list[News] = []
    for item in measures.stop_meter(engine, session).items:
        moves = [one for one in item.moved if one.agent in worked]
        if moves:
            told = ", ".join(f"{one.agent} {one.was:g} → {one.now:g}" for one in moves)
            found.append(News("ratings", told, id=item.item))
    return found


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"
