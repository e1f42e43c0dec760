"""Which servers take a JSON schema with a request. Asked once: what a server did is remembered, in a file of the home.

A server of one's own may support it, ignore it or refuse it. Where it refuses, the schema is put into words, and that
is no failed attempt. The file has a line for each server and model, the last one counts. A refusal counts for a month:
servers are updated. Without a file, all is known as long as we run.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import date
from typing import NamedTuple
from urllib.parse import urlsplit

_DAYS = 30  # that a refusal counts
_lock = threading.Lock()
_file: ContextVar[str] = ContextVar("file", default="")
_known: dict[str, dict[tuple[str, str], bool]] = {}  # file → address and model → whether it takes a schema

_ABOUT_IT = re.compile(r"response.?format|json.?schema|json.?object|grammar|structured|guided|strict", re.IGNORECASE)
_REFUSALS = frozenset({400, 404, 405, 415, 422, 500, 501})
_PLAIN = frozenset({400, 415, 422, 501})  # refused, and it may be this, whatever the words are


class Kept(NamedTuple):
    """A line of the file."""

    address: str
    model: str
    takes: bool
    day: str


@contextmanager
def kept_in(file: str) -> Iterator[None]:
    """What is asked and remembered meanwhile, by this task, is in this file."""
    before = _file.set(file)
    try:
        yield
    finally:
        _file.reset(before)


def takes(url: str, model: str) -> bool | None:
    """None: nobody knows yet."""
    with _lock:
        return _here().get(_key(url, model))


def remember(url: str, model: str, taken: bool) -> None:
    """What was taken once is not forgotten for one schema that the server cannot read."""
    key = _key(url, model)
    with _lock:
        known = _here()
        if known.get(key) == taken or (not taken and known.get(key) is not None):
            return
        known[key] = taken
        if file := _file.get():
            _add(file, Kept(*key, taken, date.today().isoformat()))


def may_be_refused(url: str, model: str, status: int, said: str) -> bool:
    """Whether this reply may be about the schema, so that asking in words is worth it."""
    if status in _REFUSALS and _ABOUT_IT.search(said):
        return True
    return takes(url, model) is None and status in _PLAIN


def forget(file: str = "") -> bool:
    """All that is in this file, and what this process knows. Whether there was such a file."""
    with _lock:
        _known.clear()
        try:
            os.unlink(file)
        except OSError:
            return False
        return True


def kept(file: str) -> list[Kept]:
    """What the file says and still counts. Lines that are none are passed over."""
    found: dict[tuple[str, str], Kept] = {}
    oldest = date.fromtimestamp(max(0.0, time.time() - _DAYS * 86_400)).isoformat()
    with suppress(OSError), open(file, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.rstrip("\n").split("\t")
            if len(words) == 4 and words[2] in ("yes", "no"):
                found[words[0], words[1]] = Kept(words[0], words[1], words[2] == "yes", words[3])
    return [one for one in found.values() if one.takes or one.day >= oldest]


def _here() -> dict[tuple[str, str], bool]:
    file = _file.get()
    if file not in _known:
        _known[file] = {(one.address, one.model): one.takes for one in kept(file)} if file else {}
    return _known[file]


def _key(url: str, model: str) -> tuple[str, str]:
    """The address without a name or a password that may stand in it."""
    parts = urlsplit(url)
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return " ".join(address.split()), " ".join(model.split())


def _add(file: str, one: Kept) -> None:
    """A home that cannot be written to is no reason to stop an agent."""
    line = "\t".join((one.address, one.model, "yes" if one.takes else "no", one.day)) + "\n"
    with suppress(OSError):
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)
