"""Secrets of the environment, and how they are kept out of what is stored and shown.

A value counts where its variable's name looks secret, where a URL holds a password, and where an agent's `env` names
the variable, unless such a value is plainly none: a word, a number, a path that exists. A value is found as it is, and
as JSON or a URL would spell it; other encodings are not. Short values are not looked for: see `too_short`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast

import msgspec

from reconvene.errors import AgentError
from reconvene.language.late_patterns import late
from reconvene.ports import Answer, Listener, Progress

REDACTED = "[redacted]"
_SECRET = (
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "_PASS",
    "_PWD",
)  # at the end
_IN_A_URL = late(r"^[a-z][a-z0-9+.-]*://[^/@\s:]*:([^/@\s]+)@", re.IGNORECASE)
_PLAIN = late(r"[^\W\d_]*|[\d.,:_-]*")  # a word, or a number
_WORD = late(r"[^\W\d_]+([-_. ][^\W\d_]+)*")
_ORDINARY = frozenset({"PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "PWD", "LOGNAME"})
_IN_URLS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"  # as they are
_SHORTEST = 8  # shorter values would blank ordinary words
_SHORTEST_SAID = 6  # where the name says that it is a secret, and the value is neither a word nor a number
_SHOWN = 200  # characters of a line to look at
_LINE = 16  # a line of a longer value (a key in PEM form) counts from this length on

_Any = TypeVar("_Any")


class _Secret(msgspec.Struct, frozen=True):
    name: str
    forms: tuple[bytes, ...]
    plain: bool  # a word or short, which may well stand somewhere by chance


class Secrets:
    """Those of one environment, and of the variables that are `named` beside."""

    def __init__(self, environ: Mapping[str, str], named: Iterable[str] = (), also: Iterable[str] = ()) -> None:
        found = {value: "" for value in also if len(value) >= _SHORTEST}
        wanted = frozenset(named) - _ORDINARY
        for name, value in environ.items():
            if len(value) >= _SHORTEST_SAID:
                found |= dict.fromkeys(_values(name, value, name in wanted), name)
        longest_first = sorted(found, key=len, reverse=True)
        self._secrets = [_Secret(found[value], _forms(value), _is_plain(value)) for value in longest_first]

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def names_in(self, data: bytes, *, plain: bool = True) -> tuple[str, ...]:
        """The variables whose values stand in it. plain False: but for values that are words."""
        found = [one for one in self._secrets if any(form in data for form in one.forms)]
        return tuple(dict.fromkeys(one.name for one in found if plain or not one.plain))

    def blank(self, data: bytes) -> bytes:
        for secret in self._secrets:
            for form in secret.forms:
                if form in data:
                    data = data.replace(form, REDACTED.encode())
        return data

    def blank_text(self, text: str) -> str:
        data = text.encode("utf-8", "surrogateescape")
        return self.blank(data).decode("utf-8", "surrogateescape") if self.names_in(data) else text

    def blank_in(self, value: _Any) -> _Any:
        """The same value with every text in it blanked, in structs, tuples, lists and dicts too."""
        if not self._secrets or (isinstance(value, msgspec.Struct) and not self.names_in(msgspec.json.encode(value))):
            return value
        return cast(_Any, _blanked(value, self.blank_text))

    # --- what comes from an agent ---

    def of_answer(self, answer: Answer) -> Answer:
        """Without the files: those are taken whole or not at all."""
        return answer._replace(
            text=self.blank_text(answer.text),
            value=self.blank_in(answer.value),
            ignored=self.blank_in(answer.ignored),
            request=self.blank(answer.request),
            reply=self.blank(answer.reply),
            project=self.blank_in(answer.project),
        )

    def of_error(self, error: AgentError) -> AgentError:
        """The same error: an adapter may have given it more fields than the port knows."""
        for name in ("message", "hint", "said", "for_agents"):
            setattr(error, name, self.blank_text(getattr(error, name)))
        error.args = (error.message,)
        for name in ("request", "reply"):
            if data := getattr(error, name, b""):
                setattr(error, name, self.blank(data))
        return error

    def of_listener(self, listener: Listener) -> Blanking:
        """For one attempt."""
        return Blanking(self, listener)

    def begun(self, text: str) -> int:
        """How many characters at its end may be the beginning of a secret, which goes on in what comes next."""
        data, forms = text.encode("utf-8", "surrogateescape"), [form for one in self._secrets for form in one.forms]
        at = len(data) - max((_overlap(data, form) for form in forms), default=0)
        while True:  # nor may another secret be cut in two
            starts = [data.find(form, max(0, at - len(form) + 1), at + len(form) - 1) for form in forms]
            earlier = min((start for start in starts if 0 <= start < at), default=at)
            if earlier == at:
                return len(data[at:].decode("utf-8", "surrogateescape"))
            at = earlier


class Blanking:
    """Tells a listener what an agent writes, as it comes, without secrets: also those that come in pieces. The end of a
    piece is kept back as long as it may be the beginning of one."""

    def __init__(self, secrets: Secrets, listener: Listener) -> None:
        self._secrets = secrets
        self._listener = listener
        self._last: Progress | None = None
        self._line: Progress | None = None
        self._kept = ""

    def __call__(self, progress: Progress) -> None:
        if not self._secrets:
            self._listener(progress)
            return
        match progress.what:
            case "output":
                self._line = progress  # of the text that is told next, as a rule: then it is told with that
            case "text":
                self._line = None
                text = self._kept + progress.detail
                at = len(text) - self._secrets.begun(text)
                self._last, self._kept = progress, text[at:]
                self._tell(text[:at])
            case _:
                self.end()
                self._listener(progress._replace(detail=self._secrets.blank_text(progress.detail)))

    def end(self) -> None:
        """Nothing more comes: what was kept back is no secret."""
        if self._line is not None:
            line, self._line = self._line, None
            self._listener(line._replace(detail=self._secrets.blank_text(line.detail)))
        text, self._kept = self._kept, ""
        self._tell(text)

    def _tell(self, text: str) -> None:
        if not text or self._last is None:
            return
        text = self._secrets.blank_text(text)
        if lines := [line.strip() for line in text.splitlines() if line.strip()]:
            self._listener(self._last._replace(what="output", detail=lines[-1][:_SHOWN]))
        self._listener(self._last._replace(detail=text))


def redact(data: bytes, environ: Mapping[str, str], also: Iterable[str] = ()) -> bytes:
    return Secrets(environ, also=also).blank(data)


def redact_text(text: str, environ: Mapping[str, str], also: Iterable[str] = ()) -> str:
    return Secrets(environ, also=also).blank_text(text)


def _values(name: str, value: str, named: bool) -> list[str]:
    secret = _says_so(name)
    url = _IN_A_URL.match(value) if "://" in value and "@" in value else None
    inside = [url[1]] if url and _is_long_enough(url[1], said=True) else []
    if not (named or secret) or _is_a_path(value) or not _is_long_enough(value.strip(), said=secret):
        return inside
    if named and not secret and _PLAIN.fullmatch(value):
        return inside
    lines = [line.strip() for line in value.splitlines()] if "\n" in value.strip() else []
    return [value.strip(), *(line for line in lines if len(line) >= _LINE and not line.startswith("-----")), *inside]


def too_short(environ: Mapping[str, str], named: Iterable[str]) -> list[str]:
    """Of these variables, those that are secrets by their names and whose values are not looked for."""
    wanted = frozenset(named)
    given = [(name, value.strip()) for name, value in environ.items() if name in wanted and _says_so(name)]
    return [name for name, value in given if value and not _is_a_path(value) and not _values(name, value, named=True)]


def _says_so(name: str) -> bool:
    return name.upper().endswith(_SECRET)


def _is_long_enough(value: str, *, said: bool) -> bool:
    """`said`: something says that it is a secret."""
    short = said and len(value) >= _SHORTEST_SAID and not _PLAIN.fullmatch(value)
    return short or len(value) >= _SHORTEST


def _is_plain(value: str) -> bool:
    return len(value) < _SHORTEST or bool(_WORD.fullmatch(value))


def _is_a_path(value: str) -> bool:
    return value.startswith(("/", "~")) and "\n" not in value and os.path.exists(os.path.expanduser(value))


def _forms(value: str) -> tuple[bytes, ...]:
    spelled = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], _quoted(value))
    return tuple(dict.fromkeys(form.encode("utf-8", "surrogateescape") for form in spelled))


def _overlap(text: bytes, form: bytes) -> int:
    """The length of the longest end of the text with which this begins."""
    most = min(len(text), len(form) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(form[:size])), 0)


def _quoted(value: str) -> str:

    signs = value.encode("utf-8", "surrogateescape")
    return "".join(chr(sign) if sign in _IN_URLS else f"%{sign:02X}" for sign in signs)


def _blanked(value: object, blank: Callable[[str], str]) -> object:
    match value:
        case str():
            return blank(value)
        case dict():
            return {_blanked(key, blank): _blanked(each, blank) for key, each in value.items()}
        case list():
            return [_blanked(each, blank) for each in value]
        case tuple():
            parts = [_blanked(each, blank) for each in value]
            made = getattr(value, "_make", tuple)  # a named tuple stays one
            return made(parts)
        case msgspec.Struct():
            own = {name: _blanked(getattr(value, name), blank) for name in value.__struct_fields__}
            return msgspec.structs.replace(value, **own)
        case _:
            return value
