"""A server is killed while a request with an Idempotency-Key is under way: the same request with the same key again has
its effect, once, and is answered at once, whenever the server died."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.killed_requests import MOMENTS, serving

from reconvene.app import queries
from reconvene.core.facts import events as e
from served_home import Ground, ground

if TYPE_CHECKING:
    from forks import Forks

FLOW = """
name: given
inputs: {brief: {type: text}}
agents: {writer: {command: "cat"}}
phases: [{id: draft, agents: [writer]}]
"""
SAID = {"remarks": [{"text": "shorter"}, {"text": "correction: Revenue is 900, not 850"}]}
Asked = tuple[str, dict[str, Any], dict[str, str], type]  # path, body, headers, the event that is its effect


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.yaml").write_text(FLOW)
    with ground(tmp_path) as one:
        yield one


def remark(made: Ground) -> Asked:
    return f"/api/v1/runs/{made.parked()}/remarks", SAID, {}, e.RemarkAdded


def _at_checkpoint(made: Ground) -> tuple[str, dict[str, str]]:
    run = made.parked()
    point = queries.standing(made.engine, run).checkpoint
    assert point is not None
    return run, {"if-match": f'"{point.digest}"'}


def decide(made: Ground) -> Asked:
    run, headers = _at_checkpoint(made)
    body = {"option": "Once more", "remarks": [{"text": "shorter"}]}
    return f"/api/v1/runs/{run}/decision", body, headers, e.DecisionRecorded


def roll_back(made: Ground) -> Asked:
    run, headers = _at_checkpoint(made)
    return f"/api/v1/runs/{run}/rollback", {"remarks": [{"text": "shorter"}]}, headers, e.RoundUndone


def fork(made: Ground) -> Asked:
    run = made.parked()
    return f"/api/v1/runs/{run}/fork", {"at": made.engine.log.head(run)}, {}, e.Forked


def start(made: Ground) -> Asked:
    return "/api/v1/runs", {"workflow": "given", "inputs": {"brief": "Ships"}}, {}, e.RunStarted


def effects(made: Ground, kind: type) -> list[object]:
    log = made.engine.log
    return [event for run in log.runs() for _, event in log.read(run) if isinstance(event, kind)]


@pytest.mark.parametrize("ask", [remark, decide, roll_back, fork, start], ids=lambda one: one.__name__)
def test_a_request_whose_server_was_killed_has_its_effect_once_when_it_is_sent_again(
    made: Ground, forks: Forks, ask: Callable[[Ground], Asked]
) -> None:
    for number, moment in enumerate(MOMENTS):
        path, body, headers, kind = ask(made)
        headers = {**headers, "idempotency-key": f"key-{number}"}
        before = len(effects(made, kind))
        sent = {"folder": str(made.folder), "path": path, "body": body, "headers": headers, "moment": moment}
        ended = forks.one("support.killed_requests:send", **sent)
        assert ended.killed, (moment, ended)
        recorded = len(effects(made, kind)) > before
        assert recorded == (moment not in ("begun", "before its effect")), moment
        with serving(made) as client:
            first, second = (client.post(path, json=body, headers=headers) for _ in range(2))
        assert first.status_code in (200, 201), (moment, first.text)
        assert first.headers.get("idempotency-replayed", "false") == str(recorded).lower(), moment
        assert (second.status_code, second.json()) == (first.status_code, first.json()), moment
        assert len(effects(made, kind)) == before + (len(SAID["remarks"]) if kind is e.RemarkAdded else 1), moment
        if kind is e.RemarkAdded:
            assert [one["text"] for one in first.json()["remarks"]] == ["shorter", "Revenue is 900, not 850"], moment
