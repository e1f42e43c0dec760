"""Whether an agent of another framework failed itself, or its provider did."""

from __future__ import annotations

import urllib.error
from email.message import Message

import pytest

from reconvene.adapters.agents.foreign_errors import failed
from reconvene.errors import Outcome


class _Response:
    def __init__(self, status: int, **headers: str) -> None:
        self.status_code = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class _StatusError(Exception):
    """As the SDKs of providers have it."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"Error code: {status}")
        self.response = _Response(status, **headers)


class APIConnectionError(Exception):
    pass


def _wrapped(inner: Exception) -> Exception:
    outer = RuntimeError("the agent failed")
    outer.__cause__ = inner
    return outer


def _refused() -> Exception:
    return urllib.error.URLError(ConnectionRefusedError(111, "Connection refused"))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (_StatusError(503), "transport"),
        (_StatusError(429, retry_after="7"), "transport"),
        (_StatusError(408), "transport"),
        (_wrapped(_StatusError(529)), "transport"),
        (_refused(), "transport"),
        (urllib.error.HTTPError("http://x", 502, "Bad Gateway", Message(), None), "transport"),
        (ConnectionResetError("reset"), "transport"),
        (APIConnectionError("Connection error."), "transport"),
        (_StatusError(401), "authentication"),
        (_StatusError(404), "not_found"),
        (_StatusError(400), "other"),
        (ValueError("503"), "other"),
        (TimeoutError(), "other"),
    ],
    ids=str,
)
def test_the_provider_is_told_apart_from_the_agent(error: Exception, outcome: Outcome) -> None:
    found = failed("mine:agent", error)
    assert found.outcome == outcome
    assert found.of_provider == (outcome == "transport")
    assert found.message.startswith(f"mine:agent raised {type(error).__name__}")


def test_what_the_provider_asks_for_is_waited_for() -> None:
    assert failed("mine:agent", _StatusError(429, retry_after="7")).retry_after == 7


def test_exceptions_that_cause_each_other_come_to_an_end() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert failed("mine:agent", one).outcome == "other"
