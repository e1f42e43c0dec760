"""Command agents are real processes here: some flood, some never end, some leave children or hostile files behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from processes import has_ended
from reconvene.adapters.agents import Agents
from reconvene.adapters.agents.as_answer import ReplyError
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Progress

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LC_ALL": "C.UTF-8"}


def assign(
    *argv: str,
    prompt: str = "do it",
    files: Mapping[str, bytes] | None = None,
    writes: tuple[str, ...] = (),
    schema: object = None,
    timeout: float = 120.0,
    env: tuple[str, ...] = (),
    task: str = "R1/0/writer",
) -> Assignment:
    agent = Agent(name="writer", kind="command", command=argv, timeout=timeout, env=env)
    return Assignment("run/1", task, 1, agent, prompt, files or {}, writes, schema)


def sh(script: str, **rest: object) -> Assignment:
    return assign("sh", "-c", script, **rest)  # type: ignore[arg-type]


def py(script: str, **rest: object) -> Assignment:
    return assign(sys.executable, "-c", script, **rest)  # type: ignore[arg-type]


def run(
    assignment: Assignment, scratch: Path, environ: Mapping[str, str] = ENVIRON, heard: list[Progress] | None = None
) -> Answer:
    heard = [] if heard is None else heard
    answer = asyncio.run(Agents(str(scratch), environ).run(assignment, heard.append))
    assert nothing_left(scratch)
    return answer


def fails(assignment: Assignment, scratch: Path, environ: Mapping[str, str] = ENVIRON) -> AgentError:
    with pytest.raises(AgentError) as caught:
        run(assignment, scratch, environ)
    assert nothing_left(scratch)
    return caught.value


def nothing_left(scratch: Path) -> bool:
    return list(scratch.rglob("*")) == []


def test_stdout_is_the_output_and_the_prompt_comes_on_stdin(tmp_path: Path) -> None:
    heard: list[Progress] = []
    answer = run(sh("cat; echo reviewed", prompt="Größe?\n"), tmp_path, heard=heard)
    assert answer.text == "Größe?\nreviewed\n"
    assert answer.reply == answer.text.encode()
    assert not answer.has_value
    assert not answer.recorded
    assert answer.usage.requests == 1
    assert [one.detail for one in heard if one.what == "output"][-1] == "reviewed"
    assert "".join(one.detail for one in heard if one.what == "text") == answer.text, "no character is torn apart"


def test_it_works_in_a_private_folder_with_its_files_and_nothing_else(tmp_path: Path) -> None:
    files = {"a.md": b"A", "deep/er/b.bin": b"\x00\xff"}
    answer = run(
        sh('find . -type f | sort; stat -c %a .; [ "$PWD" = "$RECONVENE_WORKDIR" ] && echo same', files=files), tmp_path
    )
    assert answer.text.split() == ["./a.md", "./deep/er/b.bin", "700", "same"]
    assert answer.files == {}


def test_it_sees_only_the_allowed_environment(tmp_path: Path) -> None:
    environ = ENVIRON | {"OPENAI_API_KEY": "sk-very-secret-1", "MY_NAME": "Ada", "OTHER": "x"}
    answer = run(
        py("import os,json; print(json.dumps(dict(os.environ)))", env=("MY_NAME",), schema={}), tmp_path, environ
    )
    assert isinstance(answer.value, dict)
    assert set(answer.value) - {"PWD", "SHLVL", "_", "LC_CTYPE"} == {
        "PATH", "HOME", "LC_ALL", "MY_NAME",
        "RECONVENE_RUN", "RECONVENE_TASK", "RECONVENE_ATTEMPT", "RECONVENE_WORKDIR",
    }  # fmt: skip
    assert answer.value["RECONVENE_RUN"] == "run/1"
    assert answer.value["RECONVENE_TASK"] == "R1/0/writer"
    assert answer.value["RECONVENE_ATTEMPT"] == "1"


def test_secrets_are_kept_out_of_the_record(tmp_path: Path) -> None:
    environ = ENVIRON | {"MY_TOKEN": "tok-12345678"}
    answer = run(sh("cat; echo $MY_TOKEN", prompt="use tok-12345678 ", env=("MY_TOKEN",)), tmp_path, environ)
    assert b"tok-12345678" not in answer.request + answer.reply
    assert json.loads(answer.request)["stdin"] == "use [redacted] "
    error = fails(sh("echo $MY_TOKEN >&2; exit 3", env=("MY_TOKEN",)), tmp_path, environ)
    assert "[redacted]" in error.message


def test_on_failure_the_ends_of_both_streams_are_shown_harmless_and_bounded(tmp_path: Path) -> None:
    environ = ENVIRON | {"MY_TOKEN": "tok-12345678"}
    script = r"""
import os, sys
sys.stdout.write("x" * 90000 + "\n\033[31mno credit\033[0m \033]0;title\a" + os.environ["MY_TOKEN"] + "\n")
sys.stderr.write("y\n" * 90000 + "Traceback \u202etxt\n")
sys.exit(1)
"""
    error = fails(py(script, env=("MY_TOKEN",)), tmp_path, environ)
    assert "failed with exit code 1: y\ny\n" in error.message
    assert error.message.endswith("no credit [redacted]")
    assert "Traceback txt\nAnd on its standard output: xxx" in error.message
    assert len(error.message) < 2500
    only = fails(sh("echo out of money; exit 2"), tmp_path)
    assert only.message.endswith("failed with exit code 2: out of money")
    assert only.retryable


def test_what_it_said_before_its_time_was_up_is_shown(tmp_path: Path) -> None:
    error = fails(sh("echo waiting for the network; sleep 600", timeout=1.0), tmp_path)
    assert error.message.endswith("did not end within 1 s and was stopped. It said last: waiting for the network")


def test_files_it_writes_or_changes_are_taken_and_unchanged_ones_are_not(tmp_path: Path) -> None:
    script = "echo new > new.md; mkdir -p d; echo more >> old.md; rm gone.md; ln old.md d/hard.md"
    given = {"old.md": b"old\n", "same.md": b"same\n", "gone.md": b"x"}
    answer = run(sh(script, files=given), tmp_path)
    assert answer.files == {"new.md": b"new\n", "old.md": b"old\nmore\n", "d/hard.md": b"old\nmore\n"}
    assert answer.ignored == ()


def test_only_files_that_the_step_writes_are_taken(tmp_path: Path) -> None:
    script = "mkdir -p out/x; echo 1 > plan.md; echo 2 > notes.txt; echo 3 > out/x/y.md"
    answer = run(sh(script, writes=("plan.md", "out/**/*.md")), tmp_path)
    assert set(answer.files) == {"plan.md", "out/x/y.md"}
    assert answer.ignored == ("notes.txt: not in writes",)


def test_a_file_written_anew_with_the_same_content_counts_as_written(tmp_path: Path) -> None:
    given = {"plan.md": b"same\n"}
    assert run(sh("echo same > plan.md", files=given, writes=("plan.md",)), tmp_path).files == given
    assert run(sh("cat plan.md", files=given, writes=("plan.md",)), tmp_path).files == {}


def test_hostile_files_are_refused_with_a_reason_and_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    scratch = tmp_path / "scratch"
    script = f"""
import os, socket
os.symlink({str(outside / "secret")!r}, "link.md")
os.symlink({str(outside)!r}, "linked")
os.symlink("/nowhere", "dangling")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("sock")
for name in (".git/hooks", "sub/.GIT", "__pycache__"):
    os.makedirs(name)
    open(name + "/x", "w").write("x")
for name in (".gitattributes", ".gitmodules", "new\\nline.md", "esc\\x1b[2J.md", "back\\\\slash"):
    open(name, "w").write("x")
open(b"\\xff\\xfe.md", "wb").write(b"x")
os.makedirs("d/" * 30)
open("d/" * 30 + "deep", "w").write("x")
open("big", "wb").truncate(11 * 1024 * 1024)
open("good.md", "w").write("good")
os.mkdir("locked", 0)
"""
    answer = run(py(script), scratch)
    assert answer.files == {"good.md": b"good"}
    reasons = dict(line.rsplit(": ", 1) for line in answer.ignored)
    assert reasons["link.md"] == reasons["linked"] == reasons["dangling"] == "symbolic link"
    assert reasons["pipe"] == "named pipe"
    assert reasons["sock"] == "socket"
    assert "git" in reasons[".git"]
    assert "git" in reasons["sub/.GIT"]
    assert "git" in reasons[".gitattributes"]
    assert reasons["__pycache__"] == "it is a cache"
    assert "control character" in reasons["new\\nline.md"]
    assert "control character" in reasons["esc\\x1b[2J.md"]
    assert reasons["big"] == "larger than 10 MB (RECONVENE_MAX_FILE_MB)"
    assert all(line.isprintable() for line in answer.ignored)
    assert any("deep" in line for line in answer.ignored)
    assert any("broken" in line or "UTF-8" in line for line in answer.ignored)
    assert (outside / "secret").read_text() == "secret"


def test_one_that_removes_its_own_folder_still_answers(tmp_path: Path) -> None:
    answer = run(sh('rm -rf "$PWD"; echo done'), tmp_path)
    assert answer.text == "done\n"
    assert "cannot be read any more" in answer.ignored[0]
    assert run(sh('cd ..; mv "$RECONVENE_WORKDIR" x; ln -s x "$RECONVENE_WORKDIR"; rm -rf x'), tmp_path).files == {}


def test_more_than_a_thousand_files_are_not_taken(tmp_path: Path) -> None:
    script = "import os\nfor n in range(1200): open(f'f{n}', 'w').write('x')\nos.mkdir('g')\nos.mkdir('g/h')\n"
    script += "for n in range(4000): open(f'g/f{n}', 'w').close()\nfor n in range(5): open(f'g/h/{n}', 'w').close()"
    answer = run(py(script), tmp_path)
    assert len(answer.files) == 1000
    assert answer.ignored[0] == "4,205 files in all; the first 100 are named"
    assert answer.ignored[1].endswith("more than 1000 files (RECONVENE_MAX_FILES)")
    assert len(answer.ignored) == 101


def test_a_folder_nested_beyond_all_measure_is_cleared_away(tmp_path: Path) -> None:
    script = "import os\nfor _ in range(1500):\n  os.mkdir('d'); os.chdir('d')\nprint('deep')"
    assert run(py(script), tmp_path).text == "deep\n"


def test_files_given_under_hostile_names_are_refused(tmp_path: Path) -> None:
    for name in ("../up", "/abs", ".git/config", "a/../../b"):
        error = fails(sh("true", files={name: b"x"}), tmp_path)
        assert not error.retryable


def test_a_huge_prompt_does_not_block_whoever_talks_first(tmp_path: Path) -> None:
    prompt = "x" * 1_000_000
    script = "import sys; sys.stdout.write('y' * 1_000_000); sys.stdout.flush(); print(len(sys.stdin.read()))"
    assert run(py(script, prompt=prompt), tmp_path).text == "y" * 1_000_000 + "1000000\n"


def test_a_command_that_reads_no_stdin_is_fine(tmp_path: Path) -> None:
    assert run(sh("exec 0<&-; echo done", prompt="x" * 1_000_000), tmp_path).text == "done\n"
    assert run(sh("true", prompt="x" * 1_000_000), tmp_path).text == ""


def test_output_that_is_not_text_is_made_readable(tmp_path: Path) -> None:
    assert run(sh(r"printf 'a\377b'"), tmp_path).text == "a\ufffdb"


def test_a_flood_is_stopped_and_named(tmp_path: Path) -> None:
    error = fails(sh("yes"), tmp_path)
    assert "more than 4 MB" in error.message


def test_a_flood_on_stderr_is_not_kept(tmp_path: Path) -> None:
    error = fails(sh("head -c 8000000 /dev/zero | tr '\\0' 'e' >&2; echo the end >&2; exit 7"), tmp_path)
    assert "exit code 7" in error.message
    assert error.message.endswith("the end")
    assert len(error.message) < 2300


def test_a_command_that_never_ends_is_stopped(tmp_path: Path) -> None:
    error = fails(sh("sleep 1000", timeout=0.3), tmp_path)
    assert "did not end within 0.3 s" in error.message
    assert error.retryable


def test_one_that_ignores_sigterm_is_killed_with_its_children(tmp_path: Path) -> None:
    script = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child:
    print(os.getpid(), child, flush=True)
while True:
    time.sleep(100)
"""
    assert all(has_ended(pid) for pid in cancelled_once_it_speaks(py(script), tmp_path))


def test_stragglers_of_a_command_that_ended_well_are_ended_too(tmp_path: Path) -> None:
    answer = run(sh("sleep 1000 & echo $!; (sleep 1000; echo late) & echo $!"), tmp_path)
    pids = [int(line) for line in answer.text.split()]
    assert len(pids) == 2
    assert all(has_ended(pid) for pid in pids)


def test_cancelling_ends_the_whole_group_before_it_returns(tmp_path: Path) -> None:
    assert all(has_ended(pid) for pid in cancelled_once_it_speaks(sh("sleep 1000 & echo $! $$; wait"), tmp_path))


def cancelled_once_it_speaks(assignment: Assignment, scratch: Path) -> list[int]:
    """The process ids it told before it was cancelled."""

    async def cancel() -> list[int]:
        started: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def heard(progress: Progress) -> None:
            if not started.done():
                started.set_result(progress.detail)

        task = asyncio.create_task(Agents(str(scratch), ENVIRON).run(assignment, heard))
        pids = [int(pid) for pid in (await started).split()]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pids

    pids = asyncio.run(cancel())
    assert len(pids) == 2
    assert nothing_left(scratch)
    return pids


def test_cancelling_while_it_starts_leaves_nothing_behind(tmp_path: Path) -> None:
    async def cancel() -> None:
        task = asyncio.create_task(Agents(str(tmp_path), ENVIRON).run(sh("sleep 1000"), lambda _: None))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert nothing_left(tmp_path)


def test_a_failing_command_says_how_and_with_which_words(tmp_path: Path) -> None:
    error = fails(sh("echo partial; echo 'no such project' >&2; exit 3"), tmp_path)
    assert "'writer'" in error.message
    assert "exit code 3: no such project" in error.message
    assert error.retryable
    assert isinstance(error, ReplyError)
    assert error.reply == b"partial\n"
    assert "signal SIGKILL" in fails(sh("kill -9 $$"), tmp_path).message


def test_a_program_that_is_not_there_is_no_use_trying_again(tmp_path: Path) -> None:
    error = fails(assign("no-such-program-here"), tmp_path)
    assert not error.retryable
    assert "no such program" in error.message
    assert "PATH" in error.hint
    assert "full path" in fails(assign("./agent.sh"), tmp_path).hint
    assert not fails(assign("/etc/passwd"), tmp_path).retryable
    assert not fails(assign("sh", "a\0b"), tmp_path).retryable
    assert not fails(assign(), tmp_path).retryable


def test_with_a_contract_the_output_is_parsed_and_checked(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["score"], "properties": {"score": {"type": "number"}}}
    answer = run(sh("""echo 'Here: {"score": 4}'""", schema=schema), tmp_path)
    assert answer.has_value
    assert answer.value == {"score": 4}
    assert (
        "score should be a number, not text" in fails(sh("""echo '{"score": "x"}'""", schema=schema), tmp_path).message
    )
    assert "holds no JSON" in fails(sh("echo no", schema=schema), tmp_path).message


def test_two_tasks_at_once_do_not_see_each_other(tmp_path: Path) -> None:
    async def both() -> list[Answer]:
        agents = Agents(str(tmp_path), ENVIRON)
        tasks = [sh(f"echo {name} > f; ls; cat f", task=f"R1/0/{name}") for name in ("a", "b", "a/b", "a_b")]
        return list(await asyncio.gather(*(agents.run(task, lambda _: None) for task in tasks)))

    answers = asyncio.run(both())
    assert [answer.files["f"] for answer in answers] == [b"a\n", b"b\n", b"a/b\n", b"a_b\n"]
    assert nothing_left(tmp_path)


def test_leftovers_of_an_earlier_process_are_cleared_first(tmp_path: Path) -> None:
    from reconvene.adapters.shared import attempt_folder as folder

    task = sh("ls -A")
    leftover = Path(folder.make(str(tmp_path), task))
    (leftover / "old").write_text("x")
    assert run(task, tmp_path).text == ""


def test_an_agent_that_looks_around_finds_nothing_of_its_peers(tmp_path: Path) -> None:
    """Two agents of one step at the same time: each writes a secret, waits for the other's, and searches for it."""

    async def both() -> list[str]:
        agents = Agents(str(tmp_path / "scratch"), ENVIRON)
        ready = tmp_path / "ready"
        ready.mkdir()
        script = (
            f"cat >/dev/null; echo secret-of-$0 > mine.txt; : > {ready}/$0; "
            f"while [ ! -e {ready}/a ] || [ ! -e {ready}/b ]; do sleep 0.01; done; "
            "find . .. -name '*.txt' -exec cat {} + | sort -u; : > "
            f"{ready}/$0-done; while [ ! -e {ready}/a-done ] || [ ! -e {ready}/b-done ]; do sleep 0.01; done"
        )
        tasks = [
            Assignment(
                "run", f"R1/0/{name}", 1, Agent(name, "command", command=("sh", "-c", script, name)), "", {}, (), None
            )
            for name in ("a", "b")
        ]
        return [answer.text for answer in await asyncio.gather(*(agents.run(task, lambda _: None) for task in tasks))]

    assert asyncio.run(both()) == ["secret-of-a\n", "secret-of-b\n"]


def test_what_it_thought_is_no_part_of_its_output_and_stays_on_record(tmp_path: Path) -> None:
    answer = run(sh("echo '<think>maybe 4'; echo '</think>'; echo 'It is <think>or 5?</think> 3.'"), tmp_path)
    assert answer.text == "It is 3."
    assert b"maybe 4" in answer.reply
    schema = {"type": "object", "required": ["score"]}
    answer = run(sh("""echo '<think>{"score": 1}</think>{"score": 2}'""", schema=schema), tmp_path)
    assert answer.value == {"score": 2}
    assert answer.text == '{"score": 2}'


def test_one_that_only_thought_has_said_nothing(tmp_path: Path) -> None:
    error = fails(sh("echo '<think>maybe 4'"), tmp_path)
    assert (error.outcome, error.message) == ("empty", "The agent only thought, and said nothing.")
    assert error.for_agents == "The reply held only thinking. Write the answer after it."
    answer = run(sh("echo '<think>maybe 4'; echo 3 > f.md", writes=("f.md",)), tmp_path)
    assert (answer.text, answer.files) == ("", {"f.md": b"3\n"})
