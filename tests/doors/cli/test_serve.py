"""`serve`: reached from elsewhere only with people, a name and TLS; says what is wrong; ends what it started."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commands import Command
from reconvene.doors.cli.serve import Place
from reconvene.people_ports import Person
from reconvene.people_wiring import open_people


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], ["people with tokens", "https", "--allowed-host"]),
        (["--host", "0.0.0.0", "--allowed-host", "runs.example.org"], ["people with tokens", "https"]),
        (["--behind-proxy"], ["by which name"]),
        (["--behind-proxy", "--allowed-host", "runs.example.org"], ["people with tokens"]),
        (["--allowed-host", "http://x/"], ["no name of a host"]),
        (["--tls-cert", __file__], ["goes with its key"]),
        (["--tls-cert", __file__, "--tls-key", __file__, "--behind-proxy", "--allowed-host", "x"], ["either"]),
        (["--tls-cert", __file__, "--tls-key", __file__], ["cannot be used"]),
        (["--host", "no.such.host.invalid"], ["people with tokens"]),
    ],
)
def test_nobody_opens_a_home_to_a_network_by_mistake(reconvene: Command, words: list[str], told: list[str]) -> None:
    done = reconvene("serve", "--no-open", "--no-drive", "--port", "0", *words)
    assert done.code == 64
    assert all(one in done.err for one in told)


def test_a_port_that_is_taken_is_named_with_what_to_do(reconvene: Command) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        number = taken.getsockname()[1]
        done = reconvene("serve", "--no-open", "--no-drive", "--port", str(number))
    assert done.code == 64
    assert f"127.0.0.1:{number}" in done.err
    assert "--port 0" in done.err


def test_a_server_is_found_by_its_own_names_only() -> None:
    here = Place("127.0.0.1", 0, ())
    assert here.hosts(7467) == ["127.0.0.1:7467", "localhost:7467", "[::1]:7467"]
    assert Place("0.0.0.0", 0, ("runs.example.org",), "c", "k").hosts(443) == [
        "runs.example.org:443",
        "runs.example.org",
    ]
    assert Place("127.0.0.1", 0, ("runs.example.org",), proxy=True).hosts(7467) == ["runs.example.org"]
    assert Place("127.0.0.1", 0, ("runs.example.org",), proxy=True).url(7467) == "https://runs.example.org"
    assert here.url(7467) == "http://127.0.0.1:7467"


# --- real processes ---


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", "reconvene.doors.cli", "serve", "--json", "--port", "0", *words]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        yield process, json.loads(line)
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=120)


def ask(url: str, token: str, path: str, context: ssl.SSLContext | None = None) -> Any:
    asks = urllib.request.Request(f"{url}{path}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asks, context=context, timeout=60) as answer:
        return json.load(answer)


def test_with_people_and_a_certificate_it_is_served_by_https(folder: Path) -> None:
    cert, key = certificate(folder)
    with closing(open_people(folder / ".reconvene")) as people:
        people.add(Person("ada", "admin"))
        _, token = people.issue("ada", "", "2026-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z")
    words = ("--host", "127.0.0.1", "--allowed-host", "localhost", "--tls-cert", cert, "--tls-key", key, "--no-drive")
    with serving(folder, *words) as (process, told):
        assert told["url"].startswith("https://localhost:")
        assert "token" not in told
        context = ssl.create_default_context(cafile=cert)
        assert ask(told["url"], token, "/api/v1/me", context)["name"] == "ada"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM)


def test_two_servers_on_one_home_drive_what_is_started_and_end_with_all_they_started(folder: Path) -> None:
    """Started at one, decided at the other; a worker that is killed is started anew; no token is in any log."""
    with serving(folder) as (one, first), serving(folder) as (other, second):
        body = json.dumps({"workflow": "quality-gate", "recorded": True}).encode()
        made = _post(first, "/api/v1/runs", body)
        run = str(made["run"])
        version = _until_waiting(first, run)
        workers = _children(one.pid)
        assert workers
        os.kill(workers[0], signal.SIGKILL)  # the one that this test's server started
        option = _checkpoint(second, run)["options"][0]["label"]
        told = _post(
            second,
            f"/api/v1/runs/{run}/decision",
            json.dumps({"option": option}).encode(),
            {"If-Match": f'"{version}"'},
        )
        assert told["run"] == run
        events = ask(second["url"], second["token"], f"/api/v1/runs/{run}/events?limit=1000")["events"]
        assert any(event["type"] == "DecisionRecorded" for event in events)
        started = [os.pidfd_open(pid) for pid in (*_children(one.pid), *_children(other.pid))]
        for process in (one, other):
            process.send_signal(signal.SIGTERM)
        printed = ["".join(filter(None, process.communicate(timeout=120))) for process in (one, other)]
    for child in started:
        assert select.select([child], [], [], 60)[0], "a process was left behind"
        os.close(child)
    for server in (first, second):
        assert not any(server["token"] in text for text in printed)
        for file in (folder / ".reconvene").rglob("*"):
            assert not file.is_file() or server["token"].encode() not in file.read_bytes()


def test_a_worker_whose_server_is_gone_lets_its_agent_finish_and_gives_the_run_back(
    folder: Path, reconvene: Command
) -> None:
    """A server that is killed leaves pipes that nobody reads: no line into them breaks into what the worker is at."""
    started, go_on = folder / "started", folder / "go-on"
    for pipe in (started, go_on):
        os.mkfifo(pipe)
    script = f"cat >/dev/null; echo at work; echo >{started}; read line <{go_on}; echo told; echo written"
    agents = {"writer": {"command": ["sh", "-c", script]}, "reviewer": {"command": ["echo", "reviewed"]}}
    (folder / "slow.yaml").write_text(
        f"name: slow\nagents: {json.dumps(agents)}\n"
        "phases: [{id: draft, steps: [{agents: [writer]}, {agents: [reviewer]}], checkpoint: {}}]\n",
        encoding="utf-8",
    )
    made = reconvene("new", "slow.yaml", "--json")
    assert not made.code, made.err
    run = str(made.object["run"])
    worker = subprocess.Popen(
        [sys.executable, "-m", "reconvene.doors.cli", "worker", "--json", "--attached"],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    started.read_text()  # opening the pipe waits for the agent
    for stream in (worker.stdout, worker.stderr, worker.stdin):  # as the system closes them for who is killed
        assert stream is not None
        stream.close()
    try:
        assert any(reconvene("show", run, "--json").object["status"] == "paused" for _ in range(1000))  # it leaves
        go_on.write_text("\n")
        assert worker.wait(120) == 0
    finally:
        worker.kill()
        worker.wait()
    told = reconvene("log", run).out
    assert "verdict=accepted" in told
    assert "doubt" not in told
    assert reconvene("worker", "--once").code == 0  # somebody else takes it up
    assert reconvene("show", run, "--json").object["status"] == "waiting"


def test_a_line_that_is_too_long_to_be_told_does_not_keep_the_driver_waiting() -> None:
    from reconvene.doors.http.driving import Driving

    told: list[Mapping[str, object]] = []

    async def read() -> None:
        lines = "print('x' * 3_000_000); print('{\"progress\": 1}')"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-S", "-c", lines, stdout=asyncio.subprocess.PIPE
        )
        await Driving([], told.append)._read(process)
        assert await process.wait() == 0

    asyncio.run(read())
    assert told == [{"progress": 1}]


def _post(server: dict[str, Any], path: str, body: bytes, more: dict[str, str] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {server['token']}", "Content-Type": "application/json", **(more or {})}
    asks = urllib.request.Request(f"{server['url']}{path}", body, headers)
    with urllib.request.urlopen(asks, timeout=60) as answer:
        return json.load(answer)


def _checkpoint(server: dict[str, Any], run: str) -> Any:
    return ask(server["url"], server["token"], f"/api/v1/runs/{run}/checkpoint")


def _until_waiting(server: dict[str, Any], run: str) -> str:
    """Its version, once the run has come to a checkpoint: the stream tells."""
    headers = {"Authorization": f"Bearer {server['token']}"}
    asks = urllib.request.Request(f"{server['url']}/api/v1/runs/{run}/stream", headers=headers)
    with urllib.request.urlopen(asks, timeout=240) as lines:
        for line in lines:
            if b'"CheckpointOpened"' in line:
                break
    return str(_checkpoint(server, run)["digest"])


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def certificate(folder: Path) -> tuple[str, str]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    return str(folder / "cert.pem"), str(folder / "key.pem")
