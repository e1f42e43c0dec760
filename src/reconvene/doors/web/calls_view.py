"""Calls of tools that wait for a person: a row each, its arguments as a form, what it would change in a file as was
and is. Approving all of them at once is not offered while one of several writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from reconvene.core.person import rulings
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.shared.harmless import clean, one_line
from reconvene.doors.web.rendered import Row, by_lines, code
from reconvene.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.datastructures import FormData

    from reconvene.app.engine import Engine
    from reconvene.doors.web.drafted_decisions import Field

ANSWERS = (
    ("approve", "Make it"),
    ("change", "Make it as changed above"),
    ("refuse", "Refuse, and say why"),
    ("answer", "Answer in its place"),
    ("always", "Make it, and never ask again about this very call"),
    ("later", "Leave it waiting"),
)
_SQL = ("sql", "query", "statement")
_ROWS = 60


class Argument(Struct, frozen=True):
    name: str
    value: str  # as it is typed in a form
    shown: Markup | None = None  # coloured, where that helps
    is_text: bool = True
    escaped: str = ""  # where a form cannot show every character of it: as it is, with those written out


class CallView(Struct, frozen=True):
    field: str
    agent: str
    tool: str
    why: str
    says: str
    writes: bool
    doubt: bool
    arguments: list[Argument]
    path: str = ""
    rows: list[Row] | None = None
    more: int = 0


def calls(engine: Engine, run: str) -> list[CallView]:
    session = engine.session(run)
    point = session.state.world.open
    if point is None or not point.attention:
        return []
    found = list[CallView]()
    for one in rulings.waiting(session.state):
        given = _arguments(session.book.text(one.call.arguments))
        path, rows, more = _difference(engine, run, one.call.tool, given)
        says = one_line(session.book.text(one.said), 300) if one.said else ""
        writes = one.call.effects or rows is not None
        found.append(
            CallView(
                one.field, one.agent, one.call.tool, one.call.why, says, writes, one.call.doubt,
                list(_shown(given)), path, rows, more,
            )
        )  # fmt: skip
    return found


def _arguments(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {"arguments": text}
    return found if isinstance(found, dict) else {"arguments": found}


def _shown(given: Mapping[str, object]) -> Iterator[Argument]:
    for name, value in given.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        coloured = code(text, "sql") if name.casefold() in _SQL else None
        yield Argument(name, text, coloured, isinstance(value, str), _escaped(text) if not _can_be_typed(text) else "")


def _can_be_typed(text: str) -> bool:
    """Whether a form would give back what it was given: browsers end lines in one way, and pages hide nothing."""
    return clean(text) == text and "\r" not in text


def _escaped(text: str) -> str:
    kept = (one if one == "\n" or (one != "\\" and _can_be_typed(one)) else _written_out(one) for one in text)
    return "".join(kept)


def _written_out(one: str) -> str:
    return one.encode("unicode_escape", "surrogatepass").decode("ascii")


def _difference(engine: Engine, run: str, tool: str, given: Mapping[str, object]) -> tuple[str, list[Row] | None, int]:
    """What a tool that writes files would change."""
    path = given.get("path")
    version = engine.load(run).world.files.get(path) if isinstance(path, str) else None
    try:
        before = engine.log.artefact(version.digest).decode() if version else ""
    except (StoreError, UnicodeDecodeError):
        return "", None, 0
    old, new, whole = given.get("old"), given.get("new"), given.get("content", given.get("text"))
    if tool == "write_file" and isinstance(whole, str):
        after = whole
    elif tool == "edit_file" and isinstance(old, str) and isinstance(new, str):
        after = before.replace(old, new, 1) if old in before else before
    else:
        return "", None, 0
    rows, more = by_lines(before, after, _ROWS)
    return str(path), rows, more


def writes_among_several(waiting: list[CallView]) -> bool:
    return len(waiting) > 1 and any(one.writes for one in waiting)


def answered(waiting: list[CallView], form: FormData) -> dict[str, tuple[str, str]]:
    """By call: what is decided of it, and the words that go with it. What has no answer keeps waiting."""
    found: dict[str, tuple[str, str]] = {}
    for one in waiting:
        answer, words = str(form.get(f"call:{one.field}", "later")), str(form.get(f"words:{one.field}", ""))
        if answer in ("refuse", "answer") and not words.strip():
            needs = "say why it is refused" if answer == "refuse" else "write the answer in its place"
            raise WrongField(one.field, f"{one.agent} wants {one.tool}: {needs}, below the call.")
        if form.get(f"call:{one.field}") == "later" and (words.strip() or _is_changed(one, form)):
            why = "you wrote something for a call that you leave waiting. Decide on it, or take that back"
            raise WrongField(one.field, f"{one.agent} wants {one.tool}: {why}.")
        if answer in ("approve", "always") and _is_changed(one, form):
            if answer == "always":
                why = f"{one.tool} was changed, and only a call as it is can be made for ever"
                raise WrongField(one.field, why)
            answer = "change"  # what stands on the page is what is made
        if answer == "change":
            words = json.dumps({each.name: _typed(each, form, one.field) for each in one.arguments}, ensure_ascii=False)
        found[one.field] = (answer, words)
    return found


def require_nothing_said_of_each(waiting: list[CallView], form: FormData, option: str) -> None:
    """An option for all calls would pass over what stands in the row of one."""
    for one in waiting if option in rulings.LABELS and option != rulings.EACH else ():
        ruled = str(form.get(f"call:{one.field}", "later")) != "later"
        if ruled or str(form.get(f"words:{one.field}", "")).strip() or _is_changed(one, form):
            why = f"“{option}” is for all calls as they are, and the row of this one says something else"
            raise WrongField(one.field, f"{one.agent} wants {one.tool}: {why}.", hint="decide each, or take it back")


def only_changed(waiting: list[CallView], given: Mapping[str, Field]) -> dict[str, Field]:
    """Of what was typed, without arguments that are as the agent gave them and calls that are left waiting."""
    same: dict[str, Field] = {f"call:{one.field}": "later" for one in waiting}
    same |= {f"arg:{one.field}:{each.name}": _lines(each.value) for one in waiting for each in one.arguments}
    return {name: value for name, value in given.items() if same.get(name) != value}


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _is_changed(one: CallView, form: FormData) -> bool:
    given = ((form.get(f"arg:{one.field}:{each.name}"), each.value) for each in one.arguments)
    return any(_lines(str(text)) != _lines(was) for text, was in given if text is not None)


def _typed(each: Argument, form: FormData, call: str) -> object:
    text = str(form.get(f"arg:{call}:{each.name}", each.value))
    text = each.value if _lines(text) == _lines(each.value) else _lines(text)
    if each.is_text:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
