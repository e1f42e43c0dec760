"""A process is killed between an event and the delivery of its message: the message is there, and comes by its id."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from commands import Command
from posts import PostServer

FLOW = """
name: flow
agents: {writer: {command: "cat >/dev/null; echo fine"}}
phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]
"""


def set_up(folder: Path, server: PostServer) -> None:
    (folder / "flow.yaml").write_text(FLOW)
    own = Path(f"{folder}.config") / "reconvene" / "reconvene.toml"
    own.parent.mkdir(parents=True)
    hook = f'hook = {{ url = "http://{server.at}/hook", secret = "x" }}'
    own.write_text(f'[notify]\nto = ["hook"]\n[notify.destinations]\n{hook}\n')


def test_who_is_killed_while_a_message_is_under_way_leaves_it_and_it_comes_again_with_the_same_id(
    folder: Path, reconvene: Command
) -> None:
    with PostServer("hang", 200) as server:
        set_up(folder, server)
        words = ["run", "flow.yaml", "--no-input"]
        running = subprocess.Popen(
            [sys.executable, "-m", "reconvene.doors.cli", *words], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert server.arrived.acquire(timeout=240)  # the event is on disk, and its message under way
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        assert reconvene("inbox", "--json").objects[0]["run"] == "flow-1"
        (row,) = _rows(reconvene)
        assert (row["state"], row["attempts"]) == ("waiting", 1)
        assert reconvene("notify", "send").out == "sent 0, failed 0\n"  # it may still be under way
        assert reconvene("notify", "retry", "--json").object == {"due": 1}
        assert reconvene("notify", "send").out == "sent 1, failed 0\n"
        (row,) = _rows(reconvene)
        assert row["state"] == "delivered"
        assert server.ids == [row["id"], row["id"]]  # once more, told by its id


def test_a_message_is_there_where_the_process_is_killed_right_after_the_event(folder: Path, reconvene: Command) -> None:
    with PostServer() as server:
        set_up(folder, server)
        program = (
            "import asyncio, os, signal\n"
            "from reconvene.doors.cli.named_workflow import load\n"
            "from reconvene.wiring import open_engine\n"
            "engine = open_engine(os.environ['RECONVENE_HOME'])\n"
            "append = engine.log.append\n"
            "def dying(run, seq, given):\n"
            "    append(run, seq, given)\n"
            "    if given.messages:\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n"
            "engine.log.append = dying\n"
            "asyncio.run(engine.drive(engine.start(load('flow.yaml'))))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=folder, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == -signal.SIGKILL
        assert [(row["state"], row["attempts"]) for row in _rows(reconvene)] == [("waiting", 0)]
        assert reconvene("notify", "send").out == "sent 1, failed 0\n"
        assert [one.object["kind"] for one in server.posted] == ["waiting"]


def _rows(reconvene: Command) -> list[dict[str, object]]:
    found = reconvene("notify", "--json").object["messages"]
    assert isinstance(found, list)
    return found
