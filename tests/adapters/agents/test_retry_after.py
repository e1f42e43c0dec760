"""How long a provider asks to wait, in the many ways it may say so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reconvene.adapters.agents.retry_after import LONGEST, asked

NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Mon, 16 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Mon, 16 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "99"}, 1.5),
        ({"x-ratelimit-reset-requests": "1m30s"}, 90.0),
        ({"x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-reset": "20"}, 20.0),
        ({"x-ratelimit-reset": str(NOW.timestamp() + 45)}, 45.0),
        ({"anthropic-ratelimit-tokens-reset": "2026-11-16T12:00:10Z"}, 10.0),
        (
            {
                "x-ratelimit-reset-requests": "1h",
                "x-ratelimit-remaining-requests": "99",
                "x-ratelimit-reset-tokens": "6s",
                "x-ratelimit-remaining-tokens": "0",
            },
            6.0,
        ),
        ({"x-ratelimit-reset-requests": "1h", "x-ratelimit-remaining-requests": "99"}, 0.0),
        ({"x-ratelimit-reset-requests": "whenever"}, 0.0),
    ],
)
def test_the_wait_is_read_from_headers(headers: dict[str, str], seconds: float) -> None:
    assert asked(headers, "", NOW, limited=True).seconds == pytest.approx(seconds)


def test_the_reset_of_a_limit_counts_only_where_a_limit_was_reached() -> None:
    assert asked({"x-ratelimit-reset": "20"}, "", NOW, limited=False).seconds == 0.0


def test_google_says_it_in_the_body() -> None:
    body = '{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34.5s"}]}}'
    assert asked({}, body, NOW, limited=True).seconds == 34.5


@pytest.mark.parametrize("value", ["99999999", "Wed, 21 Oct 2099 07:28:00 GMT", "inf"])
def test_an_absurd_wait_is_bounded_and_said(value: str) -> None:
    wait = asked({"retry-after": value}, "", NOW, limited=True)
    assert wait.seconds == LONGEST
    assert "(taken as 24 h)" in str(wait)


def test_the_words_fit_the_length() -> None:
    words = [str(asked({"retry-after": value}, "", NOW, limited=True)) for value in ("7", "600", "36000", "0")]
    assert words == ["it asks to wait 7 s", "it asks to wait 10 min", "it asks to wait 10 h", ""]
