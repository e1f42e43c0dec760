"""The life of a remark: who was shown it, who answered how, where it shows, and what is still open."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.app.views.encoding import encoded
from reconvene.app.views.ledger import Citation, Delivery, Entry, Ledger, Reflection, Unknown, ledger
from reconvene.core import kit_finder
from reconvene.core.extensions import Kit
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import (
    AttemptEnded,
    ClaimJudged,
    FileOut,
    FilesEdited,
    FilesRendered,
    Ref,
    RemarkAdded,
    RemarkRead,
    RemarkWithdrawn,
    RoundStarted,
    StepClosed,
    StepStarted,
    TaskStart,
)
from reconvene.core.facts.ids import digest_of
from reconvene.kits.reading.citations import citations
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

# --- citations ---


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("We now use $900M [FB-001].", "We now use $900M"),
        ("(FB-001) is in the second table", "is in the second table"),
        ("Sales declined by 5%, as FB-001 says", "Sales declined by 5%, as says"),
        ("The board declined the offer [FB-001].", "The board declined the offer"),
        ("[FB-001] is not rejected, we use it", "is not rejected, we use it"),
        ("**[fb-1]** Adopted.", "Adopted"),
        ("[FB-001](context.md) done", "done"),
        ("[FB-001]", ""),
    ],
)
def test_a_citation_is_an_answer(text: str, reason: str) -> None:
    assert citations(text) == (Citation("FB-001", "addressed", reason, 1),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[FB-001] declined: margins already include it", "margins already include it"),
        ("Declined [FB-001] because the data is old.", "the data is old"),
        ("- **[FB-001]** Not adopted. The board has not voted.", "The board has not voted"),
        ("[FB-001] is out of scope because it concerns 2040", "it concerns 2040"),
        ("We disagree with [FB-001].", "We disagree with"),
        ("We respectfully disagree. [FB-001]", "We respectfully disagree"),
        ("| FB-001 | declined | no data |", "no data"),
        ("FB-001 was not taken up since nobody can measure it", "nobody can measure it"),
        ("We did not adopt [FB-001]: too early to say", "too early to say"),
        ("[FB-001] lies outside our remit", "lies outside our remit"),
    ],
)
def test_declining_needs_words_that_say_so_and_keeps_the_reason(text: str, reason: str) -> None:
    assert citations(text) == (Citation("FB-001", "declined", reason, 1),)


def test_in_one_line_every_remark_is_judged_by_its_own_words() -> None:
    text = "Intro.\nWe took up [FB-001], but [FB-002] is out of scope because it is late. Both [FB-003, FB-004] stand."
    assert [(found.id, found.how, found.line) for found in citations(text)] == [
        ("FB-001", "addressed", 2),
        ("FB-002", "declined", 2),
        ("FB-003", "addressed", 2),
        ("FB-004", "addressed", 2),
    ]


def test_json_outputs_are_read_by_their_objects_and_texts() -> None:
    value = {
        "answers": [{"remark": "FB-001", "how": "declined", "reason": "too late"}, {"id": "[FB-002]", "how": "done"}],
        "full": "# Report\nRevenue is new [FB-003]\n",
    }
    assert {(found.id, found.how, found.reason) for found in citations(json.dumps(value, indent=1))} == {
        ("FB-001", "declined", "too late"),
        ("FB-002", "addressed", "done"),
        ("FB-003", "addressed", "Revenue is new"),
    }


@given(st.text(alphabet=st.sampled_from('[]FB-019 .,;:{}"\n|declined but'), max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(found.id.startswith("FB-") and found.line > 0 for found in citations(text))


def test_very_long_lines_of_anything_are_read_in_one_go() -> None:
    assert len(citations("[FB-001]" + " " * 100_000 + "[FB-002] " + "(" * 50_000)) == 2
    assert citations("FB-" + "9" * 100_000) == ()


# --- the fold, played ---

WORKFLOW = """
name: small
agents: {a: {}, b: {}, writer: {}}
phases:
  - id: p
    rounds: {max: 4}
    steps:
      - {agents: [a, b], output: findings}
    checkpoint:
      options:
        - {label: Next, then: continue}
        - {label: More, then: again}
        - {label: Undo, undo: true, then: again}
  - id: q
    steps:
      - {agents: [writer], writes: [report.md], output: report}
    checkpoint:
      options:
        - {label: Done, then: continue}
"""


def play() -> Play:
    return Play(parse_workflow(WORKFLOW))


def book(game: Play) -> Ledger:
    return ledger(game.log, lambda ref: game.blobs[ref.digest].decode())


def entry(game: Play, at: int = 0) -> Entry:
    return book(game).entries[at]


def test_a_remark_is_open_until_somebody_answers() -> None:
    game = play()
    game.finish_all()
    assert len(book(game)) == 0
    assert book(game).closure is None
    game.decide("More", "Revenue is $900M, not $850M")
    assert entry(game).status == "delivered"
    assert [delivery.task for delivery in entry(game).delivered] == ["R2/0/a", "R2/0/b"]
    assert entry(game).delivered[0] == Delivery("R2/0/a", "a", "p", 2, entry(game).at)
    game.finish("a", "Nothing to add.")
    assert [e.id for e in book(game).open_remarks()] == ["FB-001"]
    game.finish("b", "Intro\n\nRevenue is $900M now [FB-001].")
    assert entry(game).status == "addressed"
    silent, answer = entry(game).answers
    assert (silent.agent, silent.how, silent.evidence[0].now) == ("a", "silent", "Nothing to add.")
    assert (answer.task, answer.agent, answer.how, answer.line) == ("R2/0/b", "b", "addressed", 3)
    assert (answer.evidence[0].line, answer.evidence[0].now) == (3, "Revenue is $900M now [FB-001].")
    assert book(game).closure == 1.0


def test_a_citation_alone_is_a_claim_and_stays_open_until_the_person_settles_it() -> None:
    game = play()
    game.finish_all()
    game.decide("More", "Add a chapter on wages")
    game.finish("b", "Wages are in chapter 3 [FB-001]")
    claimed = entry(game)
    assert (claimed.status, claimed.open, book(game).closure) == ("claimed", True, 0.0)
    assert claimed.answers[0].evidence[0].now == "Wages are in chapter 3 [FB-001]"
    game.do(c.SettleRemark("fb-001", by="ann"))
    assert (entry(game).status, entry(game).settled, book(game).closure) == ("addressed", "ann", 1.0)
    assert book(game).lines() == ["FB-001 ✓ addressed, says ann · comment: Add a chapter on wages"]


def test_a_verdict_is_an_event_that_says_by_which_rule_and_against_what_it_was_compared() -> None:
    game = play()
    game.finish("a", "Revenue is $850M.")
    game.finish("b")
    game.decide("More", "Revenue is $900M, not $850M")
    game.finish("a", "Revenue is $900M.\n\n## Assumptions\n\n- revenue of $850M\n\nFB-001: taken up")
    (verdict,) = [event for event in game.log if isinstance(event, ClaimJudged)]
    assert (verdict.claim, verdict.id, verdict.task, verdict.verdict) == ("remark", "FB-001", "R2/0/a", "unseen")
    assert (verdict.rule, verdict.version, verdict.said) == ("reading", 1, "taken up")
    assert [game.blobs[file.digest] for file in verdict.before] == [b"Revenue is $850M."]
    assert [(one.line, one.now) for one in verdict.against] == [(5, "- revenue of $850M")]
    assert "“- revenue of $850M” still stands, R2/0/a:5" in book(game).lines()[0]
    game.finish("b")
    game.decide("More")
    game.finish("a", "Revenue is $900M.\n\n## Assumptions\n\n- revenue of $900M")
    assert entry(game).status == "addressed", "it is compared with what stood there before the remark"


def test_a_remark_for_somebody_is_answered_by_them_alone() -> None:
    game = play()
    game.finish("a", "Revenue is $850M.")
    game.finish("b", "Revenue is $850M.")
    game.do(c.AddRemark(c.RemarkIn("Revenue is $900M, not $850M", "correction", "a"), by="ann"))
    game.decide("More")
    game.finish("a", "FB-001: not mine: b\n\nRevenue is $850M.")
    game.finish("b", "Revenue is $900M [FB-001].")
    assert entry(game).status == "delivered"
    assert [answer.agent for answer in entry(game).answers] == ["a"]


def test_an_agent_whose_text_still_says_the_old_figure_keeps_the_remark_open() -> None:
    game = play()
    game.finish("a", "Revenue is $850M.")
    game.finish("b", "The loan rests on revenue of $850M.")
    game.decide("More", "Revenue is $900M, not $850M")
    game.finish("a", "Revenue is $900M.")
    assert entry(game).status == "addressed"
    game.finish("b", "The loan rests on revenue of $850M.")
    assert entry(game).status == "claimed"
    assert book(game).open == ("FB-001",)


def test_where_and_by_whom_a_remark_was_captured_is_kept() -> None:
    game = play()
    game.finish_all()
    game.do(c.AddRemark(c.RemarkIn("Debt is higher", "correction", "a"), by="bo"))
    captured = entry(game)
    assert (captured.kind, captured.target, captured.by, captured.phase, captured.n) == (
        "correction",
        "a",
        "bo",
        "p",
        1,
    )
    assert (captured.status, captured.open, captured.checkpoint) == ("captured", True, "C1")


ASKED = "Add a chapter on wages of union workers"
WAGES = "A chapter on the wages of union workers begins with the collective agreement of March."


def test_declining_without_a_reason_leaves_a_remark_open() -> None:
    game = play()
    game.finish_all()
    game.decide("More", "Add a chapter on wages")
    game.finish("a", "FB-001: declined: noted")
    assert (entry(game).status, entry(game).open) == ("claimed", True)


def test_declined_by_one_and_addressed_by_another_is_addressed_and_both_are_shown() -> None:
    game = play()
    game.finish_all()
    game.decide("More", ASKED)
    game.finish("a", "[FB-001] declined: the survey holds no wages")
    assert entry(game).status == "declined"
    assert not entry(game).open
    game.finish("b", f'FB-001: taken up: "wages of union workers begins with the collective agreement"\n\n{WAGES}')
    assert entry(game).status == "addressed"
    shown = "\n".join(book(game).lines(details=True))
    assert "declined by a in R2/0/a line 1: the survey holds no wages" in shown
    assert "addressed by b in R2/0/b line 1: taken up" in shown


def test_an_agents_later_answer_replaces_its_earlier_one() -> None:
    game = play()
    game.finish_all()
    game.decide("More", ASKED)
    game.finish("a", "[FB-001] declined: the survey holds no wages")
    game.finish("b")
    game.decide("More")
    game.finish("a", WAGES.replace(".", " [FB-001]."))
    assert entry(game).status == "addressed"
    assert [answer.how for answer in entry(game).answers if answer.agent == "a"] == ["declined", "addressed"]


def test_repeating_a_remark_word_for_word_is_no_answer() -> None:
    game = play()
    game.finish_all()
    game.decide("More", "Revenue is $900M")
    game.finish("a", "They said:\n- [FB-001] **Comment:** Revenue is $900M (ann, p round 1)")
    assert entry(game).open


def test_what_an_undone_round_answered_no_longer_counts_but_stays_on_record() -> None:
    game = play()
    game.finish_all()
    game.decide("More", "Revenue is $900M, not $850M")
    game.finish("a", "Revenue is $900M [FB-001]")
    game.finish("b")
    assert entry(game).status == "addressed"
    game.decide("Undo")
    assert entry(game).status == "delivered"
    assert [answer.undone for answer in entry(game).answers] == [True]
    assert [delivery.task for delivery in entry(game).delivered] == ["R2/0/a", "R2/0/b", "R3/0/a", "R3/0/b"]
    assert "(undone since)" in "\n".join(book(game).lines(details=True))


def test_unknown_ids_are_reported_and_change_nothing() -> None:
    game = play()
    game.finish("a", "As [FB-999] says, and [FB-001] too")
    assert book(game).unknown == (Unknown("FB-999", "R1/0/a", 1), Unknown("FB-001", "R1/0/a", 1))
    assert "? FB-999 is cited by R1/0/a (line 1), but there is no such remark." in book(game).lines()


def test_reflected_names_the_file_the_line_and_the_change_there() -> None:
    game = play()
    game.finish_all()
    game.decide("Next", "Revenue is $900M, not $850M", "Shorter")
    text = "# Report\n\nRevenue is $900M.\n\nAll remarks were taken into account [FB-001][FB-002].\n"
    game.finish("writer", files={"report.md": text})
    (place,) = entry(game).reflected
    assert place == Reflection("report.md", "changed", 3, "writer", "", "Revenue is $900M.")
    assert entry(game).status == "reflected"
    assert entry(game, 1).open  # a file that only cites a remark does not show it
    assert book(game).lines()[0] == (
        "FB-001 ✓ reflected in report.md:3 “Revenue is $900M.” · comment: Revenue is $900M, not $850M"
    )


def test_structured_outputs_are_read_from_their_value() -> None:
    game = play()
    game.finish_all()
    game.decide("More", "Add wages")
    said = {"id": "FB-001", "how": "declined", "reason": "the survey of March has no data"}
    game.finish("a", "see the value", value={"answers": [said]})
    assert [(answer.how, answer.reason) for answer in entry(game).answers] == [
        ("declined", "the survey of March has no data")
    ]


def test_an_edit_is_reflected_while_its_lines_stand() -> None:
    game = play()
    game.finish_all()
    game.decide("Next")
    game.finish("writer", files={"report.md": "one\ntwo\n"})
    diff = "--- report.md\n+++ report.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    edited = game.keep(b"one\n2\n")
    game.do(c.RecordEdits((c.EditIn("report.md", edited, 6, game.keep(diff.encode()), "+1 −1 lines"),), by="ann"))
    assert entry(game).kind == "edit"
    assert entry(game).reflected == (Reflection("report.md", "edit"),)
    assert "    reflected in report.md (the edit stands)" in book(game).lines(details=True)


def test_the_ledger_is_plain_json() -> None:
    game = play()
    game.finish_all()
    game.decide("More", "Revenue is $900M, not $850M", "Shorter")
    game.finish("a", "Revenue is $900M [FB-001]")
    row = json.loads(encoded(book(game)))
    assert row["open"] == ["FB-002"]
    assert row["closure"] == 0.5
    assert [(r["id"], r["status"], r["open"]) for r in row["remarks"]] == [
        ("FB-001", "addressed", False),
        ("FB-002", "claimed", True),  # nobody says so, but a text changed
    ]
    assert book(game).lines()[-1] == "Open: FB-002"
    assert Ledger().lines() == ["No remarks yet."]


# --- the fold, on events made by hand ---

AT = "2026-01-01T00:00:00.000Z"


def correction(number: int, was: str, now: str) -> RemarkAdded:
    return RemarkAdded(
        at=AT, id=f"FB-{number:03d}", number=number, kind="correction", text=f"{now}, not {was}", was=was, now=now
    )


def written(text: str, serial: int, remarks: int) -> list[object]:
    return [
        RoundStarted(at=AT, serial=serial, phase="p", scope="p#1", n=serial),
        StepStarted(at=AT, serial=serial, step=0, tasks=(TaskStart("w"),), remarks=remarks),
        StepClosed(at=AT, serial=serial, step=0, files=(FileOut("out.md", digest_of(text.encode()), len(text)),)),
    ]


def status(events: list[object], *texts: str) -> Entry:
    blobs = {digest_of(text.encode()): text for text in texts}
    return ledger(events, lambda ref: blobs[ref.digest]).entries[0]  # type: ignore[arg-type]


def _sectioned(body: str, listed: str) -> Entry:
    """One remark, and a file of an agent in which the engine then lists it."""
    whole = f"{body}\n## Said\n\n{listed}\n\n## After\n\nThe end.\n"
    remark = RemarkAdded(at=AT, id="FB-001", number=1, kind="comment", text="Use euros")
    rendered = FilesRendered(at=AT, files=(FileOut("out.md", digest_of(whole.encode()), len(whole)),))
    blobs = {digest_of(text.encode()): text for text in (body, whole)}
    events = [remark, *written(body, 1, 1), rendered]
    return ledger(events, lambda ref: blobs[ref.digest], sections={"out.md": "## Said"}).entries[0]  # type: ignore[arg-type]


def test_what_the_engine_lists_in_a_file_of_an_agent_is_no_answer() -> None:
    assert _sectioned("# Out\n", "- FB-001 (ann): Use euros").open


def test_what_an_agent_wrote_beside_that_list_is_one() -> None:
    entry = _sectioned("# Out\n\nAll in euros [FB-001].\n", "- FB-001 (ann): Use euros")
    assert entry.reflected == (Reflection("out.md", "cites", 3),)


@pytest.mark.parametrize(
    ("was", "now", "text", "line"),
    [
        ("$850M", "$900M", "# Out\nRevenue of $900 million is assumed.", 2),
        ("$850M", "$900M", "Revenue: 900M", 1),
        ("Monday", "Tuesday next week", "It is on tuesday\nnext week.", 0),
        ("$850M", "$900M", "Revenue of $850M is assumed, costs of €900M.", None),
        ("5%", "7%", "Costs of 7 dollars", None),
        ("Monday", "Tuesday", "It was Tuesdayish", None),
    ],
)
def test_a_corrected_value_is_reflected_where_a_later_file_states_it(
    was: str, now: str, text: str, line: int | None
) -> None:
    found = status([correction(1, was, now), *written(text, 1, 1)], text)
    assert found.reflected == ((Reflection("out.md", "value", line),) if line is not None else ())


def test_a_file_from_before_the_remark_reflects_nothing() -> None:
    text = "Revenue of $900M"
    assert status([*written(text, 1, 0), correction(1, "$850M", "$900M")], text).open


def test_an_edit_that_an_agent_wrote_over_is_open_again() -> None:
    diff, mine, theirs = "@@ -1 +1 @@\n-one\n+two\n", "two\n", "one\n"
    edit = RemarkAdded(
        at=AT, id="FB-001", number=1, kind="edit", text="Edited out.md", path="out.md", diff=digest_of(diff.encode())
    )
    edited = FilesEdited(at=AT, files=(FileOut("out.md", digest_of(mine.encode()), 4),))
    assert status([edited, edit], diff, mine).status == "reflected"
    assert status([edited, edit, *written(theirs, 1, 1)], diff, mine, theirs).status == "delivered"


def test_a_deleted_file_reflects_nothing() -> None:
    gone = FilesEdited(at=AT, files=(FileOut("out.md", ""),))
    assert status([correction(1, "1", "$900M"), *written("$900M", 1, 1), gone], "$900M").open


# --- kits, readings, remarks that were taken back ---

SAID = [
    RemarkAdded(at="t", id="FB-001", number=1, kind="comment", text="the plant is old"),
    RemarkAdded(at="t", id="FB-002", number=2, kind="comment", text="forget this"),
    RemarkRead(at="t", id="FB-001", number=1, kind="correction", now="1970"),
    RemarkWithdrawn(at="t", id="FB-002", number=2),
    RoundStarted(at="t", serial=1, phase="p", scope="p", n=1),
    StepStarted(at="t", serial=1, step=0, tasks=(TaskStart("a"),), remarks=2),
    StepClosed(at="t", serial=1, step=0, files=(FileOut("plan.md", "d"),)),
]


def test_the_last_reading_counts_and_what_was_taken_back_is_not_listed() -> None:
    (entry,) = ledger(SAID, lambda ref: "The plant was built in 1970.")
    assert (entry.id, entry.kind, entry.reflected) == ("FB-001", "correction", (Reflection("plan.md", "value", 1),))


def test_a_kit_of_the_run_judges_what_answers_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Kit("own", judge=lambda text: (Citation("FB-001", "declined", "no time", 1),) if "§1" in text else ())
    monkeypatch.setitem(kit_finder._found, "own", own)
    ended = AttemptEnded(at="t", task="R1/0/a", attempt=1, verdict="accepted", then="done", output=Ref("d"))
    (entry,) = ledger([*SAID, ended], lambda ref: "as to §1", ("own",))
    assert [(answer.agent, answer.how, answer.reason) for answer in entry.answers] == [("a", "declined", "no time")]
    assert not next(iter(ledger([*SAID, ended], lambda ref: "as to §1"))).answers


# --- the list of deliveries that remarks have in common ---


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.sampled_from("abc"), min_size=1, unique=True)), max_size=8))
def test_deliveries_are_those_that_writing_each_down_would_give(steps: list[tuple[int, list[str]]]) -> None:
    log: list[object] = []
    written: dict[int, list[Delivery]] = {}
    said = 0
    for serial, (more, agents) in enumerate(steps, 1):
        for number in range(said + 1, said + more + 1):
            log.append(RemarkAdded(at="t", id=f"FB-{number:03d}", number=number, kind="comment", text="x"))
        said += more
        log.append(RoundStarted(at="t", serial=serial, phase="p", scope="p", n=serial))
        tasks = tuple(TaskStart(agent) for agent in agents)
        log.append(StepStarted(at="t", serial=serial, step=0, tasks=tasks, remarks=said))
        for agent in agents:
            for number in range(1, said + 1):
                delivery = Delivery(f"R{serial}/0/{agent}", agent, "p", serial, "t")
                written.setdefault(number, []).append(delivery)
    book = ledger(log, lambda ref: "")  # type: ignore[arg-type]
    for entry in book:
        expected = written.get(entry.number, [])
        assert list(entry.delivered) == expected
        assert list(entry.delivered.agents) == list(dict.fromkeys(delivery.agent for delivery in expected))
        assert entry.delivered[-1:] == expected[-1:]
        with pytest.raises(IndexError):
            entry.delivered[len(expected)]
    rows = json.loads(encoded(book))["remarks"]
    assert [len(row["delivered"]) for row in rows] == [len(written.get(entry.number, [])) for entry in book]
