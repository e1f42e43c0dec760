"""Packaged workflows render what they rendered, commands give the JSON they gave, and a difference is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from . import rendered
from .homes import Golden, every_home, releases
from .journeys import JOURNEYS
from .kinds import kind_of
from .prompted import lost
from .rendered import ALLOWED, Allowed, add, check, records, swap, unlike
from .test_contents import MACHINES
from .watching import played, seen, told, ways

EVERY = list(every_home())

# Of each workflow the run that waits and the run that is completed with the most to tell.
_FULL = sorted(EVERY, key=lambda one: len(str(records(one.release, one.workflow).get(f"told/{one.stop}"))))
_READ = {(one.release, one.workflow, kind_of(one.stop)): one for one in _FULL}
READ = [one for (_, _, kind), one in sorted(_READ.items()) if kind in ("waiting", "completed")]


@pytest.mark.parametrize("workflow", sorted(JOURNEYS))
def test_a_packaged_workflow_renders_at_every_stop_what_it_rendered(workflow: str) -> None:
    newest = releases()[-1]
    found = played(workflow)
    assert {of for of in records(newest, workflow) if of.startswith("anew/")} == set(found)
    check(newest, workflow, found)


def reads_as_it_did(golden: Golden, folder: Path) -> None:
    __tracebackhide__ = True
    check(golden.release, golden.workflow, {f"told/{golden.stop}": told(golden, folder)})


@pytest.mark.parametrize("golden", READ, ids=str)
def test_the_commands_that_read_a_home_give_all_that_they_gave(golden: Golden, tmp_path: Path) -> None:
    reads_as_it_did(golden, tmp_path)


@pytest.mark.torture
@pytest.mark.parametrize("golden", [one for one in EVERY if one not in READ], ids=str)
def test_the_commands_give_all_that_they_gave_for_every_home(golden: Golden, tmp_path: Path) -> None:
    reads_as_it_did(golden, tmp_path)


def test_every_home_has_a_record_of_every_way() -> None:
    for one in EVERY:
        wanted = {f"{way}/{one.stop}" for way in ways(one)}
        wanted |= {f"anew/{one.stop}"} if one.release == releases()[-1] and seen(one.stop) else set()
        assert wanted - set(records(one.release, one.workflow)) == set(), "add what is missing with: make golden"


@pytest.mark.parametrize("workflow", sorted(JOURNEYS))
def test_no_record_names_a_path_of_somebodys_machine(workflow: str) -> None:
    texts = {text for release in releases() for one in records(release, workflow).values() for text in one.values()}
    assert {match for text in texts for match in MACHINES.findall(text.encode())} == set()


def test_every_difference_that_is_allowed_has_a_reason_and_is_somewhere_on_record() -> None:
    names = [
        f"{workflow}/{of}/{name}"
        for release in releases()
        for workflow in JOURNEYS
        for of, one in records(release, workflow).items()
        for name in one
    ]
    for one in ALLOWED:
        assert one.reason.endswith("."), one
        assert rendered.matching(names, one), f"nothing is called {one.name}"


# --- what a difference is ---

THEN = {"r/files/a.md": "one\ntwo\nthree\n", "r/prompts/R1#1": "Do it.\n", "r/shown/1": '{"a": {"b": 1}}'}
OF = "w/on/new"


def found(changed: dict[str, str | None], *allowed: Allowed) -> list[str]:
    now = {name: text for name, text in {**THEN, **changed}.items() if text is not None}
    return list(unlike(THEN, now, OF, allowed))


def test_what_is_as_it_was_is_not_told() -> None:
    assert found({}) == []


def test_a_changed_file_is_told_with_its_name_and_the_lines() -> None:
    (told,) = found({"r/files/a.md": "one\n2\nthree\n"})
    assert told.splitlines()[0] == "w/on/new/r/files/a.md is not what it was:"
    assert told.splitlines()[-4:] == [" one", "-two", "+2", " three"]


def test_a_line_end_is_a_difference_too() -> None:
    (told,) = found({"r/files/a.md": "one\ntwo\nthree"})
    assert told.splitlines()[-2:] == ["-'one\\ntwo\\nthree\\n'", "+'one\\ntwo\\nthree'"]


def test_a_file_that_is_gone_and_one_that_is_new_are_told() -> None:
    gone, new = found({"r/files/a.md": None, "r/files/b.md": "b"})
    assert gone == "w/on/new/r/files/a.md is missing. It was:\none\ntwo\nthree"
    assert new == "w/on/new/r/files/b.md is new:\nb"


def test_a_long_difference_is_cut() -> None:
    (told,) = found({"r/files/b.md": "b\n" * 100})
    assert told.splitlines()[-1] == "[60 more lines]"


def test_what_is_shown_may_have_more_in_it_but_nothing_less_and_nothing_else() -> None:
    assert found({"r/shown/1": '{"a": {"b": 1, "c": 2}, "d": 3}'}) == []
    assert found({"r/shown/1": '{"a": {}}'}) == ["w/on/new/r/shown/1 is not what it was:\n.a.b: 1 is missing"]
    assert found({"r/shown/1": '{"a": {"b": 2}}'}) == ["w/on/new/r/shown/1 is not what it was:\n.a.b: 1 became 2"]


PROMPT = """You are A.

Do it.

Your remit: ferries

## What you may read

### a.md
# A

one
two

### b.md
(not produced yet)

## What the person said

- [FB-001] **Correction:** nine

  +diff

## What to write

Answer with the whole content of x, and nothing else.
"""
REORDERED = """The mark is m.

<document-m name="a.md">
# A

one
two
</document-m>

<document-m name="b.md">
(not produced yet)
</document-m>

You are A.

Your remit: ferries

Do it.

## What the person said

- [FB-001] **Correction:** nine

  > +diff

Answer with the whole content of x, and nothing else.
"""
LINES = ["one\ntwo", "two", "(not produced yet)", 'name="b.md"', "You are A.", "Do it.", "Your remit: ferries", "nine"]


def test_a_prompt_may_tell_the_same_in_another_order_and_more() -> None:
    assert list(lost(PROMPT, REORDERED)) == []
    assert list(lost(PROMPT, json.dumps({"stdin": REORDERED, "command": ["x"]}))) == []


@pytest.mark.parametrize("gone", [*LINES, "+diff", "whole content of x"])
def test_a_prompt_that_lost_a_document_a_remark_or_an_instruction_is_told(gone: str) -> None:
    assert gone in REORDERED
    assert len(list(lost(PROMPT, REORDERED.replace(gone, "")))) >= 1


def test_an_allowed_difference_is_compared_in_the_words_of_the_record() -> None:
    politely = Allowed("w/*/prompts/*", "Prompts are polite.", swap(r"^Please do (\w+)", r"Do \1"))
    assert found({"r/prompts/R1#1": "Please do it.\n"}, politely) == []
    assert len(found({"r/prompts/R1#1": "Please do that.\n"}, politely)) == 1
    assert len(found({"r/files/a.md": "Please do it.\n"}, politely)) == 1


def test_what_is_allowed_without_words_of_then_is_not_compared() -> None:
    anything = Allowed("w/on/*/a.md", "Nobody reads it.")
    assert found({"r/files/a.md": "1"}, anything) == found({"r/files/a.md": None}, anything) == []


def test_what_has_no_record_says_how_to_make_one() -> None:
    with pytest.raises(AssertionError, match=r"nothing is on record of on/nowhere\. Add it with: make golden"):
        check(releases()[-1], "early-exit", {"on/nowhere": {}})


def test_many_differences_are_told_by_name() -> None:
    of, kept = next(iter(records(releases()[-1], "early-exit").items()))
    with pytest.raises(AssertionError) as told:
        check(releases()[-1], "early-exit", {of: {**kept, **{f"r/files/{n}": "x" for n in range(8)}}})
    assert f"And 3 more:\nearly-exit/{of}/r/files/5 is new:\n" in str(told.value)
    assert "Say so in ALLOWED" in str(told.value)


def test_what_is_kept_is_found_again_and_is_never_overwritten(tmp_path: Path) -> None:
    file = add("0.2.0", "w", {"on/new": THEN}, tmp_path)
    add("0.2.0", "w", {"on/completed": {"r/files/a.md": "one\n"}}, tmp_path)
    kept = {"on/new": THEN, "on/completed": {"r/files/a.md": "one\n"}}
    assert records("0.2.0", "w", tmp_path) == kept
    before = file.read_bytes()
    with pytest.raises(AssertionError, match="on record already"):
        add("0.2.0", "w", {"on/new": {}}, tmp_path)
    assert file.read_bytes() == before


def test_made_anew_takes_the_place_of_what_was_rendered_anew_and_of_nothing_else(tmp_path: Path) -> None:
    add("9.9.9", "w", {"on/new": {"a": "1"}, "anew/new": {"a": "2"}, "anew/gone": {"a": "3"}}, tmp_path)
    rendered.made_anew("9.9.9", "w", {"anew/new": {"a": "4"}}, tmp_path)
    assert records("9.9.9", "w", tmp_path) == {"on/new": {"a": "1"}, "anew/new": {"a": "4"}}
