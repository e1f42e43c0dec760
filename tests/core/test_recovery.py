"""Gates and their recovery, partial rounds, and rounds that are taken back: what is told, kept and forced."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.core.facts import commands as c
from reconvene.core.facts.evolve import fold
from reconvene.core.shown import on_record
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

GATED = """
name: gated
inputs: {gap: text, facts: json}
agents:
  writer:
    retries: 2
    gate:
      - {min_chars: 20}
      - {headings: ["## Report"], example: "## Report: an example\\n\\nIt has a heading."}
      - if: "!/GAP-\\\\d+/.test(output.text)"
        code: NO_GAPS_ADDRESSED
        retry_with: "Address {{ inputs.gap }} specifically."
phases:
  - id: write
    rounds: {max: 5, undo: 2, folder: 'round_{{ round.n|pad(3) }}'}
    steps:
      - {agents: [writer], missing: go_on, writes: ['round_{{ round.n|pad(3) }}/report.md'], output: report}
    checkpoint:
      options:
        - {label: On, then: continue}
        - {label: More, then: again}
        - {label: Redo, undo: true, then: again, fields: [{id: reason, type: text, required: true, into: redo.reason}]}
        - {label: Drop, undo: true, then: continue}
"""
GOOD = "## Report: all well\n\nGAP-7 is closed by a second look."


def played(text: str = GATED, inputs: Mapping[str, object] | None = None) -> Play:
    return Play(parse_workflow(text, "w.yaml", {}), {"gap": "GAP-7", **(inputs or {})})


def write(game: Play, text: str, n: int = 1) -> None:
    game.finish("writer", text, files={f"round_{n:03d}/report.md": text})


def prompt(game: Play, serial: int = 1) -> str:
    return shown(game.state, game.book, f"R{serial}/0/writer").prompt


def attempts(game: Play) -> list[dict[str, object]]:
    return on_record.attempt_rows(game.state)


def test_a_missing_file_is_asked_for_by_its_name():
    game = played()
    assert "round_001/report.md" in prompt(game)
    game.finish("writer", GOOD)
    assert "FILE_MISSING" in prompt(game)
    assert "Write the file round_001/report.md, whole, under exactly this name" in prompt(game)


def test_an_empty_output_is_asked_for_even_if_uncertain():
    game = played()
    write(game, "hm")
    assert "EMPTY_OUTPUT: 2 characters, at least 20 are needed. Produce an output even if you are uncertain" in prompt(
        game
    )


def test_a_wrong_format_brings_the_example():
    game = played()
    write(game, "A report about GAP-7 without any heading.")
    assert "WRONG_FORMAT: these headings are missing: ## Report." in prompt(game)
    assert ">\n## Report: an example\n\nIt has a heading.\n</example-" in prompt(game)


def test_a_rule_of_the_workflow_has_its_own_code_and_names_what_to_do():
    game = played()
    write(game, "## Report: nothing in particular")
    assert "NO_GAPS_ADDRESSED: Address GAP-7 specifically." in prompt(game)
    assert [row["code"] for row in attempts(game)] == ["NO_GAPS_ADDRESSED"]


def test_every_failure_and_the_success_after_it_is_on_record():
    game = played()
    write(game, "hm")
    write(game, GOOD)
    rows = [(row["agent"], row["attempt"], row["verdict"], row["then"], row["code"]) for row in attempts(game)]
    assert rows == [("writer", 1, "rejected", "retry", "EMPTY_OUTPUT"), ("writer", 2, "accepted", "done", "")]


def test_spent_retries_leave_a_partial_round_where_the_step_says_so():
    game = played()
    for _ in range(3):
        write(game, "hm")
    assert game.state.world.open is not None
    assert not game.state.world.open.attention
    assert game.state.world.top.round is not None
    assert game.state.world.top.round.missing == ("writer",)
    assert [row["then"] for row in attempts(game)] == ["retry", "retry", "missing"]


def test_an_undone_round_leaves_the_world_as_it_was_and_its_files_beside():
    game = played()
    write(game, GOOD)
    game.decide("More")
    before = game.state.marks[2]
    write(game, GOOD + " Twice.", 2)
    events = game.decide("Redo", "too abstract", fields={"reason": "no examples"})
    undone = next(event for event in events if type(event).__name__ == "RoundUndone")
    after = fold(game.log[: game.log.index(undone) + 1])
    assert after.world == before
    assert set(after.record.archives) == {"round_002_rolled_back/report.md"}
    assert set(game.state.files) == {"round_001/report.md", "round_002_rolled_back/report.md"}
    assert "round_002_rolled_back" not in prompt(game, 3)
    (row,) = on_record.rollback_rows(game.state, game.book)
    assert (row["round"], row["why"], row["folder"]) == (2, "Redo", "round_002_rolled_back")
    assert row["fields"] == {"reason": "no examples"}
    assert [remark["text"] for remark in row["remarks"]] == ["too abstract"]  # type: ignore[attr-defined]


def test_a_second_archive_does_not_collide_with_the_first():
    game = played()
    write(game, GOOD)
    game.decide("Redo", fields={"reason": "one"})
    write(game, GOOD + " Again.")
    game.decide("Redo", fields={"reason": "two"})
    assert set(game.state.record.archives) == {"round_001_rolled_back/report.md", "round_001_rolled_back_2/report.md"}
    write(game, GOOD + " Finally.")
    assert game.labels == ["On", "More"]


def test_rolling_back_by_command_archives_too():
    game = played()
    write(game, GOOD)
    game.do(c.Rollback(by="ann", remarks=(c.RemarkIn("be concrete"),)))
    assert set(game.state.record.archives) == {"round_001_rolled_back/report.md"}
    (row,) = on_record.rollback_rows(game.state, game.book)
    assert [remark["text"] for remark in row["remarks"]] == ["be concrete"]  # type: ignore[attr-defined]


def test_at_the_limit_the_latest_output_that_passed_stands():
    game = played()
    for text in (GOOD + " One.", GOOD + " Two."):
        write(game, text)
        game.decide("Redo", fields={"reason": "better"})
    for _ in range(3):
        write(game, "hm")
    assert game.context()["report"] == GOOD + " Two."
    assert game.state.world.top.round is not None
    assert not game.state.world.top.round.missing
    forced = next(event for event in game.log if type(event).__name__ == "OutputForced")
    assert (forced.source, forced.passed) == ("R2/0/writer", True)  # type: ignore[union-attr]
    assert game.book.text(game.state.world.files["round_001/report.md"].digest) == GOOD + " Two."


def test_at_the_limit_with_nothing_that_passed_the_fewest_failures_stand():
    game = played()
    two_rules = "Neither heading nor gap, but long enough."
    one_rule = "## Report: a heading and no gap at all"
    for _ in range(2):
        for text in ("hm", one_rule, two_rules):
            write(game, text)
        game.decide("Redo", fields={"reason": "better"})
    for text in (two_rules, "hm", two_rules):
        write(game, text)
    assert game.context()["report"] == one_rule
    forced = next(event for event in game.log if type(event).__name__ == "OutputForced")
    assert (forced.source, forced.passed) == ("R2/0/writer#2", False)  # type: ignore[union-attr]


def test_a_dropped_round_is_not_run_again_and_its_files_are_kept():
    game = played()
    write(game, GOOD)
    game.decide("Drop")
    assert game.state.ended == "completed"
    assert set(game.state.files) == {"round_001_rolled_back/report.md"}


OUTCOME = """
name: ends
agents: {a: {}}
outcome: "%s"
phases: [{id: p, agents: [a], output: x}]
"""


def test_the_workflow_says_what_its_end_came_to():
    game = played(OUTCOME % "context.x")
    game.finish("a", "COMPLETE")
    assert (game.state.ended, game.state.outcome) == ("completed", "COMPLETE")
    game = played(OUTCOME % "({outcome: 'MAX_ROUNDS', status: 'failed', why: 'ten rounds'})")
    game.finish("a")
    assert (game.state.ended, game.state.outcome, game.state.why) == ("failed", "MAX_ROUNDS", "ten rounds")


def test_an_outcome_that_fails_asks_a_person():
    game = played(OUTCOME % "context.x.y.z")
    game.finish("a")
    assert game.state.world.open is not None
    assert [option.label for option in game.state.world.open.options] == [
        "Try again", "Go on without it", "Stop the run",
    ]  # fmt: skip
    game.decide("Go on without it")
    assert (game.state.ended, game.state.outcome) == ("completed", "completed")
    assert game.state.why == "Its outcome is not known: `context.x.y.z` failed."


def test_an_option_that_is_not_offered_says_why():
    game = played("""
name: n
agents: {a: {}}
phases:
  - id: p
    agents: [a]
    output: x
    checkpoint:
      options:
        - {label: Go, then: continue}
        - {label: Accept, when: "context.x === 'fine'", why_not: "it says {{ context.x }}", then: continue}
""")
    game.finish("a", "doubtful")
    assert game.state.world.open is not None
    assert game.state.world.open.options[1].why_not == "it says doubtful"


def test_advice_that_cannot_be_filled_in_is_left_out_and_on_record():
    game = played(GATED.replace("{{ inputs.gap }}", "{{ inputs.facts.far }}"), {"facts": {"near": 1}})
    write(game, "## Report: nothing in particular")
    assert "NO_GAPS_ADDRESSED:" in prompt(game)
    assert "inputs.facts" not in prompt(game)
    assert any("retry_with" in error.said for error in game.state.record.errors)


def test_a_folder_that_cannot_be_named_costs_the_archive_and_not_the_undo():
    text = GATED.replace("folder: 'round_{{ round.n|pad(3) }}'", "folder: 'round_{{ inputs.facts.far }}'")
    game = played(text, {"facts": {}})
    write(game, GOOD)
    game.decide("Redo", fields={"reason": "better"})
    assert not game.state.record.archives
    assert game.state.record.undos == 1
    assert any("inputs.facts" in error.said for error in game.state.record.errors)


def test_a_folder_with_so_long_a_name_that_its_archive_has_none_costs_the_archive_and_not_the_undo():
    long = "r" * 250
    game = played(GATED.replace("round_{{ round.n|pad(3) }}", long))
    game.finish("writer", GOOD, files={f"{long}/report.md": GOOD})
    game.decide("Redo", fields={"reason": "better"})
    assert game.state.record.undos == 1
    assert not game.state.record.archives
    assert any("are not kept beside it" in error.said for error in game.state.record.errors)
