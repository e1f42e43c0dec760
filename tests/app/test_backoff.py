"""How long to wait for a provider. Nobody sleeps here."""

from __future__ import annotations

import random

import pytest

from reconvene.app.backoff import Park, Patience, Pause, following

PATIENCE = Patience()


def most() -> float:
    return 1.0


def least() -> float:
    return 0.0


def test_waits_grow_and_are_spread_over_their_whole_length() -> None:
    longest = [following(n, 0.0, 0.0, most, PATIENCE).seconds for n in range(1, 9)]
    assert longest == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    assert following(5, 0.0, 0.0, least, PATIENCE) == Pause(0.0)
    assert following(10_000, 0.0, 0.0, most, PATIENCE) == Pause(30.0)


def test_what_the_provider_asks_for_is_obeyed() -> None:
    assert following(1, 7.0, 0.0, least, PATIENCE) == Pause(7.0)
    assert following(1, 7.0, 0.0, most, PATIENCE) == Pause(8.0)
    assert following(6, 0.2, 0.0, most, PATIENCE) == Pause(0.4)


def test_a_wait_beyond_the_patience_parks_the_run_until_then() -> None:
    assert following(1, 300.0, 0.0, least, PATIENCE) == Park(300.0)
    assert following(1, 86_400.0, 0.0, most, PATIENCE) == Park(86_400.0)
    assert following(7, 0.0, 119.0, most, PATIENCE) == Park(30.0)
    assert following(1, 0.0, 0.0, most, Patience(total=0.0)) == Park(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_an_outage_ends_in_a_park_within_the_patience(seed: int) -> None:
    chance = random.Random(seed).random
    waited, failures = 0.0, 0
    while True:
        failures += 1
        step = following(failures, 0.0, waited, chance, PATIENCE)
        if isinstance(step, Park):
            break
        waited += step.seconds
    assert waited <= PATIENCE.total
    assert 4 < failures < 60
    assert step.seconds == PATIENCE.longest
