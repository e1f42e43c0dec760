"""The read model: what an index row holds is an encoded run, and what has nothing to say is left out."""

from __future__ import annotations

import json

import msgspec

from reconvene.app.session import index_row
from reconvene.app.views import projections
from reconvene.app.views import read_model as model
from reconvene.app.views.encoding import encoded, plain
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

WORKFLOW = """
name: small
agents: {a: {}}
phases:
  - id: p
    rounds: {max: 2}
    steps: [{agents: [a]}]
    checkpoint:
      prompt: Good?
      fields: [{id: tone, type: choice, options: [plain, warm], default: plain}]
      options:
        - {label: Next, then: continue}
        - {label: More, then: again, remark: required}
"""


def parked() -> Play:
    game = Play(parse_workflow(WORKFLOW))
    game.finish_all()
    return game


def test_an_index_row_holds_the_run_as_lists_show_it() -> None:
    state = parked().state
    shown = projections.run(state)
    assert msgspec.json.decode(index_row(state).doc, type=model.Run) == shown
    assert shown.checkpoint is not None
    assert [option.label for option in shown.checkpoint.options] == ["Next", "More"]
    assert shown.checkpoint.fields[0].prompt == "tone", "a field without words of its own is asked by its id"


def test_a_run_in_full_says_all_that_a_list_says() -> None:
    game = parked()
    short, full = plain(projections.run(game.state)), plain(projections.in_full(game.state, game.book))
    assert isinstance(short, dict)
    assert isinstance(full, dict)
    assert short.items() <= full.items()


def test_what_has_nothing_to_say_is_left_out_and_what_scripts_rely_on_is_always_there() -> None:
    run = json.loads(encoded(model.Run("r-1", "running", None, None, None, "w", "", "")))
    assert run == {
        "run": "r-1", "status": "running", "phase": None, "round": None, "checkpoint": None,
        "workflow": "w", "started": "", "updated": "",
    }  # fmt: skip
    field = json.loads(encoded(model.Field("f", "confirm", "Sure?", default=False)))
    assert field == {"id": "f", "type": "confirm", "prompt": "Sure?", "default": False}


def test_structs_lists_and_further_keys_are_encoded_together() -> None:
    file = model.File("a.md", 3, "a", "", "p")
    assert json.loads(encoded({"rows": [file, (file,)], "n": 1})) == {"rows": [plain(file), [plain(file)]], "n": 1}
    assert json.loads(encoded(file, run="r-1"))["run"] == "r-1"


def test_the_json_of_an_event_is_flat() -> None:
    event = model.Event(7, "Paused", "2026-03-02T09:00:00.000Z", {"by": "ann"})
    assert encoded(event) == '{"seq": 7, "type": "Paused", "at": "2026-03-02T09:00:00.000Z", "by": "ann"}'
    assert json.loads(encoded([event]))[0]["by"] == "ann"
