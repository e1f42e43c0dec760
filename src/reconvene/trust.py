"""What may start programs on this person's machine: what they named, what they made, and what they accepted.

A file that was only found may have come with somebody else's project: a `reconvene.toml`, or a home whose runs name
commands. That files belong to this person proves nothing: whoever clones a repository owns what was in it. So two
lists are kept in the person's own configuration, a line each:

- `homes`: the homes that this person made. Each carries an id of its own; the line has it, with where the folder is.
- `accepted`: what else they accepted, by the digest of what would be started.

A home that is named (`--home`, RECONVENE_HOME) and a workflow that is named need nothing. Starts nothing itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from reconvene.errors import StoreError, UserError
from reconvene.home import STORE, Home
from reconvene.settings import own_folder

if TYPE_CHECKING:
    from reconvene.settings_file import Settings

_ID = "id"
_SHOWN = 16  # characters of a digest that people type


class Offer(NamedTuple):
    """What would be started, for a person to accept or not."""

    what: str
    lines: tuple[str, ...]
    digest: str

    @property
    def name(self) -> str:
        """As it is typed."""
        return self.digest[:_SHOWN]


def offer(what: str, lines: Iterable[str], *also: str) -> Offer:
    """`also`: what else must be the same for this to count as accepted."""
    import hashlib

    told = tuple(line.replace("\n", "⏎") for line in lines)  # nothing in a line may look like another line
    return Offer(what, told, hashlib.sha256("\0".join((what, *told, *also)).encode()).hexdigest())


def of_settings(settings: Settings) -> Offer | None:
    """The programs and functions that a settings file names; None where there are none, or the file is the person's."""
    named = [one for one in settings.bindings if not one.model] if settings.found else []
    if not named:
        return None
    lines = [f"{one.agent} {'calls' if one.python else 'runs'}: {one.python or one.who}" for one in named]
    return offer(f"the settings file {os.path.realpath(settings.path)}", lines)


def refusal(offered: Offer) -> UserError:
    told = "".join(f"\n  {line}" for line in offered.lines)
    return UserError(
        f"{offered.what} was found here, and you have not accepted what it starts:{told}",
        hint=f"look at it; then, if you want that: reconvene accept {offered.name}",
    )


def is_accepted(offered: Offer) -> bool:
    return any(line[0] == offered.digest for line in _lines("accepted"))


def accept(offered: Offer) -> None:
    if not is_accepted(offered):
        what = " · ".join((offered.what, *offered.lines))
        _add("accepted", offered.digest, _now(), what)


# --- homes ---


def is_foreign(home: Home) -> bool:
    """Whether this home was only found, holds runs, and is not one that this person made or accepted."""
    store = os.path.join(home.folder, STORE)
    return not home.named and os.path.isfile(store) and os.path.getsize(store) > 0 and not is_own(home.folder)


def own_homes() -> list[str]:
    """Where the homes are that this person made."""
    return [line[3] for line in _lines("homes") if len(line) == 4]


def is_own(folder: str) -> bool:
    """By its id, at the place or in the folder that the id was given to: a copy of a home is not that home."""
    return bool(own_id(folder))


def own_id(folder: str) -> str:
    """The id of a home that this person made, "" of any other."""
    place, known = os.path.realpath(folder), _known(folder)
    return known[0][0] if any(line[3] == place or line[1] == _node(folder) for line in known) else ""


def note_place(folder: str) -> None:
    """Where a home of this person is by now, if it was moved: agents are not shown what is in it."""
    known, place = _known(folder), os.path.realpath(folder)
    if any(line[1] == _node(folder) for line in known) and not any(line[3] == place for line in known):
        with suppress(OSError):
            _add("homes", known[0][0], _node(folder), _now(), place)


def _known(folder: str) -> list[list[str]]:
    """What is noted of the home with this one's id."""
    try:
        with open(os.path.join(folder, _ID), encoding="ascii") as file:
            own = file.read(100).strip()
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in _lines("homes") if len(line) == 4 and line[0] == own]


def make_own(folder: str) -> bool:
    """Note that this home is this person's, under a new id. False: it cannot be noted, and has to be accepted later."""
    own = os.urandom(16).hex()
    path = os.path.join(folder, _ID)
    try:
        with open(f"{path}.{own}", "w", encoding="ascii") as file:
            file.write(f"{own}\n")
        os.replace(f"{path}.{own}", path)
        _add("homes", own, _node(folder), _now(), os.path.realpath(folder))
    except OSError:
        return False
    return True


def require_plain(folder: str) -> None:
    """Refuse a store that holds more than tables: a trigger could add to a run what nobody has seen."""
    import sqlite3
    from contextlib import closing
    from urllib.parse import quote as quote_path

    store = os.path.join(os.path.abspath(folder), STORE)
    try:
        base = sqlite3.connect(f"file:{quote_path(store)}?mode=ro", uri=True)
        with closing(base):
            rows = base.execute("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"The store {store} cannot be read: {error}.") from error
    if rows:
        names = ", ".join(str(row[0]) for row in rows)
        raise StoreError(f"The store {store} is not used: it holds {names}, which Reconvene did not make.")


def foreign_home(home: Home) -> UserError:
    folder = os.path.abspath(home.folder)
    return UserError(
        f"the home {folder} was found here, and you did not make it",
        hint=f"keep your runs elsewhere: reconvene --home DIR …; or take it over: reconvene accept {quote(folder)}",
    )


# --- the two lists ---


def _node(folder: str) -> str:
    status = os.stat(folder)
    return f"{status.st_dev}:{status.st_ino}"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _lines(name: str) -> Iterator[list[str]]:
    try:
        with open(os.path.join(own_folder(), name), encoding="utf-8", errors="replace") as file:
            for line in file:
                yield line.rstrip("\n").split("\t")
    except OSError:
        return


def _add(name: str, *words: str) -> None:
    folder = own_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    line = "\t".join(" ".join(word.split()) for word in words) + "\n"
    handle = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)
