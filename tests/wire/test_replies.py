"""Replies as agents really write them: JSON in prose, fences, files in blocks, contracts not kept."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.wire.replies import extract_json, file_blocks, json_values, validate, wrong_arguments

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}, "kind": {"enum": ["a", "b"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 2]}',
        '  \n{"a": [1, 2]}\n',
        '\ufeff{"a": [1, 2]}',
        'Here you are:\n```json\n{"a": [1, 2]}\n```\nAnything else?',
        'Here you are:\n```\n{"a": [1, 2]}\n```',
        '~~~json\n{"a": [1, 2]}\n~~~',
        'The answer is {"a": [1, 2]}, I think.',
        'As in [1] and [2], the {result} is {"a": [1, 2]}.',
        '```python\nprint({})\n```\nand\n```json\n{"a": [1, 2]}\n```',
    ],
)
def test_json_is_found_wherever_an_agent_puts_it(text: str) -> None:
    assert extract_json(text) == {"a": [1, 2]}


def test_a_list_and_plain_values_are_json_too() -> None:
    assert extract_json('[{"a": 1}]') == [{"a": 1}]
    assert extract_json("My list: [1, 2]") == [1, 2]
    assert extract_json("true") is True


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("I would rather not.", "no JSON; it starts with 'I would rather not.'"),
        ('{"a": 1,}', "line 1, column"),
        ('```json\n{"a": \n  oops}\n```', "line 2, column 3, near"),
        ('{"a": NaN}', "no valid JSON"),
        ('{"a": ', "no valid JSON"),
    ],
)
def test_text_without_json_is_refused_with_the_place(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("(", "\\(")):
        extract_json(text)


def test_a_reply_full_of_brackets_is_refused_and_not_tried_for_ever() -> None:
    with pytest.raises(ValueError, match="no valid JSON"):
        extract_json("{" * 200_000)
    with pytest.raises(ValueError, match=r"no valid JSON|too deeply"):
        extract_json("[" * 200_000 + "]" * 200_000)


@given(st.text())
def test_whatever_is_said_gives_a_value_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        json.dumps(extract_json(text))
    with contextlib.suppress(ValueError):
        file_blocks(text)


def test_file_blocks_are_taken_out_of_the_reply() -> None:
    text = "Done.\n<file path=\"plan.md\">\n# Plan\n\n1. Go\n</file>\nand\n<file path='b/c.txt'>x</file>\nBye."
    files, rest = file_blocks(text)
    assert files == {"plan.md": "# Plan\n\n1. Go\n", "b/c.txt": "x\n"}
    assert rest == "Done.\n\nand\n\nBye."


def test_a_code_fence_around_a_whole_file_is_not_part_of_it() -> None:
    assert file_blocks('<file path="a.py">\n```python\nprint(1)\n```\n</file>')[0] == {"a.py": "print(1)\n"}
    two = "```sh\na\n```\ntext\n```sh\nb\n```\n"
    assert file_blocks(f'<file path="a.md">\n{two}</file>')[0] == {"a.md": two}


def test_a_closing_tag_in_running_text_does_not_end_a_block() -> None:
    text = '<file path="a.md">\nEnd it with </file> please.\n</file>\n'
    assert file_blocks(text)[0] == {"a.md": "End it with </file> please.\n"}


def test_a_block_that_is_cut_short_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"plan\.md.*never closed"):
        file_blocks('<file path="plan.md">\n# Pl')


def test_text_without_blocks_is_left_alone() -> None:
    assert file_blocks("  Just text <file>.\n") == ({}, "Just text <file>.")


def test_a_value_that_fits_has_no_problems() -> None:
    assert validate(PERSON, {"name": "Ada", "age": 36}) == []


def test_problems_are_told_in_plain_words() -> None:
    assert validate(PERSON, {"age": "old", "kind": "c"}) == [
        "the reply: 'name' is missing",
        "age should be a whole number, not text",
        'kind is "c"; it should be one of "a", "b"',
    ]
    assert validate({"type": "array", "items": {"type": "object"}}, [{}, 3]) == [
        "[1] should be an object, not a number"
    ]
    assert "additional properties" in validate(PERSON, {"name": "", "age": 1, "x": 2})[0]
    assert "minimum" in validate(PERSON, {"name": "", "age": -1})[0]


def test_what_is_missing_is_said_once_and_arguments_are_called_arguments() -> None:
    schema = {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string"}}}
    assert validate(schema, {}) == ["the reply: 'a' and 'b' are missing"]
    assert wrong_arguments(schema, {"a": 1}) == ["the arguments: 'b' is missing", "a should be text, not a number"]


def test_many_problems_are_cut_short() -> None:
    problems = validate({"type": "array", "items": {"type": "string"}}, list(range(100)))
    assert len(problems) == 9
    assert problems[-1] == "and 92 more"


def test_a_contract_that_is_itself_wrong_is_told_and_never_raises() -> None:
    assert "not a valid JSON Schema" in validate({"type": "strang"}, 1)[0]
    assert "not a JSON Schema" in validate("text", 1)[0]
    assert "cannot be used" in validate({"$ref": "#/nowhere"}, 1)[0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('Draft: {"a": 1}\nFinal: {"a": 2}', [{"a": 2}, {"a": 1}]),
        ('```json\n{"a": 1}\n```\nBetter:\n```json\n{"a": 2}\n```', [{"a": 2}, {"a": 1}]),
        ('{"a": {"b": 1}} as in [1]', [{"a": {"b": 1}}, [1]]),
        ('```\n"yes"\n```\nor\n```\n"no"\n```', ["no", "yes"]),
        ('```json\n{"a": 1}\n```\n```json\n{"a": oops}\n```', [{"a": 1}]),
    ],
)
def test_all_json_of_a_reply_is_found_the_last_first(text: str, values: list[object]) -> None:
    assert json_values(text) == values


@pytest.mark.parametrize("text", ["", "I would rather not.", '{"a": ', "{" * 200_000])
def test_a_reply_without_json_has_no_values(text: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_values(text)


def test_only_so_many_values_of_a_reply_are_looked_at() -> None:
    values = json_values("\n".join(f'{{"a": {number}}}' for number in range(500)))
    assert values[0] == {"a": 499}
    assert len(values) == 20
