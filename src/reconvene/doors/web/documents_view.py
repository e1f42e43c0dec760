"""The files of a checkpoint: what it shows, what is new or another since the person last looked, was beside is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.app import record
from reconvene.app.session import state_after
from reconvene.core.facts.state import EMPTY
from reconvene.doors.web.rendered import LONGEST, Document, Row, by_lines, code, document, lines
from reconvene.errors import StoreError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.record import Standing
    from reconvene.app.views.news import Since
    from reconvene.app.views.read_model import Checkpoint
    from reconvene.core.facts.state import RunState

_MOST = 12  # chips
_AT_ONCE = 3  # files of those that the checkpoint shows
_ROWS = 160  # of a table of was and is
_MOST_ENTRIES = 200
_LONGEST_LIST = 200_000  # characters that are read as a list
_LISTS = (".yaml", ".yml")


class Chip(Struct, frozen=True):
    path: str
    digest: str
    how: str  # new, changed, gone; "" = as it was
    viewed: bool


class Table(Struct, frozen=True):
    """A list of things that all have the same names, such as to-dos."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Opened(Struct, frozen=True):
    """The file that is shown. Exactly one of `rows`, `lines`, `document`, `table`, `raw` says what is in it."""

    path: str
    digest: str
    how: str
    viewed: bool
    by: str
    size: int
    rows: list[Row] | None = None
    more: int = 0
    lines: list[str] | None = None  # as written: each has a number, by which it can be remarked on
    document: Document | None = None
    table: Table | None = None
    raw: object = None
    cut: int = 0  # characters that are not shown


class Documents(Struct, frozen=True):
    chips: list[Chip]
    more: int
    viewed: int
    opened: list[Opened]


def documents(
    engine: Engine, run: str, point: Checkpoint, news: Since, ticks: dict[str, str], chosen: str, how: str
) -> Callable[[], Documents]:
    """What draws them, for which no engine is needed: that may take a while. `how`: "is", as it is now, where it
    would be was beside is; "written", line by line."""
    state = engine.load(run)
    files = state.world.files
    changed = {one.id: one.how or "changed" for one in news.news if one.kind in ("file", "edited")}
    shown = [path.removeprefix(f"{state.workspace}/") for path in point.show_files]
    own = [path for path in changed if path not in shown and not _is_rendered(state, path)]
    engines = [path for path in changed if path not in shown and _is_rendered(state, path)]
    paths = list(dict.fromkeys([*shown, *own, *engines]))
    paths = paths or sorted(files)[:_MOST]
    chips = [_chip(state, path, changed.get(path, ""), ticks) for path in paths]
    named = [chosen] if chosen in files or chosen in changed else [path for path in shown if path in files][:_AT_ONCE]
    named = named or [one.path for one in chips if one.digest][:1]
    each = [_chip(state, path, changed.get(path, ""), ticks) for path in named]
    todos = _todos(engine, run, named)
    opened = [_opened(engine, run, news, one, how, f"doc{at}-", todos) for at, one in enumerate(each, 1)]
    more, viewed = max(len(chips) - _MOST, 0), sum(one.viewed for one in chips)
    return lambda: Documents(chips[:_MOST], more, viewed, [draw() for draw in opened])


def _is_rendered(state: RunState, path: str) -> bool:
    found = state.world.files.get(path)
    return found is not None and found.rendered


def _chip(state: RunState, path: str, how: str, ticks: dict[str, str]) -> Chip:
    found = state.world.files.get(path)
    digest = found.digest if found else ""
    return Chip(path, digest, how, bool(digest) and ticks.get(path) == digest)


def _todos(engine: Engine, run: str, paths: Sequence[str]) -> dict[str, Standing]:
    """How far each to-do is; nothing where no list is shown."""
    lists = [path for path in paths if path.endswith(_LISTS)]
    return record.standings(engine, run) if lists else {}


def _opened(
    engine: Engine, run: str, news: Since, chip: Chip, how: str, prefix: str, todos: Mapping[str, Standing]
) -> Callable[[], Opened]:
    found = engine.load(run).world.files.get(chip.path)
    now = _text(engine, chip.digest)
    base = Opened(chip.path, chip.digest, chip.how, chip.viewed, found.by if found else "", found.size if found else 0)
    if now is None:
        return lambda: _with(base, raw="not text, or no longer there")
    if how == "written":
        return lambda: _with(base, lines=lines(now), cut=max(len(now) - LONGEST, 0))
    compared = chip.how in ("changed", "gone") and how != "is"
    before = (_before(engine, run, chip.path, news.after) or "") if compared else None
    return lambda: _drawn(_with(base, cut=max(len(now) - LONGEST, 0)), before, now, prefix, todos)


def _drawn(base: Opened, before: str | None, now: str, prefix: str, todos: Mapping[str, Standing]) -> Opened:
    if before is not None:
        rows, more = by_lines(before, now, _ROWS)
        return _with(base, rows=rows, more=more)
    if (table := _table(base.path, now, todos)) is not None:
        return _with(base, table=table, cut=0)
    if base.path.endswith((".md", ".markdown")):
        return _with(base, document=document(now, prefix))
    return _with(base, raw=code(now, name=base.path))


def _with(base: Opened, **parts: object) -> Opened:
    from msgspec.structs import replace

    return replace(base, **parts)


def _text(engine: Engine, digest: str) -> str | None:
    try:
        return engine.log.artefact(digest).decode() if digest else None
    except (StoreError, UnicodeDecodeError):
        return None


def _before(engine: Engine, run: str, path: str, after: int) -> str | None:
    state = EMPTY
    for seq, event in engine.log.read(run):
        if seq > after:
            break
        state = state_after(run, state, seq, event)
    found = state.world.files.get(path)
    return _text(engine, found.digest) if found else None


def _table(path: str, text: str, todos: Mapping[str, Standing]) -> Table | None:
    """A list in YAML of things with names: rows are read faster than lines."""
    if not path.endswith(_LISTS) or len(text) > _LONGEST_LIST:
        return None
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return None
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list)]
        found = lists[0] if len(lists) == 1 else None
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        return None
    if todos and all(str(one.get("id")) in todos for one in found):
        found = [_as_todo(one, todos[str(one.get("id"))]) for one in found]
    head = tuple(dict.fromkeys(str(name) for one in found[:_MOST_ENTRIES] for name in one))[:8]
    rows = tuple(tuple(_cell(one.get(name)) for name in head) for one in found[:_MOST_ENTRIES])
    return Table(head, rows)


def _as_todo(one: dict[object, object], stands: Standing) -> dict[object, object]:
    """What is to be done, how far it is, what must be done before it, and the commit that holds the work."""
    first: dict[object, object] = {"id": one.get("id"), "text": one.get("text"), "status": stands.status}
    rest = {name: value for name, value in one.items() if name not in ("id", "text", "after", "done", "status")}
    return {**first, "depends on": one.get("after"), "commit": stands.commit[:8], **rest}


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else "yes" if value is True else "no" if value is False else str(value)
