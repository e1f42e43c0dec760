"""`mcp`: serves runs to MCP clients, over the standard streams or over HTTP on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconvene.app.strays import require_known
from reconvene.authority import agents_task, require_person
from reconvene.doors.cli.accepting import permit_run
from reconvene.doors.cli.common import BY, Call, command, open_engine, open_home, put, put_json
from reconvene.doors.cli.named_workflow import load
from reconvene.errors import UserError
from reconvene.settings import mcp_token, system_user

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.doors.mcp.served import Served
    from reconvene.doors.mcp.server import Deciding

_OF_FILES = ("file", "files", "folder", "project", "documents", "sources")


@command("""
Examples:
  reconvene mcp                                # for a client that starts it; only reads
  reconvene mcp --run job-1 --allow-decide     # one run, and its person may decide
  reconvene mcp --http --port 8765             # prints the address and a token
""")
@click.option("--run", "only", default="", metavar="RUN", help="Serve this run alone: no other is listed or found.")
@click.option("--allow-decide", is_flag=True, help="The person at the client may decide; the client asks them.")
@click.option("--allow-start", is_flag=True, help="The client may start packaged workflows, and those of --workflow.")
@click.option("--workflow", "workflows", multiple=True, metavar="FILE", help="A workflow that may be started, too.")
@click.option("--no-drive", is_flag=True, help="Only record decisions and starts; `resume` does the work.")
@click.option("--http", is_flag=True, help="Serve over HTTP on this machine instead of the standard streams.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="Of HTTP; 0 = any that is free.")
@BY
def mcp(
    call: Call,
    only: str,
    allow_decide: bool,
    allow_start: bool,
    workflows: tuple[str, ...],
    no_drive: bool,
    http: bool,
    port: int,
) -> int:
    """Serve runs to an MCP client: its model reads them with the companion's tools, and its person may decide.

    Over the standard streams nothing but the protocol is printed. Over HTTP whoever asks needs the token, which is
    printed once; RECONVENE_MCP_TOKEN gives one. Without --allow-decide and --allow-start nothing can be changed but a
    draft that has not been started. A decision is always asked of the person, by the client: one that cannot ask is
    refused.
    """
    for allowed, what in ((allow_decide, "to decide"), (allow_start, "to start runs")):
        if allowed:
            require_person(what)
    if workflows and not allow_start:
        raise UserError("--workflow names what may be started", hint="add --allow-start")
    if only and allow_start:
        raise UserError("--run serves one run, and --allow-start makes others", hint="leave one of them out")
    for name in workflows:
        load(name)
    _require_library()
    engine = open_engine(call) if allow_start else open_home(call)
    require_known(engine.log, engine.home)
    served = _served(call, engine, engine.find(only) if only else "", workflows if allow_start else None, no_drive)
    deciding = _deciding(call, engine, no_drive) if allow_decide else None
    if http:
        return _over_http(call, served, deciding, port)
    from reconvene.doors.mcp.server import make

    make(served, _version(), deciding).run("stdio")
    return 0


def _require_library() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise UserError("the library for MCP is not installed", hint="install it: pip install 'reconvene[mcp]'")


def _version() -> str:
    from importlib.metadata import version

    return version("reconvene")


def _served(call: Call, engine: Engine, run: str, workflows: tuple[str, ...] | None, no_drive: bool) -> Served:
    from reconvene.companion_wiring import drafts_of, web_search
    from reconvene.doors.mcp.served import Served
    from reconvene.wiring import open_index

    index = open_index(call.home)
    context = click.get_current_context()
    context.call_on_close(index.close)

    def start(workflow: str, inputs: Mapping[str, object]) -> str:
        assert workflows is not None
        made = _start(call, workflow, workflows, inputs)
        if not no_drive:
            _drive(call, made)
        return made

    # The client has asked the person by the time that the web is searched.
    web, drafts = web_search(lambda query: True), None if run or agents_task() else drafts_of(call.home)
    return Served(engine, index, run, start if workflows is not None else None, drafts, web)


def _over_http(call: Call, served: Served, deciding: Deciding | None, port: int) -> int:
    from reconvene.doors.http.running import bound
    from reconvene.doors.mcp import over_http
    from reconvene.doors.mcp.server import make

    token = over_http.require_good(mcp_token()) if mcp_token() else over_http.new_token()
    listening = bound(over_http.HOST, port)
    url = f"http://{over_http.HOST}:{listening.getsockname()[1]}{over_http.PATH}"

    def ready() -> None:
        if call.as_json:
            put_json({"url": url, "token": token})
        else:
            put(f"{url}\ntoken: {token}\n(send it as: Authorization: Bearer TOKEN; Ctrl-C ends the server)")
        sys.stdout.flush()

    over_http.serve(make(served, _version(), deciding), listening, token, ready)
    return 0


# --- deciding ---


def _deciding(call: Call, engine: Engine, no_drive: bool) -> Deciding:
    from reconvene.doors.mcp.server import DOOR, Deciding
    from reconvene.showing_ports import Showing, Viewer
    from reconvene.wiring import showings

    def shown(run: str, version: str) -> None:
        user = system_user()
        viewer = Viewer(user, "" if call.claimed == user else call.claimed, DOOR)
        showings(call.home).note(run, Showing(version, viewer))

    def decided(run: str) -> str:
        if no_drive:
            return f"Go on with: {call.command('resume', run)}"
        _drive(call, run)
        return "The run goes on."

    quiet = call._replace(quiet=True)
    return Deciding(call.by, lambda run: permit_run(quiet, engine, run), shown, decided)


def _drive(call: Call, run: str) -> None:
    """In a process of its own, which outlives this server: a client may end that at any time."""
    subprocess.Popen(
        [sys.executable, "-m", "reconvene.doors.cli", "--home", call.home, "resume", run, "--no-input", "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


# --- starting ---


def _start(call: Call, workflow: str, files: tuple[str, ...], inputs: Mapping[str, object]) -> str:
    """A workflow that the person lets be started, with inputs that name no file outside of this folder."""
    from reconvene.doors.cli.starting import started
    from reconvene.doors.mcp.server import DOOR
    from reconvene.wire.packaged import packaged

    named = {**{name: name for name in packaged()}, **{load(file).name: file for file in files}}
    if workflow not in named:
        from reconvene.doors.cli.text import nearest

        raise UserError(f"{workflow!r} is no workflow that may be started here", hint=nearest(workflow, named))
    pairs = tuple(_pairs(named[workflow], inputs))
    engine, run = started(call, named[workflow], pairs, (), ask=False, played=None, anyway=False, door=DOOR)
    engine.log.close()
    return run


def _pairs(workflow: str, inputs: Mapping[str, object]) -> Iterator[str]:
    """As they are typed. What a client says is never read as the name of a file, but where a file is wanted."""
    known = load(workflow).inputs
    for name, value in inputs.items():
        text = str(value)
        if name in known and known[name].type in _OF_FILES:
            for path in text.split(os.pathsep):
                _require_below(name, path)
        elif text.startswith("@"):
            raise UserError(f"the input {name!r} begins with @", hint="give the text itself")
        yield f"{name}={text}"


def _require_below(name: str, path: str) -> None:
    from reconvene.materials import require_no_home

    here = Path.cwd().resolve()
    if "://" in path or not Path(here, path.removeprefix("@")).resolve().is_relative_to(here):
        raise UserError(f"the input {name!r} is not below {here}", hint="name a file of the server's own folder")
    require_no_home(str(Path(here, path.removeprefix("@"))))
