"""The event format: every event ever written decodes, and what cannot be read says whose turn it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reconvene.core.events import Paused, RemarkAdded, Resumed, RunEnded
from reconvene.errors import StoreError, UserError
from reconvene.wire import events as wire
from reconvene.wire.events import EVENT_TYPES, VERSION, decode_batch, encode_batch, to_json, upcast

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "events").glob("*.json"))
AT = "2026-03-01T09:30:00.125Z"


def test_every_event_type_has_a_golden_file_of_the_current_version() -> None:
    covered = {(raw["type"], raw["v"]) for raw in (json.loads(path.read_bytes()) for path in GOLDEN)}
    missing = {(cls.__name__, VERSION) for cls in EVENT_TYPES} - covered
    assert not missing, f"add tests/golden/events/<type>.json for: {sorted(missing)}"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_event_decodes_and_is_written_the_same_again(path: Path) -> None:
    golden = json.loads(path.read_bytes())
    (event,) = decode_batch(b"[" + path.read_bytes() + b"]")
    assert type(event).__name__ == golden["type"]
    assert decode_batch(encode_batch([event])) == [event]
    if golden["v"] == VERSION:
        assert json.loads(encode_batch([event])) == [golden]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_event_sets_every_field_it_had_when_it_was_written(path: Path) -> None:
    """A field at its default would not be in the file, so renaming it later would go unnoticed."""
    golden = json.loads(path.read_bytes())
    (event,) = decode_batch(b"[" + path.read_bytes() + b"]")
    unknown = set(golden) - {"v", "type"} - set(event.__struct_fields__)
    assert not unknown, f"{golden['type']} no longer has {sorted(unknown)}: old logs would lose them"


def test_a_batch_is_one_json_array_that_opens_with_its_version() -> None:
    batch = encode_batch([Paused(at=AT, by="Zoë"), RunEnded(at=AT, status="completed")])
    assert json.loads(batch) == [
        {"v": 1, "type": "Paused", "at": AT, "by": "Zoë"},
        {"type": "RunEnded", "at": AT, "status": "completed"},
    ]
    assert decode_batch(encode_batch([])) == []


def test_a_field_that_a_newer_release_added_is_passed_over() -> None:
    assert decode_batch(b'[{"v":1,"type":"Paused","at":"t","mood":"calm"}]') == [Paused(at="t")]


def test_an_event_without_a_version_is_of_the_first() -> None:
    assert decode_batch(b'[{"type":"Paused","at":"t"}]') == [Paused(at="t")]


def test_an_unknown_type_is_named_with_the_release_as_the_reason() -> None:
    with pytest.raises(StoreError, match=r"'Teleported'.*newer release") as caught:
        decode_batch(b'[{"v":1,"type":"Paused","at":"t"},{"v":1,"type":"Teleported","at":"t"}]')
    assert "pip install --upgrade reconvene" in caught.value.hint


def test_the_version_of_a_batch_holds_for_all_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "VERSION", 2)
    monkeypatch.setattr(wire, "_OPENING", b'[{"v":2,')
    monkeypatch.setitem(wire._UPCASTERS, 1, lambda raw: {**raw, "by": "upcast"})
    old = b'[{"v":1,"type":"Paused","at":"t"},{"type":"Resumed","at":"t"}]'
    assert decode_batch(old) == [Paused(at="t", by="upcast"), Resumed(at="t", by="upcast")]


def test_a_newer_version_is_refused_with_the_release_as_the_reason() -> None:
    with pytest.raises(StoreError, match=r"format 99.*newer release") as caught:
        decode_batch(b'[{"v":99,"type":"Paused","at":"t"}]')
    assert "pip install --upgrade reconvene" in caught.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", b"{}", b"[1]", b"[{}]", b'[{"v":1,"type":"Paused"}]', b'[{"v":1,"type":[]}]', b"[{", b"\xff"],
)
def test_what_is_no_list_of_events_is_a_store_error(data: bytes) -> None:
    with pytest.raises(StoreError):
        decode_batch(data)


def test_an_older_version_is_brought_up_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "VERSION", 3)
    monkeypatch.setitem(wire._UPCASTERS, 1, lambda raw: {**raw, "steps": ["one"]})
    monkeypatch.setitem(wire._UPCASTERS, 2, lambda raw: {**raw, "steps": [*raw["steps"], "two"]})
    assert upcast({"v": 1, "type": "Paused"}) == {"v": 3, "type": "Paused", "steps": ["one", "two"]}
    assert upcast({"v": 3, "type": "Paused"}) == {"v": 3, "type": "Paused"}


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
