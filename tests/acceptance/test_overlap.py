"""No attempt overlaps its successor: what a killed process left at work is gone before anybody else begins.

Real processes, killed for good; agents that take no notice of signals and detach themselves.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from support.witness import LONGEST, Witness

from commands import Done, process
from exploring import part
from reconvene.adapters.sandbox import levels, remains
from terminals import Terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
FLOW = """\
name: flow
agents:
  worker: {{command: [{python}, "-S", {script}, "{port}", {way}, first, "0"], retries: 9, effects: {effects}}}
phases:
  - {{id: work, agents: [worker]}}
"""


@pytest.fixture(params=["bubblewrap", pytest.param("landlock", marks=pytest.mark.torture), "none"])
def level(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return chosen(str(request.param), tmp_path, monkeypatch)


def chosen(level: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RECONVENE_SANDBOX", "off" if level == "none" else "auto")
    if level == "landlock":  # a bubblewrap that is installed and does not work
        broken = folder / "broken" / "bwrap"
        broken.parent.mkdir()
        broken.write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
        broken.chmod(0o755)
        monkeypatch.setenv("PATH", f"{broken.parent}{os.pathsep}{os.environ['PATH']}")
    found = levels.find(os.environ)
    if level not in ("none", found.name):
        pytest.skip(f"{level} does not work here: {'; '.join(found.lacks)}")
    return level


def flow(folder: Path, witness: Witness, way: str = "plain", *, effects: bool = False) -> None:
    text = FLOW.format(
        python=sys.executable, script=witness.script, port=witness.port, way=way, effects=str(effects).lower()
    )
    (folder / "flow.yaml").write_text(text)


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own; killed at the end at the latest."""
    with open(folder / "said", "ab") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "reconvene.doors.cli", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def below(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def events(folder: Path) -> list[dict[str, object]]:
    done = process("log", "flow-1", "--json", cwd=folder)
    return [json.loads(line) for line in done.out.splitlines()]


def verdicts(folder: Path) -> list[object]:
    return [event["verdict"] for event in events(folder) if event["type"] == "AttemptEnded"]


def kill(engine: subprocess.Popen[bytes], *, keeper: bool) -> None:
    """And `keeper`: whoever stands between it and its agents; the engine must not see that first."""
    engine.send_signal(signal.SIGSTOP)
    for pid in below(engine.pid) if keeper else ():
        with suppress(ProcessLookupError, FileNotFoundError):
            if f"{remains.MARK}=".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, signal.SIGKILL)
    engine.kill()
    engine.wait()


def kill_at_work(folder: Path, witness: Witness, roles: int, *, keeper: bool = False) -> None:
    """Start a run, and kill its process when all are there."""
    with started(folder, "run", "flow.yaml", "--no-input") as engine:
        witness.until(lambda: len(witness.seen) == roles)
        kill(engine, keeper=keeper)


@pytest.mark.parametrize("way", part(["double", "cleared"], 2))
def test_what_a_killed_process_left_is_gone_before_the_next_attempt(tmp_path: Path, level: str, way: str) -> None:
    with Witness(tmp_path, stays=lambda attempt: attempt == 1) as witness:
        flow(tmp_path, witness, way)
        kill_at_work(tmp_path, witness, roles=2)
        assert process("resume", "--no-input", cwd=tmp_path).code == 0
        assert [one for one in witness.seen if one[1] == "first"] == [(1, "first"), (2, "first")]
        assert witness.overlaps == []
    assert verdicts(tmp_path) == ["doubt", "accepted"]
    assert list(Path(f"{tmp_path}.state").rglob("attempts/*")) == []


@pytest.mark.parametrize("way", part(["setsid", "plain", "cleared"]))
def test_also_where_the_keeper_was_killed_with_it(tmp_path: Path, level: str, way: str) -> None:
    with Witness(tmp_path, stays=lambda attempt: attempt == 1) as witness:
        flow(tmp_path, witness, way)
        kill_at_work(tmp_path, witness, roles=1 + (way != "plain"), keeper=True)
        assert process("resume", "--no-input", cwd=tmp_path).code == 0
        assert witness.overlaps == []
        assert witness.seen[-1][0] == 2


def test_nothing_of_a_living_process_is_touched(tmp_path: Path) -> None:
    with Witness(tmp_path, stays=lambda attempt: True) as witness:
        flow(tmp_path, witness, "double")
        with started(tmp_path, "run", "flow.yaml", "--no-input") as living:
            witness.until(lambda: len(witness.seen) == 2)
            with started(tmp_path, "run", "flow.yaml", "--no-input") as killed:
                witness.until(lambda: len(witness.seen) == 4)
                killed.kill()
                killed.wait()
            with started(tmp_path, "resume", "flow-2", "--no-input"):
                witness.until(lambda: len(witness.seen) == 6)
                assert witness.alive == [(1, "first"), (1, "other"), (2, "first"), (2, "other")]
            assert living.poll() is None


def test_a_process_that_has_the_number_of_a_dead_one_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "attempt"
    folder.mkdir()
    with subprocess.Popen(["sleep", "300"]) as foreign:
        try:
            remains.note_started(str(folder), foreign.pid)
            assert remains.leader(str(folder)) == foreign.pid
            (folder / "started").write_text(f"{foreign.pid} 1 {'0' * 8}")  # the same number, of another time
            assert remains.leader(str(folder)) == 0
            assert remains.end([str(folder)], at_once=True) == set()
            assert foreign.poll() is None
        finally:
            foreign.kill()


# --- an agent that acts on the world ----------------------------------------------------------------------------------


def asked(done: Done) -> dict[str, object]:
    assert done.code == 3, done.err
    point = done.object["checkpoint"]
    assert isinstance(point, dict)
    return point


def labels(point: dict[str, object]) -> dict[str, str]:
    options = point["options"]
    assert isinstance(options, list)
    return {option["label"]: option["leads"] for option in options}


def test_an_agent_with_effects_stays_at_work_and_the_person_is_told(tmp_path: Path, level: str) -> None:
    with Witness(tmp_path, stays=lambda attempt: True) as witness:
        flow(tmp_path, witness, effects=True)
        kill_at_work(tmp_path, witness, roles=1)
        point = asked(process("resume", "--no-input", "--json", cwd=tmp_path))
        assert witness.alive == [(1, "first")]
        assert "worker is still at work: process " in str(point["prompt"])
        assert "agent.py" in str(point["prompt"])
        offered = labels(point)
        assert [*offered] == ["Wait until it has ended", "Go on without it", "Try again", "Stop the run"]
        assert "may be done twice" in offered["Try again"]
        assert "its work so far is lost" in offered["Try again"]
        # to wait ends nothing and starts nothing
        with started(tmp_path, "decide", "flow-1", "--option", "Wait until it has ended", "--latest") as waiting:
            witness.let_go()
            assert waiting.wait(LONGEST) == 3
        point = asked(process("show", "--json", cwd=tmp_path)._replace(code=3))
        assert [*labels(point)] == ["Go on without it", "Try again", "Stop the run"]
        assert process("decide", "flow-1", "--option", "Go on without it", "--latest", cwd=tmp_path).code == 0
        assert witness.seen == [(1, "first")]


@pytest.mark.parametrize(
    ("option", "code", "seen"), part([("Try again", 0, 2), ("Go on without it", 0, 1), ("Stop", 2, 1)])
)
def test_it_is_ended_when_the_person_has_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, code: int, seen: int
) -> None:
    chosen("none", tmp_path, monkeypatch)
    with Witness(tmp_path, stays=lambda attempt: attempt == 1) as witness:
        flow(tmp_path, witness, "double", effects=True)
        kill_at_work(tmp_path, witness, roles=2)
        asked(process("resume", "--no-input", "--json", cwd=tmp_path))
        assert process("decide", "flow-1", "--option", option, "--latest", cwd=tmp_path).code == code
        witness.until(lambda: witness.alive == [])
        assert witness.overlaps == []
        assert len({attempt for attempt, _ in witness.seen}) == seen


@pytest.mark.parametrize("number", part([signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))
def test_one_that_was_cancelled_is_not_begun_again_without_a_question(tmp_path: Path, number: signal.Signals) -> None:
    with Witness(tmp_path, stays=lambda attempt: True) as witness:
        flow(tmp_path, witness, effects=True)
        with started(tmp_path, "run", "flow.yaml", "--no-input") as engine:
            witness.until(lambda: bool(witness.seen))
            engine.send_signal(number)
            assert engine.wait(LONGEST) == 3
        witness.until(lambda: witness.alive == [])
        point = asked(process("resume", "--no-input", "--json", cwd=tmp_path))
        assert [*labels(point)] == ["Go on without it", "Try again", "Stop the run"]
        assert witness.seen == [(1, "first")]
    assert verdicts(tmp_path) == ["cancelled"]


# --- signals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("second", part([signal.SIGINT, signal.SIGTERM], 2))
def test_who_is_impatient_leaves_nobody_at_work(tmp_path: Path, second: signal.Signals) -> None:
    with Witness(tmp_path, stays=lambda attempt: True) as witness:
        flow(tmp_path, witness, "double")
        with started(tmp_path, "run", "flow.yaml", "--no-input") as engine:
            witness.until(lambda: len(witness.seen) == 2)
            engine.send_signal(signal.SIGTERM)
            witness.until(lambda: b"stopping" in (tmp_path / "said").read_bytes() or engine.poll() is not None)
            engine.send_signal(second)
            assert engine.wait(LONGEST) in (3, 130)
            witness.until(lambda: witness.alive == [])


def test_a_closed_terminal_ends_the_agents_and_that_is_on_record(tmp_path: Path, terminal: Terminal) -> None:
    with Witness(tmp_path, stays=lambda attempt: True) as witness:
        flow(tmp_path, witness, "double")
        child = terminal("run", "flow.yaml")
        witness.until(lambda: len(witness.seen) == 2)
        child.ptyproc.fileobj.close()  # the terminal goes away; the process is not ended by us
        witness.until(lambda: witness.alive == [])
        child.ptyproc.wait()
    assert verdicts(tmp_path) == ["cancelled"]
    assert [event["now"] for event in events(tmp_path) if event["type"] == "Paused"] == [True]


# --- many kills -------------------------------------------------------------------------------------------------------


@pytest.mark.torture
@pytest.mark.parametrize("way", ["double", "cleared", "plain"])
def test_killed_at_any_moment_again_and_again(tmp_path: Path, level: str, way: str) -> None:
    chance = random.Random(int(os.environ.get("SEED", "1")))
    kills = 0
    with Witness(tmp_path, stays=lambda attempt: True) as witness:
        flow(tmp_path, witness, way)
        with started(tmp_path, "run", "flow.yaml", "--no-input") as engine:
            witness.until(lambda: bool(witness.seen))
            engine.kill()
        while kills < 12:
            with started(tmp_path, "resume", "--no-input") as engine:
                before = len(witness.seen)
                if chance.random() < 0.5:
                    time.sleep(chance.uniform(0.2, 1.5))
                else:
                    witness.until(lambda before=before: len(witness.seen) > before)
                    time.sleep(chance.uniform(0, 0.05))
                kill(engine, keeper=chance.random() < 0.3)
            kills += 1
        witness._stays = lambda attempt: False
        assert process("resume", "--no-input", cwd=tmp_path).code == 0
        assert witness.overlaps == []
        print(f"{level} {way}: {kills} kills, {len(witness.seen)} processes of agents")


@pytest.mark.torture
def test_never_paid_twice_without_a_question(tmp_path: Path, level: str) -> None:
    chance = random.Random(int(os.environ.get("SEED", "1")))
    for number in range(12):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Witness(folder, stays=lambda attempt: True) as witness:
            flow(folder, witness, "double", effects=True)
            home = {"RECONVENE_HOME": str(folder / ".reconvene")}
            assert process("new", "flow.yaml", cwd=folder, **home).code == 0
            os.environ.update(home)
            for _ in range(3):
                with started(folder, "resume", "--no-input") as engine:
                    time.sleep(chance.uniform(0.3, 1.5))
                    engine.kill()
            assert len([one for one in witness.seen if one[1] == "first"]) <= 1
            assert process("abort", "flow-1", cwd=folder, **home).code == 2
            witness.until(lambda: witness.alive == [])
