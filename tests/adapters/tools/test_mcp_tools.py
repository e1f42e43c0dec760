"""MCP servers as tools: a real one with the official library, over a pipe and HTTP, and hostile ones as scripts."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tool_bench import Bench, Entry

from processes import has_ended
from reconvene.adapters.shared import process
from reconvene.adapters.tools import mcp_pipe, mcp_server
from reconvene.tool_ports import Toolbox, ToolInfo, ToolResult

SERVER = str(Path(__file__).with_name("mcp_server_for_tests.py"))


def books(**options: object) -> Entry:
    return Entry("mcp", {"name": "books", "command": [sys.executable, SERVER], **options})


def script(folder: Path, text: str, **options: object) -> Entry:
    """A server of its own words. `say` writes a message, `ask` reads the next request."""
    head = """
    import json, os, sys, time
    def say(**message):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
    def ask():
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message:
                return message
        sys.exit(0)
    def greet(tools):
        # as servers did before there was `server/discover`
        while True:
            asked = ask()
            if asked["method"] == "initialize":
                say(id=asked["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                            "serverInfo": {"name": "odd", "version": "1"}})
            elif asked["method"] == "tools/list":
                say(id=asked["id"], result={"tools": tools})
            elif asked["method"] == "tools/call":
                return asked
            else:
                say(id=asked["id"], error={"code": -32601, "message": "no such method"})
    def tool(name, **schema):
        return {"name": name, "description": "It does " + name, "inputSchema": schema or {"type": "object"}}
    """
    file = folder / "odd_server.py"
    file.write_text(textwrap.dedent(head) + textwrap.dedent(text))
    return Entry("mcp", {"name": "odd", "command": [sys.executable, str(file)], "timeout": 20, **options})


def tools(bench: Bench, *entries: Entry) -> dict[str, ToolInfo]:
    async def listed(box: Toolbox) -> dict[str, ToolInfo]:
        return {tool.name: tool for tool in box.tools()}

    return bench.with_(entries, listed)


# --- a server as it should be ---


def test_its_tools_are_offered_under_its_name_and_have_effects_unless_the_workflow_says_otherwise(bench: Bench) -> None:
    found = tools(bench, books(reads=["add", "look"], tools=["add", "look", "fails"]))
    assert {name: tool.effects for name, tool in found.items()} == {
        "books_add": False, "books_look": False, "books_fails": True,
    }  # fmt: skip
    assert found["books_add"].description == "Adds two numbers."
    assert found["books_add"].schema["required"] == ["a", "b"]


def test_where_one_may_only_read_a_tool_counts_as_writing_unless_the_workflow_lists_it(bench: Bench) -> None:
    assert list(tools(bench, books(read=True, reads=["look"]))) == ["books_look"]
    assert tools(bench, books(read=True)) == {}


def test_calls_are_carried_out_checked_and_told(bench: Bench) -> None:
    added, wrong, failed, huge = bench.calls(
        books(),
        ("books_add", {"a": 2, "b": 3}),
        ("books_add", {"a": "two"}),
        ("books_fails", {}),
        ("books_large", {"size": 300_000}),
    )
    assert (added.text, added.failed) == ("5", False)
    assert added.sandbox
    assert wrong.failed
    assert "a should be a whole number, not text" in wrong.text
    assert failed.failed
    assert "no luck" in failed.text
    assert huge.text.startswith("x" * 1000)
    assert "[cut: 250,000 of 300,000 characters are not shown; ask for less]" in huge.text


def test_secrets_of_its_environment_are_in_no_result(bench: Bench) -> None:
    bench.environ |= {"LEDGER_TOKEN": "tok-very-secret-77", "ANTHROPIC_API_KEY": "sk-not-for-servers"}
    shown, failed, dead = bench.calls(
        books(env=["LEDGER_TOKEN"]), ("books_secrets", {}), ("books_fails", {}), ("books_ends", {})
    )
    assert "LEDGER_TOKEN=[redacted]" in shown.text
    assert "ANTHROPIC_API_KEY" not in shown.text
    assert "no luck with [redacted]" in failed.text
    for result in (shown, failed, dead):
        assert "tok-very-secret-77" not in result.text


def test_it_is_kept_in_like_any_program(bubblewrap: Bench) -> None:
    (bubblewrap.root / "secret.txt").write_text("the secret")
    bubblewrap.files = {"a.md": b"of the attempt"}

    async def work(box: Toolbox) -> list[ToolResult]:
        own = Path(box._tree.root, "a.md")  # type: ignore[attr-defined]
        paths = [str(bubblewrap.root / "secret.txt"), str(own)]
        return [await box.call("books_look", {"path": path}) for path in paths]

    results = bubblewrap.with_([books()], work)
    assert [result.text for result in results] == ["refused: No such file or directory"] * 2
    assert {result.sandbox for result in results} == {"bubblewrap"}


def test_what_it_left_behind_is_gone_with_it(bench: Bench) -> None:
    result = bench.call(books(), "books_spawn", mark="94567.5")
    assert result.text.startswith("started")
    commands = subprocess.run(["ps", "-axo", "command"], capture_output=True, text=True, check=True).stdout
    assert "94567.5" not in commands


def test_two_servers_with_the_same_names_do_not_meet(bench: Bench) -> None:
    first, second = books(tools=["add"]), Entry("mcp", {**books(tools=["add"]).options, "name": "other books!"})
    assert sorted(tools(bench, first, second)) == ["books_add", "other_books__add"]


# --- a server that fails, and is started anew ---


def test_one_that_dies_in_the_middle_is_started_anew(bench: Bench) -> None:
    died, alive = bench.calls(books(), ("books_ends", {}), ("books_add", {"a": 1, "b": 1}))
    assert died.failed
    assert "it ended with exit code 7; it said: it is all over" in died.text
    assert "Whether it did what it was asked is not known." in died.text
    assert alive.text == "2"


def test_one_that_hangs_is_ended_and_started_anew(bench: Bench) -> None:
    hung, alive = bench.calls(books(timeout=2), ("books_slow", {"seconds": 500}), ("books_add", {"a": 1, "b": 1}))
    assert hung.failed
    assert "did not answer within 2 s" in hung.text
    assert alive.text == "2"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sys.exit(5)", "it ended with exit code 5"),
        ("print('no such library', file=sys.stderr); sys.exit(1)", "it said: no such library"),
        ("os.kill(os.getpid(), 9)", "signal"),
        (
            "while True: print('Welcome to my server!', flush=True)",
            "it does not speak MCP; it wrote 'Welcome to my server!'",
        ),
        ("while True: sys.stdout.write('x' * 65536)", "it wrote a message of more than 8 MB"),
        ("while True: sys.stderr.write('complaint ' * 5000)", "it wrote more than 64 MB"),
        ("while True: say(method='notifications/message', params={'level': 'info', 'data': 'x' * 60000})", "64 MB"),
        ("time.sleep(600)", "did not tell its tools within 2 s"),
        ('ask(); print(\'{"jsonrpc": "2.0", "id": 1, "result": \', flush=True); time.sleep(600)', "within 2 s"),
        ("ask(); print('[' * 100000, flush=True); sys.exit(0)", "it ended with exit code 0"),
        ("greet([{'name': 5}])", "cannot be used"),
        ("greet('none')", "cannot be used"),
    ],
)
def test_one_that_never_starts_is_told_and_its_tools_are_left_out(
    bench: Bench, tmp_path: Path, text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "_TO_START", 2.0 if "within" in told else 60.0)
    result = bench.call(script(tmp_path, text), "odd_anything")
    assert result.failed
    assert told in result.text
    assert [(one.what, one.detail.startswith("no tool odd_*: The MCP server odd")) for one in bench.told] == [
        ("warning", True)
    ]


def test_tools_that_the_workflow_names_are_offered_though_the_server_did_not_start(
    bench: Bench, tmp_path: Path
) -> None:
    """The first start fails, the second does not."""
    mark = tmp_path / "odd_server_started"
    text = """
    if not os.path.exists(MARK):
        sys.exit(3)
    asked = greet([tool("go")])
    say(id=asked["id"], result={"content": [{"type": "text", "text": "went"}]})
    ask()
    """
    entry = script(tmp_path, f"MARK = {str(mark)!r}\n" + textwrap.dedent(text), tools=["go"])

    async def work(box: Toolbox) -> tuple[list[ToolInfo], ToolResult]:
        mark.touch()
        return list(box.tools()), await box.call("odd_go", {})

    bench = Bench(bench.root, "off", bench.environ)  # the mark lies outside of its folder
    offered, result = bench.with_([entry], work)
    assert [tool.name for tool in offered] == ["odd_go"]
    assert "it ended with exit code 3" in offered[0].description
    assert result.text == "went"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("sys.exit(9)", "it ended with exit code 9"),
        ("os.write(1, b'{\"jsonrpc\": ' + b'x' * 50_000_000 + b'\\n'); time.sleep(600)", "a message of more than 8 MB"),
        (
            "say(id=asked['id'], result={'content': [{'type': 'text', 'text': 'y' * 50_000_000}]}); time.sleep(600)",
            "8 MB",
        ),
        ("while True: print('noise', flush=True)", "it does not speak MCP; it wrote 'noise'"),
        ("while True: say(method='notifications/message', params={'level': 'info', 'data': 'x' * 60000})", "64 MB"),
        ("while True: sys.stderr.write('complaint ' * 5000)", "it wrote more than 64 MB"),
        ("say(id=asked['id'], result={'content': 'no list'}); ask()", "an answer that is no MCP"),
        ("say(id=asked['id'], result=[1, 2]); ask()", "did not answer within 1 s"),
        ("say(id='another', result={'content': []}); ask()", "did not answer within 1 s"),
        ("print('}{', flush=True); ask()", "did not answer within 1 s"),
        (
            "say(id=asked['id'], error={'code': -5, 'message': 'not on Mondays'}); ask()",
            "refused the call: not on Mondays",
        ),
        ("time.sleep(600)", "did not answer within 1 s"),
        ("os.close(1); time.sleep(600)", "The MCP server odd"),  # in a sandbox its output stays open
        ("say(id=asked['id'], result={'content': [], 'isError': True}); ask()", "[it gave nothing]"),
    ],
)
def test_one_that_answers_wrongly_is_a_failed_result(bench: Bench, tmp_path: Path, answer: str, told: str) -> None:
    entry = script(
        tmp_path, f"asked = greet([tool('go')])\n{answer}\n", timeout=1 if "1 s" in told or "close" in answer else 60
    )
    result = bench.call(entry, "odd_go")
    assert result.failed
    assert told in result.text
    assert len(result.text) < 5_000


def test_what_it_writes_between_calls_is_not_listened_to_without_end() -> None:
    """It is held up until the next call, and no fault is found with it."""
    flood = "import sys\nfor _ in range(100): sys.stderr.write('z' * 100_000)"

    async def once() -> None:
        work = process.started(mcp_pipe.Talk, [sys.executable, "-c", flood], "/", {})
        async with work as (_, talk):
            talk.calls(False)
            while talk._room >= 0:
                await asyncio.wait([talk.exited], timeout=0.01)
            room = talk._room
            await asyncio.wait([talk.exited], timeout=0.2)
            assert not talk.exited.done()
            assert talk._room == room
            talk.calls(True)
            await talk.exited
            assert talk.fault == ""

    asyncio.run(once())


def test_one_that_changes_its_tools_is_found_out(bench: Bench, tmp_path: Path) -> None:
    text = """
    asked = greet([tool("go"), tool("stay", type="object", properties={"a": {"type": "string"}}), tool("keep")])
    say(method="notifications/tools/list_changed")
    say(id=asked["id"], result={"content": [{"type": "text", "text": "one"}]})
    asked = greet([tool("stay", type="object", properties={"a": {"type": "number"}}), tool("keep"), tool("evil")])
    say(id=asked["id"], result={"content": [{"type": "text", "text": "kept"}]})
    ask()
    """
    one, gone, changed, unknown, kept = bench.calls(
        script(tmp_path, text),
        ("odd_go", {}), ("odd_go", {}), ("odd_stay", {"a": "x"}), ("odd_evil", {}), ("odd_keep", {}),
    )  # fmt: skip
    assert one.text == "one"
    assert "has changed its tools: go is gone. It has now: stay, keep, evil." in gone.text
    assert "has changed what stay takes" in changed.text
    assert "There is no tool 'odd_evil'" in unknown.text
    assert kept.text == "kept"
    assert (gone.failed, changed.failed, unknown.failed) == (True, True, True)


def test_hostile_descriptions_schemas_and_names_are_bounded(bench: Bench, tmp_path: Path) -> None:
    text = """
    greet([
        {"name": "talks", "description": "x" * 100_000 + "\\x1b[2J", "inputSchema": {"type": "object"}},
        {"name": "a/b c.d", "inputSchema": {"type": "object"}},
        {"name": "a/b c_d", "inputSchema": {"type": "object"}},
        {"name": "n" * 200, "inputSchema": {"type": "object"}},
        tool("reaches", type="object", properties={"a": {"$ref": "http://127.0.0.1:9/schema"}}),
        tool("endless", type="object", properties={"a": {"$ref": "#/properties/a"}}),
        {"name": "hint", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    ] + [tool(f"t{n}") for n in range(500)])
    """
    found = tools(bench, script(tmp_path, text))
    assert len(found) <= 200
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in found)
    assert len(found["odd_talks"].description) < 2_100
    assert {"odd_reaches", "odd_endless"}.isdisjoint(found)
    assert len([name for name in found if name.startswith("odd_a_b_c_d")]) == 2
    assert found["odd_hint"].effects  # what a server says of itself is not believed


def test_a_schema_of_a_result_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    """A pattern that would take for ever, for a result that almost fits it."""
    text = """
    evil = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    asked = greet([{"name": "go", "inputSchema": {"type": "object"}, "outputSchema": evil}])
    say(id=asked["id"], result={"content": [], "structuredContent": {"a": "a" * 60 + "!"}})
    ask()
    """
    assert "aaaa!" in bench.call(script(tmp_path, text), "odd_go").text


def test_what_is_no_text_is_named(bench: Bench, tmp_path: Path) -> None:
    text = """
    asked = greet([tool("go")])
    say(id=asked["id"], result={"content": [
        {"type": "text", "text": "seen"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "resource_link", "name": "page", "uri": "file:///a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///c", "blob": "AAAA"}},
    ]})
    ask()
    """
    assert bench.call(script(tmp_path, text), "odd_go").text.splitlines() == [
        "seen",
        "[image, image/png, about 3 bytes: not shown]",
        "[a link: page, file:///a]",
        "[file:///b]",
        "inside",
        "[file:///c: binary, not shown]",
    ]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["no-such-program-here"], "there is no program 'no-such-program-here'"),
        (["/etc/passwd"], "may not be executed"),
    ],
)
def test_a_program_that_is_not_there_is_told(bench: Bench, command: list[str], told: str) -> None:
    entry = Entry("mcp", {"name": "none", "command": command})
    assert told in bench.call(entry, "none_x").text


def test_without_the_library_it_is_said_what_to_install(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "pip install 'reconvene[mcp]'" in bench.call(books(), "books_add", a=1, b=2).text


def living(mark: str) -> list[str]:
    listed = subprocess.run(["ps", "-axo", "pid,stat,command"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if mark in line and " Z" not in line]


@pytest.mark.parametrize("when", ["while it starts", "in a call"])
def test_work_that_is_cancelled_leaves_no_server_behind(bench: Bench, tmp_path: Path, when: str) -> None:
    bench = Bench(bench.root, "off", bench.environ)  # what tells that it is at work lies outside of its folder
    mark = tmp_path / "at_work"
    wait = f"open({str(mark)!r}, 'w').close()\ntime.sleep(600)"
    entry = script(tmp_path, wait if when == "while it starts" else f"greet([tool('go')])\n{wait}", timeout=500)

    async def work(box: Toolbox) -> ToolResult:
        return await box.call("odd_go", {})

    async def cancelled() -> None:
        doing = asyncio.create_task(bench.opened([entry], work))
        await asyncio.to_thread(_wait_for, mark)
        doing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await doing

    bench.run(cancelled())
    assert living(str(tmp_path / "odd_server.py")) == []


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


# --- over HTTP, on loopback ---


class Far:
    """The server at an address of its own, as often as it is started."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.stop()
        words = [sys.executable, SERVER, "http", str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None
            time.sleep(0.05)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            assert has_ended(self.process.pid)


@pytest.fixture
def far() -> Iterator[Far]:
    server = Far()
    server.start()
    yield server
    server.stop()


def test_a_server_at_an_address_that_was_started_anew_is_found_again(bench: Bench, far: Far) -> None:
    async def work(box: Toolbox) -> list[ToolResult]:
        found = [await box.call("far_add", {"a": 1, "b": 1})]
        far.stop()
        found.append(await box.call("far_add", {"a": 1, "b": 1}))
        far.start()
        return [*found, await box.call("far_add", {"a": 1, "b": 1})]

    first, gone, again = bench.with_([Entry("mcp", {"name": "far", "url": far.url, "timeout": 20})], work)
    assert (first.text, first.failed) == ("2", False)
    assert gone.failed
    assert (again.text, again.failed) == ("2", False)


def test_a_server_at_an_address_is_used_alike_and_its_death_is_told(bench: Bench, far: Far) -> None:
    entry = Entry("mcp", {"name": "far", "url": far.url, "timeout": 20})
    added, failed, huge, died, gone = bench.calls(
        entry,
        ("far_add", {"a": 2, "b": 2}),
        ("far_fails", {}),
        ("far_large", {"size": 20_000_000}),
        ("far_ends", {}),
        ("far_add", {"a": 2, "b": 2}),
    )
    assert added.text == "4"
    assert failed.failed
    assert huge.failed
    assert died.failed
    assert gone.failed
    assert "The MCP server far" in gone.text


def test_a_secret_in_an_address_or_a_head_is_in_no_result(bench: Bench) -> None:
    bench.environ["FAR_TOKEN"] = "tok-far-away-123"
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    options: Mapping[str, object] = {
        "name": "far",
        "url": f"http://127.0.0.1:{port}/${{FAR_TOKEN}}/mcp",
        "headers": {"authorization": "Bearer ${FAR_TOKEN}"},
        "env": ["FAR_TOKEN"],
    }
    result = bench.call(Entry("mcp", options), "far_x")
    assert result.failed
    assert "tok-far-away-123" not in json.dumps([result.text, *[one.detail for one in bench.told]])
