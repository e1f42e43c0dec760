"""Convergence: the table of the seed, the state machine, weights, identity, and what the warning says."""

from __future__ import annotations

import pytest
from gap_texts import Value, begun, ordered, played, proposals, review, solution

from reconvene.kits.gaps.convergence import step
from reconvene.kits.gaps.tracker import Config, Sources, track


def names(start: int, stop: int) -> list[str]:
    return [f"GAP-T-{n:03d}" for n in range(start, stop)]


def listed(ids: list[str], severity: str = "MEDIUM") -> list[str]:
    """Titles that share no words of substance: likeness is not what is tested here."""
    return [f"{name} ({severity}): subject{name[-3:]} topic{name[-3:]}" for name in ids]


def of_size(count: int) -> Value:
    return begun("\n".join(f"- {one}" for one in listed(names(1, count + 1))))


def a_round(value: Value, n: int, closes: list[str], new: list[str], config: Config = Config()) -> Value:  # noqa: B008
    """Solutions for `closes`, approved; `new` raised by the reviewer."""
    engineer = proposals(*(solution(name, f"Round {n} settles {name}.") for name in closes))
    return played(value, n, engineer, review(dict.fromkeys(closes, "APPROVED"), new=new), config)


def row(value: Value) -> tuple[object, ...]:
    last = value["rounds"][-1]
    return tuple(last[key] for key in ("round", "start", "resolved", "new", "end", "net", "state"))


def test_the_table_of_the_seed():
    value = a_round(of_size(25), 1, names(1, 4), listed(names(26, 28)))
    assert row(value) == (1, 25, 3, 2, 24, 1, "CONVERGING")
    assert value["warning"] is None
    value = a_round(value, 2, names(4, 8), listed(names(28, 32)))
    assert row(value) == (2, 24, 4, 4, 24, 0, "STALLED (1)")
    assert value["warning"] is None
    value = a_round(value, 3, names(8, 9), listed(names(32, 37)))
    assert row(value) == (3, 24, 1, 5, 28, -4, "DIVERGENCE_WARNING")
    assert value["state"] == "DIVERGENCE_WARNING"
    assert value["warning"]["rows"] == [
        "Round 2: Resolved 4, Introduced 4 (Net: 0)",
        "Round 3: Resolved 1, Introduced 5 (Net: -4)",
    ]
    assert value["warning"]["rules"] == ["explosion", "stalled"]
    assert "has not made net progress for 2 rounds" in value["warning"]["text"]
    assert value["warning"]["redo"] is True
    assert [one["state"] for one in value["rounds"]] == ["CONVERGING", "STALLED (1)", "DIVERGENCE_WARNING"]


@pytest.mark.parametrize(
    ("net", "stalled", "config", "expected"),
    [
        (1, 5, Config(), ("CONVERGING", 0)),
        (0, 0, Config(), ("STALLED (1)", 1)),
        (-2, 0, Config(), ("STALLED (1)", 1)),
        (-3, 0, Config(), ("DIVERGENCE_WARNING", 1)),
        (0, 1, Config(), ("DIVERGENCE_WARNING", 2)),
        (0, 1, Config(stall=3), ("STALLED (2)", 2)),
        (-1, 2, Config(stall=3), ("DIVERGENCE_WARNING", 3)),
        (-3, 0, Config(explosion=5), ("STALLED (1)", 1)),
        (0, 0, Config(stall=1), ("DIVERGENCE_WARNING", 1)),
    ],
)
def test_every_move_of_the_state_machine(net: int, stalled: int, config: Config, expected: tuple[str, int]):
    assert step(net, stalled, config) == expected


def test_net_progress_starts_the_count_again():
    value = a_round(of_size(8), 1, [], [])
    assert value["state"] == "STALLED (1)"
    value = a_round(value, 2, names(1, 2), [])
    assert (value["state"], value["stalled"]) == ("CONVERGING", 0)
    assert a_round(value, 3, [], [])["state"] == "STALLED (1)"


def test_counts_that_cry_wolf_are_answered_in_the_first_line():
    value = begun("\n".join(f"- {one}" for one in listed(names(1, 9), "HIGH")))
    for n in range(1, 5):
        value = a_round(value, n, names(n, n + 1), listed(names(20 + n, 21 + n), "LOW"))
        assert value["rounds"][-1]["net"] == 0
        assert value["rounds"][-1]["weight_net"] == 3
        if n >= 2:
            assert value["state"] == "DIVERGENCE_WARNING"
            assert value["warning"]["rules"] == ["stalled"]
            first = value["warning"]["line"]
            assert first.startswith("Converging by weight and by identity")
            assert f"weight {4 * n} closed against {n} found over {n} rounds" in first
            assert value["warning"]["text"].startswith(first)


def test_a_bad_trade_is_called_so_by_weight():
    value = begun("\n".join(f"- {one}" for one in listed(names(1, 9), "LOW")))
    value = a_round(value, 1, names(1, 2), listed(names(21, 22), "CRITICAL"))
    value = a_round(value, 2, names(2, 3), listed(names(22, 23), "HIGH"))
    assert value["warning"]["line"].startswith("Not converging by weight either: weight 2 closed against 12 found")


def test_the_same_gap_sent_back_twice_is_a_stall_whatever_the_counts_say():
    value = of_size(6)
    for n in (1, 2):
        engineer = proposals(solution("GAP-T-001", f"Try {n}."), solution(f"GAP-T-00{n + 1}"))
        value = played(value, n, engineer, review({"GAP-T-001": "needs revision", f"GAP-T-00{n + 1}": "APPROVED"}))
        assert value["state"] == "CONVERGING"
        if n == 1:
            assert value["warning"] is None
    assert value["warning"]["rules"] == ["rejected again"]
    assert value["warning"]["gaps"] == ["GAP-T-001"]
    assert value["rounds"][-1]["stuck_ids"] == ["GAP-T-001"]
    assert value["warning"]["line"] == (
        "Converging by weight (weight 2 closed against 0 found over 1 round), not by identity: GAP-T-001 came back."
    )


def test_a_criticised_section_that_comes_back_unchanged_is_a_stall():
    same = solution("GAP-T-001", "Always the same.")
    value = played(of_size(6), 1, proposals(same), review({"GAP-T-001": "needs revision"}))
    engineer = proposals(same.upper().replace("GAP RESOLUTION", "Gap  Resolution"), solution("GAP-T-002"))
    value = played(value, 2, engineer, review({"GAP-T-002": "APPROVED"}))
    assert value["state"] == "CONVERGING"
    assert value["warning"]["rules"] == ["unchanged"]
    assert value["warning"]["gaps"] == ["GAP-T-001"]


def test_a_section_nobody_criticised_may_stay():
    same = solution("GAP-T-001", "Always the same.")
    value = played(of_size(6), 1, proposals(same), review({"GAP-T-003": "APPROVED"}))
    value = played(value, 2, proposals(same, solution("GAP-T-002")), review({"GAP-T-002": "APPROVED"}))
    assert value["warning"] is None


def test_solutions_that_breed_gaps_are_named():
    new = [one.replace(" (MEDIUM)", "") for one in listed(names(30, 34))]
    engineer = proposals(solution("GAP-T-001", new=new))
    value = played(of_size(6), 1, engineer, review({"GAP-T-001": "APPROVED"}))
    assert value["warning"]["rules"] == ["explosion", "breeding"]
    assert value["warning"]["gaps"] == names(30, 34)


def test_one_round_short_of_the_stall_is_only_a_line():
    value = a_round(of_size(6), 1, names(1, 2), listed(names(20, 23)))
    assert (value["state"], value["warning"]) == ("STALLED (1)", None)
    assert value["rounds"][-1]["net"] == -2


def test_no_row_before_the_first_round_and_none_until_the_round_closes():
    value = of_size(3)
    assert (value["rounds"], value["this_round"]) == ([], None)
    engineer = proposals(solution("GAP-T-001"))
    step_by_step = track(value, Sources(1, proposals=engineer), Config())
    assert (step_by_step["rounds"], step_by_step["this_round"]["start"]) == ([], 3)
    judged = review({"GAP-T-001": "APPROVED"})
    seen = track(value, Sources(1, proposals=engineer, review=judged), Config())
    closed = track(value, Sources(1, proposals=engineer, review=judged, closed=True), Config())
    assert (seen["rounds"], seen["state"], seen["this_round"]) == ([], "CONVERGING", closed["rounds"][0])


def test_the_mediator_sees_the_warning_before_the_round_closes():
    value = a_round(of_size(6), 1, [], [])
    seen = track(value, Sources(2, proposals=proposals(solution("GAP-T-001")), review=review({})), Config())
    assert seen["warning"]["rules"] == ["stalled"]
    assert seen["stalled"] == 1


def test_what_a_person_puts_aside_stands_between_the_rows():
    value = a_round(of_size(6), 1, names(1, 2), [])
    value = ordered(value, defer={"GAP-T-002": True, "GAP-T-003": True})
    value = a_round(value, 2, names(4, 5), [])
    assert row(value)[1:6] == (3, 1, 0, 2, 1)
    assert value["rounds"][-1]["between"] == -2
    value = ordered(value, reopen={"GAP-T-002": True})
    value = a_round(value, 3, names(5, 6), [])
    assert row(value)[1:6] == (3, 1, 0, 2, 1)
    assert value["rounds"][-1]["between"] == 1


def test_lists_that_come_with_the_first_round_count_as_its_start():
    value = track(None, Sources(1, given="- one thing\n- another matter\n", closed=True), Config())
    assert row(value)[1:5] == (2, 0, 0, 2)


def test_rows_know_the_open_gaps_by_severity():
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), review({"GAP-FLOW-001": "APPROVED"}))
    assert value["rounds"][0]["by_severity"] == {"CRITICAL": 0, "HIGH": 2, "MEDIUM": 1, "LOW": 1}
