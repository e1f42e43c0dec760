"""What keeps commands in, with real programs: each level that works on this machine, and what is said without one."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from commands import Command
from reconvene.adapters.agents import presets
from reconvene.adapters.sandbox import levels, logins, remains
from reconvene.adapters.sandbox.places import Places
from reconvene.app.run_folders import RunFolders
from reconvene.errors import WorkflowError
from reconvene.trust import own_homes
from reconvene.wire.loading import parse
from reconvene.wiring import open_log


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Their own folder; commands are kept in as for anybody."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("RECONVENE_SANDBOX", "auto")
    monkeypatch.delenv("XDG_STATE_HOME")
    return folder


def breaks(folder: Path, monkeypatch: pytest.MonkeyPatch, program: str = "bwrap") -> None:
    """A bubblewrap that is installed and does not work."""
    (folder / "broken").mkdir()
    (folder / "broken" / program).write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    (folder / "broken" / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'broken'}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture(params=["bubblewrap", "landlock"])
def level(request: pytest.FixtureRequest, person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "landlock":
        breaks(tmp_path, monkeypatch)
    found = levels.find(os.environ)
    if found.name != request.param:
        pytest.skip(f"{request.param} does not work here: {'; '.join(found.lacks)}")
    return str(request.param)


@pytest.fixture
def nothing(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any of them."""
    monkeypatch.setattr(levels, "_found", lambda path: levels.Level("none", lacks=("bubblewrap is not installed",)))


def flow(folder: Path, agent: str, *, more: str = "", name: str = "kept") -> Path:
    file = folder / f"{name}.yaml"
    file.write_text(f"name: {name}\n{more}agents:\n  one: {agent}\nphases: [{{id: all, agents: [one]}}]\n")
    return file


def output(reconvene: Command, run: str = "kept-1") -> str:
    (attempt,) = reconvene("output", run, "one", "--json").object["attempts"]  # type: ignore[misc]
    assert isinstance(attempt, dict)
    return f"{attempt['sandbox']}: {attempt['output'] or attempt['why']}"


# --- what is in force is known ---


def test_what_keeps_a_command_in_is_said_once_and_on_record(reconvene: Command, folder: Path, level: str) -> None:
    flow(folder, '{command: "cat >/dev/null; echo done"}')
    started = reconvene("run", "kept.yaml")
    assert started.code == 0
    assert started.err.count("sandbox: ") == 1
    assert f"sandbox: {level}" in started.err
    assert f"\nsandbox: {level}\n" in reconvene("output", "kept-1", "one", "--all").out
    assert f'"sandbox": "{level}"' in reconvene("log", "kept-1", "--json").out
    assert any(line.split()[1:3] == ["sandbox", level] for line in reconvene("doctor").out.splitlines())


def test_a_function_is_trusted_and_that_is_said(reconvene: Command, folder: Path, person: Path) -> None:
    (folder / "mine.py").write_text("def work(assignment):\n    return 'done'\n")
    flow(folder, '{python: "mine:work"}')
    started = reconvene("run", "kept.yaml")
    assert "sandbox: none for one: Python functions share the engine's process: they are trusted" in started.err
    assert output(reconvene) == "in-process: done"
    assert "they are trusted" in reconvene("doctor").out


@pytest.mark.parametrize("where", ["workflow", "machine", "binding"])
def test_strict_refuses_a_function_unless_it_is_said_to_be_trusted(
    reconvene: Command, folder: Path, person: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.py").write_text("def work(assignment):\n    return 'done'\n")
    if where == "machine":
        monkeypatch.setenv("RECONVENE_SANDBOX", "strict")
    more, words = "" if where == "machine" else "sandbox: strict\n", ("run", "kept.yaml", "--no-input")
    flow(folder, '{command: "cat"}' if where == "binding" else '{python: "mine:work"}', more=more)
    refused = reconvene(*words, *(("--agent", "one=python:mine:work") if where == "binding" else ()))
    assert refused.code == 64
    assert "`sandbox: strict`, and a Python function shares the engine's process" in refused.err
    if where == "workflow":
        assert reconvene(*words, "--anyway").code == 3
        assert "may only work in a sandbox" in output(reconvene)
    flow(folder, '{python: "mine:work", sandbox: "off"}', more=more, name="trusted")
    assert reconvene("run", "trusted.yaml").code == 0


def test_a_network_that_nothing_closes_is_said_to_be_open(reconvene: Command, folder: Path, person: Path) -> None:
    flow(folder, '{command: "cat >/dev/null", sandbox: "off", network: false}')
    said = "`network: false` closes nothing where the sandbox is off: the network stays open"
    assert said in reconvene("check", "kept.yaml").out
    assert said in reconvene("run", "kept.yaml").err


def test_off_is_off(reconvene: Command, folder: Path, person: Path) -> None:
    flow(folder, f'{{command: "cat >/dev/null; echo x > {folder}/outside", sandbox: "off"}}')
    assert "sandbox: off for one" in reconvene("run", "kept.yaml").err
    assert (folder / "outside").exists()


def test_the_machine_may_turn_auto_into_something_else(
    reconvene: Command, folder: Path, nothing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow(folder, '{command: "cat >/dev/null"}')
    monkeypatch.setenv("RECONVENE_SANDBOX", "strict")
    assert reconvene("run", "kept.yaml").code == 64
    monkeypatch.setenv("RECONVENE_SANDBOX", "often")
    assert "is none of auto, strict and off" in reconvene("run", "kept.yaml").err


def test_strict_starts_nothing_without_a_sandbox_and_says_what_to_install(
    reconvene: Command, folder: Path, nothing: None
) -> None:
    flow(folder, '{command: "cat >/dev/null"}', more="sandbox: strict\ninputs: {topic: {required: true}}\n")
    refused = reconvene("run", "kept.yaml")
    assert refused.code == 64
    assert "`sandbox: strict`, and there is no sandbox here: bubblewrap is not installed (agent one)" in refused.err
    assert "apt install bubblewrap" in refused.err
    assert reconvene("runs", "--json").json == []


def test_a_run_that_is_taken_up_is_refused_alike(reconvene: Command, folder: Path, nothing: None) -> None:
    flow(folder, '{command: "cat >/dev/null; echo done", sandbox: strict}')
    assert reconvene("new", "kept.yaml", "--anyway").code == 0
    before = reconvene("log", "kept-1", "--json").out
    refused = reconvene("resume", "kept-1", "--no-input")
    assert refused.code == 64
    assert "`sandbox: strict`, and there is no sandbox here: bubblewrap is not installed (agent one)" in refused.err
    assert "apt install bubblewrap" in refused.err
    assert reconvene("log", "kept-1", "--json").out == before


def test_auto_goes_on_without_and_says_so(reconvene: Command, folder: Path, nothing: None) -> None:
    flow(folder, '{command: "cat >/dev/null; echo done", network: false}')
    started = reconvene("run", "kept.yaml")
    assert started.code == 0
    assert "! no sandbox: one may read and change whatever you may" in started.err
    assert "`network: false` needs bubblewrap; the network stays open here" in started.err
    assert output(reconvene) == "none: done\n"


def test_a_bubblewrap_that_does_not_work_is_not_taken_for_one(
    tmp_path: Path, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(tmp_path, monkeypatch)
    found = levels.find(os.environ)
    assert found.name != "bubblewrap"
    assert "bubblewrap does not work here: no namespaces here" in found.lacks


# --- what a program finds ---


def test_a_command_changes_its_folder_and_nothing_else(
    reconvene: Command, folder: Path, person: Path, level: str
) -> None:
    flow(
        folder,
        f"{{command: 'cat >/dev/null; echo mine > mine.md; touch {person}/theirs {folder}/theirs /usr/theirs;"
        " touch ~/private $TMPDIR/private && echo private'}",
    )
    assert reconvene("run", "kept.yaml").code == 0
    assert "private" in output(reconvene)
    assert reconvene("files", "kept-1", "mine.md").out == "mine\n"
    assert not [name for name in os.listdir(person) if name not in (".local", ".config")]


_SETTINGS = """
import os
for top, _, names in os.walk("/proc/sys"):
    for name in names:
        try:
            os.close(os.open(os.path.join(top, name), os.O_WRONLY))  # opened, and nothing written
        except OSError:
            continue
        print("OPEN", os.path.join(top, name))
print("looked")
"""


def test_not_even_root_changes_settings_of_the_kernel(reconvene: Command, folder: Path, level: str) -> None:
    """Some of them name a program that the kernel starts, outside of every sandbox."""
    (folder / "settings.py").write_text(_SETTINGS)
    flow(folder, f"{{command: [{sys.executable}, {folder / 'settings.py'}]}}")
    assert reconvene("run", "kept.yaml").code == 0
    assert output(reconvene) == f"{level}: looked\n"


def test_disks_and_terminals_of_the_machine_are_not_opened(reconvene: Command, folder: Path, level: str) -> None:
    mine, terminal = os.openpty()
    try:
        disks = [str(path) for path in Path("/dev").iterdir() if path.is_block_device()]
        tries = "; ".join(f": <{path} && echo OPEN" for path in [os.ttyname(terminal), "/dev/kmsg", *disks])
        flow(folder, f"{{command: [bash, -c, '{tries}; cat /dev/stdin >/dev/null; echo looked >/dev/stdout']}}")
        assert reconvene("run", "kept.yaml").code == 0
    finally:
        os.close(mine)
        os.close(terminal)
    assert output(reconvene) == f"{level}: looked\n"


def test_its_folder_lies_outside_the_home_and_is_gone_afterwards(
    reconvene: Command, folder: Path, person: Path, level: str
) -> None:
    flow(folder, '{command: "cat >/dev/null; pwd; mkdir locked; chmod 0 locked"}')
    assert reconvene("run", "kept.yaml").code == 0
    place = output(reconvene).partition(": ")[2].strip()
    state = person / ".local" / "state" / "reconvene"
    assert place.startswith(str(state))
    assert [path for path in state.rglob("*") if path.name != "attempts"] == []


def test_folders_of_other_runs_are_hidden_wherever_they_are(
    reconvene: Command, folder: Path, person: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of /tmp, where nothing else hides them."""
    home = person / ".reconvene"
    monkeypatch.setenv("RECONVENE_HOME", str(home))
    where = 'workspace: "work/{{ run }}"\n'
    flow(folder, '{command: "cat >/dev/null; echo VICTIM > page.md"}', more=where, name="victim")
    assert reconvene("run", "victim.yaml").code == 0
    page = person / "work" / "victim-1" / "page.md"
    assert page.read_text() == "VICTIM\n"
    # shown as a whole, by its name on the command line, but for what is hidden in it
    words = f'["sh", "-c", "cat >/dev/null; cat {page}; ls {person}/plain; true", "sh", "{person}/plain"]'
    (person / "plain").mkdir()
    (person / "plain" / "note").touch()
    flow(folder, f"{{command: {words}}}", more=where)
    assert reconvene("run", "kept.yaml").code == 0
    assert "note" in output(reconvene)
    assert "VICTIM" not in output(reconvene)
    assert str(page.parent) in RunFolders(open_log(home))()


def test_a_home_that_was_moved_is_noted_where_it_is_used(reconvene: Command, folder: Path, person: Path) -> None:
    for name in ("here", "there"):
        (folder / name).mkdir()
    flow(folder / "here", '{command: "cat >/dev/null", sandbox: "off"}')
    assert reconvene("run", "kept.yaml", cwd=folder / "here", RECONVENE_HOME=None).code == 0
    (folder / "here" / ".reconvene").rename(folder / "there" / ".reconvene")
    assert str(folder / "there" / ".reconvene") not in own_homes()
    assert reconvene("show", "kept-1", cwd=folder / "there", RECONVENE_HOME=None).code == 0
    assert str(folder / "there" / ".reconvene") in own_homes()
    assert reconvene("show", "kept-1", cwd=folder / "there", RECONVENE_HOME=None).code == 0
    assert own_homes().count(str(folder / "there" / ".reconvene")) == 1


def test_a_known_program_gets_a_private_copy_of_what_it_keeps(
    reconvene: Command, folder: Path, person: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (person / ".claude" / "projects").mkdir(parents=True)
    for name in ("login", "folder/note"):  # as programs do that keep settings in one folder and link them
        (person / "dotfiles" / name).parent.mkdir(parents=True, exist_ok=True)
        (person / "dotfiles" / name).write_text("of the person\n")
    (person / ".claude" / "login").symlink_to("../dotfiles/login")
    (person / ".claude" / "folder").symlink_to(person / "dotfiles" / "folder")
    (person / ".claude" / "projects" / "old").write_text("of the past\n")
    (person / ".codex").mkdir()
    (person / ".codex" / "auth.json").write_text("another login\n")
    program = folder / "programs" / "claude"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\ncat >/dev/null\necho planted >> ~/.claude/settings.json\n"
        "cat ~/.claude/folder/note ~/.claude/login ~/.claude/settings.json\n"
        f"cat {person}/dotfiles/login && echo found\n"
        f"cat ~/.claude/projects/old ~/.codex/auth.json {person}/.codex/auth.json {person}/.claude/login\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    flow(folder, '{command: ["claude", "-p"]}')
    reconvene("run", "kept.yaml", "--no-input")
    said = reconvene("output", "kept-1", "one", "--json").out
    assert "of the person\\nof the person\\nplanted" in said
    assert "found" not in said
    assert "of the past\\n" not in said
    assert "another login\\n" not in said
    assert sorted(os.listdir(person / ".claude")) == ["folder", "login", "projects"]


def test_a_script_that_calls_a_known_program_gets_the_copy_as_well(tmp_path: Path) -> None:
    script = tmp_path / "ask.sh"
    script.write_text("#!/bin/sh\nclaude -p --model opus\n")
    environ = {"HOME": "/people/ada", "CLAUDE_CONFIG_DIR": "/data/claude"}
    assert presets.copies(("sh", str(script)), environ)[".claude"] == "/data/claude"
    assert ".codex" not in presets.copies(("sh", str(script)), environ)
    assert presets.copies(("sh", "-c", "echo clauderie"), environ) == {}
    assert presets.copies(("claude",), environ | {"CLAUDE_CODE_USE_BEDROCK": "1"})[".aws"] == "/people/ada/.aws"


OLD = {"oauth": {"accessToken": "old", "refreshToken": "once", "expiresAt": 1_000_000_000_000}}
LATER = 9_000_000_000_000
NEW = {"oauth": {"accessToken": "new", "refreshToken": "twice", "expiresAt": LATER}}
VALID = {"oauth": {"accessToken": "old", "refreshToken": "once", "expiresAt": LATER}}


@pytest.mark.parametrize(
    ("before", "after", "taken"),
    [
        (OLD, NEW, True),
        (VALID, NEW, False),  # it had not run out: nothing was to be renewed
        (OLD, OLD | {"hooks": {"x": "y"}}, False),  # of another shape
        (OLD, {"oauth": {**NEW["oauth"], "expiresAt": 1}}, False),  # it has run out as well
        ({"OPENAI_API_KEY": "old"}, {"OPENAI_API_KEY": "planted"}, False),  # nothing says that it runs out
    ],
)
def test_only_a_login_that_ran_out_is_taken_from_the_copy(
    before: object, after: object, tmp_path: Path, *, taken: bool
) -> None:
    for name, value in (("own", before), ("home/.claude", after)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / ".credentials.json").write_text(json.dumps(value))
    own = tmp_path / "own" / ".credentials.json"
    own.chmod(0o600)
    found = logins.found(str(tmp_path / "home"), {".claude": str(tmp_path / "own")}, presets.LOGINS)
    assert logins.take_over(found) == ([str(own)] if taken else [])
    assert json.loads(own.read_text()) == (after if taken else before)
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert len(list(own.parent.iterdir())) == 1


def test_a_login_that_the_person_renewed_meanwhile_is_theirs(tmp_path: Path) -> None:
    for name, value in (("own", OLD), ("home/.claude", NEW)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / ".credentials.json").write_text(json.dumps(value))
    found = logins.found(str(tmp_path / "home"), {".claude": str(tmp_path / "own")}, presets.LOGINS)
    (tmp_path / "own" / ".credentials.json").write_text("theirs")
    assert logins.take_over(found) == []


def test_codex_has_no_sandbox_of_its_own_in_one_that_allows_none() -> None:
    known = presets.PRESETS["codex"]
    line = known.alone(known.command(writes=False))
    assert line[-3:] == ("--sandbox", "danger-full-access", "-")
    assert presets.PRESETS["claude"].alone(("claude", "-p")) == ("claude", "-p")


@contextmanager
def served() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]  # the kernel accepts


@pytest.mark.parametrize("network", [True, False])
def test_the_network_is_there_unless_it_is_closed(
    reconvene: Command, folder: Path, level: str, *, network: bool
) -> None:
    found = levels.find(os.environ)
    if level == "landlock" and found.abi < 4 and not found.filters:
        pytest.skip("nothing here closes the network")
    with served() as port:
        (folder / "reach.py").write_text(
            "import socket\n"
            f"try:\n    socket.create_connection(('127.0.0.1', {port}), 5)\nexcept OSError:\n    print('closed')\n"
            "else:\n    print('reached')\n"
        )
        words = f'["{sys.executable}", "{folder}/reach.py"]'
        flow(folder, f"{{command: {words}, network: {str(network).lower()}}}")
        reconvene("run", "kept.yaml", "--no-input")
    told, _, said = output(reconvene).partition(": ")
    assert said == ("reached\n" if network else "closed\n")
    closed = "no network" if level == "bubblewrap" or found.filters else "no TCP"
    assert told == (level if network else f"{level}, {closed}")


def test_a_socket_that_is_named_is_there(reconvene: Command, folder: Path, person: Path, level: str) -> None:
    path = folder / "service.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        flow(folder, f'{{command: "cat >/dev/null; test -S {path} && echo there", sockets: [{path}]}}')
        assert reconvene("run", "kept.yaml").code == 0
    opened = ", all sockets open" if level == "landlock" else ""
    assert output(reconvene) == f"{level}, with {path}{opened}: there\n"


@contextmanager
def answering(*paths: Path) -> Iterator[None]:
    """Somebody who acts for the person and says so, at each of these."""
    with ExitStack() as stack:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(str(path))
            server.listen(10)  # the kernel accepts
        yield


TALK = """
import os, socket, sys
def tried(path):
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.connect(path)
    except OSError as error:
        return type(error).__name__
    return "reached"
print({path: tried(path) for path in sys.argv[2:]})
"""


def talking(folder: Path, person: Path, *paths: Path, wait: str = "") -> str:
    """An agent to whom the person's own folder is shown, as on a machine where it is not below /tmp."""
    (folder / "talk.py").write_text((f"open({wait!r}).read()\n" if wait else "") + TALK)
    return json.dumps([sys.executable, str(folder / "talk.py"), str(person), *map(str, paths)])


@pytest.mark.parametrize("network", [True, False])
def test_whoever_answers_at_a_socket_is_out_of_reach(
    reconvene: Command, folder: Path, person: Path, level: str, *, network: bool
) -> None:
    paths = [
        person / ".x-agent.sock",
        person / ".tmux" / "tmux-1" / "default",
        person / "vm" / "a" / "b" / "docker.sock",
    ]
    (person / "vm" / "a" / "b").mkdir(parents=True)
    (person / "vm" / "a" / "b" / "settings").write_text("of the machine\n")
    (person / "vm" / "a" / "b" / "link").symlink_to("settings")
    with answering(*paths):
        flow(
            folder, f"{{command: {talking(folder, person, *paths)}, network: {str(network).lower()}, sandbox: strict}}"
        )
        assert reconvene("run", "kept.yaml").code == 0
        assert "reached" not in output(reconvene)
        flow(folder, f'{{command: ["cat", "{paths[2].parent}/settings", "{paths[2].parent}/link"]}}', name="beside")
        reconvene("run", "beside.yaml")
        assert output(reconvene, "beside-1") == f"{level}: of the machine\nof the machine\n"
        flow(folder, f"{{command: {talking(folder, person, *paths)}, sandbox: 'off'}}", name="open")
        reconvene("run", "open.yaml")
        assert output(reconvene, "open-1").count("reached") == 3


def test_one_who_answers_anew_while_an_agent_works_is_out_of_reach_as_well(
    reconvene: Command, folder: Path, person: Path, level: str
) -> None:
    path, gate = person / ".tmux" / "default", person / "gate"
    os.mkfifo(gate)
    flow(folder, f"{{command: {talking(folder, person, path, wait=str(gate))}}}")
    with answering(path):

        def anew() -> None:
            with gate.open("w"):  # the agent has begun
                path.unlink()
                stack.enter_context(answering(path))

        with ExitStack() as stack:
            other = threading.Thread(target=anew)
            other.start()
            assert reconvene("run", "kept.yaml").code == 0
            other.join()
    assert "Error" in output(reconvene)


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("sockets", ["", "own"])
def test_a_program_makes_sockets_of_its_own_where_those_of_others_are_hidden(
    reconvene: Command, folder: Path, level: str, sockets: str, *, network: bool
) -> None:
    (folder / "make.py").write_text(
        "import socket\nsocket.socketpair()\ntry:\n    socket.socket(socket.AF_UNIX).bind('x')\n"
        "except OSError as error:\n    print(error)\nelse:\n    print('made')\n"
    )
    words = json.dumps([sys.executable, str(folder / "make.py")])
    flow(folder, f"{{command: {words}, network: {str(network).lower()}, sockets: [{sockets}]}}")
    assert reconvene("run", "kept.yaml").code == 0
    made = sockets or (network and level == "bubblewrap")
    assert output(reconvene).endswith(": made\n" if made else ": [Errno 1] Operation not permitted\n")


def test_strict_is_refused_where_sockets_cannot_be_closed(
    reconvene: Command, folder: Path, person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = levels.Level("landlock", "(ABI 7)", abi=7, filters=False, lacks=("bubblewrap is not installed",))
    monkeypatch.setattr(levels, "_found", lambda path: here)
    flow(folder, '{command: "cat >/dev/null", sandbox: strict}')
    refused = reconvene("run", "kept.yaml")
    assert refused.code == 64
    assert "whoever answers at a Unix socket (ssh-agent, docker, tmux) is reached" in refused.err
    flow(folder, '{command: "cat >/dev/null"}')
    assert "Unix socket (ssh-agent, docker, tmux) is reached" in reconvene("check", "kept.yaml").out
    (line,) = [line for line in reconvene("doctor").out.splitlines() if "landlock" in line]
    assert "sockets stay open" in line
    assert "✓" not in line


def test_a_program_that_is_stopped_may_end_in_order(reconvene: Command, folder: Path, level: str) -> None:
    script = "trap 'echo in order; exit 0' TERM; while :; do sleep 0.05; done"
    flow(folder, f'{{command: ["sh", "-c", "{script}"], timeout: 1, retries: 0}}')
    reconvene("run", "kept.yaml", "--no-input")
    assert "in order" in output(reconvene).partition("did not end within")[2]


def test_how_a_program_ended_is_told_as_without_a_sandbox(reconvene: Command, folder: Path, level: str) -> None:
    flow(folder, '{command: "cat >/dev/null; kill -SEGV $$", retries: 0}')
    flow(folder, '{command: "cat >/dev/null; echo why >&2; exit 7", retries: 0}', name="seven")
    flow(folder, '{command: ["no-such-program"], retries: 0}', name="none")
    for name in ("kept", "seven", "none"):
        reconvene("run", f"{name}.yaml", "--no-input", "--anyway")
    assert "failed with signal SIGSEGV" in output(reconvene)
    assert "failed with exit code 7: why" in output(reconvene, "seven-1")
    assert "there is no such program" in output(reconvene, "none-1")


# --- a project ---


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def project(folder: Path, person: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    place = folder / "project"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text("of the commit\n")
    (place / ".gitignore").write_text(".env\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "Start")
    (place / "secret.txt").write_text("of the checkout\n")
    hook = place / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {folder}/hooked\n")
    hook.chmod(0o755)
    return place


WORK = """
name: work
inputs: {project: {type: project}}
agents:
  coder: {command: ["sh", "-c", %r]}
  next: {command: ["sh", "-c", "cat >/dev/null; ls -a . .claude 2>&1; cat .env; true"]}
phases: [{id: code, steps: [{agents: [coder], place: project}, {agents: [next], place: project}]}]
"""


def test_in_a_project_objects_are_there_to_read_and_the_rest_is_hidden(
    reconvene: Command, folder: Path, project: Path, level: str
) -> None:
    script = (
        f"cat >/dev/null; git log --format=%s; cat a.txt; cat {project}/secret.txt; cat {project}/.git/HEAD;"
        f" touch {project}/.git/objects/planted; echo new > b.txt; git add -A; git -c user.name=x -c user.email=x@y"
        " commit -qm Mine && echo committed"
    )
    (folder / "work.yaml").write_text(WORK % script)
    done = reconvene("run", "work.yaml", "--input", f"project={project}")
    assert done.code == 0, done.err
    said = str(reconvene("output", "work-1", "coder", "--json").object["attempts"][0]["output"])  # type: ignore[index]
    assert "Start" in said
    assert "of the commit" in said
    assert "committed" in said
    assert "of the checkout" not in said
    assert "refs/heads/main" not in said
    assert not (project / ".git" / "objects" / "planted").exists()
    assert git(project, "show", "reconvene/work-1:b.txt") == "new"
    assert not (folder / "hooked").exists()


def test_other_checkouts_of_the_same_repository_are_hidden(
    reconvene: Command, folder: Path, project: Path, level: str
) -> None:
    git(project, "worktree", "add", "-q", "-b", "side", str(folder / "side"))
    git(project, "worktree", "add", "-q", "-b", "third", str(folder / "third"))
    (folder / "third" / "secret.txt").write_text("of the third\n")
    # shown by its name on the command line, as it would be outside of /tmp
    script = f"cat >/dev/null; cat {project}/secret.txt {folder}/third/secret.txt; true"
    (folder / "work.yaml").write_text(WORK.replace("%r]", f'%r, sh, "{folder}"]') % script)
    done = reconvene("run", "work.yaml", "--input", f"project={folder / 'side'}")
    assert done.code == 0, done.err
    said = reconvene("output", "work-1", "coder", "--json").out
    assert "of the checkout" not in said
    assert "of the third" not in said


def test_what_steers_programs_is_not_taken_from_an_agent(
    reconvene: Command, folder: Path, project: Path, level: str
) -> None:
    script = (
        "cat >/dev/null; mkdir -p .claude sub/.gemini; echo x > .claude/settings.json; "
        "echo x > sub/.gemini/settings.json; echo PLANTED=1 > .env; echo kept > b.txt"
    )
    (folder / "work.yaml").write_text(WORK % script)
    assert reconvene("run", "work.yaml", "--input", f"project={project}").code == 0
    assert git(project, "ls-tree", "-r", "--name-only", "reconvene/work-1").split() == [".gitignore", "a.txt", "b.txt"]
    log = reconvene("log", "work-1", "--json").out
    assert ".claude/settings.json: it could make a coding program start others; change it yourself" in log
    said = str(reconvene("output", "work-1", "next", "--json").object["attempts"][0]["output"])  # type: ignore[index]
    assert "settings.json" not in said
    assert "PLANTED" not in said


def test_what_git_ignores_and_steers_is_gone_for_the_next_attempt_of_the_same_agent(
    reconvene: Command, folder: Path, project: Path, level: str
) -> None:
    script = "cat >/dev/null; if [ -e b.txt ]; then cat .env cache; else echo PLANTED | tee .env cache b.txt; fi; true"
    (project / ".gitignore").write_text(".env\ncache\n")
    git(project, "commit", "-qam", "Ignore")
    (folder / "work.yaml").write_text(WORK.replace("agents: [next]", "agents: [coder]") % script)
    assert reconvene("run", "work.yaml", "--input", f"project={project}").code == 0
    second = reconvene("output", "work-1", "coder", "--json").object["attempts"][-1]  # type: ignore[index]
    assert second["output"] == "PLANTED\n"  # the cache is kept, what steers is not


def test_a_file_that_steers_and_is_the_persons_stays_as_it_is(
    reconvene: Command, folder: Path, project: Path, level: str
) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text("of the person\n")
    git(project, "add", "-f", ".claude")
    git(project, "commit", "-qm", "Settings")
    (folder / "work.yaml").write_text(WORK % "cat >/dev/null; rm -r .claude; echo kept > b.txt")
    assert reconvene("run", "work.yaml", "--input", f"project={project}").code == 0
    assert git(project, "show", "reconvene/work-1:.claude/settings.json") == "of the person"
    assert git(project, "show", "reconvene/work-1:b.txt") == "kept"


# --- the folders of attempts ---


def test_what_a_process_that_died_left_behind_is_swept_by_the_next(tmp_path: Path) -> None:
    root = tmp_path / "attempts"
    script = (
        "import os, sys; from reconvene.adapters.sandbox.places import Places; place = Places(sys.argv[1]);"
        " open(os.path.join(place.new(), 'left'), 'w').close(); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", script, str(root)], check=False)
    assert list(root.rglob("left")) != []
    living = Places(str(root))
    mine = living.new()
    assert list(root.rglob("left")) == []
    other = Places(str(root))
    other.new()
    assert os.path.isdir(mine)
    assert stat.S_IMODE(os.stat(mine).st_mode) == 0o700
    living.close()
    other.close()
    assert list(root.iterdir()) == []


def test_what_a_living_process_looks_at_for_no_run_yet_is_not_ended_by_another(tmp_path: Path) -> None:
    living, other = Places(str(tmp_path)), Places(str(tmp_path))
    folder = living.new()
    remains.note(folder, remains.Attempt("", "", "", 0, "look", "sleep", 0.0))
    with subprocess.Popen(["sleep", "60"], env={**os.environ, remains.MARK: folder}) as looking:
        remains.note_started(folder, looking.pid)
        try:
            other.new()
            assert looking.poll() is None
        finally:
            looking.kill()
    living.close()
    other.close()


# --- the language ---


@pytest.mark.parametrize(
    ("agent", "problem"),
    [
        ('{python: "a:b", sandbox: strict}', "'sandbox' is for a command; a function shares the engine's process"),
        ('{command: "x", sandbox: perhaps}', "'sandbox' must be auto or strict or off, not 'perhaps'"),
        ('{command: "x", devices: [printer]}', "'devices': 'printer' is neither gpu nor a path below /dev/"),
        ('{command: "x", sockets: [ssh]}', "'sockets': 'ssh' is neither docker nor own nor a path below /"),
        ('{command: "x", sandbox: strict, sockets: [docker]}', "that is no sandbox"),
    ],
)
def test_what_cannot_be_meant_is_a_problem_of_the_file(agent: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match=problem.replace("(", "\\(")):
        parse(flow(tmp_path, agent).read_text(), "kept.yaml", {})


def test_an_agent_is_as_strict_as_its_workflow_unless_it_says_otherwise() -> None:
    text = "name: x\nsandbox: strict\nagents: {a: {command: x}, b: {command: x, sandbox: auto}}\n"
    found = parse(text + "phases: [{id: p, agents: [a, b]}]\n", "x.yaml", {}).agents
    assert (found["a"].sandbox, found["b"].sandbox) == ("strict", "auto")
