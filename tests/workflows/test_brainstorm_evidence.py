"""Done is what the tests said when the engine ran them: coders that lie, break, delete, skip and hide are not believed.

The coders are real commands in real worktrees, and the suites are real. The others of the team are scripted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.adapters.project.support import everything

from reconvene.adapters.project.repository import plant
from reconvene.adapters.sandbox import levels
from reconvene.core.facts.commands import AddRemark, RemarkIn
from reconvene.core.facts.events import Lines
from reconvene.core.facts.ids import digest_of

from .brainstorming import Talk, plan, review

Sit = Callable[..., Talk]
GITS = (".git/objects", ".git/refs", ".git/logs")

CODE = "def add(one, two):\n    return one + two\n"
TESTS = """\
import unittest

from calc import add


class Adding(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(1, 2), 3)

    def test_large(self):
        self.assertEqual(add(10**9, 1), 10**9 + 1)
"""
MAKE = "test:\n\tpython3 -m unittest -q\n"
CODER = r"""
import os, pathlib, sys
told, kind = sys.stdin.read(), sys.argv[1]
here = pathlib.Path(".")
def write(name, text):
    here.joinpath(name).write_text(text)
def change(name, old, new):
    text = here.joinpath(name).read_text()
    assert old in text, text
    write(name, text.replace(old, new))
again = "Your work was sent back: the tests" in told
match kind:
    case "lies":
        write("calc.py", "raise RuntimeError\n# %d\n" % len(told))
    case "breaks the build":
        write("calc.py", "def add(one, two:\n# %d\n" % len(told))
    case "deletes a test":
        if not again:
            change("test_calc.py", "    def test_large", "    def large")
        write("more.py", "# %d\n" % len(told))
    case "skips a test":
        if not again:
            change("test_calc.py", "    def test_large", "    @unittest.skip('slow')\n    def test_large")
        write("more.py", "# %d\n" % len(told))
    case "changes how tests are run":
        write("Makefile", "test:\n\t@echo all tests pass # %d\n" % len(told))
    case "weakens the settings":
        write("setup.cfg", "[tool:pytest]\n# %d\n" % len(told))
    case "writes outside":
        try:
            pathlib.Path(sys.argv[2], "outside.txt").write_text("hello")
        except OSError as error:
            print(error)
    case "adds 60 MB":
        with open("data.bin", "wb") as file:
            file.write(os.urandom(1024) * 60 * 1024)
        write("more.py", "x = 1\n")
    case "adds a link out":
        os.path.lexists("leak") or os.symlink("/etc/passwd", "leak")
        write("more.py", "x = 1\n")
    case "does nothing":
        pass
print("All tests pass. Everything is done.")
"""

MORE = """
import pathlib, sys
size = len(sys.stdin.read())
pathlib.Path("more.py").write_text(f"x = {size}\\n")
print("All tests pass.")
"""
COPY = """
import pathlib, sys
sys.stdin.read()
pathlib.Path("seen").write_text(pathlib.Path("fresh.py").read_text())
print("Done.")
"""
OTHERWISE = """
import pathlib, sys
sys.stdin.read()
pathlib.Path("calc.py").write_text("def add(a, b):\\n    return a + b\\n")
print("Done.")
"""


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Sit]:
    talks: list[Talk] = []

    def start(folder: Path, coder: str, **replies: object) -> Talk:
        settings = {"coder": coder, "can_execute": True}
        replies.setdefault("planner", lambda work: plan("adding"))
        one = Talk(tmp_path / "home", {"project": str(folder)}, settings, real=True, **replies)
        talks.append(one)
        return one

    yield start
    for one in talks:
        one.close()
        assert one.state.record.errors == ()


def project(tmp_path: Path, files: Mapping[str, str]) -> Path:
    folder = tmp_path / "calc"
    plant(str(folder), files, os.environ)
    return folder


def command(tmp_path: Path, script: str, *words: str) -> str:
    file = tmp_path / "coder.py"
    file.write_text(script)
    quoted = " ".join(f"'{word}'" for word in words)
    return f"{sys.executable} {file} {quoted}"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("lies", "failing now and not before"),
        ("breaks the build", "failing now and not before"),
        ("changes how tests are run", "no test was counted, and before some were"),
    ],
)
def test_what_does_not_pass_is_sent_back_twice_and_then_shown_and_is_never_done(
    talk: Sit, tmp_path: Path, kind: str, shown: str
):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS, "Makefile": MAKE})
    one = talk(folder, command(tmp_path, CODER, kind)).decide("Skip to planning", test="make test").decide("Build it")
    assert one.phase == "task_review"
    assert len({work.task for work in one.agents.of("coder")}) == 3
    assert "mend the code, not the tests" in one.agents.of("coder")[1].prompt.lower()
    assert "**“Do adding”: failing (" in one.open.prompt
    assert shown in one.open.prompt
    assert "It is done" not in one.offered
    one.decide("Take it as it is").decide("Finish")
    assert one.state.outcome == "not all done"
    summary = one.file("summary.md")
    assert "- [ ] Do adding: failing (" in summary
    assert "taken as it is" in summary
    assert "[0 of 1 tasks done]" in summary


@pytest.mark.parametrize("kind", ["deletes a test", "skips a test"])
def test_fewer_tests_are_a_failure_that_goes_back_and_what_is_missing_is_shown(talk: Sit, tmp_path: Path, kind: str):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    one = talk(folder, command(tmp_path, CODER, kind)).decide("Skip to planning").decide("Build it")
    assert one.phase == "task_review"
    assert "1 tests ran, 2 before" in one.agents.of("coder")[1].prompt
    assert "test_calc.py: 1 test" in one.open.prompt  # fewer, or skipped
    assert "failing (" in one.open.prompt
    assert "It is done" not in one.offered


def test_settings_of_the_tests_that_changed_are_put_to_the_person_though_all_is_green(talk: Sit, tmp_path: Path):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    one = talk(folder, command(tmp_path, CODER, "weakens the settings"))
    one.decide("Skip to planning").decide("Build it")
    assert one.phase == "task_review"
    assert "setup.cfg: new, and it says which tests run and how" in one.open.prompt
    assert one.offered == ["It is done", "Have it done again", "Stop here"]
    one.decide("It is done").decide("Finish")
    assert (one.state.status, one.state.outcome) == ("completed", "completed")
    assert "- [x] Do adding: done (2 passed, 0 failed)" in one.file("summary.md")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("does nothing", "Nothing has changed in the project"),
        ("adds 60 MB", "data.bin: 60 MB, and a file of more than 10 MB is not taken"),
        ("adds a link out", "leak: a link that leads out of the project"),
    ],
)
def test_what_cannot_be_taken_goes_back_and_ends_with_the_person(talk: Sit, tmp_path: Path, kind: str, told: str):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    before = everything(folder, but=GITS)
    one = talk(folder, command(tmp_path, CODER, kind)).decide("Skip to planning").decide("Build it")
    assert one.trouble.phase == "code"
    assert told in one.agents.of("coder")[1].prompt
    assert told in one.trouble.prompt
    assert everything(folder, but=GITS) == before
    assert sum(file.stat().st_size for file in (folder / ".git" / "objects").rglob("*") if file.is_file()) < 5_000_000


@pytest.mark.skipif(
    levels.find(os.environ).name == "none", reason="NOTHING HERE KEEPS A COMMAND FROM WRITING ELSEWHERE"
)
def test_a_coder_that_writes_into_the_persons_checkout_changes_nothing_and_is_not_done(
    talk: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECONVENE_SANDBOX", "auto")
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    before = everything(folder, but=GITS)
    one = talk(folder, command(tmp_path, CODER, "writes outside", str(folder)))
    one.decide("Skip to planning").decide("Build it")
    assert one.trouble.phase == "code"
    assert "Nothing has changed in the project" in one.trouble.prompt
    assert everything(folder, but=GITS) == before


def test_without_a_suite_only_the_person_can_say_that_a_task_is_done(talk: Sit, tmp_path: Path):
    folder = project(tmp_path, {"calc.py": CODE})
    one = talk(folder, command(tmp_path, MORE)).decide("Skip to planning").decide("Build it")
    assert "“Do adding”: not tested" in one.open.prompt
    assert one.offered == ["Done, not tested", "Have it done again", "Stop here"]
    one.decide("Done, not tested").decide("Finish")
    assert "- [x] Do adding: done, not tested" in one.file("summary.md")
    assert "Nothing was tested: nobody said how." in one.file("summary.md")


def test_a_suite_that_is_red_before_counts_only_what_fails_anew(talk: Sit, tmp_path: Path):
    wrong = TESTS + "\n    def test_odd(self):\n        self.assertEqual(add(1, 1), 3)\n"
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": wrong})
    one = talk(folder, command(tmp_path, MORE)).decide("Skip to planning")
    assert one.phase == "baseline"
    assert "2 passed, 1 failed" in one.open.prompt
    assert "test_odd" in one.open.prompt
    one.decide("Begin — only what fails anew counts").decide("Build it")
    assert one.phase == "finish"
    assert "nothing fails that did not fail before" in one.file("batches.md")


def test_commands_that_cannot_be_run_are_asked_for_again(talk: Sit, tmp_path: Path):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    one = talk(folder, command(tmp_path, CODER, "lies")).decide("Skip to planning", test="no-such-tool --all")
    assert "not run: there is no such command" in one.open.prompt
    assert "Begin — only what fails anew counts" not in one.offered
    one.decide("Other commands", other_test="python3 -m unittest")
    assert one.phase == "plan_review"


# --- a project each, from a red task to a merge that is green ---------------------------------------------------------

PYTHON = {
    "calc.py": CODE,
    "test_calc.py": "from calc import add\n\n\ndef test_adding():\n    assert add(1, 2) == 3\n",
    "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n[tool.pytest.ini_options]\naddopts = "-p no:xdist"\n',
}
PYTHON_CODER = """
import pathlib, sys
good = "Your work was sent back: the tests" in sys.stdin.read()
pathlib.Path("calc.py").write_text("def add(*all):\\n    return sum(all)%s\\n" % ("" if good else " + 1"))
test = "from calc import add\\n\\n\\ndef test_three():\\n    assert add(1, 2, 3) == 6\\n"
pathlib.Path("test_three.py").write_text(test)
print("All tests pass.")
"""
NODE = {
    "package.json": '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test"}}\n',
    "calc.js": "exports.add = (one, two) => one + two;\n",
    "test/calc.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const {add} = require('../calc');\ntest('adds', () => assert.equal(add(1, 2), 3));\n"
    ),
}
NODE_CODER = """
import pathlib, sys
good = "Your work was sent back: the tests" in sys.stdin.read()
body = "all.reduce((one, two) => one + two, %d)" % (0 if good else 1)
pathlib.Path("calc.js").write_text("exports.add = (...all) => %s;\\n" % body)
pathlib.Path("test/three.test.js").write_text(
    "const test = require('node:test');\\nconst assert = require('node:assert');\\nconst {add} = require('../calc');\\n"
    "test('adds three', () => assert.equal(add(1, 2, 3), 6));\\n"
)
print("All tests pass.")
"""
MADE = {
    "Makefile": "test: add.sh\n\ttest $$(sh add.sh 1 2) = 3\n\t@sh tests.sh\n",
    "add.sh": "echo $(($1 + $2))\n",
    "tests.sh": "echo fine\n",
}
MADE_CODER = """
import pathlib, sys
good = "Your work was sent back: the tests" in sys.stdin.read()
pathlib.Path("add.sh").write_text("echo $(($1 + $2 + ${3:-%d}))\\n" % (0 if good else 1))
pathlib.Path("tests.sh").write_text("test $(sh add.sh 1 2 3) = 6 && echo fine\\n")
print("All tests pass.")
"""


@pytest.mark.parametrize(
    ("files", "coder", "test", "source"),
    [
        pytest.param(PYTHON, PYTHON_CODER, f"{sys.executable} -m pytest -q", "calc.py", id="python"),
        pytest.param(
            NODE, NODE_CODER, "npm test", "calc.js", id="node",
            marks=pytest.mark.skipif(not shutil.which("npm"), reason="NODE AND NPM ARE NOT INSTALLED: NOT TESTED HERE"),
        ),
        pytest.param(MADE, MADE_CODER, "make test", "add.sh", id="make"),
    ],
)  # fmt: skip
def test_a_red_task_goes_back_and_becomes_green_and_the_branch_merges_green(
    talk: Sit, tmp_path: Path, files: Mapping[str, str], coder: str, test: str, source: str
):
    folder = project(tmp_path, files)
    (folder / "half-done.txt").write_text("what I am at\n")
    (folder / source).write_text(files[source] + "\n")
    before = everything(folder, but=GITS)
    one = talk(folder, command(tmp_path, coder))
    assert one.phase == "ground"
    assert "2 files are not committed" in one.open.prompt
    one.decide("Leave them out")
    found = {field.id: field.default for field in one.open.fields}["test"]
    assert found == ("python3 -m pytest -q" if "pytest" in test else test)
    assert "half-done.txt" not in one.agents.of("brainstormer")[0].prompt  # nobody sees what is left out
    one.decide("Skip to planning", test=test).decide("Build it")
    assert one.phase == "finish", one.open.prompt
    assert len(one.agents.of("coder")) == 2
    assert "failing now and not before" in one.agents.of("coder")[1].prompt
    assert f"not committed in files that it changes, too. Commit them before you merge: {source}" in one.open.prompt
    one.decide("Finish")
    assert one.state.outcome == "completed"
    assert "- [x] Do adding: done (" in one.file("summary.md")
    assert "The tests before anything was changed: " in one.file("summary.md")
    assert everything(folder, but=GITS) == before
    merged = tmp_path / "merged"
    for words in (
        ["clone", "-q", str(folder), str(merged)],
        ["-C", str(merged), "merge", "-q", f"origin/reconvene/{one.run}"],
    ):
        subprocess.run(["git", *words], check=True, capture_output=True)
    assert subprocess.run(["sh", "-c", test], cwd=merged, capture_output=True, check=False).returncode == 0


def test_what_is_not_committed_can_be_included_and_everybody_sees_the_same(talk: Sit, tmp_path: Path):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    (folder / "fresh.py").write_text("FRESH = 1\n")
    before = everything(folder, but=GITS)
    one = talk(folder, command(tmp_path, COPY)).decide("Include them")
    assert "fresh.py" in one.agents.of("brainstormer")[0].prompt
    one.decide("Skip to planning").decide("Build it").decide("Finish")
    shown = subprocess.run(
        ["git", "show", f"reconvene/{one.run}:seen"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert shown.stdout == "FRESH = 1\n"
    assert everything(folder, but=GITS) == before


def test_a_merge_that_would_conflict_is_named_at_the_end(talk: Sit, tmp_path: Path):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    one = talk(folder, command(tmp_path, OTHERWISE)).decide("Skip to planning")
    (folder / "calc.py").write_text("def add(x, y):\n    return y + x\n")
    person = ["git", "-C", str(folder), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run([*person, "commit", "-qam", "Mine"], check=True)
    one.decide("Build it")
    assert "It conflicts with what is checked out now" in one.open.prompt
    assert "in: calc.py" in one.open.prompt


def test_findings_are_followed_to_the_commit_that_mended_them(talk: Sit, tmp_path: Path):
    folder = project(tmp_path, {"calc.py": CODE, "test_calc.py": TESTS})
    verdicts = [review("REVISE", "x is never used"), review("REVISE", "Still not"), review("REVISE", "Hm")]
    one = talk(folder, command(tmp_path, MORE), quality=lambda work: verdicts.pop(0))
    one.decide("Skip to planning").decide("Build it")
    story = one.open.prompt.partition("How it came about:")[2].split("\n\n")[1]
    first, second, third = story.splitlines()
    assert "→" not in first
    assert second.startswith("- quality: x is never used → ")
    assert third.startswith("- quality: Still not → ")
    diff = one.file("changes/all-adding.diff")
    at = diff.split("\n").index("+++ b/more.py") + 3
    lines = Lines("changes/all-adding.diff", digest_of(diff.encode()), at, at)
    one.engine.submit(one.run, AddRemark(RemarkIn("Call it size", on=lines), by="ann"))
    verdicts.append(review())
    one.decide("Have it done again")
    told = one.agents.of("coder")[-1].prompt
    assert "Call it size" in told
    assert "That is more.py, line 1." in told
    assert one.phase == "finish"
