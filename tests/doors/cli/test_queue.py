"""`reconvene queue` in real processes: what it lists, what it changes, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from reconvene.testing.openai_server import Fail, OpenAIServer, Reply, Say, Seen

if TYPE_CHECKING:
    from commands import Command, Done

# The worker fails a piece that is broken, and asks about one that is unclear.
SPLIT = """\
name: split
inputs: {description: {type: text, required: true}, piece: {type: bool, default: false}}
agents:
  scout: {command: ["sh", "-c", "cat >/dev/null; cat ../../../pieces.json"]}
  worker: {command: ["sh", "-c", "cat >/dev/null; echo done"]}
files: [{path: about.md, template: "{{ inputs.description }}"}]
phases:
  - id: triage
    when: "!inputs.piece"
    agents: [scout]
    output: triage
    checkpoint:
      prompt: Split it?
      options:
        - {label: Split, start: {workflow: split, each: context.triage, inputs: {piece: "true"}}, then: {end: split}}
        - {label: Keep, then: continue}
  - id: work
    agents: [worker]
    check: {rules: [{if: "inputs.description.includes('broken')", then: abort}]}
    checkpoint:
      condition: inputs.description.includes('unclear')
      prompt: Is it good?
      options: [{label: Good, then: continue}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "split.yaml").write_text(SPLIT.replace("../../../pieces.json", str(tmp_path / "pieces.json")))
    return tmp_path


def split(reconvene: Command, folder: Path, *titles: str, drive: bool = True) -> Done:
    pieces = ", ".join(f'{{"id": "p{n}", "title": "{title}"}}' for n, title in enumerate(titles, start=1))
    (folder / "pieces.json").write_text(f"[{pieces}]")
    run = str(reconvene("run", "split.yaml", "--input", "description=all of it", "--json").object["run"])
    done = reconvene("decide", run, "--option", "Split", *([] if drive else ["--no-drive"]))
    assert done.code == 0, done.err
    return done


def queued(reconvene: Command) -> list[object]:
    return [row["run"] for row in reconvene("queue", "--json").objects]


def test_a_split_says_what_waits_and_how_to_go_on(reconvene: Command, folder: Path) -> None:
    done = split(reconvene, folder, "one", "two")
    assert "2 pieces are in the queue; work them off with: reconvene queue run" in done.out
    listed = reconvene("queue")
    assert listed.code == 0
    rows = [line.split() for line in listed.out.splitlines()]
    assert rows[1] == ["1", "split-1.p1", "split-1", "–", "one"]
    assert rows[2] == ["2", "split-1.p2", "split-1", "–", "two"]
    assert reconvene("queue", "--json").objects[1] | {"since": ""} == {
        "position": 2, "run": "split-1.p2", "parent": "split-1", "title": "two", "workflow": "split", "since": "",
        "siblings": [{"run": "split-1.p1", "status": "queued", "title": "one"}],
    }  # fmt: skip


def test_runs_and_show_know_the_family(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one", "unclear")
    assert reconvene("queue", "run").code == 3
    rows = {row["run"]: row for row in reconvene("runs", "--json").objects}
    assert rows["split-1.p1"]["parent"] == "split-1"
    assert [child["run"] for child in rows["split-1"]["children"]] == ["split-1.p1", "split-1.p2"]
    table = reconvene("runs").out
    assert "piece of split-1: one" in table
    assert "started 2 runs" in table
    shown = reconvene("show", "split-1").out
    assert "split-1.p1  completed  one" in shown
    assert "split-1.p2  waiting at work  unclear" in shown
    assert "this is its piece 'unclear'" in reconvene("show", "split-1.p2").out
    assert "unclear: Is it good?" in reconvene("inbox").out


def test_an_empty_queue_is_said_and_is_no_error(reconvene: Command) -> None:
    for words in (("queue",), ("queue", "run")):
        done = reconvene(*words)
        assert done.code == 0
        assert done.out.startswith("no runs here (RECONVENE_HOME is ")
    assert reconvene("demo", "early-exit").code == 0
    for words in (("queue",), ("queue", "run")):
        done = reconvene(*words)
        assert (done.code, done.out) == (0, "the queue is empty\n")
    assert reconvene("queue", "--json").json == []
    assert reconvene("--json", "queue", "run").json == []


def test_a_run_that_fails_or_waits_does_not_hold_up_the_next(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "broken", "unclear", "three")
    done = reconvene("queue", "run")
    assert done.code == 3
    assert done.out.splitlines()[-3:] == ["split-1.p1: failed", "split-1.p2: waiting", "split-1.p3: completed"]
    assert "split-1.p2 waits for a person, and is left waiting" in done.err
    assert queued(reconvene) == []


@pytest.mark.parametrize(("titles", "code"), [(("one", "two"), 0), (("broken", "two"), 1), (("one", "unclear"), 3)])
def test_the_exit_code_tells_the_worst(reconvene: Command, folder: Path, titles: tuple[str, ...], code: int) -> None:
    split(reconvene, folder, *titles)
    done = reconvene("queue", "run", "--json")
    assert done.code == code
    assert [row["run"] for row in done.objects] == ["split-1.p1", "split-1.p2"]


def test_the_queue_is_worked_off_in_the_order_that_the_person_gave_it(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one", "two", "three")
    assert reconvene("queue", "move", "split-1.p3", "first").out == "split-1.p3 is number 1 in the queue\n"
    assert reconvene("queue", "move", "split-1.p1", "last", "--json").json == {"run": "split-1.p1", "position": 3}
    assert queued(reconvene) == ["split-1.p3", "split-1.p2", "split-1.p1"]
    done = reconvene("queue", "run", "--json")
    assert [row["run"] for row in done.objects] == ["split-1.p3", "split-1.p2", "split-1.p1"]


def test_a_move_that_makes_no_sense_is_refused_in_plain_words(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one", "two")
    for position, words in (("zero", "'zero' is not a position"), ("0", "is not a position"), ("9", "The queue has 2")):
        done = reconvene("queue", "move", "split-1.p1", position)
        assert done.code == 64
        assert words in done.err
    assert "split-1 is completed, not in the queue" in reconvene("queue", "move", "split-1", "1").err
    assert reconvene("queue", "shuffle").code == 64


def test_a_dropped_run_is_gone_from_the_queue_and_its_log_stays(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one", "two")
    assert reconvene("queue", "drop", "split-1.p1").code == 0
    assert queued(reconvene) == ["split-1.p2"]
    summary = reconvene("show", "split-1.p1", "--json").object
    assert (summary["status"], summary["outcome"]) == ("aborted", "dropped")
    assert reconvene("queue", "drop", "split-1.p1").code == 0, "said twice, it is done once"
    assert reconvene("queue", "run").code == 0
    refused = reconvene("queue", "drop", "split-1.p2")
    assert refused.code == 64
    assert "split-1.p2 is completed, not in the queue" in refused.err


def test_resume_begins_a_queued_run_out_of_turn(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one", "two")
    assert reconvene("runs", "--status", "queued", "--json").objects[0]["status"] == "queued"
    assert "the queue holds some" in reconvene("resume").err
    assert reconvene("resume", "split-1.p2", "--json").object["status"] == "completed"
    assert queued(reconvene) == ["split-1.p1"]
    assert reconvene("queue").out.splitlines()[1].split()[3:5] == ["1", "completed"]


def test_remarks_are_welcome_in_the_queue_and_there_is_nothing_to_pause(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one")
    assert reconvene("remark", "split-1.p1", "use blue").code == 0
    done = reconvene("pause", "split-1.p1")
    assert (done.code, "is queued" in done.out) == (3, True)
    reconvene("queue", "run")
    delivered = reconvene("ledger", "split-1.p1", "--details").out
    assert "delivered to worker" in delivered


@pytest.mark.parametrize("words", [("queue", "run"), ("resume", "split-1")])
def test_pieces_that_were_decided_and_not_made_are_made_later(
    reconvene: Command, folder: Path, words: tuple[str, ...]
) -> None:
    told = split(reconvene, folder, "one", "two", drive=False)
    assert "reconvene resume split-1" in told.out
    listed = reconvene("queue").out
    assert "pieces of split-1 are still to be put into the queue: reconvene resume split-1" in listed
    assert "unmade" in reconvene("show", "split-1").out
    assert reconvene(*words).code == 0
    assert reconvene("queue", "run").code == 0
    statuses = [child["status"] for child in reconvene("show", "split-1", "--json").object["children"]]
    assert statuses == ["completed", "completed"]


def test_the_first_pieces_of_several_parents_keep_their_turn(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one", "two")
    split(reconvene, folder, "three")
    assert queued(reconvene) == ["split-1.p1", "split-1.p2", "split-2.p1"]


def test_a_piece_that_cannot_be_driven_is_reported_and_the_next_one_begins(reconvene: Command, folder: Path) -> None:
    split(reconvene, folder, "one", "two")
    place = folder / ".reconvene" / "runs" / "split-1.p1"
    place.write_text("a file where its folder should be")
    done = reconvene("queue", "run", "--json")
    assert done.code == 1, done.err
    assert [row["status"] for row in done.objects][1:] == ["completed"]
    assert "error" in done.objects[0]


# --- a provider that fails ---


class Far:
    """A server that answers what is about something far only once it is up."""

    up = False

    def __call__(self, seen: Seen) -> Reply:
        if "far away" in seen.prompt and not self.up:
            return Fail(503, "be right back", retry_after=3600)
        return Say("done")


@pytest.fixture
def far(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Far]:
    text = (folder / "split.yaml").read_text()
    worker = 'worker: {command: ["sh", "-c", "cat >/dev/null; echo done"]}'
    assert worker in text
    model = 'worker: {model: "openai:m", prompt: "Do this: {{ inputs.description }}"}'
    (folder / "split.yaml").write_text(text.replace(worker, model))
    found = Far()
    with OpenAIServer(found) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield found


def test_a_piece_that_waits_for_a_provider_lets_the_others_go_on_and_is_told(
    reconvene: Command, folder: Path, far: Far
) -> None:
    split(reconvene, folder, "far away", "near")
    worked = reconvene("queue", "run")
    assert worked.code == 3
    assert "split-1.p1 waits for a provider, and is left waiting" in worked.err
    assert worked.out.endswith("split-1.p1: waiting\nsplit-1.p2: completed\n")
    # the run that was split has ended, and knows how its pieces stand
    shown = reconvene("show", "split-1").out
    assert "split-1.p1  waiting at work  far away" in shown
    assert reconvene("show", "split-1", "--json").object["status"] == "completed"

    listed = reconvene("queue").out
    assert listed.startswith("the queue is empty\n")
    assert "split-1.p1 waits for openai:m; nobody tries before " in listed
    assert "then: reconvene queue run; at once: reconvene resume split-1.p1 --now" in listed
    early = reconvene("queue", "run")
    assert (early.code, "nobody tries before" in early.out) == (0, True)
    assert queued(reconvene) == []

    far.up = True
    assert reconvene("resume", "split-1.p1", "--now").code == 0
    assert reconvene("queue").out == "the queue is empty\n"


def test_a_piece_whose_time_has_come_is_taken_up_with_the_queue(reconvene: Command, folder: Path, far: Far) -> None:
    split(reconvene, folder, "far away", "near")
    assert reconvene("queue", "run").code == 3
    far.up = True
    with patch("reconvene.surroundings.SystemClock.now", lambda _: "2999-01-01T00:00:00.000Z"):
        done = reconvene("queue", "run", "--json")
    assert done.code == 0
    assert [(row["run"], row["status"]) for row in done.objects] == [("split-1.p1", "completed")]


def test_a_run_that_waits_for_its_provider_after_it_was_split_is_taken_up_beside_its_pieces(
    reconvene: Command, folder: Path, far: Far
) -> None:
    flow = folder / "split.yaml"
    flow.write_text(flow.read_text().replace("then: {end: split}}", "then: continue}"))
    pieces = '[{"id": "p1", "title": "far away"}, {"id": "p2", "title": "near"}]'
    (folder / "pieces.json").write_text(pieces)
    reconvene("run", "split.yaml", "--input", "description=all that is far away")
    parent = reconvene("decide", "split-1", "--option", "Split", "--json")
    assert (parent.code, parent.object["reason"]) == (3, "provider")
    assert queued(reconvene) == ["split-1.p1", "split-1.p2"]
    worked = reconvene("queue", "run", "--json")
    assert [(row["run"], row["status"]) for row in worked.objects] == [
        ("split-1.p1", "waiting"),
        ("split-1.p2", "completed"),
    ]
    table = reconvene("inbox").out
    assert table.count("provider") >= 2
    far.up = True
    assert reconvene("resume", "split-1", "--now").code == 0
    assert reconvene("resume", "split-1.p1", "--now").code == 0
    assert {str(row["status"]) for row in reconvene("runs", "--json").objects} == {"completed"}
