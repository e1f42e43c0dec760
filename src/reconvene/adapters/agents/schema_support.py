"""Which servers take a JSON schema with a request. Asked once: what a server did is remembered as long as we run.

A server of one's own may support it, ignore it or refuse it. Where it refuses, the schema is put into words, and that
is no failed attempt.
"""

from __future__ import annotations

import re
import threading

_lock = threading.Lock()
_known: dict[tuple[str, str], bool] = {}  # address and model → whether it takes a schema

_ABOUT_IT = re.compile(r"response.?format|json.?schema|json.?object|grammar|structured|guided|strict", re.IGNORECASE)
_REFUSALS = frozenset({400, 404, 405, 415, 422, 500, 501})
_PLAIN = frozenset({400, 415, 422, 501})  # refused, and it may be this, whatever the words are


def takes(url: str, model: str) -> bool | None:
    """None: nobody knows yet."""
    return _known.get((url, model))


def remember(url: str, model: str, taken: bool) -> None:
    """What was taken once is not forgotten for one schema that the server cannot read."""
    with _lock:
        if taken or _known.get((url, model)) is None:
            _known[url, model] = taken


def may_be_refused(url: str, model: str, status: int, said: str) -> bool:
    """Whether this reply may be about the schema, so that asking in words is worth it."""
    if status in _REFUSALS and _ABOUT_IT.search(said):
        return True
    return takes(url, model) is None and status in _PLAIN


def forget() -> None:
    """For tests."""
    with _lock:
        _known.clear()
