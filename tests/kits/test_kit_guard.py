"""What a kit of somebody else may give, and what becomes of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from reconvene.core import kit_finder
from reconvene.core.extensions import Judged, Kit, ListFile, Objection, Understood, View
from reconvene.core.facts.commands import RemarkIn
from reconvene.errors import KitFailed, UserError
from reconvene.kits import kit_guard
from reconvene.kits.kit_guard import guarded, plain
from reconvene.kits.reading.kit import KIT as READING
from reconvene.kits.reading.kit import RuleReader
from reconvene.language.entries import ListEntry

OUTPUT = Judged("text", None, (), (), (), True, {})


class Row(msgspec.Struct):
    name: str
    cells: tuple[int, ...]


@pytest.fixture(autouse=True)
def nothing_untold() -> Iterator[None]:
    kit_guard.unheard()
    yield
    assert kit_guard.unheard() == []


def gate(made: Callable[[Judged], object]) -> Callable[[Judged], Objection | None]:
    return guarded(Kit("votes", gates={"own": made})).gates["own"]  # type: ignore[dict-item]


def test_structs_and_tuples_count_as_json_and_nothing_comes_back_as_something_else() -> None:
    assert plain([Row("a", (1, 2)), None, True, 0.5]) == [{"name": "a", "cells": [1, 2]}, None, True, 0.5]
    for wrong in (object(), b"a", {1: 2}, {1, 2}, float("inf"), 2**63, "\ud800", {"\ud800": 1}, iter([1])):
        with pytest.raises(ValueError):
            plain([wrong])


def test_a_value_may_be_a_hundred_deep() -> None:
    deep: object = 0
    for _ in range(100):
        deep = [deep]
    assert plain(deep) == deep
    with pytest.raises(ValueError, match="nested too deep"):
        plain([deep])


def test_a_failure_names_the_part_and_the_kit_and_keeps_its_cause() -> None:
    def fails(output: Judged) -> Objection:
        raise ZeroDivisionError("by  zero\nindeed")

    with pytest.raises(
        KitFailed, match="The gate 'own' of the kit 'votes' failed: ZeroDivisionError: by zero indeed"
    ) as found:
        gate(fails)(OUTPUT)
    assert isinstance(found.value.__cause__, ZeroDivisionError)
    assert "Tell whoever made the kit" in found.value.hint
    assert gate(lambda output: ("CODE", "why"))(OUTPUT) == Objection("CODE", "why")
    with pytest.raises(KitFailed, match="wrong shape"):
        gate(lambda output: "why")(OUTPUT)


def test_whatever_an_exception_says_of_itself_can_be_stored() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def half(output: Judged) -> Objection:
        raise ValueError("half \ud800")

    def mute(output: Judged) -> Objection:
        raise Mute

    with pytest.raises(KitFailed, match=r"failed: ValueError: half \?\.$"):
        gate(half)(OUTPUT)
    with pytest.raises(KitFailed, match=r"failed: Mute\.$"):
        gate(mute)(OUTPUT)


def test_an_error_of_the_engines_own_kind_is_a_failure_like_any_other() -> None:
    def refuses(output: Judged) -> Objection:
        raise UserError("not today")

    with pytest.raises(KitFailed):
        gate(refuses)(OUTPUT)


def test_whoever_stops_the_process_is_not_kept_from_it() -> None:
    def interrupted(output: Judged) -> Objection:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gate(interrupted)(OUTPUT)


@pytest.mark.parametrize(
    ("kit", "wrong"),
    [
        (Kit("votes", tracker=object()), "its tracker has no expressions, outputs, schema, track"),  # type: ignore[arg-type]
        (Kit("votes", reader=object()), "its reader has no kinds, typed"),  # type: ignore[arg-type]
        (Kit("votes", views={"own": 5}), "its view 'own' is of type int, not a View"),  # type: ignore[dict-item]
        (Kit("votes", views={"own": View("help", 5)}), "its view 'own' is of type View"),  # type: ignore[arg-type]
        (Kit("votes", gates={"own": 5}), "its gate 'own' is of type int, not a function"),  # type: ignore[dict-item]
        (Kit("votes", fields={1: len}), "its fields are of type dict, not a mapping from names"),  # type: ignore[dict-item]
        (Kit("votes", judge=5), "its judge is of type int"),  # type: ignore[arg-type]
        (Kit("votes", list=5), "its list is of type int"),  # type: ignore[arg-type]
        (Kit("votes", workflows=None), "its workflows is not the path of a folder"),  # type: ignore[arg-type]
    ],
)
def test_a_kit_that_is_none_is_refused_when_it_is_found(kit: Kit, wrong: str) -> None:
    with pytest.raises(UserError, match=f"The kit 'votes' is broken: {wrong}"):
        guarded(kit)


def test_a_reader_may_refuse_a_text_and_its_failure_is_told_once() -> None:
    class Own(RuleReader):
        def split(self, text: str, agents: tuple[str, ...] = ()) -> tuple[()]:
            raise RuntimeError("no")

    reader = guarded(Kit("votes", reader=Own())).reader
    assert reader is not None
    with pytest.raises(UserError):
        reader.typed(" ")
    for _ in range(2):
        (kept,) = reader.split("it is 3, not 4")
    assert kept == Understood(
        RemarkIn("it is 3, not 4"), "kept whole: The reader of the kit 'votes' failed: RuntimeError: no."
    )
    assert kit_guard.unheard() == ["The reader of the kit 'votes' failed: RuntimeError: no."]
    assert reader.typed("correction: 3") == RuleReader().typed("correction: 3")


def test_a_packaged_kit_is_not_wrapped() -> None:
    assert kit_finder.kit("reading") is READING


def test_a_list_that_fails_has_no_entries_and_the_message_names_the_kit() -> None:
    own = guarded(Kit("votes", list=ListFile("a", "b", lambda text: [ListEntry(text, 1, 1, str(1 // len(text)))]))).list
    assert own is not None
    assert own.entries("x") == (ListEntry("x", 1, 1, "1"),)
    assert own.entries("") == ()
    assert "list of the kit 'votes'" in " ".join(map(str, kit_guard.unheard()))
