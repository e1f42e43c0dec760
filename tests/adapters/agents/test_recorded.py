"""Recordings react: a correction changes the figure and the conclusion drawn from it."""

from __future__ import annotations

import asyncio

import pytest

from reconvene.adapters.agents import Agents
from reconvene.adapters.agents.stated_figures import last_stated, millions_in, number_in, stated_number
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.kits.reading.figures import asserted
from reconvene.ports import Answer, Assignment, Progress

RECORDING = {
    "facts": {
        "revenue": {"find": r"revenue\D*\$?([\d.,]+ ?(?:m|bn|million|billion)?)", "as": "millions", "default": 850},
        "debt": {"find": r"debt\D*\$?(\d+)", "as": "number", "default": 2700},
        "name": {"find": r"call it (\w+)", "default": "Plan A"},
        "ebitda": {"calc": "facts.revenue * 0.25"},
        "leverage": {"calc": "Math.round(facts.debt / facts.ebitda * 10) / 10"},
    },
    "entries": [
        {"when": {"phase": "check", "attempt": 1}, "fails": "The archive does not answer."},
        {"phase": "score", "value": {"risk": "{{ 'high' if facts.leverage > 12 else 'low' }}",
                                     "leverage": {"calc": "facts.leverage"}, "steps": ["{{ phase }}", 2, None]}},
        {"remark": "shorter", "says": "{{ facts.leverage }}x."},
        {
            "says": "Revenue ${{ facts.revenue }}M, leverage {{ facts.leverage }}x"
            "{% if facts.leverage > 12 %}: too high{% else %}: bearable{% endif %}. "
            "Round {{ round }}, {{ remarks | length }} remarks, by {{ agent }}.",
            "files": {"plan.md": "# {{ facts.name }}\n"},
            "seconds": 2,
            "usage": {"input_tokens": 1200, "output_tokens": 300},
        },
    ],
}  # fmt: skip


def play(
    *remarks: str,
    recording: object = RECORDING,
    phase: str = "draft",
    round: int = 1,
    attempt: int = 1,
    schema: object = None,
    heard: list[Progress] | None = None,
    speed: str = "0",
    prompt: str = "Go.",
    writes: tuple[str, ...] = (),
) -> Answer:
    options = {} if recording is None else {"recording": recording}
    agent = Agent(name="analyst", kind="recorded", recorded="demo", options=options)
    said = tuple(
        {"id": f"FB-{n}", "kind": "correction", "text": text, "target": ""} for n, text in enumerate(remarks, 1)
    )
    assignment = Assignment(
        "r", "R1/0/analyst", attempt, agent, prompt, {"n.md": b"limit 7"}, writes, schema, round, phase, said
    )
    agents = Agents("/nowhere", {"RECONVENE_DEMO_SPEED": speed})
    return asyncio.run(agents.run(assignment, (heard if heard is not None else []).append))


def fails(*remarks: str, **rest: object) -> AgentError:
    with pytest.raises(AgentError) as caught:
        play(*remarks, **rest)  # type: ignore[arg-type]
    return caught.value


def test_without_a_remark_it_says_what_was_recorded() -> None:
    heard: list[Progress] = []
    answer = play(heard=heard)
    assert answer.text == "Revenue $850M, leverage 12.7x: too high. Round 1, 0 remarks, by analyst."
    assert answer.files == {"plan.md": b"# Plan A\n"}
    assert answer.recorded
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cost) == (1200, 300, 0.0)
    assert heard[-1].tokens == 300


def test_a_correction_changes_the_figure_and_the_conclusion() -> None:
    answer = play("Revenue is $900M, not $850M", "and call it Phoenix", round=2)
    assert answer.text == "Revenue $900M, leverage 12x: bearable. Round 2, 2 remarks, by analyst."
    assert answer.files == {"plan.md": b"# Phoenix\n"}


def test_the_last_correction_counts() -> None:
    assert "Revenue $870M" in play("Revenue is $900M, not $850M", "Sorry: revenue is $870 million").text
    assert "Revenue $1200M" in play("revenue was 1.2bn").text


def test_the_first_entry_that_fits_answers() -> None:
    assert play("shorter please").text == "12.7x."


def test_values_are_templates_and_sums_stay_numbers() -> None:
    schema = {"type": "object", "properties": {"leverage": {"type": "number"}}}
    answer = play("revenue is 950", phase="score", schema=schema)
    assert answer.value == {"risk": "low", "leverage": 11.4, "steps": ["score", 2, None]}
    assert '"risk": "low"' in answer.text


def test_a_recorded_failure_fails_and_the_next_attempt_does_not() -> None:
    error = fails(phase="check")
    assert error.message == "The archive does not answer."
    assert error.retryable
    assert play(phase="check", attempt=2).text.startswith("Revenue")


def test_rounds_may_be_listed_or_open_ended() -> None:
    recording = [{"round": 1, "says": "one"}, {"round": [2, 3], "says": "two"}, {"round": "4+", "says": "many"}]
    assert [play(recording=recording, round=n).text for n in (1, 2, 3, 4, 9)] == ["one", "two", "two", "many", "many"]


def test_facts_may_come_from_the_prompt_or_a_file() -> None:
    facts = {
        "word": {"find": r"(\w+)\.", "in": "prompt"},
        "limit": {"find": r"\d+", "in": "n.md", "as": "number"},
        "k": 3,
    }
    recording = [{"facts": facts, "says": "{{ facts.word }} {{ facts.limit + facts.k }}"}]
    assert play(recording=recording).text == "Go 10"


def test_no_entry_for_what_was_asked_says_what_that_was() -> None:
    error = fails("hello", recording=[{"phase": "other", "says": "x"}], round=3)
    assert not error.retryable
    for word in ("demo", "analyst", "draft", "round 3", "hello"):
        assert word in error.message


@pytest.mark.parametrize(
    "recording",
    [None, 3, [3], {"entries": 3}, [{"when": {"moon": "full"}}], [{"remark": "("}], [{"files": 3}], [{"facts": 3}],
     [{"says": "{{ oops"}], [{"facts": {"x": {"calc": "1 +"}}}], [{"facts": {"x": {"find": "("}}}]],
)  # fmt: skip
def test_a_broken_recording_is_an_agent_error(recording: object) -> None:
    assert not fails("hello", recording=recording).retryable


def test_pretended_work_reports_progress_while_it_lasts() -> None:
    heard: list[Progress] = []
    play(heard=heard, speed="0.001")
    assert [progress.tokens for progress in heard] == sorted(progress.tokens for progress in heard)
    assert len(heard) == 20
    assert heard[-1].tokens == 300


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("Revenue is $900M, not $850M", 900),
        ("Revenue is not $850M but $900M.", 900),
        ("It isn't $850M, it is $900M", 900),
        ("It isn’t $850M. It is $900M", 900),
        ("Not $850M: $900M", 900),
        ("It is $900M, it isn't $850M", 900),
        ("Revenue went from $850M to $900M", 900),
        ("change it from $850M to $900M please", 900),
        ("Use $900M instead of $850M", 900),
        ("Use $900M rather than $850M.", 900),
        ("$850M is wrong, it should be $900M", 900),
        ("It should be $900M; $850M was last year's figure", 900),
        ("$900M (we said $850M)", 900),
        ("Revenue is $1,900M", 1900),
        ("Revenue is $900.5M, not $850.5M.", 900.5),
        ("no figure at all", None),
        ("not $850M", None),
    ],
)
def test_a_denied_figure_does_not_count(text: str, figure: float | None) -> None:
    assert stated_number(r"\$([\d.,]+)M", [text]) == figure


def test_figures_are_read_as_people_write_them() -> None:
    assert number_in("1,250.5") == 1250.5
    assert number_in("−3") == -3
    assert number_in("none") is None
    assert isinstance(number_in("900"), int)
    assert [millions_in(text) for text in ("900M", "0.9 bn", "900,000k", "1.2 billion", "900", "x")] == [
        900, 900, 900, 1200, 900, None,
    ]  # fmt: skip
    assert last_stated("yes|no", ["yes", "NO"]) == "NO"
    assert stated_number("x", [], default=4) == 4
    assert asserted("Nothing denied, 5.5 and 1,000.") == "Nothing denied, 5.5 and 1,000."


def test_an_entry_may_depend_on_the_prompt() -> None:
    recording = [{"prompt": "item 'b2'", "says": "the second"}, {"says": "any other"}]
    assert play(recording=recording, prompt="This is about item 'b2' of batches.").text == "the second"
    assert play(recording=recording, prompt="This is about item 'b1' of batches.").text == "any other"


def test_where_one_file_is_asked_for_and_none_is_recorded_what_is_said_is_that_file() -> None:
    said = [{"says": "# Plan {{ round }}"}]
    assert play(recording=said, writes=("round_2/plan.md",), round=2).files == {"round_2/plan.md": b"# Plan 2"}
    assert play(recording=said, writes=("*.md",)).files == {}
    assert play(recording=[{"says": "  "}], writes=("plan.md",)).files == {}
    own = [{"says": "done", "files": {"plan.md": "mine"}}]
    assert play(recording=own, writes=("plan.md",)).files == {"plan.md": b"mine"}
