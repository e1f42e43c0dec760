"""The log as a trail that people follow: each event in a line, by what sort of thing happened. Pure.

Contents are named by digest in events; `read` fetches those of which a line tells the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from reconvene.app.views.troubles import is_trouble
from reconvene.app.views.who import told as by_whom
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.named_people import named
from reconvene.wire.event_json import to_json

Kind = Literal["model", "tool", "error", "person", "engine"]
Read = Callable[[str], bytes]

_WIDE = 200  # characters of a text that a line tells
_OWN = ("seq", "type", "at", "by", "user", "door", "task", "attempt", "claim")


class Entry(Struct, frozen=True):
    """`kinds`: an event may be of several sorts, as a call of a tool that failed."""

    seq: int
    at: str
    kinds: tuple[Kind, ...]
    agent: str
    text: str

    def line(self) -> str:
        who = f"  {self.agent}" if self.agent else ""
        return f"event {self.seq}  {self.at[:19].replace('T', ' ')}{who}  {self.text}"


def entries(events: Iterable[tuple[int, e.AnyEvent]], read: Read) -> Iterator[Entry]:
    for seq, event in events:
        person = isinstance(event, e.Act) and bool(event.by or event.user)
        rest: tuple[tuple[Kind, ...], str] = ("person",) if person else ("engine",), ""
        kinds, text = _told(event, read) or rest
        if is_trouble(event):
            kinds = (*(kind for kind in kinds if kind != "engine"), "error")
        yield Entry(seq, event.at, kinds, agent_of(event), text or _stepped(event) or _plain(seq, event))


def sentence(event: e.AnyEvent, read: Read) -> str:
    """What happened, in words; "" where there are none but the event's own."""
    told = _told(event, read)
    return told[1] if told else _stepped(event)


def agent_of(event: e.AnyEvent) -> str:
    """Whose work it is about; "" where it is about nobody's."""
    task = getattr(event, "task", "")
    return parse_task(task)[2] if task else ""


def short(text: str, width: int = _WIDE) -> str:
    line = " ".join(text[: 8 * width].split())
    return line if len(line) <= width else line[: width - 1] + "…"


def usage(used: e.Usage) -> str:
    """`gpt-4o, 1,200 + 300 tokens, $0.0100, 2.4 s`, as far as known."""
    parts = [used.model, f"{used.input_tokens:,} + {used.output_tokens:,} tokens"]
    parts += [f"${used.cost:.4f}"] * bool(used.cost) + [f"{used.seconds:.1f} s"] * bool(used.seconds)
    return ", ".join(filter(None, parts))


def _told(event: e.AnyEvent, read: Read) -> tuple[tuple[Kind, ...], str] | None:
    """None: it is told in other words."""
    match event:
        case e.ModelTurned():
            wants = ", ".join(f"{call.tool} {short(_text(read, call.arguments), 80)}" for call in event.calls)
            does = f"wants {wants}" if wants else "gives its output"
            return ("model",), f"model call, turn {event.turn} ({usage(event.usage)}): {does}"
        case e.AttemptEnded():
            why = f": {short(event.why)}" if event.why else ""
            files = f"; files: {', '.join(one.path for one in event.files)}" if event.files else ""
            return ("model",), f"attempt {event.attempt} {event.verdict} ({usage(event.usage)}){why}{files}"
        case e.CallEnded():
            result = short(_text(read, event.result.digest))
            text = f"tool {event.tool} {event.outcome} ({event.seconds:g} s) with {_arguments(event, read)}: {result}"
            return ("tool",), text
        case e.CallStarted():
            return ("tool",), f"call {event.call}, which has effects, begins"
        case e.CallsDeferred():
            doubt = ", and may have been made already" if event.doubt else ""
            waiting = ", ".join(event.calls)
            return ("tool",), f"calls wait for a person{doubt}: {waiting}"
        case e.CallRuled():
            words = f": {short(_text(read, event.words))}" if event.words else ""
            return ("tool", "person"), f"{_who(event)} {_RULED[event.ruling]} call {event.call}{words}"
        case e.MessagesCompacted():
            return ("model",), f"messages shortened: {short(event.why)}"
        case e.ProviderFailed():
            return ("model",), f"{event.model} failed ({event.outcome}): {short(event.why)}"
        case e.ProviderAwaited():
            return ("model",), f"waits for {event.model} ({event.outcome}): {short(event.why)}"
        case e.TroubleMet():
            return ("engine",), f"trouble ({event.trouble.kind}): {short(event.trouble.message)}"
        case e.ExpressionFailed():
            return ("engine",), f"expression failed in {event.where}: {short(event.message)}"
        case e.RenderFailed():
            return ("engine",), f"{event.path} could not be rendered: {short(event.message)}"
        case e.CheckpointOpened():
            return ("engine",), f"checkpoint {event.id} opens in {event.phase}: {short(event.question or event.prompt)}"
        case e.DecisionRecorded():
            said = f": {short(event.feedback)}" if event.feedback else ""
            with_ = f", with {named(event.approved[:-1], 'and')}" if event.approved else ""
            what = f"decided {event.option!r} at {event.checkpoint} ({event.phase}){with_}{said}"
            return ("engine" if event.late else "person",), f"{_who(event)} {what}"
        case e.ApprovalRecorded():
            return ("person",), f"{_who(event)} chose {event.option!r} at {event.checkpoint}; it needs others as well"
        case e.CheckpointAssigned():
            return ("person",), f"{_who(event)} handed {event.checkpoint} over to {named(event.who)}"
        case e.CheckpointReminded():
            return ("engine",), f"people are reminded of {event.checkpoint}: it is to be decided until {event.deadline}"
        case e.CheckpointEscalated():
            return ("engine",), f"{event.checkpoint} is late: {named(event.who)} may decide as well"
        case e.CheckpointOverdue():
            why = f": {short(event.why)}" if event.why else ""
            return ("engine",), f"{event.checkpoint} is late, and still waits{why}"
        case e.RemarkAdded():
            return ("person",), f"{_who(event)} said {event.id} ({event.kind}): {short(event.text or event.path)}"
        case e.CompanionSaid():
            return ("person",), f"{_in_talk(event)}: {short(_text(read, event.text.digest))}"
        case e.FilesEdited():
            return ("person",), f"{_who(event)} edited {', '.join(one.path for one in event.files)}"
        case e.RunEnded():
            return ("engine",), f"run {event.status}" + (f": {short(event.why)}" if event.why else "")
    return None


def _stepped(event: e.AnyEvent) -> str:
    """How the run goes on, in words; "" of all else."""
    match event:
        case e.PhaseEntered():
            return f"phase {event.phase} is entered, for the {_nth(event.entry)} time ({event.scope})"
        case e.PhaseClosed():
            return f"phase {event.phase} is done ({event.scope})"
        case e.PhaseSkipped():
            why = "it is on the list of what is left out" if event.why == "skip_list" else "its `when` does not hold"
            return f"phase {event.phase} is skipped: {why}"
        case e.RoundStarted():
            return f"round {event.n} of {event.phase} begins"
        case e.RoundClosed():
            return f"round {event.n} of {event.phase} is closed"
        case e.StepStarted():
            return f"agents begin to work: {', '.join(task.agent for task in event.tasks)}"
        case e.ItemStarted():
            return f"work at {event.key!r} begins ({event.scope})"
        case e.ItemDone():
            return f"{event.key!r} is done ({event.scope})"
        case e.Reran():
            return f"{event.target} is done anew"
        case e.FilesRendered():
            return f"files are written by the engine: {short(', '.join(one.path for one in event.files))}"
        case e.Replanned():
            return f"{_who(event)} has it planned anew, from {event.target}"
        case e.Paused(left=True):
            return "its process had to end: the run is due again"
        case e.Paused():
            return "the run is paused"
    return ""


def _nth(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


_RULED = {"approve": "approved", "change": "changed", "refuse": "refused", "answer": "answered in place of"}


def _in_talk(event: e.CompanionSaid) -> str:
    return f"{_who(event)} asked the companion" if event.role == "person" else f"the companion told {_who(event)}"


def _who(event: e.Act) -> str:
    return by_whom(event.by, event.user) or event.user or "somebody"


def _plain(seq: int, event: e.AnyEvent) -> str:
    """The event's own words, its longest ones cut."""
    raw = to_json(seq, event)
    told = " ".join(f"{key}={short(str(value), 60)}" for key, value in raw.items() if key not in _OWN and value)
    by = f" by {_who(event)}" if isinstance(event, e.Act) and (event.by or event.user) else ""
    return f"{raw['type']}{by}" + (f" {told}" if told else "")


def texts_of(event: e.AnyEvent) -> tuple[str, ...]:
    """Digests of the texts that an event names and that somebody may search: outputs, calls and what came of them."""
    match event:
        case e.ModelTurned():
            return (event.messages, *(call.arguments for call in event.calls))
        case e.CallEnded():
            return event.arguments, event.result.digest
        case e.AttemptEnded() | e.LateOutputArchived():
            return (event.output.digest if event.output else "",)
        case e.CallRuled():
            return event.arguments, event.words
        case e.DecisionRecorded() | e.ApprovalRecorded() | e.DraftSaved():
            return (event.fields,)
        case e.RemarkAdded():
            return (event.diff,)
        case e.CompanionSaid():
            return (event.text.digest,)
    return ()


def _arguments(event: e.CallEnded, read: Read) -> str:
    return short(_text(read, event.arguments), 120) or "{}"


def _text(read: Read, digest: str) -> str:
    return read(digest).decode("utf-8", "replace") if digest else ""


# --- what agents and people said, in turns ---


class Turn(Struct, frozen=True):
    """`text`: all of it."""

    seq: int
    at: str
    who: str
    what: str
    text: str


def turns(events: Iterable[tuple[int, e.AnyEvent]], read: Read, words_in: Callable[[bytes], str]) -> Iterator[Turn]:
    """`words_in`: what a model said, of the messages that are kept of one of its turns."""
    looped = set[tuple[str, int]]()  # attempts whose turns are on record
    for seq, event in events:
        agent = agent_of(event)
        match event:
            case e.ModelTurned():
                looped.add((event.task, event.attempt))
                wants = [f"calls {call.tool} {_text(read, call.arguments)}" for call in event.calls]
                said = words_in(read(event.messages))
                yield Turn(seq, event.at, agent, f"turn {event.turn}", "\n".join(filter(None, (said, *wants))))
            case e.CallEnded():
                what = f"{event.tool} {event.outcome}"
                yield Turn(seq, event.at, f"tool for {agent}", what, _text(read, event.result.digest))
            case e.AttemptEnded():
                shown = event.output if (event.task, event.attempt) not in looped else None
                text = "\n".join(filter(None, (_text(read, shown.digest) if shown else "", event.why)))
                yield Turn(seq, event.at, agent, f"attempt {event.attempt} {event.verdict}", text)
            case e.RemarkAdded():
                yield Turn(seq, event.at, _who(event), f"{event.id}, {event.kind}", event.text or event.path)
            case e.CompanionSaid():
                who, what = ("companion", "answer") if event.role == "companion" else (_who(event), "to the companion")
                yield Turn(seq, event.at, who, what, _text(read, event.text.digest))
            case e.DecisionRecorded():
                yield Turn(seq, event.at, _who(event), f"decided {event.option!r}", event.feedback)
            case e.ApprovalRecorded():
                yield Turn(seq, event.at, _who(event), f"chose {event.option!r}", "")
            case e.CallRuled():
                yield Turn(seq, event.at, _who(event), f"{_RULED[event.ruling]} {event.call}", _text(read, event.words))
            case _:
                pass


# --- graphs ---


class GraphChange(Struct, frozen=True):
    """A call that writes to a graph. `counts`: what the database says that it changed."""

    seq: int
    at: str
    agent: str
    todo: str
    source: str
    statement: str
    outcome: str
    counts: dict[str, int]
    result: str


GRAPH_TOOL = "change_graph"


def graph_calls(events: Iterable[tuple[int, e.AnyEvent]]) -> list[tuple[int, e.CallEnded]]:
    return [(seq, event) for seq, event in events if isinstance(event, e.CallEnded) and event.tool == GRAPH_TOOL]
