"""The table `[notify]` of `reconvene.toml`: where messages go, and who is told of what. Reads and checks.

Addresses are the person's own: a project that came from elsewhere may name destinations, and not say where they lead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from reconvene.language.closest import closest
from reconvene.message_ports import KINDS, Destination, Routes

_KEYS = ("to", "destinations", "people", "workflows")
_OF_A_DESTINATION = ("url", "secret", "kinds")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

Complain = Callable[[str, str, str, str], None]  # table, key, what is wrong, what to write instead


class Address(Struct, frozen=True):
    """As written: `url` and `secret` may name variables of the environment."""

    url: str
    secret: str = ""
    kinds: tuple[str, ...] = KINDS

    def __repr__(self) -> str:
        return "<Address>"  # it is a secret


class Notify(Struct, frozen=True):
    """What one file says of messages."""

    to: tuple[str, ...] = ()
    people: dict[str, tuple[str, ...]] = {}
    workflows: dict[str, tuple[str, ...]] = {}
    destinations: dict[str, Address] = {}


def read_notify(given: object, add: Complain, *, found: bool, own: str) -> Notify:
    """`found`: the file came with a project; `own`: the person's own file."""
    if not isinstance(given, dict):
        add("", "notify", "'notify' should be a table", 'write [notify] and then to = ["NAME"]')
        return Notify()
    for key in given:
        if key not in _KEYS:
            near = closest(key, list(_KEYS), 1)
            add("notify", key, f"there is no setting {key!r}", f"known are {', '.join(near or _KEYS)}")
    if found and "destinations" in given:
        why = "'destinations' says where messages of yours go: a project cannot"
        add("", "notify.destinations", why, f"write it into {own}; the project may name them")
    read = _Reading(add)
    return Notify(
        read.names("notify", "to", given["to"]) if "to" in given else (),
        read.lists("people", given.get("people", {})),
        read.lists("workflows", given.get("workflows", {})),
        read.destinations(given.get("destinations", {})),
    )


class _Reading:
    def __init__(self, add: Complain) -> None:
        self._add = add

    def names(self, table: str, key: str, given: object) -> tuple[str, ...]:
        """One name, or several."""
        listed = [given] if isinstance(given, str) else given
        if isinstance(listed, list) and all(isinstance(one, str) and _NAME.fullmatch(one) for one in listed):
            return tuple(dict.fromkeys(listed))
        self._add(table, key, f"{key!r} should be names of destinations", f'as in {key} = ["chat"]')
        return ()

    def lists(self, table: str, given: object) -> dict[str, tuple[str, ...]]:
        where = f"notify.{table}"
        if not isinstance(given, dict):
            self._add("notify", table, f"{table!r} should be a table", f'as in [{where}] and then NAME = ["chat"]')
            return {}
        return {key: self.names(where, key, one) for key, one in given.items()}

    def destinations(self, given: object) -> dict[str, Address]:
        where = "notify.destinations"
        if not isinstance(given, dict):
            self._add("notify", "destinations", "'destinations' should be a table", f'[{where}] and then NAME = "URL"')
            return {}
        read = {name: self._destination(where, name, one) for name, one in given.items()}
        return {name: one for name, one in read.items() if one is not None}

    def _destination(self, where: str, name: str, given: object) -> Address | None:
        said = {"url": given} if isinstance(given, str) else given
        if not _NAME.fullmatch(name):
            self._add(where, name, f"{name!r} is no name of a destination", "letters, digits, dots and dashes")
        elif not isinstance(said, dict) or not all(isinstance(said.get(key, ""), str) for key in ("url", "secret")):
            self._add(where, name, f"{name!r} should be an address", f'as in {name} = {{ url = "$CHAT_URL" }}')
        elif unknown := [key for key in said if key not in _OF_A_DESTINATION]:
            self._add(where, name, f"there is no {unknown[0]!r} of a destination", ", ".join(_OF_A_DESTINATION))
        elif not str(said.get("url", "")).strip():
            self._add(where, name, f"{name!r} has no address", 'as in url = "$CHAT_URL"')
        elif (kinds := self._kinds(where, name, said.get("kinds", list(KINDS)))) is not None:
            url, secret = str(said["url"]).strip(), str(said.get("secret", "")).strip()
            if secret and not url.startswith(("http://", "https://", "$")):
                self._add(where, name, "only a webhook has a secret, and begins with https://", "leave out `secret`")
            return Address(url, secret, kinds)
        return None

    def _kinds(self, where: str, name: str, given: object) -> tuple[str, ...] | None:
        if isinstance(given, list) and all(one in KINDS for one in given):
            return tuple(given)
        self._add(where, name, f"{given!r} are no kinds of messages", f"known are {', '.join(KINDS)}")
        return None


# --- what all files together say ---


def routes(said: list[Notify]) -> Routes:
    """Of the person's own file and of the project's: all that are named."""
    every = [name for one in said for name in one.to]
    return Routes(
        tuple(dict.fromkeys(every)),
        _joined(one.people for one in said),
        _joined(one.workflows for one in said),
        kinds={name: frozenset(address.kinds) for one in said for name, address in one.destinations.items()},
    )


def _joined(tables: Iterator[dict[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for table in tables:
        for key, names in table.items():
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *names)))
    return found


def destinations(said: list[Notify], environ: Mapping[str, str]) -> dict[str, Destination]:
    """With what the environment says in the place of variables."""
    return {name: _filled(name, one, environ) for each in said for name, one in each.destinations.items()}


def _filled(name: str, address: Address, environ: Mapping[str, str]) -> Destination:
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        variable = match[1] or match[2]
        found = environ.get(variable, "")
        if not found:
            missing.append(variable)
        return found

    url, secret = (_VARIABLE.sub(value, text) for text in (address.url, address.secret))
    problem = f"the variable {missing[0]} is not set where this runs" if missing else ""
    return Destination(name, url, secret=secret, kinds=address.kinds, problem=problem)
