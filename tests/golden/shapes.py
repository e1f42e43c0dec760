"""What `--json` of commands prints, by shape: its keys and types, recursively. Scripts rely on them.

Of commands that do something, and of looks at a run that `rendered` does not keep by value.

`python -m tests.golden.shapes` writes down what is not written yet. It never changes a shape that is there: keys are
added, never taken away, and keep their types. While no release has a shape, it may be deleted and made again.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from commands import Command, call

from .archive import lay_out
from .homes import every_home

FILE = Path(__file__).parent / "json" / "shapes.json"
COMMAND = "PYTHONPATH=tests python -m tests.golden.shapes"

HOMES = ("spec-refinement-waiting.refine.redone", "brainstorm-waiting.triage.discussed")
SAID = "Revenue is $900M, not $850M. The board approved the pivot yesterday."

FLOW = """\
name: two-step
inputs: {description: {type: text, default: it}, piece: {type: bool, default: false}}
agents:
  scout:  {command: ["sh", "-c", "cat >/dev/null; echo PIECES"]}
  writer: {command: ["sh", "-c", "cat >/dev/null; echo '# Draft'; echo hello > draft.md"]}
phases:
  - id: triage
    when: "!inputs.piece"
    agents: [scout]
    output: triage
    checkpoint:
      prompt: Split it?
      options:
        - {label: Split, start: {workflow: two-step, each: context.triage, inputs: {piece: "true"}}, then: {end: split}}
        - {label: Keep, then: continue}
  - id: draft
    agents: [writer]
    checkpoint:
      prompt: "Good enough?"
      fields: [{id: tone, type: choice, options: [plain, warm], prompt: "Which tone?"}]
      options:
        - {label: "Accept", on_select: {action: continue}}
        - {label: "Again",  with_feedback: true, on_select: {action: repeat_phase, target: draft}}
"""
PIECES = r"""'[{\"id\": \"p1\"}, {\"id\": \"p2\", \"title\": \"two\"}]'"""


def shape(value: object) -> object:
    """Keys and types. A list is its distinct elements."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in sorted(value.items())}
    if isinstance(value, list):
        found: list[object] = []
        for part in map(shape, value):
            if part not in found:
                found.append(part)
        return sorted(found, key=json.dumps)
    return "null" if value is None else {bool: "bool", int: "int", float: "float", str: "str"}[type(value)]


def missing(then: object, now: object, at: str = "") -> Iterator[str]:
    """What of a shape is not there any more. More keys are no difference; a number may be whole by chance."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key, part in then.items():
            if key in now:
                yield from missing(part, now[key], f"{at}.{key}")
            else:
                yield f"{at}.{key} is gone"
    elif isinstance(then, list) and isinstance(now, list):
        for part in then:
            if all(list(missing(part, other)) for other in now):
                yield f"{at}[]: nothing is like {json.dumps(part)[:300]}"
        for other in now:
            if all(list(missing(part, other)) for part in then):
                yield f"{at}[]: {json.dumps(other)[:300]} is like nothing before"
    elif then != now and {str(then), str(now)} != {"int", "float"}:
        yield f"{at}: {json.dumps(then)[:100]} became {json.dumps(now)[:100]}"


def of_home(name: str, folder: Path, reconvene: Command) -> dict[str, object]:
    """Of further looks at a run, over a golden home."""
    golden = next(one for one in every_home() if str(one) == f"0.1.0-{name}")
    lay_out(golden.home, folder)
    run = str(golden.home.expected["run"])
    words = [("log", run), ("ledger", run, "--open"), ("remark", run, "--understand", SAID, "--dry-run")]
    more = [("gaps", run, "GAP-FLOW-001"), ("rounds", run, "--compare", "2"), ("view", run), ("view", run, "gaps")]
    words += more if "redone" in name else []
    return {" ".join(each).replace(run, "RUN"): _printed(reconvene, *each) for each in words}


def of_commands(folder: Path, reconvene: Command) -> dict[str, object]:
    """Of every command that does something, in the life of a few small runs."""
    (folder / "flow.yaml").write_text(FLOW.replace("PIECES", PIECES), encoding="utf-8")
    mended = FLOW.replace("PIECES", PIECES).replace("Good enough?", "Good enough now?")
    (folder / "mended.yaml").write_text(mended, encoding="utf-8")
    (folder / "bad.yaml").write_text("name: bad\nphases: []\nwhat: 1\n", encoding="utf-8")
    said = ("--feedback", f"correction: {SAID}")
    words = [
        ("new", "flow.yaml"), ("run", "flow.yaml"), ("run", "flow.yaml", "--no-drive"), ("resume", "two-step-3"),
        ("decide", "two-step-2", "--option", "Keep", *said), ("files", "two-step-2", "draft.md"),
        ("output", "two-step-2"), ("remark", "two-step-2", SAID), ("show", "two-step-2"),
        ("decide", "two-step-2", "--option", "Again", *said, "--field", "tone=warm"), ("show", "two-step-2"),
        ("rollback", "two-step-2", *said), ("rounds", "two-step-2", "--prune"), ("take", "two-step-2"),
        ("calls", "two-step-2"), ("allowed", "two-step-2"), ("fork", "two-step-2", "--at", "4"),
        ("pause", "two-step-1"), ("abort", "two-step-1"), ("show", "two-step-2"),
        ("decide", "two-step-3", "--option", "Split"), ("show", "two-step-3"), ("queue",),
        ("queue", "move", "two-step-3.p2", "first"), ("queue", "drop", "two-step-3.p1"), ("queue", "run"), ("runs",),
        ("upgrade", "two-step-2", "--to", "mended.yaml", "--dry-run"), ("upgrade", "two-step-2", "--to", "mended.yaml"),
        ("upgrade", "two-step-2", "--to", "bad.yaml"), ("decide", "two-step-2", "--option", "Accept"),
        ("reopen", "two-step-2", "--grant", "calls=5", *said), ("stats",), ("verify", "two-step-2"), ("verify",),
        ("export", "two-step-2", "run.zip"), ("import", "run.zip"),
        ("delete", "two-step-1", "--yes"), ("runs", "--deleted"), ("verify",),
        ("show", "nothing"), ("check", "flow.yaml"),
        ("check", "bad.yaml"), ("workflows",), ("doctor",), ("eject", "early-exit", "copy"), ("accept",),
        ("import", "run.zip", "--as", "theirs"),
    ]  # fmt: skip
    return {" ".join(each): _printed(reconvene, *each) for each in words}


def _printed(reconvene: Command, *words: str) -> object:
    done = reconvene(*words, "--json")
    told = done.out or done.err
    try:
        return {"code": done.code, "printed": shape(json.loads(told))}
    except ValueError:
        return {"code": done.code, "printed": shape([json.loads(line) for line in told.splitlines()])}


def written() -> Mapping[str, Mapping[str, object]]:
    found: Mapping[str, Mapping[str, object]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return found


def main() -> None:
    known = {name: dict(rows) for name, rows in written().items()}
    os.environ |= {"COLUMNS": "80", "RECONVENE_DEMO_SPEED": "0", "RECONVENE_BY": "ann"}
    for name in ("commands", *HOMES):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)

            def reconvene(*words: str, folder: Path = folder) -> object:
                home, own = str(folder / ".reconvene"), str(folder / ".config")
                return call(*words, cwd=folder, RECONVENE_HOME=home, XDG_CONFIG_HOME=own)

            made = of_commands(folder, reconvene) if name == "commands" else of_home(name, folder, reconvene)  # type: ignore[arg-type]
            known[name] = {**made, **known.get(name, {})}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(known, indent=None, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
