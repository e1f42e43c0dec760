"""The event format: every event ever written decodes, and what cannot be read says whose turn it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reconvene.core.facts.events import (
    AgainOrdered,
    AnyEvent,
    AttemptEnded,
    OptionsRevised,
    Paused,
    RemarkAdded,
    Resumed,
    RunEnded,
    TroubleSettled,
)
from reconvene.errors import StoreError, UserError
from reconvene.wire import event_json as wire
from reconvene.wire.event_json import VERSION, decode_batch, encode_batch, to_json

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "events").glob("*.json"))
AT = "2026-03-01T09:30:00.125Z"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_event_decodes_and_is_written_the_same_again(path: Path) -> None:
    golden = json.loads(path.read_bytes())
    (event,) = decode_batch(json.dumps([golden], separators=(",", ":")).encode())
    assert type(event).__name__ == golden["type"]
    assert decode_batch(encode_batch([event])) == [event]
    if golden["v"] == VERSION:
        assert json.loads(encode_batch([event])) == [golden]


def test_a_batch_is_one_json_array_that_opens_with_its_version() -> None:
    batch = encode_batch([Paused(at=AT, by="Zoë"), RunEnded(at=AT, status="completed")])
    assert json.loads(batch) == [
        {"v": VERSION, "type": "Paused", "at": AT, "by": "Zoë"},
        {"type": "RunEnded", "at": AT, "status": "completed"},
    ]
    assert decode_batch(encode_batch([])) == []


def test_a_field_that_nobody_knows_is_refused_and_named_with_its_event() -> None:
    with pytest.raises(StoreError, match=r"run r-1, Paused \(format 1\).*`mood`") as caught:
        decode_batch(b'[{"v":1,"type":"Resumed","at":"t"},{"type":"Paused","at":"t","mood":"calm"}]', "r-1")
    assert "pip install --upgrade reconvene" in caught.value.hint


def test_an_event_without_a_version_is_of_the_first() -> None:
    assert decode_batch(b'[{"type":"Paused","at":"t"}]') == [Paused(at="t")]


def test_an_unknown_type_is_named_with_the_release_as_the_reason() -> None:
    with pytest.raises(StoreError, match=r"'Teleported'.*newer release") as caught:
        decode_batch(b'[{"v":1,"type":"Paused","at":"t"},{"type":"Teleported","at":"t"}]')
    assert "pip install --upgrade reconvene" in caught.value.hint


def test_the_version_of_a_batch_holds_for_all_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "VERSION", 3)
    ups = {
        1: {"Paused": lambda raw: {**raw, "by": "one"}, "Halted": lambda raw: {**raw, "type": "Resumed"}},
        2: {"Resumed": lambda raw: {**raw, "by": "two"}},
    }
    monkeypatch.setattr(wire, "_UPCASTERS", ups)
    old = b'[{"v":1,"type":"Paused","at":"t"},{"type":"Halted","at":"t"},{"type":"AgainOrdered","at":"t"}]'
    assert decode_batch(old) == [Paused(at="t", by="one"), Resumed(at="t", by="two"), AgainOrdered(at="t")]
    assert decode_batch(b'[{"v":2,"type":"Paused","at":"t"}]') == [Paused(at="t")]
    assert decode_batch(encode_batch([Paused(at="t")])) == [Paused(at="t")]
    with pytest.raises(StoreError, match=r"Paused \(format 2\).*`mood`"):
        decode_batch(b'[{"v":2,"type":"Paused","at":"t","mood":"calm"}]')


def test_the_first_version_said_in_words_what_is_a_field_now() -> None:
    def read(**event: object) -> AnyEvent:
        (found,) = decode_batch(json.dumps([{"at": AT, **event}]).encode())
        return found

    tried = {"type": "AttemptEnded", "task": "R1/0/a", "attempt": 1, "verdict": "rejected", "then": "retry"}
    for why, code in (
        ("NO_GAPS_ADDRESSED: Address GAP-7.", "NO_GAPS_ADDRESSED"),
        ("REJECTED:", "REJECTED"),
        ("the gate itself failed: x is not defined", ""),
        ("EMPTY", ""),
        ("", ""),
    ):
        event = read(**tried, why=why)
        assert isinstance(event, AttemptEnded)
        assert (event.why, event.code) == (why, code)
    settled = {"type": "TroubleSettled", "key": "k", "kind": "conflict"}
    assert read(**settled, ruling="use:a:b") == TroubleSettled(at=AT, key="k", kind="conflict", ruling="use", use="a:b")
    assert read(**settled, ruling="again") == TroubleSettled(at=AT, key="k", kind="conflict", ruling="again")
    options = [{"label": "On"}, {"label": "Force", "available": False, "why_not": "not offered here"}]
    revised = read(type="OptionsRevised", checkpoint="CP-001", options=options)
    assert isinstance(revised, OptionsRevised)
    assert [option.offered for option in revised.options] == [True, False]


def test_a_newer_version_is_refused_with_the_release_as_the_reason() -> None:
    with pytest.raises(StoreError, match=r"format 99.*newer release") as caught:
        decode_batch(b'[{"v":99,"type":"Paused","at":"t"}]')
    assert "pip install --upgrade reconvene" in caught.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", b"{}", b"[1]", b"[{}]", b'[{"v":1,"type":"Paused"}]', b'[{"v":1,"type":[]}]', b"[{", b"\xff"]
    + [b'[{"v":1,"type":"Paused","at":"t"},{"v":1,"type":"Paused","at":"t"}]', b'[{"v":0,"type":"Paused","at":"t"}]'],
)
def test_what_is_no_list_of_events_is_a_store_error(data: bytes) -> None:
    with pytest.raises(StoreError):
        decode_batch(data)


def test_text_that_is_not_unicode_is_refused_in_plain_words() -> None:
    with pytest.raises(UserError, match="not valid UTF-8"):
        encode_batch([RemarkAdded(at=AT, id="FB-001", number=1, kind="comment", text="\udcff")])


def test_a_log_line_starts_with_seq_type_and_time() -> None:
    line = to_json(7, RunEnded(at=AT, status="failed", why="check.max reached"))
    assert list(line)[:3] == ["seq", "type", "at"]
    assert json.loads(json.dumps(line)) == {
        "seq": 7,
        "type": "RunEnded",
        "at": AT,
        "status": "failed",
        "why": "check.max reached",
    }
