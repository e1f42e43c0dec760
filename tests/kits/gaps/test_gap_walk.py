"""Random rounds and orders never lose a gap; no text whatever makes the tracker raise; long texts are quick."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from gap_texts import LIST, begun, codes, issue, ordered, played, proposals, response, review, solution, wrong_with
from hypothesis import given
from hypothesis import strategies as st

from exploring import examples
from reconvene.kits.gaps.tracker import Config, Sources, settle, track
from reconvene.kits.gaps.vocabulary import STATES

OPEN = {"open", "proposed", "needs revision"}
VERDICTS = ["APPROVED", "APPROVED with note", "needs revision", "REJECTED", "NOT APPROVED", "hm"]
WORDS = st.sampled_from(["clock", "refund", "owner", "driver", "parcel", "limit", "colour", "depot", "hour", "price"])
TITLES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
NAMES = st.integers(1, 6).map(lambda n: f"GAP-FLOW-{n:03d}")  # three of the list, three that may come
SEVERITY = st.sampled_from(["CRITICAL", "HIGH", "MEDIUM", "LOW"])


class New(NamedTuple):
    """A new gap as an output lists it."""

    name: str
    title: str
    marks: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.name}{self.marks}{': ' if self.name else ''}{self.title}{self.after}"


class Round(NamedTuple):
    solutions: list[tuple[str, str, list[New], str]]
    responses: list[str]
    verdicts: dict[str, str]
    issues: list[str]
    new: list[New]
    overall: str
    engineer_there: bool
    reviewer_there: bool
    rated: dict[str, str]

    def engineer(self) -> str | None:
        parts = [solution(name, text, [str(one) for one in new], more) for name, text, new, more in self.solutions]
        return proposals(*parts, *self.responses) if self.engineer_there else None

    def reviewer(self) -> str | None:
        text = review(self.verdicts, "\n".join(self.issues), [str(one) for one in self.new], self.overall)
        text += "\n### Severities Changed\n" + "\n".join(f"- {name}: {how} - why" for name, how in self.rated.items())
        return text if self.reviewer_there else None

    def raised(self) -> list[New]:
        bred = [one for *_, new, _ in self.solutions for one in new] if self.engineer_there else []
        return bred + (self.new if self.reviewer_there else [])


MARKS = st.builds(lambda severity, flag: f" ({severity}{flag})", SEVERITY, st.sampled_from(["", ", blocking"]))
NEWS = st.one_of(
    st.builds(lambda name, title, marks: New(name, title, marks), NAMES, TITLES, MARKS),
    TITLES.map(lambda title: New("", title)),
    st.builds(lambda title, parent: New("", title, "", f" (split from {parent})"), TITLES, NAMES),
    st.builds(lambda name, title, other: New(name, title, "", f". Blocked by: {other}"), NAMES, TITLES, NAMES),
)
LISTS = st.lists(NEWS, max_size=3)
MORE = st.one_of(
    st.just(""),
    st.just("\n**Blocked by:** user decision - which one?\n"),
    st.builds(lambda one, other: f"\n**Split into:** {one}a, {other}b\n", NAMES, NAMES),
)
SOLUTIONS = st.tuples(NAMES, st.sampled_from(["", "The same.", "Another."]), LISTS, MORE)
MOSTLY = st.sampled_from([True, True, True, True, False])
ROUND = st.builds(
    Round,
    st.lists(SOLUTIONS, max_size=5),
    st.lists(
        st.builds(
            response, st.integers(1, 4).map("ISSUE-R{}-001".format), st.sampled_from(["AGREE", "DISAGREE", "NOTED"])
        ),
        max_size=2,
    ),
    st.dictionaries(NAMES, st.sampled_from(VERDICTS), max_size=6),
    st.lists(
        st.builds(lambda n, name, how: issue(f"ISSUE-R{n}-001", name, how), st.integers(1, 4), NAMES, SEVERITY),
        max_size=2,
    ),
    LISTS,
    st.sampled_from(["APPROVE", "REVISE"]),
    MOSTLY,
    MOSTLY,
    st.dictionaries(NAMES, SEVERITY, max_size=2),
)
YES = st.dictionaries(NAMES, st.just(True), min_size=1, max_size=3)
ORDERS = st.fixed_dictionaries(
    {},
    optional={
        "defer": YES,
        "reopen": YES,
        "accept": YES,
        "similar": st.dictionaries(NAMES, st.sampled_from(["merge", "keep apart"]), max_size=3),
        "scope": st.sampled_from(["blocking", "all"]),
        "accept_complexity": st.just(True),
        "rulings": st.dictionaries(
            st.integers(1, 4).map(lambda n: f"ISSUE-R{n}-001"), st.sampled_from(["A", "B", "waive", "have it answered"])
        ),
        "redo": st.fixed_dictionaries({"reason": st.just("again"), "focus": NAMES}),
        "complete": st.sampled_from(["accepted", "forced"]),
        "list": st.lists(
            st.builds(
                lambda verb, one, other: f"{verb} {one} into {other} | a part LOW: yes",
                st.sampled_from(
                    ["rate", "add", "drop", "merge", "split", "defer", "block", "unblock", "blocking", "reopen", "?"]
                ),
                NAMES,
                NAMES,
            ),
            max_size=3,
        ),
    },
)


def kept(raised: list[New], value: dict[str, object]) -> None:
    """Whatever an output raised is there: under its words, or under its id when that was known already."""
    titles = {gap["title"] for gap in value["list"]}
    ids = {gap["id"] for gap in value["list"]}
    for one in raised:
        assert any(title.startswith(one.title) for title in titles) or one.name in ids, str(one)


def holds(value: dict[str, object], ever: dict[str, str]) -> None:
    """Nothing lost, nothing double, every sum right. `ever`: every gap seen so far and who raised it."""
    gaps = {gap["id"]: gap for gap in value["list"]}
    assert len(gaps) == len(value["list"]), "ids are unique"
    assert ever.items() <= {name: gap["raised_by"] for name, gap in gaps.items()}.items(), "no gap is lost"
    assert all(gap["state"] in STATES for gap in gaps.values())
    assert sum(value["counts"].values()) == len(gaps), "each gap is in one state"
    assert value["open"] == sum(value["by_severity"].values()) == sum(gap["state"] in OPEN for gap in gaps.values())
    for gap in gaps.values():
        assert gap["history"][-1]["state"] == gap["state"], "every move is recorded"
        assert (gap["state"] == "merged") == bool(gap["into"])
        assert not gap["into"] or gaps[gap["into"]]
        for child in gap["children"]:
            assert gaps[child]["parent"] == gap["id"]
        for twin in gap["merged"]:
            assert gaps[twin]["into"] == gap["id"]
        assert not gap["into"] or gap["id"] in gaps[gap["into"]]["merged"]
        assert gap["state"] != "split" or gap["children"]
    assert json.loads(json.dumps(value)) == value, "the value is JSON"


def sums(row: dict[str, object], before: dict[str, object], after: dict[str, object]) -> None:
    assert row["end"] == row["start"] - row["resolved"] + row["new"] == after["open"]
    assert row["net"] == row["resolved"] - row["new"]
    assert row["start"] == before["open"]
    assert row["resolved"] == len(row["closed_ids"])
    assert row["new"] == len(row["new_ids"]) + len(row["reopened_ids"])
    assert row["weight_net"] == row["weight_resolved"] - row["weight_new"]
    if before["rounds"]:
        assert row["between"] == row["start"] - before["rounds"][-1]["end"]
    raised = {gap["id"] for gap in after["list"]} - {gap["id"] for gap in before["list"]}
    merged = {gap["id"] for gap in after["list"] if gap["state"] == "merged"}
    assert raised - merged == set(row["new_ids"]) | set(row["set_aside_ids"]), "parts of a split count as new, too"


@examples(40)
@given(st.lists(st.tuples(ROUND, ORDERS), min_size=3, max_size=5))
def test_no_sequence_of_verdicts_splits_merges_and_orders_loses_a_gap(rounds: list[tuple[Round, dict[str, object]]]):
    value = begun()
    ever: dict[str, str] = {}
    for n, (outputs, orders) in enumerate(rounds, 1):
        before, engineer, reviewer = value, outputs.engineer(), outputs.reviewer()
        for so_far in (Sources(n), Sources(n, proposals=engineer), Sources(n, proposals=engineer, review=reviewer)):
            holds(track(before, so_far, Config()), ever)
        value = played(before, n, engineer, reviewer)
        assert value == played(before, n, engineer, reviewer), "the same in, the same out"
        holds(value, ever)
        kept(outputs.raised(), value)
        ever |= {gap["id"]: gap["raised_by"] for gap in value["list"]}
        sums(value["rounds"][-1], before, value)
        value = ordered(value, **orders)
        holds(value, ever)
        assert value["orders"] == {}
        assert settle(value, n, "Ann", "") == value, "settling twice is settling once"


def seen_everything() -> dict[str, object]:
    """One sequence that the strategies can produce, and that visits every state."""
    parts = solution(
        "GAP-FLOW-002",
        "",
        ["GAP-FLOW-008: clock", "GAP-FLOW-009: clock"],
        "\n**Split into:** GAP-FLOW-003a, GAP-FLOW-004b\n",
    )
    others = [solution(name) for name in ("GAP-FLOW-001", "GAP-FLOW-003", "GAP-ROLE-001")]
    verdicts = {"GAP-FLOW-001": "APPROVED", "GAP-FLOW-003": "REJECTED"}
    value = played(begun(), 1, proposals(parts, *others), review(verdicts))
    return ordered(
        value, defer={"GAP-ROLE-002": True}, accept={"GAP-FLOW-008": True}, list="add LOW: a clock\ndrop GAP-SPEC-001"
    )


def test_the_walk_reaches_every_state():
    """Else the property above would say little."""
    value = seen_everything()
    assert {gap["state"] for gap in value["list"]} == set(STATES)
    assert codes(settle(value, 1, "Ann", "")) == codes(value), "nothing of ours has to be put right"


FRAGMENTS = st.sampled_from(
    ["## Gap Resolution: ", "GAP-FLOW-001", "GAP-", "ISSUE-R1-001", "- ", "| ", "|---|\n", "\n", "```", "~~~", "**",
     "**Gap:** ", "## Review: ", "APPROVED", "### New Gaps Introduced\n", "## Response to ", "[x] ", "[ ] ", "{", "[",
     '"gap":', "}", "\r\n", "#", "Blocked by: ", "(HIGH)", "Split into: ", "split from ", "\t", "—", "None.", "\0",
     "1. ", "Severity: ", "Verdict: "]
)  # fmt: skip
ANY_TEXT = st.one_of(
    st.text(max_size=300), st.lists(st.one_of(FRAGMENTS, st.text(max_size=8)), max_size=40).map("".join)
)
JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | NAMES | SEVERITY,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["gaps", "gap", "id", "verdicts", "verdict", "issues", "new_gaps", "title", "x"]), inner
        )
    ),
    max_leaves=12,
).map(json.dumps)


@examples(100)
@given(ANY_TEXT | JSONISH, ANY_TEXT | JSONISH, st.sampled_from([None, "given", "found"]))
def test_no_text_makes_it_raise_and_nothing_is_lost_by_it(one: str, other: str, listed: str | None):
    start = begun()
    ever = {gap["id"]: gap["raised_by"] for gap in start["list"]}
    sources = Sources(1, spec=one, proposals=one, review=other, closed=True)
    value = track(start, sources._replace(**{listed: other}) if listed else sources, Config())
    holds(value, ever)
    for role in ("found", "proposals", "review"):
        wrong = wrong_with(start, role, one, Sources(1, spec=other, proposals=other))
        assert wrong == "" or wrong.split(":")[0].isupper()


@given(
    JSONISH.map(json.loads),
    st.dictionaries(
        st.sampled_from(["list", "rounds", "issues", "orders", "state", "warning"]), JSONISH.map(json.loads)
    ),
)
def test_a_value_that_is_not_ours_is_forgiven(before: object, broken: dict[str, object]):
    for value in (before, begun() | broken):
        forgiven(value)


def forgiven(value: object) -> dict[str, object]:
    taken = track(value, Sources(1, given=LIST, found=LIST, proposals="", review="", closed=True), Config())
    holds(taken, {})
    holds(settle(value, 1, "Ann", ""), {})
    wrong_with(value, "proposals", "x", Sources(1))
    return taken


@pytest.mark.parametrize(
    "stored",
    [
        {"id": "", "title": ""},
        {"id": " ", "title": "a", "history": [{"round": 1, "state": "open", "by": "x"}]},
        {"id": "GAP-A-001", "title": "a"},
        {"id": "GAP-A-001", "title": "a", "state": "resolved", "history": [{"round": 1, "state": "open", "by": "x"}]},
        {"id": "GAP-A-001", "title": "a", "state": "deferred", "raised_by": "reviewer", "raised_in": 1},
        {"id": "GAP-A-001", "title": "a", "state": "merged", "into": "GAP-B-001"},
        {"id": "GAP-A-001", "title": "a", "state": "merged", "into": "GAP-A-001", "merged": ["GAP-A-001"]},
        {"id": "GAP-A-001", "title": "a", "into": "GAP-FLOW-001"},
        {"id": "GAP-A-001", "title": "a", "state": "merged", "into": "GAP-FLOW-001"},
        {"id": "GAP-A-001", "title": "a", "state": "split", "children": ["GAP-B-001"]},
        {"id": "GAP-A-001", "title": "a", "children": ["GAP-FLOW-001"], "merged": ["GAP-FLOW-001"]},
        {"id": "GAP-FLOW-001", "title": "a"},
    ],
    ids=str,
)
def test_a_stored_gap_that_does_not_hold_together_is_put_right_and_said_so(stored: dict[str, object]):
    start = begun()
    taken = forgiven(start | {"list": [*start["list"], stored]})
    assert "MALFORMED" in codes(taken)
    ids = [gap["id"] for gap in taken["list"]]
    assert (stored["id"] in ids) == bool(str(stored["id"]).strip()), "whatever has an id is kept"
    again = settle(taken, 1, "Ann", "")
    assert again["errors"] == taken["errors"], "put right once"


@given(st.data())
def test_a_stored_value_of_which_parts_were_changed_is_forgiven(data: st.DataObject):
    """One that saw merges, splits and orders, with fields of its gaps taken from others, from anywhere, or away."""
    start = seen_everything()
    gaps = [dict(gap) for gap in start["list"]]
    for _ in range(data.draw(st.integers(1, 4))):
        gap, other = data.draw(st.sampled_from(gaps)), data.draw(st.sampled_from(gaps))
        field = data.draw(st.sampled_from(["id", "state", "history", "into", "merged", "children", "parent", "round"]))
        match data.draw(st.sampled_from(["other", "away", "name", "names"])):
            case "other":
                gap[field] = other.get(field)
            case "away":
                gap.pop(field, None)
            case "name":
                gap[field] = other.get("id", "")
            case _:
                gap[field] = [one.get("id") for one in gaps[:3]]
    forgiven(start | {"list": gaps})


@pytest.mark.parametrize(
    "text",
    [
        "# Spec\n\n" + "All parcels are stored at the depot until they are fetched. " * 900,
        "- a gap about a thing\n" * 2500,
        "".join(f"- GAP-BIG-{n:04d}: subject{n} of matter{n}. Blocked by: GAP-BIG-{n + 1:04d}\n" for n in range(900)),
        "```a\n" * 12_000,
        "-" * 50_000 + "x",
        "#" * 50_000,
        "# " + " #" * 25_000 + "x",
        "* " * 25_000,
        "|" * 50_000,
        "| a " * 12_000 + "|\n|---|\n",
        "**" * 25_000,
        "GAP-" * 12_500,
        "GAP-1-" * 8_000,
        "(" * 50_000,
        "[" * 50_000,
        '{"gaps":' * 6_000,
        "approved with " * 3_500,
        "not approve " * 4_000,
        "needs " * 8_000,
        "\n".join(f"## Gap Resolution: GAP-FLOW-{n:03d}\n\n**Confidence:** HIGH\n" for n in range(900)),
        "\n".join(f"{n}. GAP-FLOW-{n:03d}: x - **APPROVED**" for n in range(1500)),
        " " * 50_000 + "x",
        "a: " * 16_000,
        "\u2011" * 50_000,
    ],
    ids=range(24),
)
def test_fifty_kilobytes_of_anything_end(text: str):
    """No assertion on time: a pattern that backtracks without end would not come back from this at all."""
    sources = Sources(1, spec=text, given=text, found=text, proposals=text, review=text, closed=True)
    value = track(begun(), sources, Config())
    assert value["total"] >= 5
    for role in ("found", "proposals", "review"):
        wrong_with(value, role, text, sources)
