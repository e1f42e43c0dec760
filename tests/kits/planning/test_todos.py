"""The list of to-dos: the order in which it can be worked off, and what is said where it cannot."""

from __future__ import annotations

import pytest

from reconvene.core.extensions import Judged
from reconvene.kits.planning.kit import sections, todo_list
from reconvene.kits.planning.todos import MOST, WrongList, read


def ids(text: str) -> list[str]:
    return [todo.id for todo in read(text)]


def judged(text: str, *, wrote: bool = True, name: str = "todos.yaml", **options: object) -> str:
    files = (name,) if wrote else ()
    found = (todo_list if name == "todos.yaml" else sections)(
        Judged("", None, files, (text,), (name,), first=True, options=options)
    )
    return found.said if found else ""


def test_each_comes_after_what_it_needs_and_otherwise_as_it_is_written() -> None:
    text = "- {id: c, text: x, after: [a, b]}\n- {id: b, text: x}\n- {id: a, text: x, after: b}\n- a line of text\n"
    assert ids(text) == ["b", "a", "c", "4"]


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]", "todos: []"])
def test_a_list_may_be_empty_and_then_nothing_is_to_do(text: str) -> None:
    assert read(text) == ()
    assert "NO_TODOS" in judged(text)
    assert judged(text, some=False) == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- {id: a, text: x, after: [b]}\n- {id: b, text: y, after: [a]}", "a, b wait for each other"),
        (
            "- {id: z, text: x, after: [a]}\n- {id: a, text: x, after: [b]}\n- {id: b, text: y, after: [a]}",
            "a, b wait for each other",
        ),
        ("- {id: a, text: x, after: [a]}", "a waits for itself"),
        ("- {id: a, text: x}\n- {id: a, text: y}", "two to-dos have the id a"),
        ("- {id: 2, text: x}\n- no id", "two to-dos have the id 2"),
        ("- {id: a, text: x, after: [lost]}", "'after' names lost, and there is no such to-do"),
        ("- {id: src/a.py, text: x}", "line 1: 'src/a.py' cannot be an id; use letters, digits, '-', '_' and '.'"),
        ("- {id: ../../etc, text: x}", "cannot be an id"),
        ("- {id: [a], text: x}", "cannot be an id"),
        ("- {id: a}", "line 1: a to-do needs a text"),
        ("- [a]", "a to-do is {id, text}, or a line of text"),
        ("a: b", "it should be a list of to-dos"),
        ("- {id: a, text: 'x", "not valid YAML"),
        ("\n".join(f"- to-do {n}" for n in range(1000)), f"1000 to-dos are too many for one phase; at most {MOST}"),
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_worked_off_is_sent_back_with_why(text: str, told: str) -> None:
    with pytest.raises(WrongList) as error:
        read(text)
    assert told in str(error.value)
    assert told in judged(text)
    assert judged(text, wrote=False) == "", "one that was there before is not the planner's fault"


def test_ids_may_be_dates_numbers_and_words_of_any_language() -> None:
    assert ids("- {id: 2024-01-05, text: x}\n- {id: 0, text: x}\n- {id: 1.5, text: x}\n- {id: día, text: x}") == [
        "2024-01-05", "0", "1.5", "día",
    ]  # fmt: skip


def test_as_many_as_are_allowed_are_put_into_order() -> None:
    text = "\n".join(f"- {{id: t{n}, text: x, after: [{f't{n + 1}' if n < MOST else ''}]}}" for n in range(1, MOST + 1))
    assert ids(text) == [f"t{n}" for n in range(MOST, 0, -1)]


def test_a_document_without_its_sections_is_sent_back() -> None:
    wanted = {"headings": ["Phases", "Method"]}
    assert judged("# Plan\n\n## Phases\n\n## Method and means\n", name="plan.md", **wanted) == ""
    assert judged("# Plan\n\n## phases\n\nMethod\n", name="plan.md", **wanted) == (
        "WRONG_FORMAT: plan.md lacks the heading Method."
    )
    assert judged("", name="plan.md", wrote=False, **wanted) == ""
