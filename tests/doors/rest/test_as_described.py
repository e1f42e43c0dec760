"""The API does what its OpenAPI document says: schemathesis makes requests of every operation, good ones and bad ones.

A few for each with every `make test`; with the torture profile many more, others every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode
from schemathesis.schemas import BaseSchema

from reconvene.doors.rest.routes import OPERATIONS
from served_home import Ground, ground, on_a_port

_FEW = max(2, settings().max_examples // 50)
_LASTING = ("stream", "stream_of_all")  # they do not end by themselves
load_all_checks()
_OWN = [CHECKS.get_one("ignored_auth")]  # every request here is made by somebody who is known; see test_api


class Described:
    def __init__(self, made: Ground, schema: BaseSchema, runs: list[str]) -> None:
        self.made = made
        self.operations: dict[str, Any] = {}
        for found in schema.get_all_operations():
            one = found.ok()
            self.operations[one.definition.raw["operationId"]] = one
        self.runs = runs


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    with ground(tmp_path_factory.mktemp("described")) as made:
        runs = [made.parked() for _ in range(4)]
        headers = made.person("ada", "admin")
        with on_a_port(made) as (url, _):
            yield _loaded(made, url, headers, runs)


def _loaded(made: Ground, url: str, headers: dict[str, str], runs: list[str]) -> Described:
    schema = schemathesis.openapi.from_url(f"{url}/api/v1/openapi.json", headers=headers)
    schema.config.update(headers=headers)
    checks = schema.config.checks
    checks.positive_data_acceptance.expected_statuses += ["422"]  # what fits the form may not fit the run
    checks.negative_data_rejection.expected_statuses += ["413"]
    return Described(made, schema, runs)


def test_the_document_tells_of_every_operation(described: Described) -> None:
    assert set(described.operations) == {one.name for one in OPERATIONS}


@pytest.mark.hypothesis  # made of examples, though pytest cannot see it: `make torture` picks it by this
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["good", "bad"])
@pytest.mark.parametrize("name", [one.name for one in OPERATIONS if one.name not in _LASTING])
def test_requests_are_answered_as_the_document_says(described: Described, name: str, mode: GenerationMode) -> None:
    requests = described.operations[name].as_strategy(generation_mode=mode)

    @settings(max_examples=_FEW, suppress_health_check=list(HealthCheck))
    @given(case=requests)
    def answered(case: Any) -> None:
        path = case.path_parameters or {}
        if name == "delete":
            path["run"] = described.made.parked()  # one of its own: the others need theirs
        elif "run" in path and len(str(path["run"])) % 2:  # there are few runs that chance would name
            path["run"] = described.runs[len(str(case.body)) % len(described.runs)]
        case.validate_response(case.call(), excluded_checks=_OWN)

    try:
        answered()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # what takes nothing cannot be asked wrongly
