"""Starts the model, plays packaged workflows with it one after the other, and prints a table of how it went."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.small_model.people import PEOPLE
from tests.small_model.table import Row, drawn, row
from tests.small_model.trial import play

from reconvene.wire.packaged import packaged

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.small_model", description=__doc__)
    parser.add_argument("workflows", nargs="*", metavar="WORKFLOW", help="only these; else `tools`, and all packaged")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "small-model")
    parser.add_argument("--threads", default="1", help="of the model; on a busy machine more than one is slower")
    parser.add_argument("--tokens", default="500", help="at most so many in an answer")
    parser.add_argument("--window", default="32768", help="tokens that the model can be shown")
    parser.add_argument("--no-forms", action="store_true", help="hold only JSON to its form, not Markdown")
    parser.add_argument("--judge", action="store_true", help="let the model also answer what gates ask")
    parser.add_argument("--go-on", action="store_true", help="with the runs of an earlier trial that are not at an end")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))  # so that the server and the command end, too
    wanted = given.workflows or ["tools", *sorted(packaged(), key=list(PEOPLE).index)]
    log = given.folder / "exchanges.jsonl"
    if not given.go_on:
        for name in wanted:
            shutil.rmtree(given.folder / name, ignore_errors=True)
        log.unlink(missing_ok=True)
    serve = [sys.executable, "-m", "tests.small_model.serve", "--folder", str(given.folder), "--threads", given.threads]
    serve += ["--tokens", given.tokens, "--window", given.window, *(["--no-forms"] if given.no_forms else [])]
    given.folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    troubles: list[str] = []
    with (given.folder / "server.log").open("w") as said:
        server = subprocess.Popen(
            serve, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True
        )
        try:
            url = _address(server)
            for name in wanted:
                print(name, flush=True)
                seen = len(_exchanges(log))
                trial = play(name, given.folder / name, url, judge=given.judge)
                rows.append(row(trial, _exchanges(log)[seen:]))
                troubles += [f"{name}: {trial.trouble}"] if trial.trouble else []
                print("\n" + drawn(rows), flush=True)
        finally:
            server.terminate()
            server.wait()
    (given.folder / "table.md").write_text(drawn(rows), encoding="utf-8")
    print("\n".join(troubles))
    return 1 if troubles else 0


def _address(server: subprocess.Popen[str]) -> str:
    assert server.stdout
    for line in server.stdout:
        if line.startswith("http"):
            return line.strip()
    raise SystemExit("The model's server did not start; server.log says why.")


def _exchanges(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


if __name__ == "__main__":
    sys.exit(main())
