"""What is stored is read for ever: no form changes without a new version, and nothing unknown is dropped on reading."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct, field
from tests.wire.frozen import COMMAND, FOLDER, FORMATS, Format, as_json, every_event, full, objects, shape, structs

from reconvene.core.definition.workflow import Limits, Workflow
from reconvene.core.facts.events import AnyEvent
from reconvene.errors import StoreError
from reconvene.wire import event_json as events
from reconvene.wire import pins

FILES = sorted(FOLDER.glob("*.json"))
encoded = msgspec.json.encode


def sample(name: str) -> object:
    return json.loads((FOLDER / name).read_bytes())["sample"]


def versions(name: str) -> list[int]:
    return sorted(int(path.stem.rpartition(".v")[2]) for path in FILES if path.stem.startswith(f"{name}.v"))


# --- a change of a form is a new version ---


class Old(Struct, omit_defaults=True):
    gates: tuple[str, ...] = ()
    retries: int = 2


class Moved(Struct, omit_defaults=True):
    rules: tuple[str, ...] = field(name="gates", default=())
    retries: int = 2


class Renamed(Struct, omit_defaults=True):
    rules: tuple[str, ...] = ()
    retries: int = 2


class Patient(Struct, omit_defaults=True):
    gates: tuple[str, ...] = ()
    retries: int = 3


class Loose(Struct, omit_defaults=True):
    gates: tuple[object, ...] = ()
    retries: int = 2


class Around(Struct, omit_defaults=True):
    old: tuple[dict[str, Old | None], ...]


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_no_field_type_or_default_changes_without_a_new_version(format: Format) -> None:
    assert format.file.exists(), f"{format.name}: version {format.version} is new; {COMMAND} writes it down"
    then, now = json.loads(format.file.read_bytes())["structs"], format.shape
    before, after = (
        {f"{struct}.{name}": kind for struct, own in form.items() for name, kind in own.items()} for form in (then, now)
    )
    changed = [
        f"{name}: was {before.get(name, 'not there')}, is {after.get(name, 'not there')}"
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name) and not (format.may_grow and name not in before and " = " in after[name])
    ]
    assert not changed, (
        f"The stored form of {format.name} changed, and what people have parked would be read wrongly:\n  "
        + "\n  ".join(sorted(changed))
        + f"\nHow: {format.how}."
    )


@pytest.mark.parametrize(("name", "known"), [("pins", pins), ("events", events)], ids=["pins", "events"])
def test_every_version_so_far_is_kept_and_has_a_way_up(name: str, known: object) -> None:
    assert versions(name) == list(range(1, known.VERSION + 1))
    assert sorted(known._UPCASTERS) == list(range(1, known.VERSION))


def test_a_renamed_field_a_changed_default_and_a_changed_type_all_show() -> None:
    def form(kind: type[Struct]) -> dict[str, str]:
        return shape(kind)[kind.__name__]

    assert form(Old) == {"gates": "tuple[str, ...] = []", "retries": "int = 2"}
    assert form(Moved) == form(Old)  # only the Python name differs
    assert form(Renamed) != form(Old)
    assert form(Patient) != form(Old)
    assert form(Loose) != form(Old)
    assert shape(Around)["Old"] == form(Old)


def test_writing_down_a_version_never_changes_one_that_is_there() -> None:
    before = {path: path.read_bytes() for path in FILES}
    subprocess.run([sys.executable, "-m", "tests.wire.frozen"], cwd=Path(__file__).parents[2], check=True)
    assert {path: path.read_bytes() for path in sorted(FOLDER.glob("*.json"))} == before


# --- what was written is read ---


@pytest.mark.parametrize("version", versions("pins"))
def test_a_pin_of_every_version_loads(version: int) -> None:
    golden = sample(f"pins.v{version}.json")
    workflow = pins.unpin(encoded({"v": version, **golden}))
    assert pins.unpin(pins.pin(workflow)) == workflow
    if version == pins.VERSION:
        assert as_json(workflow) == golden
    if version == 1:  # as pins were before they had a version
        assert pins.unpin(encoded(golden)) == workflow


@pytest.mark.parametrize(
    ("limits", "most"),
    [({"model_concurrency": 2}, 2), ({"concurrency": 1, "model_concurrency": 5}, 1), ({"concurrency": 3}, 3), ({}, 8)],
)
def test_a_first_pin_keeps_the_smaller_of_its_two_limits(limits: dict[str, int], most: int) -> None:
    first = {"name": "w", "phases": [{"id": "p"}], "language": 1, **({"limits": limits} if limits else {})}
    assert pins.unpin(encoded(first)).limits == Limits(concurrency=most)


@pytest.mark.parametrize("version", versions("events"))
def test_events_of_every_version_load(version: int) -> None:
    first, *rest = sample(f"events.v{version}.json")
    decoded = events.decode_batch(encoded([{"v": version, **first}, *rest]))
    assert len(decoded) == 1 + len(rest)
    assert events.decode_batch(events.encode_batch(decoded)) == decoded
    if version == events.VERSION:
        assert as_json(decoded) == [first, *rest]
        assert {type(event) for event in decoded} == set(events.EVENT_TYPES)


@pytest.mark.parametrize(("name", "root"), [("pins", Workflow), ("events", list[AnyEvent])], ids=["pins", "events"])
def test_the_sample_sets_every_field_of_every_struct(name: str, root: object) -> None:
    golden = sample(f"{name}.v{versions(name)[-1]}.json")
    met = {(cls, key) for cls, found in objects(root, golden) for key in found}
    assert {(cls, key) for cls in structs(root) for key in cls.__struct_encode_fields__} <= met


# --- what is not known is refused ---


@pytest.mark.parametrize("kind", [Workflow, AnyEvent], ids=["pins", "events"])
def test_every_struct_that_is_stored_refuses_unknown_fields(kind: object) -> None:
    lenient = [cls.__name__ for cls in structs(kind) if not cls.__struct_config__.forbid_unknown_fields]
    assert not lenient, f"these would drop what they do not know: {lenient}"


def test_a_field_that_nobody_knows_is_refused_wherever_it_is_in_a_pin() -> None:
    data = as_json(full(Workflow))
    found = list(objects(Workflow, data))
    assert {cls for cls, _ in found} == set(structs(Workflow))
    for _, one in found:
        one["gatez"] = 1
        for version in ({"v": pins.VERSION},):
            with pytest.raises(StoreError, match=r"run two-step-1 \(format \d\).*`gatez`") as caught:
                pins.unpin(encoded(version | data), "two-step-1")
            assert "pip install --upgrade reconvene" in caught.value.hint
            assert "Nothing was changed" in caught.value.hint
        del one["gatez"]
    assert pins.unpin(encoded({"v": pins.VERSION, **data})) == full(Workflow)


def test_a_field_that_nobody_knows_is_refused_also_where_an_older_pin_is_brought_up() -> None:
    def tracked(pin: dict[str, object]) -> dict[str, object]:
        inner = [each for phase in pin["phases"] for each in (phase, *phase["phases"])]
        return next(phase["track"] for phase in inner if "track" in phase)

    for place in (
        lambda pin: pin,
        lambda pin: pin["phases"][0],
        tracked,
        lambda pin: next(iter(pin["agents"].values()))["gates"][0],
    ):
        old = json.loads(json.dumps(sample("pins.v1.json")))
        place(old)["gatez"] = 1
        with pytest.raises(StoreError, match=r"\(format 1\).*`gatez`"):
            pins.unpin(encoded(old), "two-step-1")


def test_a_field_that_nobody_knows_is_refused_wherever_it_is_in_an_event() -> None:
    for event in every_event():
        data = as_json(event)
        for _, one in list(objects(type(event), data)):
            one["mood"] = "calm"
            said = rf"run r-1, {type(event).__name__} \(format {events.VERSION}\).*`mood`"
            with pytest.raises(StoreError, match=said) as caught:
                events.decode_batch(encoded([{"v": events.VERSION, **data}]), "r-1")
            assert "Nothing was changed" in caught.value.hint
            del one["mood"]


def test_a_pin_of_the_future_is_refused_with_the_release_as_the_reason() -> None:
    with pytest.raises(StoreError, match=r"run r-1 has the format 99.*reads up to \d+.*newer release") as caught:
        pins.unpin(b'{"v":99,"name":"w","phases":[],"new":1}', "r-1")
    assert "pip install --upgrade reconvene" in caught.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", b"[]", b'{"v":0,"name":"w","phases":[]}', b'{"v":"1","name":"w","phases":[]}', b"\xff"]
    + [b'{"v":true,"name":"w","phases":[]}', b'{"v":1,"v":1,"name":"w","phases":[]}', b'{"name":"w","phases":[],"v":1}']
    + [b'{"v":%s,"name":"w","phases":[]}' % (b"9" * 5000), b'{"v":-1,"name":"w","phases":[]}'],
)
def test_what_is_no_pin_is_a_store_error(data: bytes) -> None:
    with pytest.raises(StoreError, match="workflow stored with this run") as caught:
        pins.unpin(data)
    assert caught.value.hint


def test_a_pin_begins_with_its_version() -> None:
    workflow = Workflow("w", ())
    assert pins.pin(workflow) == b'{"v":%d,' % pins.VERSION + msgspec.json.encode(workflow)[1:]


# --- old pins are brought up ---


def test_an_old_pin_with_a_value_called_completeness_says_how_it_is_asked() -> None:
    asked = pins.unpin(b'{"name":"w","phases":[],"names":{"completeness":""}}')
    assert asked.completeness == "context.completeness?.captured ?? context.completeness"
    assert pins.unpin(b'{"name":"w","phases":[],"names":{"plan":""}}').completeness == ""


def test_an_old_pin_is_brought_up_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "VERSION", 3)
    monkeypatch.setattr(
        pins,
        "_UPCASTERS",
        {1: lambda raw: {"name": raw.pop("title"), **raw}, 2: lambda raw: {**raw, "file": f"{raw['name']}.yaml"}},
    )
    expected = Workflow("w", (), file="w.yaml")
    assert pins.unpin(b'{"title":"w","phases":[]}') == expected
    assert pins.unpin(b'{"v":2,"name":"w","phases":[]}') == expected
    assert pins.unpin(b'{"v":3,"name":"w","phases":[]}') == Workflow("w", ())
    with pytest.raises(StoreError, match=r"\(format 2\).*`gatez`"):
        pins.unpin(b'{"v":2,"name":"w","phases":[],"gatez":[]}')
