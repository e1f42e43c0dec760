"""Minor or major, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.kits.reading.assumptions import assumptions_in
from reconvene.kits.reading.feedback import KINDS
from reconvene.kits.reading.significance import assess
from reconvene.kits.reading.understanding import remarks_in as understand

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "feedback"
FORTY = json.loads((GOLDEN / "forty_remarks.json").read_text(encoding="utf-8"))
# Written after the rules. Their expectations are not asserted: the counts say how far the rules carry.
HELD_OUT = [
    row for path in sorted(GOLDEN.glob("held_out_*.json")) for row in json.loads(path.read_text(encoding="utf-8"))
]


def judged(row: dict[str, object]) -> tuple[str, str, int]:
    """Kind and significance as the rules see them, and how many remarks they see."""
    agents = row.get("agents", [])
    given = row.get("assumptions", {})
    assert isinstance(agents, list)
    assert isinstance(given, dict)
    found = understand(str(row["text"]), tuple(agents))
    assumptions = {agent: tuple(items) for agent, items in given.items()}
    first = found[0]
    level = assess(first.kind, first.text, assumptions, was=first.was, now=first.now).level
    return first.kind, level, len(found)


@pytest.mark.parametrize(
    ("text", "kind", "level"),
    [
        ("Revenue is $900M, not $850M (10% higher than initial)", "correction", "minor"),
        ("We're in acquisition talks with CompetitorX ($200M deal)", "new context", "major"),
        ("Our market position is weaker in Southeast region", "clarification", "minor"),
        ("Board just approved EV pivot strategy (happened yesterday)", "strategic shift", "major"),
        ("Debt is $150M, not $100M (forgot about recent line of credit)", "correction", "major"),
        ("Yes, the debt constraint is real - limits our R&D budget", "reaction", "minor"),
    ],
)
def test_the_examples_of_the_checkpoint_design_are_understood_with_and_without_their_kind(
    text: str, kind: str, level: str
) -> None:
    for typed in (text, f"{kind}: {text}", f"- **{kind.capitalize()}:** {text}"):
        (understood,) = understand(typed)
        assert (understood.text, understood.kind) == (text, kind)
        assert assess(kind, text, was=understood.was, now=understood.now).level == level


def test_forty_remarks_of_other_domains_are_judged_as_written_down_before_the_rules() -> None:
    assert len(FORTY) == 40
    kinds = significances = 0
    wrong: list[str] = []
    for row in FORTY:
        kind, level, count = judged(row)
        kinds += kind == row["kind"] and count == 1
        significances += level == row["significance"]
        if (kind, level, count) != (row["kind"], row["significance"], 1):
            wrong.append(f"{row['text']} → {kind}, {level}, {count}")
    report = f"kind {kinds}/40, significance {significances}/40\n" + "\n".join(wrong)
    print(report)
    assert kinds >= 36, report
    assert significances >= 36, report


def test_remarks_written_after_the_rules_are_counted() -> None:
    results = [(row, judged(row)) for row in HELD_OUT]
    kinds = sum(kind == row["kind"] for row, (kind, _, _) in results)
    levels = sum(level == row["significance"] for row, (_, level, _) in results)
    print(f"held out: kind {kinds}/{len(results)}, significance {levels}/{len(results)}")
    assert len(results) == 60


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("it is 120, not 100", "minor"),  # exactly 20 % is not above it
        ("it is 1.2, not 1", "minor"),
        ("it is 121, not 100", "major"),
        ("it is 79, not 100", "major"),
        ("it is 5, not 0", "major"),
        ("Revenue is $900M, not $850M, and debt is $150M, not $100M", "major"),  # the largest counts
    ],
)
def test_the_line_is_twenty_percent(text: str, level: str) -> None:
    assessed = assess("correction", text)
    assert assessed.level == level
    assert "→" in assessed.reason


def test_values_given_apart_from_the_text_count() -> None:
    assert assess("correction", "debt", was="$100M", now="$150M").level == "major"
    assert (
        assess("correction", "debt", was="$100M", now="$101M").reason
        == "$100M → $101M is a change of 1 %, not above 20 %"
    )
    assert assess("correction", "the site", was="Leeds", now="York").level == "minor"


ASSUMED = {
    "economist": ("Interest rates stay below 4% until 2030.", "Revenue is about $850M."),
    "planner": ("Staff numbers keep growing.", "The lease on the depot is renewed in 2027.", "Building takes 2 years."),
}


@pytest.mark.parametrize(
    ("text", "agent", "assumption"),
    [
        ("Interest rates will be at 6% by spring", "economist", "Interest rates stay below 4% until 2030."),
        ("Revenue is $400M, not $850M", "economist", "Revenue is about $850M."),
        ("Staff numbers are shrinking", "planner", "Staff numbers keep growing."),
        ("We will not renew the depot lease", "planner", "The lease on the depot is renewed in 2027."),
        ("The building takes 5 years", "planner", "Building takes 2 years."),
    ],
)
def test_a_contradicted_assumption_is_quoted_with_whose_it_is(text: str, agent: str, assumption: str) -> None:
    for kind in KINDS:
        assessed = assess(kind, text, ASSUMED)
        assert assessed.level == "major"
        assert assessed.rule == "contradicts an assumption"
        assert agent in assessed.reason
        assert assumption in assessed.reason


@pytest.mark.parametrize(
    "text",
    [
        "Revenue is $900M, not $850M",
        "Staff numbers are growing, as you say",
        "Interest rates stay at 3.8%",
        "The canteen is not open on Fridays",
        "Interest in the depot is high",
        "",
    ],
)
def test_what_agrees_or_speaks_of_other_things_contradicts_nothing(text: str) -> None:
    assert assess("clarification", text, ASSUMED).level == "minor"


def test_what_the_person_calls_small_is_small_but_not_against_an_assumption() -> None:
    assert assess("new context", "FYI, there is a new badge system").level == "minor"
    assert assess("new context", "FYI, staff numbers are shrinking", ASSUMED).level == "major"


@pytest.mark.parametrize("kind", [*KINDS, "edit", "something else"])
def test_there_is_always_a_recommendation_with_a_reason(kind: str) -> None:
    assessed = assess(kind, "whatever was said")
    assert assessed.level in ("minor", "major")
    assert assessed.rule
    assert assessed.reason


OUTPUT = """# Findings

Assumptions are everywhere.

## 2. Key assumptions:

- **Interest rates** stay below 4%
  until 2030.
* Demand grows
1. Staff is available

```
- not this
```

### Further assumptions
No strike happens.

## Risks
- not this either
"""


def test_assumptions_are_read_out_of_their_section() -> None:
    assert assumptions_in(OUTPUT) == (
        "Interest rates stay below 4% until 2030.", "Demand grows", "Staff is available", "No strike happens.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", ()),
        ("## Assumptions\n", ()),
        ("## Assumptions\nNone.\n", ()),
        ("**Assumptions:**\n- a b\n\n**Risks**\n- c", ("a b",)),
        ("# Assumptions #\n\nOne line.\n\nAnother line\nthat goes on.", ("One line.", "Another line that goes on.")),
        ("## No such thing\n- a", ()),
    ],
)
def test_assumptions_sections_come_in_many_shapes(output: str, expected: tuple[str, ...]) -> None:
    assert assumptions_in(output) == expected


@pytest.mark.parametrize(
    "text",
    ["# a" + " " * 100_000 + "b", "#" * 100_000, "## " + "1" * 100_000, "- " * 50_000, "*" * 100_000,
     "## Assumptions\n" + "- not 5%\n" * 9_000],
    ids=lambda text: repr(text[:6]),
)  # fmt: skip
def test_a_hundred_kilobytes_are_judged_in_linear_time(text: str) -> None:
    assumed = assumptions_in(text)
    assert assess("comment", text, {"a": assumed[:200], "b": ("Demand grows by 5%.",)}).reason


@given(st.sampled_from(KINDS), st.text(), st.text())
def test_any_text_can_be_judged(kind: str, text: str, assumption: str) -> None:
    assert assess(kind, text, {"economist": (assumption,)}).reason
    assumptions_in(text)
