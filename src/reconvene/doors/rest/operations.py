"""What an operation of the API is: its address, what it takes and gives, and who answers it.

One table of these (`routes.py`) makes both the routes and the OpenAPI document: what is documented is what is served.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request

from reconvene.doors.http.callers import Caller
from reconvene.doors.http.refusals import TooLarge, Unreadable, WhichVersion, WrongField, WrongMedia

if TYPE_CHECKING:
    from reconvene.doors.http.service import Service

T = TypeVar("T", bound=Struct)
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

KEYS = "^[!-~]+$"  # what an Idempotency-Key is made of
MOST_BODY = 2 * 1024 * 1024  # bytes of JSON
_DEEPEST = 60  # levels of JSON
_MOST_NAMES = 1_000  # of an object that are counted one by one
_NAMED = re.compile(r"field `(.+)`$")
_TAG = re.compile(r'(?:W/)?"([\x21\x23-\x7e]{1,200})"')


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    """What may stand in an address after the question mark."""


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """What may be sent as JSON."""


class Asked:
    """One request, by somebody who is known."""

    def __init__(self, service: Service, request: Request, operation: Operation) -> None:
        self.service = service
        self.request = request
        self.operation = operation

    @property
    def caller(self) -> Caller:
        found = self.request.scope["caller"]
        assert isinstance(found, Caller)
        return found

    @property
    def run(self) -> str:
        return self.path("run")

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def query(self, kind: type[T]) -> T:
        given = dict(self.request.query_params)
        found = _converted(lambda: msgspec.convert(given, kind, strict=False))
        for name, value in given.items():
            if getattr(found, name, value) is None:  # who wants nothing leaves it out; "null" is only a word
                raise WrongField(name, f"{value!r} is none of the values of {name}.")
        return found

    async def body(self, kind: type[T]) -> T:
        media = self.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":
            raise WrongMedia("Send JSON.", hint="Content-Type: application/json")
        data = await self.bytes(MOST_BODY)
        if _depth(data) > _DEEPEST:
            raise Unreadable(f"The JSON is more than {_DEEPEST} levels deep.")
        found = _converted(lambda: msgspec.json.decode(data, type=kind))
        json.loads(data, object_pairs_hook=_once_each)
        return found

    async def bytes(self, most: int) -> bytes:
        """The body, as far as it is not too large."""
        parts: list[bytes] = []
        size = 0
        async for part in self.request.stream():
            size += len(part)
            if size > most:
                raise TooLarge(f"That is more than {most:,} bytes.")
            parts.append(part)
        return b"".join(parts)

    @property
    def version(self) -> str:
        """Of the checkpoint that was shown, as If-Match names it."""
        given = self.request.headers.getlist("if-match")
        if not given:
            raise WhichVersion(
                "Say which version of the checkpoint was shown.",
                hint="If-Match: the ETag of GET /api/v1/runs/RUN/checkpoint, which is its digest in quotes.",
            )
        found = _TAG.fullmatch(given[0].strip())
        if len(given) > 1 or found is None:
            raise WrongField("If-Match", 'If-Match names one version in quotes, as in "4f1c…".')
        return found[1]


class Done(NamedTuple):
    """What carried a request out that was sent before: events of a run, up to `seq`."""

    run: str
    seq: int


class Operation(NamedTuple):
    """`gives`: the type of what is answered, None = nothing, or something that is no JSON (`media`)."""

    method: Method
    path: str
    name: str
    tag: str
    summary: str
    answer: Callable[[Asked], Awaitable[object]]
    gives: Any = None
    query: type[Query] | None = None
    body: type[Body] | None = None
    status: int = 200
    media: str = "application/json"
    bound: bool = False  # needs If-Match
    tagged: bool = False  # answers with an ETag that If-Match takes
    once: Callable[[Asked, Done], Awaitable[object]] | None = None  # takes an Idempotency-Key: what is answered later
    refuses: tuple[int, ...] = ()  # beside those that any operation answers with
    upload: bool = False  # takes multipart/form-data


def _converted(make: Callable[[], T]) -> T:
    try:
        return make()
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `")
        where = place.removesuffix("`").removeprefix("$").removeprefix(".")
        named = _NAMED.search(said)  # a name that is missing, or that nobody knows
        field = f"{where}.{named[1]}".removeprefix(".") if named else where
        raise WrongField(field or "body", f"{said}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"The body is no JSON that can be read: {error}.") from None


def _once_each(pairs: list[tuple[str, object]]) -> None:
    """A key that stands there twice: one of its values would be lost."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1 and len(names) < _MOST_NAMES:
            raise WrongField(name, f"{name!r} stands there twice.", hint="say it once")
    if len(set(names)) < len(names):
        raise WrongField("body", "A name stands there twice.")


def _depth(data: bytes) -> int:
    """How deep brackets are nested, whatever else is wrong with them."""
    deepest = depth = 0
    quoted = escaped = False
    if data.count(b"[") + data.count(b"{") <= _DEEPEST:
        return 0
    for sign in data:
        if quoted:
            quoted = escaped or sign != 0x22
            escaped = not escaped and sign == 0x5C
        elif sign == 0x22:
            quoted = True
        elif sign in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in b"]}":
            depth -= 1
    return deepest
