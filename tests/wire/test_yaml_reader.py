"""The YAML reader: plain data with lines, and everything else refused quickly and kindly."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.errors import Problem, WorkflowError
from reconvene.wire.yaml_reader import MAX_BYTES, MAX_DEPTH, Mapping, Scalar, Sequence, plain, read_yaml


def refused(text: str) -> list[Problem]:
    with pytest.raises(WorkflowError) as caught:
        read_yaml(text, "w.yaml")
    return caught.value.problems


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("No", "No"),
        ("010", "010"),
        ("12:30:45", "12:30:45"),
        ("2026-11-15", "2026-11-15"),
        ("1_000", "1_000"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("0", 0),
        ("-17", -17),
        ("+5", 5),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_plain_scalars_follow_yaml_1_2(written: str, value: object) -> None:
    found = plain(read_yaml(f"a: {written}", "w.yaml"))
    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)


def test_nodes_know_their_lines() -> None:
    tree = read_yaml("name: x\nlist:\n  - one\n  - {two: 2}\ntext: |\n  first\n  second\n", "w.yaml")
    assert isinstance(tree, Mapping)
    assert [tree.line_of(key) for key in ("name", "list", "text")] == [1, 2, 5]
    items = tree.get("list")
    assert isinstance(items, Sequence)
    assert [item.line for item in items.items] == [3, 4]
    text = tree.get("text")
    assert isinstance(text, Scalar)
    assert (text.line, text.text_line) == (5, 6)


def test_duplicate_keys_name_both_lines() -> None:
    (problem,) = refused("name: a\nother: b\nname: c\n")
    assert problem.line == 3
    assert "'name' is given twice, on lines 1 and 3" in problem.message


def test_anchors_and_aliases_are_refused_with_advice() -> None:
    problems = refused("a: &x [1]\nb: *x\n")
    assert [problem.line for problem in problems] == [1, 2]
    assert all("write it out" in problem.hint for problem in problems)


def test_an_alias_bomb_is_refused_without_being_expanded() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{new}: &{new} [{', '.join(['*' + old] * 9)}]" for old, new in zip("abcdefghi", "bcdefghij", strict=True)
    ]
    assert "anchors" in refused("\n".join(lines))[0].message


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused_and_never_crashes_the_interpreter(opening: str) -> None:
    """In a process of its own: libyaml's composer overflows the stack on such input, which no test could catch."""
    program = (
        "import sys\n"
        "from reconvene.errors import WorkflowError\n"
        "from reconvene.wire.yaml_reader import read_yaml\n"
        "try:\n"
        "    read_yaml(sys.argv[1] * 50_000 if len(sys.argv[1]) < 4 else sys.argv[1] * 20_000, 'w.yaml')\n"
        "except WorkflowError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, opening], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "nested more than" in done.stdout


def test_nesting_up_to_the_limit_is_read() -> None:
    assert plain(read_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH, "w.yaml"))


def test_files_over_a_megabyte_are_refused() -> None:
    assert "larger than 1 MB" in refused("a: " + "x" * MAX_BYTES)[0].message


def test_a_flood_of_tiny_values_is_refused() -> None:
    assert "more than" in refused("[" + "1," * 200_000 + "]")[0].message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: !!python/object/apply:os.system [x]", 1, "tag"),
        ("a: 1\nb: !mine x", 2, "tag"),
        ("a: 1\n---\nb: 2\n", 2, "several documents"),
        ("a:\n\t- b\n", 2, "not valid YAML"),
        ("a: [1, 2\nb: 3\n", 2, "not valid YAML"),
        ("a: 'open\n", 1, "a quote that begins here never ends"),
        ("a: 1\nb: c: d\n", 2, "not valid YAML"),
        ("a: 1\n2: b\n", 2, "not text"),
        ("a: 1\n[x]: b\n", 2, "not text"),
        ("true: b\n", 1, "not text"),
        ("a: 99999999999999999999\n", 1, "too large"),
        ("a: " + "9" * 5000, 1, "too large"),
        ("a: .inf\n", 1, "not a number"),
        ("a: 1e999\n", 1, "too large"),
        ("a: \x00", 1, "control character"),
        ("a: b\nc: \x07", 2, "control character"),
        ("a: b\nc: \ud800", 2, "not valid text"),
        ("", 0, "empty"),
        ("# only a comment\n", 0, "empty"),
        ("~", 0, "empty"),
    ],
)
def test_what_is_not_plain_data_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    problem = refused(text)[0]
    assert words in problem.message
    assert problem.line == line
    assert problem.file == "w.yaml"


def test_tabs_are_named_as_the_cause() -> None:
    assert "spaces" in refused("a:\n\t- b\n")[0].hint


def test_several_problems_are_reported_together() -> None:
    assert len(refused("a: &x 1\na: 2\n3: 4\nb: !t 5\n")) == 4


def test_endless_problems_are_cut_short() -> None:
    problems = refused("\n".join(f"{n}: x" for n in range(5000)))
    assert len(problems) == 101
    assert "4900 more" in problems[-1].message


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(WorkflowError):
        plain(read_yaml(text, "w.yaml"))


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,? \n\t0", max_size=80))
def test_any_yaml_like_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(WorkflowError):
        plain(read_yaml(text, "w.yaml"))


@pytest.mark.parametrize(
    ("text", "at", "message", "hint"),
    [
        ("a: 1\nb: c: d\n", (2, 5), "there is a second ': ' in column 5", "put text that contains ': ' in quotes"),
        ("a: {b: 1\nc: 2\n", (2, 2), "',' or '}' is expected in column 2: a '{' in line 1 is not closed", "write"),
        ("a: [b, 1\nc: 2\n", (2, 2), "',' or ']' is expected in column 2: a '[' in line 1 is not closed", "write"),
        ("a: `b`\n", (1, 4), "nothing can begin with '`', in column 4", "put it in quotes"),
        ("a:\n - b\n c: d\n", (3, 2), "this line is no entry of the list that begins in line 2", "begin it with '- '"),
        ("a: b\n c\nd\n", (4, 1), "a key without ':' ends before column 1", "write ':' after the key"),
        ('a: "b \\q c"\n', (1, 7), "in text between double quotes, '\\' begins a sign of its own", "write it twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_our_words(text: str, at: tuple[int, int], message: str, hint: str) -> None:
    (problem,) = refused(text)
    assert (problem.line, problem.column) == at
    assert problem.message.startswith(f"this is not valid YAML: {message}")
    assert problem.hint.startswith(hint)


def test_what_the_reader_alone_can_say_stands_in_brackets() -> None:
    (problem,) = refused("a: %b\n  - c\n- ,\n")
    assert problem.message.startswith("this is not valid YAML: ")
    assert "while" not in problem.message
