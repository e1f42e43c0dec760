"""Every command that is printed finds the state of the call that printed it, however its home was named."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from commands import Done, call

HOME = "far away/home"
COMMAND = re.compile(r"(?<![\w/.-])reconvene ((?:--home (?:'[^']*'|\S+) )?)([a-z]+)")


@pytest.fixture
def far(folder: Path) -> Path:
    assert call("--home", HOME, "run", "two-step.yaml", cwd=folder, RECONVENE_HOME=None).code == 3
    return folder


def named(done: Done) -> list[tuple[str, str]]:
    return COMMAND.findall(done.out + done.err)


@pytest.mark.parametrize(
    "words",
    [
        "show two-step-1",
        "resume two-step-1",
        "inbox",
        "decide two-step-1",
        "decide two-step-1 --option Continue --at ffff",
        "decide two-step-1 --option Continue --by Nobody",
        "rollback two-step-1",
        "reopen two-step-1",
        "fork two-step-1 --at 999",
        "diff two-step-1 7..9",
        "view two-step-1 nothing",
        "queue move two-step-1 3",
        "files two-step-1 nothing.md",
        "new two-step.yaml",
        "upgrade two-step-1 --to other.yaml",
    ],
)
@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_command_in_a_hint_names_the_home(far: Path, words: str, how: str) -> None:
    text = (far / "two-step.yaml").read_text(encoding="utf-8")
    (far / "other.yaml").write_text(text.replace("id: draft", "id: sketch").replace("target: draft", "target: sketch"))
    if how == "option":
        done = call("--home", HOME, *words.split(), cwd=far, RECONVENE_HOME=None)
    else:
        done = call(*words.split(), cwd=far, RECONVENE_HOME=HOME)
    found = named(done)
    assert found or words.startswith(("queue", "inbox", "files")), done
    assert {home for home, _ in found} <= {f"--home {shlex.quote(HOME)} "}, done


def test_a_pasted_command_works_in_a_shell_without_the_variable(far: Path) -> None:
    stopped = call("show", "two-step-1", cwd=far, RECONVENE_HOME=HOME)
    words = shlex.split(stopped.out.strip().splitlines()[-1])
    assert call(*words[1:], cwd=far, RECONVENE_HOME=None).code == 3


def test_a_home_that_is_found_anyway_is_not_named(folder: Path) -> None:
    for given in (None, ".reconvene", str(folder / ".reconvene")):
        done = call("run", "two-step.yaml", cwd=folder, RECONVENE_HOME=given)
        assert done.code == 3
        assert "--home" not in done.out + done.err


def test_what_an_agent_would_start_is_shown_as_it_is(far: Path) -> None:
    flow = far / "two-step.yaml"
    flow.write_text(flow.read_text(encoding="utf-8").replace("cat; echo reviewed", "reconvene show; echo reviewed"))
    assert call("--home", HOME, "run", "two-step.yaml", cwd=far, RECONVENE_HOME=None).code == 3
    call("--home", HOME, "export", "two-step-2", "two.zip", cwd=far, RECONVENE_HOME=None)
    call("--home", "other", "import", "two.zip", cwd=far, RECONVENE_HOME=None)
    refused = call("--home", "other", "resume", "two-step-2", cwd=far, RECONVENE_HOME=None)
    assert refused.code == 64
    assert "sh -c 'reconvene show; echo reviewed'" in refused.err
    assert "reconvene --home other accept " in refused.err
