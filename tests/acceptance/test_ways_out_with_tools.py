"""A model that runs programs through its tools has no way out either: what command agents try, tried as calls."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from tests.acceptance.support.ways_out import WAYS, Way
from tests.acceptance.test_ways_out import Scene, Seen

from commands import process
from reconvene.core.facts.events import CallEnded
from reconvene.testing.openai_server import Calls, OpenAIServer, Say
from reconvene.wiring import open_log

ALONE = [way for way in WAYS if not way.name.startswith("peer-")]  # there is one model, and nobody works beside it


def attacked(scene: Scene) -> Seen:
    scripts = {way.name: scene.command(way)[2].removeprefix("cat >/dev/null\n") for way in ALONE}
    # each way in a folder of its own; what is named on the command line is shown, as it is to a command agent
    lines = [f"mkdir {name}; cd {name}\n{script} # {' '.join(scene.shown())}" for name, script in scripts.items()]
    calls = Calls(tuple(("run_command", json.dumps({"command": line})) for line in lines))
    before = {run: scene.head(run) for run in scene.victims.values()}
    with (
        OpenAIServer(calls, Say("Done.")) as server,
        scene.answering(scene.socket),
        scene.answering(str(scene.person / ".tmux" / "default")),
    ):
        model = {"model": "openai:gpt-4o-mini", "options": {"base_url": server.url}, "tools": ["shell"]}
        own = {"command": ["sh", "-c", "cat >/dev/null; echo as it was > own.md"], "prompt": "."}
        flow = {
            "name": "attack",
            "agents": {"own": own, "tooled": model | {"prompt": "."}},
            "phases": [
                {"id": "first", "steps": [{"agents": ["own"], "writes": ["own.md"]}]},
                {"id": "all", "reads": [], "agents": ["tooled"]},
            ],
        }
        (scene.root / "attack.yaml").write_text(json.dumps(flow))
        environ = scene.environ | {"OPENAI_API_KEY": "not-a-key"}
        done = process("run", "attack.yaml", "--no-input", cwd=scene.root, **environ)
    assert done.code == 0, done
    with closing(open_log(scene.home)) as log:
        ended = [event for _, event in log.read("attack-1") if isinstance(event, CallEnded)]
        texts = [log.artefact(one.result.digest).decode("utf-8", "replace") for one in ended]
    assert len(ended) == len(ALONE)
    said = dict(zip(scripts, texts, strict=True))
    succeeded = frozenset(way.name for way in ALONE if scene.succeeded(way, said[way.name], before))
    return Seen("; ".join({one.sandbox for one in ended}), succeeded, said)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    scene = Scene(tmp_path_factory.mktemp("tooled"), broken=False, sandbox="auto")
    try:
        return attacked(scene)
    finally:
        scene.close()


@pytest.mark.parametrize("way", ALONE, ids=lambda way: way.name)
def test_under_bubblewrap_no_call_succeeds(way: Way, seen: Seen, tmp_path: Path) -> None:
    if seen.level != "bubblewrap":
        pytest.skip(f"bubblewrap does not work here: {seen.level} was in force")
    assert way.name not in seen.succeeded, seen.said[way.name]
