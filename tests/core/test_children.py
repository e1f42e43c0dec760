"""Splitting in the pure core: what a decision starts, what each child is given, what the queue may and may not do."""

from __future__ import annotations

import pytest

from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.book import to_json
from reconvene.core.facts.evolve import fold
from reconvene.core.facts.state import EMPTY, children_of
from reconvene.core.run.handle import handle
from reconvene.core.run.plan import StartChild, plan
from reconvene.errors import Refused
from reconvene.testing.play import Play
from reconvene.wire.pins import pin
from reconvene.wire.snapshot_json import decode_state, encode_state
from reconvene.wire.workflow_file import parse_workflow

SPLIT = """
name: split
inputs:
  description: {type: text, required: true}
  depth: {type: number, default: 2}
settings:
  careful: {type: bool, default: false}
  long: {type: bool, expr: "inputs.description.length > 10"}
limits: {children: 4}
agents: {a: {}}
phases:
  - id: triage
    agents: [a]
    output: triage
    rounds: {max: 5}
    checkpoint:
      fields: [{id: only, type: text, into: only}]
      options:
        - {label: Split, start: {workflow: split, each: context.triage.pieces}, then: {end: split}}
        - {label: Queue and go on, start: {workflow: split, each: context.triage.pieces}, then: continue}
        - label: Queue with inputs
          start:
            workflow: split
            each: context.triage.pieces
            inputs: {description: "inputs.description + ': ' + item.title", depth: item.index + 10}
          then: again
        - {label: Queue what I wrote, start: {workflow: split, each: "[context.only]"}, then: continue}
        - {label: Elsewhere, start: {workflow: early-exit, each: context.triage.pieces}, then: {end: split}}
        - {label: Discuss, remark: required, then: again}
        - {label: Go on, then: continue}
  - id: work
    agents: [a]
    output: done
    checkpoint:
      options:
        - {label: Done, then: continue}
        - {label: Back, then: {goto: triage}}
"""
PIECES = [
    {"id": "api", "title": "New API endpoint", "description": "Add GET /things."},
    {"id": "cli", "title": "CLI help", "description": "Rewrite the help."},
]


INPUTS = {"description": "All of it", "depth": 3}


def triaged(pieces: object = PIECES, **settings: object) -> Play:
    chosen = {"careful": False, "long": False, **settings}
    game = Play(parse_workflow(SPLIT), INPUTS, chosen)
    game.finish("a", value={"pieces": pieces})
    return game


def queued(game: Play) -> list[e.Child]:
    return [child for event in game.log if isinstance(event, e.ChildrenQueued) for child in event.children]


def make(game: Play, key: str) -> None:
    game.do(c.RecordChild(key, f"run-1.{key}"))


# --- the decision ---


def test_the_decision_and_what_it_starts_are_one_append_in_the_order_of_the_pieces() -> None:
    game = triaged()
    events = game.decide("Split")
    assert [type(event).__name__ for event in events][:3] == ["DecisionRecorded", "ChildrenQueued", "RunEnded"]
    assert [(child.key, child.run, child.title) for child in queued(game)] == [
        ("api", "run-1.api", "New API endpoint"),
        ("cli", "run-1.cli", "CLI help"),
    ]
    places = [child.place for child in queued(game)]
    assert places == sorted(places)
    assert len(set(places)) == 2


def test_children_of_an_ended_run_are_planned_until_each_is_on_record() -> None:
    game = triaged()
    game.decide("Split")
    assert game.state.ended == "completed"
    assert game.effects() == [StartChild("api"), StartChild("cli")]
    make(game, "cli")
    assert game.effects() == [StartChild("api")]
    make(game, "api")
    assert game.effects() == []
    assert game.do(c.RecordChild("api", "run-1.api")) == []
    assert game.do(c.RecordChild("nobody", "run-1.nobody")) == []


def test_children_are_planned_beside_the_agents_when_the_run_goes_on() -> None:
    game = triaged()
    game.decide("Queue and go on")
    assert [type(effect).__name__ for effect in game.effects()] == ["StartChild", "StartChild", "RunTask"]
    game.finish("a")
    assert game.labels == ["Done", "Back"]
    assert len(game.effects()) == 2, "an open checkpoint does not hold them back"
    game.do(c.Pause())
    assert game.effects() == []


def test_a_child_is_given_the_parents_inputs_with_the_piece_in_place_of_the_description() -> None:
    game = triaged()
    game.decide("Split")
    given = [game.book.object(child.inputs) for child in queued(game)]
    assert given == [{"description": piece["description"], "depth": 3} for piece in PIECES]
    assert {child.workflow for child in queued(game)} == {game.state.workflow}


def test_inputs_of_the_option_come_before_the_parents() -> None:
    game = triaged()
    game.decide("Queue with inputs")
    assert [game.book.object(child.inputs) for child in queued(game)] == [
        {"description": "All of it: New API endpoint", "depth": 10},
        {"description": "All of it: CLI help", "depth": 11},
    ]


def test_a_chosen_setting_is_kept_and_one_that_follows_from_the_inputs_follows_from_the_childs() -> None:
    game = triaged(careful=True)
    game.decide("Split")
    assert [game.book.object(child.settings) for child in queued(game)] == [{"careful": True, "long": True}] * 2
    game = triaged([{"id": "x", "description": "short"}])
    game.decide("Split")
    assert game.book.object(queued(game)[0].settings) == {"careful": False, "long": False}


def test_the_pieces_are_told_after_the_decision_has_set_its_values() -> None:
    game = triaged()
    game.decide("Queue what I wrote", fields={"only": "Just this"})
    assert [child.title for child in queued(game)] == ["Just this"]


def test_texts_are_pieces_too() -> None:
    game = triaged(["Mend the door\nand paint it", "Sweep"])
    game.decide("Split")
    assert [(child.key, child.title) for child in queued(game)] == [("1", "Mend the door and paint it"), ("2", "Sweep")]
    assert game.book.object(queued(game)[0].inputs)["description"] == "Mend the door\nand paint it"


@pytest.mark.parametrize(
    ("given", "key"),
    [("../../etc/passwd", "etc-passwd"), ("A b/ç:d", "A-b-d"), ("", "1"), ("…", "1"), ("x" * 90, "x" * 40), (7, "7")],
)
def test_keys_are_safe_whatever_an_agent_wrote(given: object, key: str) -> None:
    game = triaged([{"id": given, "title": "T"}])
    game.decide("Split")
    assert [child.key for child in queued(game)] == [key]


def test_pieces_of_the_same_id_get_keys_of_their_own() -> None:
    game = triaged([{"id": "x", "title": "One"}, {"id": "X", "title": "Two"}, {"id": "x-2", "title": "Three"}])
    game.decide("Split")
    assert [child.key for child in queued(game)] == ["x", "X-2", "x-2-2"]


def test_a_piece_that_was_started_before_is_not_started_again() -> None:
    game = triaged()
    game.decide("Queue and go on")
    game.finish("a")
    game.decide("Back")
    more = [*PIECES, {"id": "docs", "title": "Docs"}]
    game.decide("Discuss", "there is more")
    game.finish("a", value={"pieces": more})
    game.decide("Queue and go on")
    assert [child.key for child in queued(game)] == ["api", "cli", "docs"]


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        (None, "must give a list"),
        ("text", "must give a list"),
        ([], "gives no piece"),
        ([{"id": "a", "title": "A"}, {}], "piece 2 says nothing"),
        ([{"id": str(n), "title": str(n)} for n in range(5)], "limit children is 4"),
    ],
)
def test_what_cannot_be_started_is_refused_and_nothing_is_recorded(pieces: object, why: str) -> None:
    game = triaged(pieces)
    before = game.state
    with pytest.raises(Refused, match=why) as refused:
        game.decide("Split", "a remark")
    assert refused.value.hint
    assert game.state is before
    assert "Go on" in game.labels


def test_an_expression_that_fails_is_refused_in_its_own_words() -> None:
    game = Play(
        parse_workflow(SPLIT.replace("each: context.triage.pieces}", "each: context.triage.no.pieces}")), INPUTS
    )
    game.finish("a", value={})
    with pytest.raises(Refused, match=r"`context.triage.no.pieces` failed"):
        game.decide("Split")


def test_another_workflow_is_the_one_that_the_decision_brought_along() -> None:
    game = triaged()
    with pytest.raises(Refused, match=r"'early-exit'.*was not loaded"):
        game.decide("Elsewhere")
    other = parse_workflow("name: early-exit\ninputs: {what: {required: true}, depth: number}\n" + AGENTS)
    digest = game.keep(pin(other))
    game.do(c.AnswerCheckpoint("", "Elsewhere", by="ann", workflows={"early-exit": c.Pinned(digest, other)}))
    assert [(child.workflow, child.name) for child in queued(game)] == [(digest, "early-exit")] * 2
    assert game.book.object(queued(game)[1].inputs) == {"what": "Rewrite the help.", "depth": 3}


def test_a_workflow_that_would_lack_an_input_is_refused() -> None:
    game = triaged()
    other = parse_workflow("name: early-exit\ninputs: {spec: {type: file, required: true}}\n" + AGENTS)
    command = c.AnswerCheckpoint("", "Elsewhere", workflows={"early-exit": c.Pinned(game.keep(pin(other)), other)})
    with pytest.raises(Refused, match="needs the input spec"):
        game.do(command)


AGENTS = "agents: {a: {}}\nphases: [{id: one, agents: [a]}]\n"


# --- afterwards ---

GROUP = """
name: group
inputs: {description: {default: all}}
agents: {a: {}}
phases:
  - id: group
    phases:
      - id: inner
        agents: [a]
        output: pieces
        checkpoint: {options: [{label: Queue, start: {workflow: group, each: context.pieces}, then: continue}]}
    checkpoint: {options: [{label: Done, then: continue}]}
"""


def test_a_round_whose_decision_started_runs_cannot_be_undone() -> None:
    game = Play(parse_workflow(GROUP))
    game.finish("a", value=["one"])
    game.decide("Queue")
    assert game.phase == "group", "the checkpoint of the round around the decision"
    with pytest.raises(Refused, match=r"started other runs.*fork"):
        game.do(c.Rollback())


def test_a_later_round_can_be_undone_and_the_children_stay() -> None:
    game = triaged()
    game.decide("Queue with inputs")
    game.finish("a", value={"pieces": []})
    game.do(c.Rollback())
    assert [one.child.key for one in children_of(game.state)] == ["api", "cli"]


def test_children_stay_behind_when_a_run_is_forked() -> None:
    game = triaged()
    game.decide("Queue and go on")
    forked = e.Forked(at=game.now(), run="run-1-fork-1", source="run-1", source_seq=len(game.log))
    state = fold([*game.log, forked])
    assert children_of(state) == []
    assert not any(isinstance(effect, StartChild) for effect in plan(state, game.book))


def test_children_survive_a_snapshot() -> None:
    game = triaged()
    game.decide("Split")
    make(game, "api")
    assert decode_state(encode_state(game.state)) == game.state


# --- the child in the queue ---


def child() -> tuple[Play, list[e.AnyEvent]]:
    """A queued child, played by hand, and the events of its start."""
    parent = triaged()
    parent.do(c.AddRemark(c.RemarkIn("Revenue is $900M, not $850M", "correction"), by="ann"))
    parent.decide("Split", "and keep it short")
    (first, _) = queued(parent)
    remarks = tuple(parent.state.record.remarks[number] for number in sorted(parent.state.record.remarks))
    parent.state, parent.log = EMPTY, []
    start = c.StartRun(
        first.run, first.workflow, first.name, first.inputs, first.settings, "/there", "ann", "queue",
        parent="run-1", piece=first.key, title=first.title, place=first.place, remarks=remarks,
    )  # fmt: skip
    return parent, parent.do(start, "")


def test_a_queued_run_has_begun_nothing_and_knows_where_it_comes_from() -> None:
    game, events = child()
    assert [type(event).__name__ for event in events] == ["RunStarted", "RemarkAdded", "RemarkAdded"]
    assert (game.state.status, game.state.parent, game.state.piece) == ("queued", "run-1", "api")
    assert game.effects() == []
    assert decode_state(encode_state(game.state)) == game.state


def test_remarks_are_inherited_as_they_were_weighed_with_where_they_were_made() -> None:
    parent = triaged()
    parent.do(c.AddRemark(c.RemarkIn("Revenue is $900M, not $850M", "correction"), by="ann"))
    weighed = parent.state.record.remarks[1]
    game, _ = child()
    first, second = (game.state.record.remarks[number] for number in (1, 2))
    assert (first.id, first.kind, first.was, first.now, first.by) == ("FB-001", "correction", "$850M", "$900M", "ann")
    assert (first.level, first.reason) == (weighed.level, weighed.reason)
    assert first.reason
    assert [first.origin, second.origin] == ["run-1 FB-001", "run-1 FB-002"]
    assert (first.checkpoint, first.phase, first.n) == ("", "", 0)


def test_inherited_remarks_reach_the_first_agent_with_those_made_in_the_queue() -> None:
    from reconvene.prompts.context import shown

    game, _ = child()
    game.do(c.AddRemark(c.RemarkIn("one more thing"), by="bob"))
    game.do(c.Claim("ann", "test"))
    task = game.effects()[0]
    prompt = shown(game.state, game.book, task.task).prompt  # type: ignore[union-attr]
    assert "Revenue is $900M, not $850M (ann, in run-1 FB-001" in prompt
    assert "one more thing" in prompt


def test_whoever_claims_a_queued_run_takes_it_out_of_the_queue_and_begins_it() -> None:
    game, _ = child()
    events = game.do(c.Claim("ann", "test"))
    assert isinstance(events[0], e.QueueLeft)
    assert game.state.status == "running"
    assert game.working() == ["a"]
    assert game.do(c.Claim("ann", "test")) == []


def test_a_run_is_moved_and_dropped_only_while_it_is_queued() -> None:
    game, _ = child()
    game.do(c.MoveInQueue("5", "ann"))
    assert game.state.place == "5"
    assert game.do(c.MoveInQueue("5", "ann")) == []
    game.do(c.Claim())
    for command in (c.MoveInQueue("6"), c.DropQueued("ann")):
        with pytest.raises(Refused, match=r"run-1\.api is running, not in the queue") as refused:
            game.do(command)
        assert "reconvene queue" in refused.value.hint


def test_a_dropped_run_is_aborted_as_dropped_and_renders_nothing() -> None:
    game, _ = child()
    assert [type(event).__name__ for event in game.do(c.DropQueued("ann"))] == ["RunEnded"]
    assert (game.state.status, game.state.outcome, game.state.place) == ("aborted", "dropped", "")
    assert game.do(c.DropQueued("ann")) == []
    assert game.do(c.Claim()) == []


def test_there_is_nothing_to_pause_in_the_queue() -> None:
    game, _ = child()
    assert game.do(c.Pause("ann")) == []
    assert game.state.status == "queued"


def test_the_same_decision_twice_starts_nothing_twice() -> None:
    game = triaged()
    command = c.AnswerCheckpoint("C1", "Split", by="ann")
    game.do(command)
    assert handle(game.state, command, game.now(), game.book).events == []
    assert to_json([child.key for child in queued(game)]) == b'["api","cli"]'
