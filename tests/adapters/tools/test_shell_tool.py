"""Real programs through `run_command`, in a real sandbox: what they do is found, and whatever they do is bounded."""

from __future__ import annotations

import asyncio
import os
import re
import time
from pathlib import Path
from zlib import crc32

import pytest
from tool_bench import Bench, Entry

from processes import has_ended
from reconvene.adapters.agents.unkept import Open
from reconvene.adapters.sandbox import levels
from reconvene.adapters.tools import Toolboxes, attempt_tree, shell_tool
from reconvene.core.definition.workflow import Agent
from reconvene.ports import Assignment, Progress
from reconvene.tool_ports import Toolbox, ToolResult

SHELL = Entry("shell")
READ_ONLY = Entry("shell", {"read": True})


def run(bench: Bench, command: str, timeout: int = 60, entry: Entry = SHELL) -> ToolResult:
    return bench.call(entry, "run_command", command=command, timeout=timeout)


# --- what it does ---


def test_the_exit_code_and_what_was_written_are_told_in_order(bench: Bench) -> None:
    result = run(bench, "echo one; echo two >&2; echo three; exit 3")
    assert result.text == "[exit code 3]\none\ntwo\nthree"
    assert not result.failed
    assert result.sandbox == levels.find(bench.environ).name


def test_what_a_command_changed_is_found(bench: Bench) -> None:
    bench.files = {"a.md": b"old", "gone.md": b"x", "same.md": b"same", "sub/b.md": b"b"}
    command = (
        "echo new > a.md; rm gone.md; touch same.md; mkdir -p c; printf '' > c/empty; ln -s /etc/passwd l; mkfifo p"
    )
    result = run(bench, command)
    assert result.files == {"a.md": b"new\n", "c/empty": b""}
    assert result.removed == ("gone.md",)
    assert "[changed: a.md, c/empty]\n[removed: gone.md]\n[not kept: l: symbolic link, p: named pipe]" in result.text


def test_the_next_call_sees_only_its_own_changes(bench: Bench) -> None:
    first, second, third, fourth = bench.calls(
        SHELL,
        ("run_command", {"command": "echo 1 > a; ln -s x l"}),
        ("run_command", {"command": "echo 2 > b"}),
        ("run_command", {"command": "rm a; mkdir a"}),
        ("run_command", {"command": "cat b"}),
    )
    assert (dict(first.files), dict(second.files)) == ({"a": b"1\n"}, {"b": b"2\n"})
    assert "not kept" not in second.text
    assert (third.removed, third.files) == (("a",), {})
    assert fourth.text == "[exit code 0]\n2"


def test_files_and_commands_share_the_folder(bench: Bench) -> None:
    async def work(box: Toolbox) -> tuple[ToolResult, ToolResult]:
        await box.call("write_file", {"path": "a.md", "text": "from a tool"})
        ran = await box.call("run_command", {"command": "cat a.md; echo more >> a.md"})
        return ran, await box.call("read_file", {"path": "a.md"})

    ran, read = bench.with_([Entry("files"), SHELL], work)
    assert "from a tool" in ran.text
    assert dict(ran.files) == {"a.md": b"from a toolmore\n"}
    assert "from a toolmore" in read.text


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_only_reading_is_kept_up_by_the_sandbox(bench: Bench, level: str) -> None:
    if level == "landlock":
        (bench.root / "broken").mkdir()
        (bench.root / "broken" / "bwrap").write_text("#!/bin/sh\nexit 1\n")
        (bench.root / "broken" / "bwrap").chmod(0o755)
        bench.environ["PATH"] = f"{bench.root / 'broken'}{os.pathsep}{bench.environ['PATH']}"
    if (found := levels.find(bench.environ)).name != level:
        pytest.skip(f"{level} does not work here: {'; '.join(found.lacks)}")
    bench.files = {"a.md": b"hello"}
    command = 'cat a.md; echo x > a.md; echo y > b.md; rm a.md; chmod 777 .; echo z > "$TMPDIR/z" && cat "$TMPDIR/z"'
    result = run(bench, command, entry=READ_ONLY)
    assert "hello" in result.text
    assert {"bubblewrap": "Read-only file system", "landlock": "Permission denied"}[level] in result.text
    assert result.text.endswith("z")  # what is temporary it may write
    assert (dict(result.files), result.removed) == ({}, ())
    assert result.sandbox == f"{level}, read only"


def test_without_a_sandbox_only_reading_is_not_offered_and_that_is_said(tmp_path: Path) -> None:
    told: list[Progress] = []
    boxes = Toolboxes(Open(str(tmp_path)), {"PATH": os.environ["PATH"]})
    assignment = Assignment("run-1", "R1/0/w", 1, Agent(name="writer"), "", {}, (), None)

    async def once() -> tuple[list[str], ToolResult]:
        async with boxes.opened(assignment, [READ_ONLY], {}, told.append) as box:
            return [tool.name for tool in box.tools()], await box.call("run_command", {"command": "true"})

    names, result = asyncio.run(once())
    assert names == []
    assert result.failed
    assert "nothing here keeps it from writing" in result.text
    assert [one.what for one in told] == ["warning"]


@pytest.mark.parametrize("usual", ["off", "none"])
def test_a_machine_without_one_is_found_out_before_anything_starts(
    bench: Bench, usual: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if usual == "none":
        monkeypatch.setattr(levels, "_found", lambda path: levels.Level("none", lacks=("nothing is installed",)))
    else:
        bench = Bench(bench.root, "off", bench.environ)
    result = run(bench, "true", entry=READ_ONLY)
    assert result.failed
    assert "nothing here keeps it from writing" in result.text
    assert "exit code 0" in run(bench, "true").text


# --- what it may see ---


def test_the_environment_is_allow_listed(bench: Bench) -> None:
    bench.environ |= {
        "ANTHROPIC_API_KEY": "sk-very-secret-1",
        "MY_TOKEN": "my-very-secret-2",
        "PLAIN_SETTING": "hello-there",
    }
    bench.env = ("MY_TOKEN",)
    result = run(bench, 'env; echo "$MY_TOKEN" | rev')
    names = set(re.findall(r"^(\w+)=", result.text, re.M))
    assert {"ANTHROPIC_API_KEY", "PLAIN_SETTING"}.isdisjoint(names)
    assert {"MY_TOKEN", "RECONVENE_TASK", "PATH"} <= names
    assert "my-very-secret-2" not in result.text
    assert "MY_TOKEN=[redacted]" in result.text


@pytest.mark.parametrize(
    "command",
    [
        "cat ../../secret.txt ../../../secret.txt ../../../../secret.txt",
        "cat {root}/secret.txt",
        "ls {root}; find /tmp /var/tmp {root} -name secret.txt -exec cat {{}} +",
        "ln -s {root}/secret.txt l; cat l",
        "cat /proc/*/environ /proc/1/root{root}/secret.txt",
        "cp -r {root}/attempts copy; ls -R copy",
    ],
)
def test_what_lies_outside_is_not_there(bubblewrap: Bench, command: str) -> None:
    (bubblewrap.root / "secret.txt").write_text("the secret")
    result = run(bubblewrap, command.format(root=bubblewrap.root))
    assert "the secret" not in result.text
    assert not any(b"the secret" in data for data in result.files.values())


def test_nothing_outside_is_changed(bubblewrap: Bench) -> None:
    target = bubblewrap.root / "target.txt"
    target.write_text("as it was")
    run(bubblewrap, f"echo x > {target}; rm -rf {bubblewrap.root}/*; rm -rf ~/* /tmp/* ../*")
    assert target.read_text() == "as it was"
    assert (bubblewrap.root / "person").is_dir()


def test_the_network_can_be_closed(bubblewrap: Bench) -> None:
    result = run(bubblewrap, "tail -n +3 /proc/net/dev | cut -d: -f1", entry=Entry("shell", {"network": False}))
    assert result.sandbox == "bubblewrap, no network"
    assert result.text.split() == ["[exit", "code", "0]", "lo"]


# --- what must not hurt ---


def living(mark: str) -> list[int]:
    """Processes whose command line holds this."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words and int(name) != os.getpid():
                found.append(int(name))
    return [pid for pid in found if not has_ended(pid)]


@pytest.mark.parametrize(
    "command",
    [
        "sleep {n} & echo started",
        "setsid sleep {n} & echo started",
        "nohup sleep {n} >/dev/null 2>&1 & echo started",
        "(setsid sh -c 'trap \"\" TERM HUP; sleep {n}; sleep {n}' </dev/null >/dev/null 2>&1 &) ; echo started",
        "env -i setsid sleep {n} & echo started",
        "for i in 1 2 3 4 5 6 7 8; do (sleep {n} &) ; done; echo started",
    ],
)
def test_all_that_a_command_started_is_gone_with_it(bench: Bench, command: str) -> None:
    mark = str(70_000 + crc32(command.encode()) % 10_000) + ".25"
    result = run(bench, command.format(n=mark))
    assert "started" in result.text
    assert living(mark) == []


@pytest.mark.parametrize(
    "command", ["sleep {n}", "trap '' TERM; sleep {n}; sleep {n}", "setsid sleep {n}; cat /dev/zero >/dev/null"]
)
def test_what_does_not_end_is_ended(bench: Bench, command: str) -> None:
    mark = str(80_000 + crc32(command.encode()) % 10_000) + ".25"
    result = run(bench, f"echo before; {command.format(n=mark)}", timeout=1)
    assert result.failed
    assert result.text.startswith("[not done within 1 s: it was ended, with all that it started]\nbefore")
    assert living(mark) == []


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_a_cancelled_call_leaves_nothing_behind(bench: Bench) -> None:
    async def work(box: Toolbox) -> None:
        call = asyncio.create_task(
            box.call("run_command", {"command": "mkfifo p; echo go > started; setsid sleep 91234.5"})
        )
        root = Path(box._tree.root)  # type: ignore[attr-defined]
        await asyncio.to_thread(_wait_for, root / "started")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    bench.with_([SHELL], work)
    assert living("91234.5") == []


def test_output_without_end_is_ended_and_its_ends_are_shown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_tool, "MOST_WRITTEN", 3 * 2**20)
    result = run(bench, "echo first; yes")
    assert result.failed
    assert "it wrote more than 3 MB and was ended" in result.text
    assert "first" in result.text
    assert len(result.text) < 45_000


def test_long_output_keeps_its_beginning_and_its_end(bench: Bench) -> None:
    result = run(bench, "echo the beginning; seq 200000; echo the end")
    assert result.text.startswith("[exit code 0]\nthe beginning\n1\n2")
    assert result.text.endswith("199999\n200000\nthe end")
    assert re.search(r"\[cut: 1,\d\d\d,\d\d\d of 1,\d\d\d,\d\d\d bytes are not shown here\]", result.text)
    assert len(result.text) < 45_000


def test_large_files_are_not_kept_and_that_is_said(bench: Bench) -> None:
    result = run(bench, "head -c 11000000 /dev/zero > big; truncate -s 100G sparse; echo small > small")
    assert dict(result.files) == {"small": b"small\n"}
    why = "larger than 10 MB (RECONVENE_MAX_FILE_MB)"
    assert f"[not kept: big: {why}, sparse: {why}]" in result.text


def test_all_together_is_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_tree, "MOST_CHANGED", 2 * 2**20)
    result = run(bench, "for i in 1 2 3 4 5; do head -c 600000 /dev/zero > f$i; done")
    assert len(result.files) == 3
    assert "f4: with it there would be more than 2 MB" in result.text


def test_many_files_are_bounded(bench: Bench) -> None:
    result = run(bench, "mkdir d; cd d; seq 5000 | xargs touch")
    assert len(result.files) == 1000
    assert "more than 1000 files" in result.text
    assert len(result.text) < 10_000


def test_hostile_names_are_not_taken(bench: Bench) -> None:
    plain = "mkdir .git __pycache__; echo x > .git/config; touch __pycache__/x; echo x > 'c\\d'"
    command = plain + "; printf x > \"$(printf 'a\\nb')\""
    result = run(bench, command)
    assert dict(result.files) == {}
    assert "[not kept: .git: " in result.text
    assert "a\\nb: it holds a control character" in result.text


def test_a_folder_that_nobody_may_enter_is_opened_again(bench: Bench) -> None:
    bench.files = {"a.md": b"x", "b.md": b"y"}
    first, second = bench.calls(
        SHELL,
        ("run_command", {"command": "rm a.md; chmod 000 ."}),
        ("run_command", {"command": "cat b.md; stat -c %a ."}),
    )
    assert first.removed == ("a.md",)
    assert second.text == "[exit code 0]\ny700"


def test_a_folder_that_was_swapped_for_a_link_is_not_used_any_more(bench: Bench) -> None:
    """Where nothing keeps programs in, one can put something else in the place of its folder."""
    bench = Bench(bench.root, "off", bench.environ)
    elsewhere = bench.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.txt").write_text("the secret")

    async def work(box: Toolbox) -> list[ToolResult]:
        swapped = await box.call(
            "run_command", {"command": f'cd ..; mv "$RECONVENE_WORKDIR" away; ln -s {elsewhere} "$RECONVENE_WORKDIR"'}
        )
        more = ("read_file", "delete_file")
        found = [swapped, *[await box.call(name, {"path": "secret.txt"}) for name in more]]
        found += [await box.call("write_file", {"path": "new.txt", "text": "x"}), await box.call("list_files", {})]
        assert box.read("secret.txt") is None
        assert dict(box.files()) == {}
        os.unlink(box._tree.root)  # type: ignore[attr-defined]
        os.rename(Path(box._tree.root).parent / "away", box._tree.root)  # type: ignore[attr-defined]
        return found

    results = bench.with_([Entry("files"), SHELL], work)
    assert [result.failed for result in results] == [True] * 5
    assert not any("the secret" in result.text or result.files for result in results)
    assert [path.name for path in elsewhere.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize(
    "command", ["a\0b", "exit 300", "kill -9 $$", "(", "exec /nowhere/program", "cat", "read x; echo got $x"]
)
def test_odd_commands_are_results(bench: Bench, command: str) -> None:
    result = run(bench, command)
    assert result.text
    assert "unexpectedly" not in result.text


def test_a_fork_bomb_within_limits_is_ended(bench: Bench) -> None:
    """Each starts two more, seven generations deep, and all sleep."""
    script = "f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 93456.5; }; f 6 & echo started; sleep 0.2"
    result = run(bench, script)
    assert "started" in result.text
    assert living("93456.5") == []
