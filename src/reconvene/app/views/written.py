"""What agents wrote: the outputs of the round in front by their first lines, and every attempt that a log tells of.

Pure: a state and a book, or events. Contents are named by digest, and read by whoever shows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app.views.ahead import title_of
from reconvene.app.views.read_model import Written
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.state import RunState
from reconvene.language.emphasis import without_emphasis
from reconvene.language.late_patterns import late

_FEW = 2
_READ = 4000  # characters of an output in which its first lines are looked for
_EMPTY = late(r"\s*(?:#{1,6}\s|[-=*_|:+\s]*$|```|~~~|[\[\]{}(),]*\s*$)")
_LEAD = late(r"\s*(?:>\s*|[-*+•]\s+|\d{1,3}[.)]\s+)*")


def of_the_round(state: RunState, book: Book) -> tuple[Written, ...]:
    """What the agents of the round in front wrote and what was accepted, in the order in which they worked."""
    round_ = state.world.top.round if state.world.cursor else None
    found = list[Written]()
    looks = {name for name, agent in book.workflow.agents.items() if agent.survey}  # records, not words
    for output in (one for one in (round_.outputs if round_ else ()) if one.agent not in looks):
        text = book.text(output.output.digest)
        found.append(Written(output.agent, first_lines(text), len(text), output.step, output.ignored))
    return tuple(found)


def first_lines(text: str, most: int = _FEW) -> tuple[str, ...]:
    """The first lines that say something: no headings, rules, fences or brackets. Of JSON, its first texts."""
    start = text.lstrip()[:_READ]
    lines = [line for line in start.split("\n") if not _EMPTY.match(line)]
    if start[:1] in ("{", "["):
        lines = list(_texts(text)) or lines
    plain = [" ".join(without_emphasis(_LEAD.sub("", line, count=1)).split()) for line in lines[: 2 * most]]
    return tuple(line for line in plain if line)[:most] or tuple(start.split("\n")[:1])


def _texts(text: str) -> Iterator[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _leaves("", value)


def _leaves(name: str, value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)
    elif value not in (None, ""):
        yield f"{name}: {value}" if name else str(value)


# --- every attempt ---


class Attempt(Struct, frozen=True):
    """One attempt of an agent. reply and output are digests, "" where there is none; rules, asked and prompt are as in
    its event."""

    agent: str
    phase: str
    item: str  # its title, "" where the phase goes through no list
    round: int
    serial: int
    step: int
    attempt: int
    verdict: str  # accepted, rejected, failed, cancelled, doubt, late, forced
    at: str
    why: str = ""
    rules: str = ""
    asked: str = ""
    prompt: str = ""
    reply: str = ""
    output: str = ""
    model: str = ""
    seconds: float = 0.0
    tokens: int = 0
    files: tuple[str, ...] = ()
    not_taken: tuple[str, ...] = ()  # files that it wrote and that were not taken, each with the reason
    left_out: tuple[e.LeftOut, ...] = ()  # what did not fit into its prompt
    undone: bool = False  # its round was taken back
    sandbox: str = ""  # what kept it in, "" where no program was started


def attempts(events: Iterable[e.AnyEvent], book: Book) -> tuple[Attempt, ...]:
    """All of them, in the order in which they ended."""
    rounds: dict[int, e.RoundStarted] = {}
    names = ItemNames(book)
    titles: dict[int, str] = {}
    found = list[Attempt]()
    for event in events:
        names.take(event)
        match event:
            case e.RoundStarted():
                rounds[event.serial], titles[event.serial] = event, names.of(event.scope)
            case e.AttemptEnded() | e.LateOutputArchived() | e.OutputForced():
                serial, step, agent = parse_task(event.task)
                if serial in rounds:
                    begun = rounds[serial]
                    own = Attempt(agent, begun.phase, titles[serial], begun.n, serial, step, 0, "", event.at)
                    found.append(_filled(own, event))
            case e.RoundUndone():
                found = [replace(one, undone=True) if one.serial >= event.serial else one for one in found]
            case _:
                pass
    return tuple(found)


def _filled(one: Attempt, event: e.AttemptEnded | e.LateOutputArchived | e.OutputForced) -> Attempt:
    output = event.output.digest if event.output else ""
    if isinstance(event, e.OutputForced):
        return replace(one, verdict="forced", why=f"the output of {event.source}", output=output)
    usage = event.usage
    one = replace(
        one,
        attempt=event.attempt,
        verdict=event.verdict if isinstance(event, e.AttemptEnded) else "late",
        why=event.why,
        output=output,
        model=usage.model,
        seconds=usage.seconds,
        tokens=usage.input_tokens + usage.output_tokens,
    )
    if isinstance(event, e.AttemptEnded):
        files = tuple(file.path for file in event.files)
        sent = replace(one, rules=event.rules, asked=event.asked, prompt=event.prompt, reply=event.reply)
        return replace(sent, files=files, not_taken=event.ignored, left_out=event.left_out, sandbox=event.sandbox)
    return one


class ItemNames:
    """The titles of items, told by the events of a log in order."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._titles: dict[tuple[str, str], str] = {}  # scope of its phase and its key → title
        self._now: dict[str, str] = {}  # scope → key of the item under way

    def take(self, event: e.AnyEvent) -> None:
        match event:
            case e.ItemStarted():
                self._titles[event.scope, event.key] = title_of(self._book.load(event.item), event.key)
                self._now[event.scope] = event.key
            case e.CheckpointOpened():  # the person may have gone back to an item before
                self._now |= {scope: key for scope, key in self._titles if event.scope == f"{scope}[{key}]"}
            case _:
                pass

    def of(self, scope: str) -> str:
        """`New API`, or `New API / first task` for loops within loops; "" where there is no item."""
        around = [self._titles[one] for one in self._titles if scope.startswith(f"{one[0]}[{one[1]}]/")]
        own = self._titles.get((scope, self._now.get(scope, "")), "")
        return " / ".join([*around, *([own] if own else [])])


def item_titles(events: Iterable[e.AnyEvent], book: Book) -> dict[int, str]:
    """By the serial of a round, the item that it is about; rounds without one are left out."""
    names, found = ItemNames(book), dict[int, str]()
    for event in events:
        names.take(event)
        if isinstance(event, e.RoundStarted) and (title := names.of(event.scope)):
            found[event.serial] = title
    return found
