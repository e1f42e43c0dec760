"""What a model thought is taken out of what it said, and a document that only speaks of thinking stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.adapters.agents.as_answer import parse_value
from reconvene.adapters.agents.thinking import without_thinking

FINAL = "<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("<think>maybe 4</think>It is 3.", "It is 3."),
        ("\n<think>\nmaybe 4\n</think>\n\nIt is 3.\n", "It is 3."),
        ("<thinking>maybe 4</thinking>\nIt is 3.", "It is 3."),
        ("<Reasoning effort='high'>maybe 4</Reasoning>\nIt is 3.", "It is 3."),
        ("<thought>maybe 4</thought>It is 3.", "It is 3."),
        ("[THINK]maybe 4[/THINK]It is 3.", "It is 3."),
        ("<think></think>\n\nIt is 3.", "It is 3."),
        ("<think>a</think><think>b</think>It is 3.", "It is 3."),
        # a fence or `code` inside thinking means nothing
        ("<think>```py\nx = 1\n</think>It is 3.", "It is 3."),
        ("<think>a `</think>It is `3`.", "It is `3`."),
        # never opened: the tag was part of the prompt
        ("maybe 4\n</think>\n\nIt is 3.", "It is 3."),
        ("maybe 4.</think>\n\nIt is 3.", "It is 3."),
        ('maybe {"score": 4}</think>{"score": 3}', '{"score": 3}'),
        ('maybe 4 </think>\n```json\n{"score": 3}\n```', '```json\n{"score": 3}\n```'),
        ("I will end with </think> soon\n</think>\nIt is 3.", "It is 3."),
        ("<think>I will write </think> soon\n</think>\nIt is 3.", "It is 3."),
        ("It is 4.\n</think>\nNo:\n</think>\nIt is 3.", "It is 3."),
        # never closed
        ("<think>maybe 4, or 5", ""),
        ("<think>maybe 4</think>\n<think>or 5", ""),
        # in the middle, on lines of its own
        ("First.\n<think>\nmaybe 4\n</think>\nIt is 3.", "First.\nIt is 3."),
        ("First.\n<think>a</think>\nSecond.\n<think>b</think>\nThird.", "First.\nSecond.\nThird."),
        # in the middle of a line
        ("It is <think>maybe 4</think> 3.", "It is 3."),
        ("It is 3.<think>or is it?\nno.</think>", "It is 3."),
        ("It <think>4</think>is <thinking>or 5, who knows</thinking>3.", "It is 3."),
        ("It is <think> well, let me see whether this is so </think> 3.", "It is 3."),
        # nested
        ("<think>a <think>b</think> c</think>It is 3.", "It is 3."),
        ("<think>a <think>b <think>c</think> d</think>\ne</think>\n\nIt is 3.", "It is 3."),
        ("It is\n<think>a <think>b</think> c</think>\n3.", "It is\n3."),
        # the marks of harmony
        (f"<|channel|>analysis<|message|>maybe 4<|end|><|start|>assistant{FINAL}It is 3.", "It is 3."),
        ("maybe 4<|end|><|start|>assistant<|channel|>final<|message|>It is 3.<|return|>", "It is 3."),
        ("<|channel|>analysis maybe 4\n<|channel|>final It is 3.", "It is 3."),
        ("<|channel|>commentary to=functions.x<|message|>{}<|call|><|channel|>final<|message|>It is 3.", "It is 3."),
        ("<|start|>assistant<|channel|>final <|constrain|>json<|message|>{}", "{}"),
        ("<|channel|>analysis<|message|>maybe 4", ""),
        ("<|channel|>final<|message|><think>maybe 4</think>It is 3.", "It is 3."),
    ],
)
def test_thinking_is_taken_out_whatever_shape_it_has(reply: str, said: str) -> None:
    split = without_thinking(reply)
    assert split.text == said
    assert split.thought


@pytest.mark.parametrize(
    "document",
    [
        "It is 3.\n",
        "",
        "Some models write <think> and </think> around their thoughts.",
        "Some models end their thoughts with </think> and go on.",
        "Some models end their thoughts with </think>\nand go on.",
        "The tag `</think>`\n\nends it; `<think>` begins it.",
        "```\n<think>\nan example\n</think>\n```\nIs how it looks.",
        "1. Look:\n   ~~~html\n   </think>\n   ~~~\n\n2. Done.",
        'Here.\n<file path="prompt.md">\n<think>\nthink first\n</think>\n</file>\n',
        '{"why": "</think> is missing", "how": "<think>"}',
        "# Notes\n\n<think> is never closed in what follows: nothing is lost.",
        "a < b, think > c",
        "</thinker>\n\n<thinker>",
        "Between <think></think> nothing stands; <think>…</think> is short for it.",
        "It begins with <think> and ends with </think> as a rule.",
        "Write `<think>` first, and end with `</think>`. Like this: `<think>x y z</think>`.",
        "Use ``<think>a `b` c</think>`` or\n\n````\n```\nIt is <think>a b c</think> so\n```\n````\n",
        'So: {"why": "<think>"} and\n```json\n{"how": "It is <think>a b c</think> so"}\n```',
        '{"why": "It is <think>a b c</think> so", "n": 1}',
        "Harmony writes `<|channel|>analysis<|message|>` and then:\n\n```\n<|channel|>final<|message|>It is 3.\n```\n",
        "Its marks are <|channel|> and <|message|>.",
    ],
)
def test_a_document_that_only_mentions_the_tags_stays_as_it_is(document: str) -> None:
    assert without_thinking(document) == (document, False)


def test_thinking_before_a_document_about_thinking() -> None:
    document = "# Tags\n\nUse `<think>` so:\n\n```\n<think>\nx\n</think>\n```\n\nNot <think> so."
    assert without_thinking(f"<think>they want a document about <think></think>\n\n{document}").text == document


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "`", "```\n", "\n", "\n\n", "text ", '<file path="a">', "</file>"])
    )
)
def test_any_mixture_is_read_and_nothing_is_made_up(pieces: list[str]) -> None:
    reply = "".join(pieces)
    said = without_thinking(reply).text
    left = iter(reply)
    assert all(letter in left for letter in said)  # in order, from the reply
    assert without_thinking("It is 3. " + said.replace("\n", " ")).text.startswith("It is 3.")


def test_a_flood_of_tags_does_not_take_for_ever() -> None:
    pieces = ("<think>", "</think>", "<think></think>", "```\n", "\n</think>\n\n", "\n<think>a</think>\n")
    pieces += (" <think>a b c</think> x", "<think>a ", "<think><think></think>", "<think></think></think>")
    for piece in (*pieces, "<|channel|>", FINAL, "\n<think>\n<think>\n</think>", "<think>a</think> <think> b </think>"):
        without_thinking(piece * 3_000)
        without_thinking("x" + piece * 3_000)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('<think>a</think>{"score": 2}<think>or {"score": 3}?</think>', 2),
        ('{"score": 4} <think> hmm, rather {"score": 1}', 4),
        ('Well <think>{"score": 1}</think> then: {"score": 5}', 5),
        ('{"score": 6, "why": "<think>{\\"score\\": 1}</think>"}', 6),
        ('{"score": 7, "why": "it wrote <think> and stopped"}', 7),
        ('<think>{"score": 8}', 8),  # nothing else is there
    ],
)
def test_what_was_thought_beside_json_is_not_its_value(reply: str, score: int) -> None:
    value = parse_value({"type": "object", "required": ["score"]}, reply)
    assert isinstance(value, dict)
    assert value["score"] == score
