"""A login that ran out while a program worked, and that the program renewed in its private copy, is taken over.

Some providers accept a login only once for renewing it: without this the person would be logged out. Nothing else of a
copy is taken, and this only where the login that was there had run out, the new one has the same shape and has not, and
the person's own file is as it was.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_MOST = 256 * 1024  # bytes
_ENDS = ("expiresAt", "expires_at", "expires", "expiry_date")
_SOON = 300.0  # seconds before its end in which programs renew a login


class Login(NamedTuple):
    """A file with a login: the person's own, its private copy, and what it held when that was made."""

    own: str
    copy: str
    before: bytes


def found(home: str, copies: Mapping[str, str], names: tuple[str, ...]) -> list[Login]:
    """The files of these names in the copies. `home`: where the copies are."""
    logins = []
    for below, source in copies.items():
        for name in names:
            own, copy = os.path.join(source, name), os.path.join(home, below, name)
            if (before := _read(own)) and not os.path.islink(os.path.join(home, below)):
                logins.append(Login(own, copy, before))
    return logins


def take_over(logins: list[Login]) -> list[str]:
    """The person's files that were written."""
    return [login.own for login in logins if _renewed(login) and _replace(login)]


def _renewed(login: Login) -> bool:
    after = _read(login.copy)
    if not after or after == login.before:
        return False
    try:
        old, new = json.loads(login.before), json.loads(after)
    except (ValueError, RecursionError):
        return False
    now = time.time()
    return _shape(old) == _shape(new) and _end(old) < now + _SOON and _end(new) > now


def _shape(value: object) -> object:
    """The keys and the kinds of values."""
    if isinstance(value, dict):
        return {key: _shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return "list"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def _end(value: object) -> float:
    """When the login runs out, in seconds; never, where it does not say."""
    return min(_ends(value), default=float("inf"))


def _ends(value: object) -> Iterator[float]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict):
            yield from _ends(inner)
        elif key in _ENDS and isinstance(inner, int | float):
            yield inner / 1000 if inner > 1e11 else float(inner)
        elif key == "access_token" and isinstance(inner, str) and inner.count(".") == 2:
            yield from _of_token(inner)


def _of_token(token: str) -> Iterator[float]:
    middle = token.split(".")[1]
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        told = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
        if isinstance(told, dict) and isinstance(told.get("exp"), int | float):
            yield float(told["exp"])


def _read(path: str) -> bytes:
    """A plain, small file; b"" for anything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        data = file.read(_MOST + 1)
    return data if len(data) <= _MOST else b""


def _replace(login: Login) -> bool:
    """Only while the person's file is as it was when the copy was made."""
    data = _read(login.copy)
    with contextlib.suppress(OSError):
        if _read(login.own) != login.before:
            return False
        handle, path = tempfile.mkstemp(dir=os.path.dirname(login.own))
        with open(handle, "wb") as file:
            file.write(data)
        os.chmod(path, stat.S_IMODE(os.stat(login.own).st_mode))
        os.replace(path, login.own)
        return True
    return False
