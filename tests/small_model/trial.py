"""Plays one packaged workflow with the real model through the installed command, deciding at each stop as a person.

Ordinary checkpoints are answered from an answers file with one decision, attention with `decide`. A run that waits for
its provider is resumed.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import yaml
from tests.small_model.people import MODEL, PEOPLE, Person, Wish

WITHOUT = "Go on without it"
_ATTENTION = ("Approve", WITHOUT, "Count it as false", "Raise the limit", "Stop the run")
_COMMAND = Path(sys.executable).with_name("reconvene")
_MOST_STOPS = 150
_ENDED = {"completed": 0, "failed": 1, "aborted": 2}  # and their exit codes
_RECORDED = re.compile(r"recorded: \w+(?:, )?")


class Trial(NamedTuple):
    """How it went."""

    workflow: str
    run: str
    status: str
    outcome: str
    exit_code: int
    events: list[dict[str, object]]
    trouble: str  # of the command itself: what no run may end with


class Stage:
    """A folder in which one workflow is played."""

    def __init__(self, workflow: str, folder: Path, url: str, judge: bool) -> None:
        self.workflow, self.folder = workflow, folder
        self.person: Person = PEOPLE[workflow]
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        self._environ = kept | {"LLAMACPP_BASE_URL": url, "XDG_CONFIG_HOME": str(folder / "config")}
        self._environ |= self.person.environ | ({"RECONVENE_GATE_MODEL": MODEL} if judge else {})
        self._used: Counter[int] = Counter()  # times, by the number of the wish
        self._began = time.monotonic()
        self.code = 0
        self.trouble = ""

    def call(self, *arguments: str) -> str:
        """Its standard output; both streams are kept in the folder."""
        done = subprocess.run(
            [str(_COMMAND), *arguments],
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self.code = done.returncode
        told = f"$ reconvene {' '.join(arguments)}\n{done.stdout}\n{done.stderr}\nexit code {done.returncode}\n\n"
        with (self.folder / "commands.log").open("a", encoding="utf-8") as log:
            log.write(told)
        if "Traceback" in done.stderr or done.returncode not in (0, 1, 2, 3):
            self.trouble = self.trouble or told[-2000:]
        return done.stdout

    def _tell(self, decided: str) -> None:
        print(f"  {time.monotonic() - self._began:6.0f} s  {decided}", flush=True)

    def start(self) -> dict[str, object]:
        person, where = self.person, self.workflow
        self._make_project()
        if self.workflow == "tools":
            where = self._with_material()
        elif self.workflow not in ("scenario-planning", "spec-refinement", "brainstorm", "job"):
            where = self._without_recording()
        arguments = [*self.bindings(), *person.words]
        for name, text in person.inputs.items():
            given = text
            if name in person.files:
                (self.folder / f"{name}.md").write_text(text, encoding="utf-8")
                given = f"{name}.md"
            arguments += ["--input", f"{name}={given}"]
        for setting in person.settings:
            arguments += ["--set", setting]
        return self._json("run", where, *arguments, "--no-input", "--json")

    def bindings(self) -> list[str]:
        """Every agent asks the model; some are held to a form."""
        given = ["--model", MODEL]
        for bound in self.person.models:
            name, _, form = bound.partition("=")
            given += ["--model", f"{name}={MODEL}/{form}"]
        return given

    def _json(self, *arguments: str) -> dict[str, object]:
        out = self.call(*arguments)
        try:
            found = json.loads(out)
        except ValueError:
            self.trouble = self.trouble or f"{' '.join(arguments)} printed no JSON: {out[:500]}"
            return {}
        return found if isinstance(found, dict) else {}

    def _without_recording(self) -> str:
        """A copy whose agents are models: the packaged ones answer from a recording, and cannot be bound."""
        self.call("eject", self.workflow, "copy")
        path = self.folder / "copy" / "workflow.yaml"
        path.write_text(_RECORDED.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
        return str(path.relative_to(self.folder))

    def _with_material(self) -> str:
        """Documents and a database, for a model with tools."""
        (self.folder / "papers").mkdir()
        (self.folder / "papers" / "notes.md").write_text("# Notes\n\nFurnace 2 must be rebuilt by 2029.\n")
        (self.folder / "papers" / "prices.csv").write_text("year;price\n2024;12\n2025;14\n")
        with closing(sqlite3.connect(self.folder / "shop.db")) as database:
            database.execute("create table sales (year integer, amount integer)")
            database.execute("insert into sales values (2024, 40), (2025, 60)")
            database.commit()
        return str(Path(__file__).with_name("tools.yaml"))

    def _make_project(self) -> None:
        if not self.person.project:
            return
        for name, text in self.person.project.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        for words in (["init", "-q"], ["add", *self.person.project], [*who, "commit", "-q", "-m", "A pantry"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True)

    def go_on(self) -> dict[str, object]:
        """Where the run stands that was begun here before; where none was, one is started."""
        if not (self.folder / ".reconvene").exists():
            return self.start()
        run = str(json.loads(self.call("runs", "--limit", "1", "--json"))[0]["run"])
        wanted = [wish.option for wish in self.person.wishes]
        for one in self.events(run):
            if one.get("type") == "DecisionRecorded" and one.get("option") in wanted:
                self._used[wanted.index(str(one["option"]))] += 1
        return self._json("show", run, "--json")

    def events(self, run: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.call("log", run, "--json").splitlines()]

    def answer(self, run: str, checkpoint: dict[str, object]) -> dict[str, object]:
        """Where the run stands then."""
        options = _objects(checkpoint.get("options"))
        offered = {str(one["label"]): one for one in options if one.get("available")}
        if checkpoint.get("attention"):
            option = next(label for label in _ATTENTION if label in offered)
            self._tell(f"! {option}")
            return self._json("decide", run, "--option", option, "--at", str(checkpoint["digest"]), "--json")
        wishes = enumerate(self.person.wishes)
        chosen = next((n for n, one in wishes if one.option in offered and self._used[n] < one.times), None)
        if chosen is None:
            self.trouble = self.trouble or f"Nobody wants any of {', '.join(offered)}."
            return self._json("abort", run, "--json")
        self._used[chosen] += 1
        wish = self.person.wishes[chosen]
        if wish.remark:
            self.call("remark", run, "--understand", wish.remark)
        fields = {**_required(checkpoint), **_required(offered[wish.option]), **_fitting(wish, checkpoint, offered)}
        answer: dict[str, object] = {"option": wish.option, "fields": fields}
        if wish.feedback:
            answer["feedback"] = [wish.feedback]
        self._tell(wish.option)
        path = self.folder / "answer.yaml"
        path.write_text(yaml.safe_dump([answer], allow_unicode=True), encoding="utf-8")
        return self._json("resume", run, "--answers", path.name, "--json")


def _objects(value: object) -> list[dict[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _required(asked: dict[str, object]) -> dict[str, object]:
    """Something for each field that needs an answer."""
    return {str(field["id"]): _some(field) for field in _objects(asked.get("fields")) if field.get("required")}


def _some(field: dict[str, object]) -> object:
    match field.get("type"):
        case "confirm":
            return True
        case "choice":
            first = (field.get("options") or [""])[0]
            return first.get("id") if isinstance(first, dict) else first
        case "number":
            return 1
        case _:
            return "As you think best."


def _fitting(wish: Wish, checkpoint: dict[str, object], offered: dict[str, dict[str, object]]) -> dict[str, object]:
    asked = [*_objects(checkpoint.get("fields")), *_objects(offered[wish.option].get("fields"))]
    names = {str(field["id"]) for field in asked}
    return {name: value for name, value in wish.fields.items() if name in names}


def play(workflow: str, folder: Path, url: str, *, judge: bool = False) -> Trial:
    """`judge`: the model is also asked what gates ask. A run that was begun in the folder goes on."""
    stage = Stage(workflow, folder, url, judge)
    at = stage.go_on()
    run = str(at.get("run", ""))
    stops = 0
    while run and at.get("status") not in _ENDED and not stage.trouble:
        stops += 1
        checkpoint = at.get("checkpoint")
        if stops > _MOST_STOPS:
            stage.trouble = f"It did not come to an end in {_MOST_STOPS} stops."
        elif at.get("reason") == "provider":
            at = stage._json("resume", run, "--now", "--no-input", "--json")
        elif isinstance(checkpoint, dict):
            at = stage.answer(run, checkpoint)
        else:  # its process was ended
            at = stage._json("resume", run, *stage.bindings(), "--no-input", "--json")
    code = stage.code if stops else _ENDED.get(str(at.get("status")), stage.code)
    events = stage.events(run) if run else []
    for words in (("show",), ("output", "--all"), ("ledger",), ("rounds",), ("stats",), ("files",)):
        if run:
            stage.call(words[0], run, *words[1:])
    return Trial(
        workflow,
        run,
        str(at.get("status", "")),
        str(at.get("outcome") or ""),
        code,
        events,
        stage.trouble,
    )
