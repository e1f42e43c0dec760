"""What is on record of a run, for whoever looks into it: its trail, its turns, requests to models, to-dos, changes of
graphs, and its history. Never writes."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

from reconvene.app import as_sent, given_material, kit_views, queries
from reconvene.app.engine import Engine
from reconvene.app.session import state_after
from reconvene.app.views import ahead, audit
from reconvene.app.views.audit import Entry, GraphChange, Turn
from reconvene.app.views.written import item_titles
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.state import EMPTY
from reconvene.errors import UserError
from reconvene.ports import Commit
from reconvene.wire.model_words import said

_FEWEST = 7  # characters of a commit's id
_READ = 200_000  # bytes of a content that are searched


def trail(engine: Engine, run: str, after: int = 0) -> list[Entry]:
    return list(audit.entries(engine.log.read(run, after), engine.log.artefact))


def turns(engine: Engine, run: str) -> list[Turn]:
    """From the first event on: which attempts have turns of their own is only known so."""
    return list(audit.turns(engine.log.read(run), engine.log.artefact, said))


def sent(engine: Engine, run: str, seq: int, part: str) -> str:
    """The request or the reply of the model call that this event records."""
    event = next((event for number, event in engine.log.read(run, seq - 1, 1) if number == seq), None)
    read = engine.log.artefact
    match event:
        case e.ModelTurned():
            digest = event.request if part == "request" else event.reply
            return read(digest).decode("utf-8", "replace") if digest else ""
        case e.AttemptEnded():
            data = as_sent.whole(event, read) if part == "request" else read(event.reply) if event.reply else b""
            return data.decode("utf-8", "replace")
    raise UserError(f"Event {seq} is no call of a model.", hint="get_audit_trail with kind=model lists them.")


def searched(engine: Engine, run: str, after: int = 0) -> Iterator[tuple[int, str]]:
    """All words of each event: its line in the trail, and what it names by digest."""
    read = engine.log.artefact
    for seq, event in engine.log.read(run, after):
        (entry,) = audit.entries([(seq, event)], read)
        texts = [read(digest)[:_READ].decode("utf-8", "replace") for digest in audit.texts_of(event) if digest]
        yield seq, "\n".join([entry.text, *texts])


# --- to-dos ---


class Listed(Struct, frozen=True):
    """A to-do. `begun` and `done`: the events that say so; 0 = it is not."""

    phase: str
    key: str
    title: str
    begun: int
    done: int = 0


def todos_now(engine: Engine, run: str) -> list[object] | None:
    """The list as it is now; None where the workflow has none."""
    found = [one for one in kit_views.views(engine, run).offered if one.name == "todos"]
    return kit_views.rows(engine, run, found[0]) if found else None


def todos_worked_at(engine: Engine, run: str) -> list[Listed]:
    """Every item of every list that phases went through, in the order in which they were begun."""
    book, found = engine.session(run).book, list[Listed]()
    for seq, event in engine.log.read(run):
        if isinstance(event, e.ItemStarted):
            item = book.load(event.item)
            found.append(Listed(event.scope, event.key, _title(item, event.key), seq))
        elif isinstance(event, e.ItemDone):
            last = next((n for n in reversed(range(len(found))) if _is_it(found[n], event)), None)
            if last is not None:
                one = found[last]
                found[last] = Listed(one.phase, one.key, one.title, one.begun, seq)
    return found


def todo_list(engine: Engine, run: str) -> list[Listed]:
    """Every to-do of the list that is worked off, also those that are not begun. Between lists: of the one that was
    worked off last, or of the next one where that is written."""
    state, book = engine.session(run).state, engine.session(run).book
    worked = todos_worked_at(engine, run)
    frame = next((one for one in reversed(state.world.cursor) if one.phase and book.phase(one.phase).each), None)
    if frame is not None:
        scope, rows = frame.scope, ahead.listed(state, book, frame)
    else:
        now = [one for one in todos_now(engine, run) or () if isinstance(one, dict) and not one.get("done")]
        scope, rows = worked[-1].phase if worked else "", [(str(one.get("id")), one) for one in now]
        known = {(one.key, one.title) for one in worked if one.phase == scope}
        listed = {(key, _title(item, key)) for key, item in rows}
        if listed <= known:
            rows = []
        elif not listed & known:
            worked = []
    own = {one.key: one for one in worked if one.phase == scope}
    every = {key: Listed(scope, key, _title(item, key), 0) for key, item in rows}
    return [*(one for key, one in own.items() if key not in every), *(own.get(key, every[key]) for key in every)]


class Standing(Struct, frozen=True):
    """How far a to-do is: done, at work, to do, waits for others. `commit`: holds its work, "" = there is none."""

    status: str
    commit: str = ""


def standings(engine: Engine, run: str) -> dict[str, Standing]:
    """Of the to-dos in the list as it is now, by their ids."""
    rows = [one for one in todos_now(engine, run) or () if isinstance(one, dict)]
    worked = {one.key: one for one in todo_list(engine, run)}
    done = {str(one["id"]) for one in rows if one.get("done")} | {key for key, one in worked.items() if one.done}
    recorded = _item_commits(engine, run) if done else {}
    found = dict[str, Standing]()
    for one in rows:
        key, begun = str(one.get("id")), worked.get(str(one.get("id")))
        left = [str(name) for name in one.get("after") or () if str(name) not in done]
        status = "at work" if begun is not None and begun.begun else f"waits for {', '.join(left)}" if left else "to do"
        commit = recorded.get((begun.phase, key), "") if begun is not None else ""
        found[key] = Standing("done" if key in done else status, commit)
    return found


def _item_commits(engine: Engine, run: str) -> dict[tuple[str, str], str]:
    """The last commit of each item, by phase and key."""
    found = dict[tuple[str, str], str]()
    for id, commit in engine.history().commits(run):
        said = dict(commit.trailers)
        if "Item" in said:
            found[said.get("Phase", ""), said["Item"]] = id
    return found


def _title(item: object, key: str) -> str:
    text = item.get("text") if isinstance(item, dict) else None
    return str(text or ahead.title_of(item, key))


def _is_it(one: Listed, event: e.ItemDone) -> bool:
    return (one.phase, one.key) == (event.scope, event.key)


# --- graphs ---


def graph_sources(engine: Engine, run: str) -> list[str]:
    session = engine.session(run)
    return [one.name for one in given_material.sources(session.state, session.book) if one.kind == "graph"]


def graph_changes(engine: Engine, run: str) -> list[GraphChange]:
    """The recorded calls that write to graphs, those that failed or were refused included."""
    events = engine.log.read(run)
    calls = audit.graph_calls(events)
    if not calls:
        return []
    titles = item_titles((event for _, event in events), engine.session(run).book)
    return [_graph_change(engine, seq, call, titles) for seq, call in calls]


def _graph_change(engine: Engine, seq: int, call: e.CallEnded, titles: dict[int, str]) -> GraphChange:
    try:
        given = json.loads(engine.log.artefact(call.arguments))
    except ValueError:
        given = {}
    serial, _, agent = parse_task(call.task)
    source, statement = (str(given.get(key, "")) if isinstance(given, dict) else "" for key in ("source", "change"))
    result = engine.log.artefact(call.result.digest).decode("utf-8", "replace")
    todo = titles.get(serial, "")
    return GraphChange(seq, call.at, agent, todo, source, statement, call.outcome, call.counts, result)


# --- the history of the workspace ---


def commits(engine: Engine, run: str) -> list[tuple[str, Commit]]:
    """Newest first."""
    return engine.history().commits(run)[::-1]


def commit_named(engine: Engine, run: str, name: str) -> tuple[str, Commit, str]:
    """The commit of this run that begins so, and the id of the one before it, "" where it is the first."""
    every = commits(engine, run)
    found = [at for at, (one, _) in enumerate(every) if len(name) >= _FEWEST and one.startswith(name.lower())]
    if len(found) != 1:
        which = "more than one commit begins" if found else "no commit of this run begins"
        raise UserError(f"{which} with {name!r}.", hint=f"git_log lists them; give at least {_FEWEST} characters.")
    before = every[found[0] + 1][0] if found[0] + 1 < len(every) else ""
    return *every[found[0]], before


def diff(engine: Engine, run: str, old: str, new: str, path: str = "") -> str:
    """ "" as old: from nothing."""
    return engine.history().diff(run, old, new, path)


def file_at(engine: Engine, run: str, seq: int, path: str) -> bytes:
    """A file as it was after this event."""
    state = EMPTY
    for number, event in engine.log.read(run):
        if number > seq:
            break
        state = state_after(run, state, number, event)
    version = state.files.get(path)
    if version is None:
        raise UserError(f"There was no file {path!r} then.", hint="git_show without a path names the files it changed.")
    return engine.log.artefact(version.digest)


def has_errors(engine: Engine, run: str) -> bool:
    """Whether anything went wrong that somebody might look into."""
    shown = queries.show(engine, run)
    return bool(shown.errors or shown.failures) or shown.status == "failed"
