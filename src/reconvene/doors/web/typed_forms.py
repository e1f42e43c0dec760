"""What the forms of a decision send: words, answers, notes, limits. Read, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from starlette.requests import Request

from reconvene.doors.http.refusals import TooLarge, WrongField
from reconvene.doors.shared.options import match_option, on_offer
from reconvene.doors.web.answered_fields import answer_to
from reconvene.doors.web.drafted_decisions import Field, Note, Typed

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.types import Message

    from reconvene.app.views.read_model import Checkpoint

MOST_FORM = 4 * 1024 * 1024  # bytes
_FIELD = "field:"  # begins the name of what fills in a field
COST_LIMIT, ASK_FIRST = "limits|cost", "limits|ask"  # as fields of a draft; no field of a workflow has such a name
_CALLS = ("call:", "words:", "arg:")  # begin the names of what is said of a call of a tool


async def form_of(asks: Request, most: int = MOST_FORM) -> FormData:
    """All of it, if it is not too large."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await asks.receive()
        size += len(message.get("body", b""))
        if size > most:
            raise TooLarge(f"A form may have {most:,} bytes.", hint="Put long texts into a file.")
        return message

    form = await Request(asks.scope, counted).form(max_files=0, max_fields=5_000, max_part_size=most)
    asks.scope["typed"] = list(_own_words(form))  # a page that says why nothing was done gives it back
    return form


def _own_words(form: FormData) -> Iterator[str]:
    for name, value in form.multi_items():
        if isinstance(value, str) and value.strip() and name.startswith(("words", "question", "text ", _FIELD)):
            yield value


def word(form: FormData, name: str) -> str:
    found = form.get(name, "")
    return found.replace("\r\n", "\n") if isinstance(found, str) else ""


def number(form: FormData, name: str) -> int:
    found = word(form, name)
    return int(found) if found.isdecimal() and len(found) < 10 else 0


def typed(form: FormData) -> Typed:
    """As it stands on the page."""
    page = "".join(one for one in word(form, "page")[:16] if one.isalnum())
    words = word(form, "words") if "words" in form else None
    return Typed(page, number(form, "draft"), word(form, "option"), words, _fields(form) or None, number(form, "noted"))


def _fields(form: FormData) -> dict[str, Field]:
    found: dict[str, Field] = {}
    for name in form:
        if name.startswith((_FIELD, *_CALLS)):
            values = [value.replace("\r\n", "\n") for value in form.getlist(name) if isinstance(value, str)]
            found[name.removeprefix(_FIELD)] = values if len(values) > 1 else values[0]
    return found | _limit_fields(form)


def _limit_fields(form: FormData) -> dict[str, Field]:
    """Limits that are not as they were shown, as they were typed."""
    cost, ask = word(form, "cost_limit").strip(), _asked_first(form)
    try:
        same = "limits" not in form or word(form, "limits") == limits_shown(dollars(cost), ask)
    except WrongField:
        same = False
    return {} if same else {COST_LIMIT: cost, ASK_FIRST: ask}


def _asked_first(form: FormData) -> list[str]:
    return [value for value in form.getlist("ask_first") if isinstance(value, str)]


def answers(point: Checkpoint, option: str, form: FormData) -> dict[str, object]:
    """In the types of the fields; what was left empty is no answer. Two options may ask for fields of one name, so
    those of an option are sent with its number."""
    chosen = match_option(point, option)
    at = next((at for at, one in enumerate(on_offer(point.options), 1) if one.label == chosen.label), 0)
    names = {one.id: one for one in point.fields} | {f"{at}|{one.id}": one for one in chosen.fields}
    found: dict[str, object] = {}
    for name, given in _fields(form).items():
        field = names.get(name)
        values = [one for one in ([given] if isinstance(given, str) else given) if one.strip()]
        if field is not None and values:
            found[field.id] = values if field.type == "agents" else answer_to(name, field, values[-1])
    return found


def note(form: FormData) -> Note:
    """What stands in the box, with the lines that it is about."""
    first, last = number(form, "first"), number(form, "last")
    path, version = word(form, "path"), word(form, "path_version")
    return Note("", word(form, "words").strip(), "", "", path, version, first, max(first, last))


def dollars(text: str) -> float:
    plain = text.strip().removeprefix("$").strip()
    try:
        amount = float(plain) if plain else 0.0
    except ValueError:
        raise WrongField("cost_limit", f"{text!r} is no amount in USD", hint="write 2.50, or nothing") from None
    if plain and amount == 0:
        raise WrongField("cost_limit", "with 0 nothing could run", hint="write an amount, or nothing for no limit")
    return amount


def limits_typed(form: FormData) -> tuple[float, list[str]] | None:
    """None where they stand as they were shown: then they are as they are by now, whoever set them."""
    if "limits" not in form:
        return None
    ask, cost = _asked_first(form), dollars(word(form, "cost_limit"))
    return None if word(form, "limits") == limits_shown(cost, ask) else (cost, ask)


def limits_shown(cost: float, ask: Sequence[str]) -> str:
    """Limits in a word that a form can carry."""
    return f"{cost:g} {' '.join(sorted(ask))}".strip()
