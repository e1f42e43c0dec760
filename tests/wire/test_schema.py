"""The editors' JSON Schema says what the loader says about shape."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reconvene.wire.schema import json_schema
from reconvene.wire.yaml_reader import plain, read_yaml

TESTS = Path(__file__).parents[1]
PACKAGED = Path(str(resources.files("reconvene"))) / "workflows"
WORKFLOWS = [
    *sorted((TESTS / "fixtures" / "sketches").glob("*.yaml")),
    TESTS / "fixtures" / "seed004" / "two-step.yaml",
    *sorted(PACKAGED.glob("*/workflow.yaml")),
]


def complaints(document: object) -> list[str]:
    return [error.message for error in Draft202012Validator(json_schema()).iter_errors(document)]


def test_the_schema_is_a_schema_and_plain_json() -> None:
    Draft202012Validator.check_schema(json_schema())
    assert json.loads(json.dumps(json_schema())) == json_schema()


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_workflow_we_ship_or_test_with_is_valid(file: Path) -> None:
    assert complaints(plain(read_yaml(file.read_text(), file.name))) == []


@pytest.mark.parametrize(
    "text",
    [
        "name: w\nphases: [{id: a, chekpoint: true}]",
        "name: w\nphase: [{id: a}]",
        "name: w\nphases: []",
        "phases: [{id: a}]",
        "name: w\nphases: [{id: a, rounds: {max: many}}]",
        "name: w\nphases: [{id: a, checkpoint: {options: [{label: A, then: agian}]}}]",
        "name: w\nphases: [{id: a, checkpoint: {options: [{label: A, on_select: {action: jump}}]}}]",
        "name: w\nphases: [{id: a, each: {key: id}}]",
        "name: w\nphases: [{id: a, track: []}]",
        "name: w\nagents: {a: {comand: x}}\nphases: [{id: a}]",
    ],
)
def test_a_mistake_of_shape_fails(text: str) -> None:
    assert complaints(plain(read_yaml(text, "w.yaml")))


def test_every_key_is_explained() -> None:
    definitions = json_schema()["$defs"]
    assert isinstance(definitions, dict)
    missing = [
        f"{table}.{key}"
        for table, definition in definitions.items()
        for key, shape in definition["properties"].items()
        if not shape.get("description")
    ]
    assert missing == []
