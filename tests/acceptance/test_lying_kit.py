"""A kit of somebody else that fails or lies, at every port: nothing said or done is lost, and the kit is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.installing import install

from commands import Done
from exploring import part
from forks import Forks

PACKAGE = Path(__file__).resolve().parents[1] / "fixtures" / "lying-kit"
RUN = "asking-1"

Typed = Callable[..., Done]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("site")
    install(PACKAGE, target)
    return str(target)


@pytest.fixture
def typed(tmp_path: Path, installed: str, forks: Forks) -> Typed:
    """Words of a command, and which lies the kit tells meanwhile."""

    def run(*words: str, lie: str = "") -> Done:
        calls = str(tmp_path / "calls")
        done = forks.command(*words, cwd=tmp_path, PYTHONPATH=installed, LIE=lie, CALLS=calls)
        assert "bug in reconvene" not in done.err, done.err
        return done

    return run


@pytest.fixture
def calls(tmp_path: Path) -> Callable[[], list[str]]:
    return lambda: (tmp_path / "calls").read_text(encoding="utf-8").split()


def prompt(done: Done) -> str:
    return str(done.object["checkpoint"]["prompt"])  # type: ignore[index]


def remarks(typed: Typed) -> list[tuple[object, ...]]:
    events = [json.loads(line) for line in typed("log", RUN, "--json").out.splitlines()]
    return [(one["kind"], one["text"], one["level"]) for one in events if one["type"] == "RemarkAdded"]


@pytest.mark.parametrize(
    ("lie", "said"),
    part(
        [
            *(
                (f"track={how}", "The tracker of the kit 'lying' failed: ")
                for how in ("raise", "exit", "none", "object", "keys", "nan", "bytes", "half", "cycle", "deep", "other")
            ),
            *((f"objection={how}", "The tracker of the kit 'lying' failed: ") for how in ("raise", "number", "deep")),
            *((f"gate={how}", "The gate 'signed' of the kit 'lying' failed: ") for how in ("raise", "exit", "text")),
            *((f"pick={how}", "The word 'first' of the kit 'lying' failed: ") for how in ("raise", "number", "text")),
        ],
        5,
    ),
)
def test_what_agents_gave_stays_and_the_kit_is_asked_again(
    typed: Typed, calls: Callable[[], list[str]], lie: str, said: str
) -> None:
    stopped = typed("run", "lying/asking", "--no-input", "--json", lie=lie)
    assert stopped.code == 3
    assert said in prompt(stopped)
    assert prompt(stopped).count("failed") == (2 if lie.startswith("objection") else 1)
    before = [] if lie.startswith("pick") else sorted(calls())
    assert len(before) == len(set(before))
    again = typed("decide", RUN, "--latest", "--option", "Try again", "--json", lie=lie)
    assert said in prompt(again)
    assert before == ([] if lie.startswith("pick") else sorted(calls())), "an agent was asked again"
    mended = typed("decide", RUN, "--latest", "--option", "Try again", "--json")
    assert prompt(mended) == "2 of 7"
    assert sorted(calls()) == ["ann", "bob", "bob"]


@pytest.mark.parametrize("piece", part(["track", "objection", "gate", "pick"], 2))
def test_a_person_may_go_on_without_what_the_kit_says(typed: Typed, calls: Callable[[], list[str]], piece: str) -> None:
    lie = f"{piece}=raise"
    assert typed("run", "lying/asking", "--no-input", lie=lie).code == 3
    on = typed("decide", RUN, "--latest", "--option", "Go on without it", "--json", lie=lie)
    assert prompt(on) == (" of 7" if piece == "track" else "2 of 7")
    assert sorted(calls()) == ["ann", "bob", "bob"]


def test_an_output_that_is_sent_back_after_all_is_made_again(
    typed: Typed, calls: Callable[[], list[str]], tmp_path: Path
) -> None:
    text = (PACKAGE / "src/lying_kit/workflows/asking/workflow.yaml").read_text(encoding="utf-8")
    (tmp_path / "unsigned.yaml").write_text(text.replace("'YES, signed'", "YES"), encoding="utf-8")
    assert typed("run", "unsigned.yaml", "--no-input", lie="gate=raise").code == 3
    assert calls().count("ann") == 1
    sent_back = typed("decide", RUN, "--latest", "--option", "Try again", "--json")
    assert "NOT_SIGNED: Sign it." in typed("log", RUN, "--json").out
    assert calls().count("ann") > 1
    assert sent_back.code == 3


@pytest.mark.parametrize("how", part(["raise", "exit", "none", "text", "number", "object", "deep"]))
def test_a_remark_is_kept_where_its_reader_fails_and_can_be_read_later(typed: Typed, how: str) -> None:
    typed("run", "lying/asking", "--no-input")
    first = typed("remark", RUN, "wish: an owl", lie=f"read={how}")
    assert first.code == 0
    assert "! The reader of the kit 'lying' failed" in first.err
    assert "FB-001 wish, minor: it was not read: The reader of the kit 'lying' failed" in first.out
    assert typed("remark", RUN, "--understand", "The cost is 7M, not 5M", lie=f"read={how} split={how}").code == 0
    decided = typed(
        "decide", RUN, "--latest", "--option", "Again", "--feedback", "wish: a cat", lie=f"typed={how} read={how}"
    )
    assert decided.code == 3
    assert remarks(typed) == [
        ("wish", "an owl", "minor"),
        ("comment", "The cost is 7M, not 5M", "minor"),
        ("comment", "wish: a cat", "minor"),
    ]
    assert "FB-001 wish, major: a wish" in typed("remark", RUN, "--reread", "FB-001").out


def test_what_is_said_with_a_decision_that_the_kit_cannot_carry_out_is_kept(typed: Typed) -> None:
    typed("run", "lying/asking", "--no-input")
    refused = typed("decide", RUN, "--latest", "--option", "Order", "--feedback", "wish: an owl", lie="settle=raise")
    assert refused.code == 64
    assert "The tracker of the kit 'lying' failed: RuntimeError: settle broke." in refused.err
    assert "Tell whoever made the kit" in refused.err
    assert remarks(typed) == [("wish", "an owl", "major")]
    assert typed("decide", RUN, "--latest", "--option", "Order", "--feedback", "wish: an owl").code == 3
    assert remarks(typed) == [("wish", "an owl", "major")], "said once"


@pytest.mark.parametrize(
    "lie",
    part(
        [
            "field=raise",
            "field=object",
            "field=exit",
            "gates=list",
            "views=none",
            "fields=list",
            "reads=none",
            "read=raise",
        ]
    ),
)
def test_a_run_can_be_ended_whatever_its_kit_does(typed: Typed, lie: str) -> None:
    typed("run", "lying/asking", "--no-input")
    assert typed("abort", RUN, "--feedback", "wish: no more", lie=lie).code == 2
    assert typed("show", RUN, lie=lie).code == 0


def test_a_field_that_fails_says_so_and_costs_the_files_that_need_it(typed: Typed, tmp_path: Path) -> None:
    stopped = typed("run", "lying/asking", "--no-input", "--json", lie="field=object")
    assert prompt(stopped) == "(The field 'seven' of the kit 'lying' failed: what it gives is no JSON: object.)"
    folder = tmp_path / ".reconvene" / "runs" / RUN
    assert (folder / "counted.md").read_text(encoding="utf-8").strip() == "2"
    assert not (folder / "seven.md").exists()


@pytest.mark.parametrize(
    ("lie", "said"),
    part(
        [
            ("gates=list", "The kit 'lying' is broken: its gates are of type list, not a mapping from names."),
            (
                "name=other",
                "The kit 'lying' is broken: lying_kit:KIT calls itself 'other', and its entry point 'lying'.",
            ),
            ("gates=empty", "This run needs the gate 'signed' of the kit 'lying'"),
            ("reads=empty", "This run needs the word 'first' of one of its kits (lying)"),
            ("tracker=none", "This run needs a tracker of the kit 'lying'"),
        ]
    ),
)
def test_what_a_kit_lacks_is_said_before_anything_is_recorded(typed: Typed, lie: str, said: str) -> None:
    typed("run", "lying/asking", "--no-input")
    before = typed("log", RUN, "--json").out
    for words in (["decide", RUN, "--option", "Again"], ["rollback", RUN], ["resume", RUN], ["remark", RUN, "hello"]):
        refused = typed(*words, lie=lie)
        assert refused.code == 64
        assert said in refused.err
    assert typed("log", RUN, "--json").out == before


@pytest.mark.parametrize("how", part(["raise", "exit", "none", "number", "text"]))
def test_a_run_is_shown_where_its_judge_or_its_reader_fails(typed: Typed, how: str) -> None:
    typed("run", "lying/asking", "--no-input")
    typed("remark", RUN, "wish: an owl")
    for words in (["show", RUN], ["ledger", RUN], ["stats"], ["stats", RUN]):
        shown = typed(*words, lie=f"judge={how} concerned={how}")
        assert shown.code == 0, words
        assert "The judge of the kit 'lying'" not in shown.err, "what outputs prove is on record, and not judged anew"
    assert "The reader of the kit 'lying' failed" in typed("show", RUN, lie=f"concerned={how}").err


@pytest.mark.parametrize("how", part(["raise", "exit", "number", "deep"]))
def test_a_view_that_fails_is_named(typed: Typed, how: str) -> None:
    typed("run", "lying/asking", "--no-input")
    failed = typed("view", RUN, "rows", lie=f"view={how}")
    assert failed.code == 64
    assert "The view 'rows' of the kit 'lying' failed: " in failed.err


def test_kinds_of_the_kits_reader_are_known_at_every_door(typed: Typed, tmp_path: Path) -> None:
    answers = tmp_path / "answers.yaml"
    answers.write_text("- {option: Again, feedback: 'wish: one'}\n", encoding="utf-8")
    typed("run", "lying/asking", "--answers", "answers.yaml")
    form = tmp_path / "form.md"
    form.write_text("## Wish\n- two\n", encoding="utf-8")
    assert typed("remark", RUN, "--form", "form.md").code == 0
    assert typed("remark", RUN, "wish: three").code == 0
    assert typed("remark", RUN, "--reread", "FB-003", "--kind", "correction").code == 0
    assert typed("remark", RUN, "--reread", "FB-003", "--kind", "wish").code == 0
    typed("decide", RUN, "--latest", "--option", "Again", "--feedback", "wish: four")
    assert remarks(typed) == [("wish", word, "major") for word in ("one", "two", "three", "four")]


def test_a_run_that_another_kit_tracks_says_which(typed: Typed) -> None:
    typed("run", "lying/asking", "--no-input")
    other = typed("gaps", RUN)
    assert other.code == 64
    assert "it tracks with the kit lying." in other.err
    assert f"reconvene view {RUN}" in other.err


def test_two_packages_with_one_kit_are_refused(tmp_path: Path, installed: str, forks: Forks) -> None:
    second = tmp_path / "second"
    (second / "lying2-1.dist-info").mkdir(parents=True)
    (second / "lying2-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: lying2\nVersion: 1\n")
    (second / "lying2-1.dist-info" / "entry_points.txt").write_text("[reconvene.kits]\nlying = lying_kit:KIT\n")
    refused = forks.command("check", "lying/asking", cwd=tmp_path, PYTHONPATH=f"{second}:{installed}")
    assert refused.code == 64
    assert "Several packages bring a kit 'lying': lying2 (lying_kit:KIT) and lying-kit (lying_kit:KIT)." in refused.err


@pytest.mark.parametrize(
    ("right", "wrong", "hint"),
    [
        ("first.full", "first.ful", "did you mean 'first.full'?"),
        ("first.full", "near.ful", "did you mean 'near.full'?"),
        ("kits: [lying]\n", "", "'first.full' is not something to read"),
    ],
)
def test_a_word_of_a_kit_that_is_misspelt_or_not_named_is_refused(
    typed: Typed, tmp_path: Path, right: str, wrong: str, hint: str
) -> None:
    text = (PACKAGE / "src/lying_kit/workflows/asking/workflow.yaml").read_text(encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text(text.replace(right, wrong), encoding="utf-8")
    refused = typed("check", "wrong.yaml")
    assert refused.code == 64
    assert hint in refused.err
