"""What every command shares: `--home`, `--json`, printing, and finding the run that is meant.

Imports click and nothing heavier: each command pays only for what it uses.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from reconvene.doors.cli.text import clean, command_line, screen_width, table, to_json, wrapped
from reconvene.errors import ReconveneError, UserError
from reconvene.home import PEOPLE, Home, find, holds_store, is_found_without_name, is_there, require_fit, user_file
from reconvene.settings import claimed, person

if TYPE_CHECKING:
    from reconvene.app.engine import Engine

T = TypeVar("T")
DOOR = "terminal"
MOST = 2**31 - 1  # of anything that is counted: what is greater was not meant
COUNT = click.IntRange(0, MOST)
LIVE = click.option(
    "--live", multiple=True, metavar="AGENT", help="Show what AGENT writes as it comes; `all` for everybody."
)
NOTIFY = click.option(
    "--notify", multiple=True, metavar="NAME", help="Tell this destination of the run, beside those of the settings."
)
BY = click.option(
    "--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, your settings, your account's name."
)

_MODEL = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[NAME=]MODEL",
    help="Who is asked, as provider:name: by all agents of a model, or by the agent or group NAME. May be repeated.",
)
_AGENT = click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME=COMMAND",
    help="The command line, or python:module:function, that carries out the agent or group NAME. May be repeated.",
)

# How a run stands → what the process exits with. `running` is a run that was recorded and is not being driven.
EXIT_CODES = {"completed": 0, "failed": 1, "aborted": 2, "waiting": 3, "paused": 3, "queued": 3, "running": 0}
OPEN = ("waiting", "paused", "running")
HOME_HELP = "Where state lives; else RECONVENE_HOME, else .reconvene here or above."
_CALL = "reconvene.call"  # where the context keeps it
AT_SERVER = ("inbox", "show", "remark", "decide")  # with --server, of doors/cli/at_server.py
_WITHOUT_HOME = ("check", "completion", "demo", "doctor", "eject", "schema", "workflows")


class Call(NamedTuple):
    """One invocation: where state lives, whether a script is reading, and, of commands with BY, who the person is.

    models, agents: of commands with `binds`, as they were typed. quiet: with --no-input.
    """

    place: Home
    as_json: bool
    by: str = ""
    models: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    quiet: bool = False
    live: tuple[str, ...] = ()  # of commands with LIVE: the agents whose text is shown as it comes
    claimed: str = ""  # of commands with BY: the name, where the person gave one
    notify: tuple[str, ...] = ()  # of commands with NOTIFY: the destinations that are told of the new run
    deciding: bool = False  # it is a decision, and what is printed is the stop after it
    server: str = ""  # the address of the server that is asked instead of a home; "" = none

    @property
    def home(self) -> str:
        return self.place.folder

    @property
    def interactive(self) -> bool:
        """Whether there is a person who can be asked. Menus need both ends of a terminal."""
        return not self.as_json and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def command(self, *words: str) -> str:
        """A command to paste that finds the same state, also in a shell without the variable that named it here."""
        if self.server:
            if words and words[0] not in AT_SERVER:
                return f"{command_line(*words)}  # where the home is"
            return command_line("--server", self.server, *words)
        return command_line(*(() if is_found_without_name(self.home) else ("--home", self.home)), *words)


def binds(function: Callable[..., int]) -> Callable[..., int]:
    """The options that say who carries agents out. What is typed is in the call: see `typed_bindings`."""
    return _MODEL(_AGENT(function))


def command(
    epilog: str = "", *, commands: Sequence[click.Command] = ()
) -> Callable[[Callable[..., int]], click.Command]:
    """Make a click command of a function taking `call: Call` first and returning the exit code.

    `commands`: it is a group of these, and the function is called where none of them is named."""

    def decorate(function: Callable[..., int]) -> click.Command:
        @functools.wraps(function)
        def run(
            home: str,
            as_json: bool,
            by: str | None = None,
            live: tuple[str, ...] = (),
            models: tuple[str, ...] = (),
            agents: tuple[str, ...] = (),
            notify: tuple[str, ...] = (),
            **arguments: object,
        ) -> int:
            if click.get_current_context().invoked_subcommand is not None:
                return 0
            where, scripted = find(_nearest("home", home)), _nearest("as_json", as_json)
            quiet = arguments.get("no_input") is True
            call = Call(
                where,
                scripted,
                server=_nearest("server", ""),
                models=models,
                agents=agents,
                live=live,
                quiet=quiet,
                notify=notify,
            )
            if by is not None:
                named = claimed(by, _by_file)
                call = call._replace(by=named or acting_as(call) or person(), claimed=named)
            click.get_current_context().meta[_CALL] = call
            try:
                return function(call, **arguments)
            except ReconveneError as error:
                error.hint = pasted(error.hint)
                raise

        named = function.__name__.removesuffix("_command")
        shaped = "\b\n" + epilog.strip() if epilog else None  # \b: keep the lines of examples as they are
        made = click.command(named, epilog=shaped)(run)
        if commands:
            made = click.Group(
                named, commands, callback=run, invoke_without_command=True, help=made.help, epilog=shaped
            )
        made.params += [
            click.Option(["--home"], default="", metavar="DIR", help=HOME_HELP),
            click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for scripts."),
        ]
        return made

    return decorate


def acting_as(call: Call) -> str:
    """The name that is proved, where people are set up; else ""."""
    if not os.path.lexists(os.path.join(call.home, PEOPLE)):
        return ""
    from reconvene.people_wiring import acting

    return acting(call.home).user


def _by_file() -> str:
    if not os.path.lexists(user_file()):
        return ""
    from reconvene.settings_file import by

    return by()


def _nearest(name: str, own: T) -> T:
    """`--home` and `--json` may stand before the command or after it."""
    context = click.get_current_context().parent
    while context and not own:
        own, context = context.params.get(name, own), context.parent
    return own


def pasted(text: str) -> str:
    """Words of the engine, in which every command finds the state of this call. The engine knows no homes."""
    call = click.get_current_context().meta.get(_CALL)
    if "reconvene " not in text or not isinstance(call, Call):
        return text
    if call.server:
        return _pasted_at_server(call, text)
    if not holds_store(call.home):
        return text
    root = click.get_current_context().find_root()
    names = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
    verbs = "|".join(name for name in names if name not in _WITHOUT_HOME)
    return re.sub(rf"(?<![\w/.-])reconvene (?=(?:{verbs})\b)", lambda _: f"{call.command()} ", text)


def _pasted_at_server(call: Call, text: str) -> str:
    """What can be asked of a server is asked of this one; the rest is done where the home is, which is said."""
    of_server = rf"(?<![\w/.-])reconvene (?=(?:{'|'.join(AT_SERVER)})\b)"
    done = re.sub(of_server, lambda _: f"{call.command()} ", text)
    elsewhere = re.search(r"(?<![\w/.-])reconvene (?!--server)[a-z]", done) and "where the home is" not in done
    return f"{done} (where the home is, not with --server)" if elsewhere else done


def put(text: str = "") -> None:
    """A line on stdout, already harmless or made so here."""
    sys.stdout.write(clean(text) + "\n")


def say(text: str = "") -> None:
    """The same for prose: on a screen, broken between words at its edge; elsewhere left for whoever reads it."""
    put(wrapped(clean(text)) if sys.stdout.isatty() else text)


def put_table(rows: Iterable[Sequence[object]], head: Sequence[str], below: Iterable[Iterable[str]] = ()) -> None:
    """`below`: for each row, what does not fit into a cell."""
    first, *lines = table(list(rows), head, screen_width())
    put(first)
    told = iter(below)
    for line in lines:
        put(line)
        for more in next(told, ()):
            say(more)


def answer(call: Call, value: object, text: str, **more: object) -> int:
    """An object for a script, `text` for a person."""
    if call.as_json:
        put_json(value, **more)
    else:
        put(text)
    return 0


def put_json(value: object, **more: object) -> None:
    """`more`: further keys beside those of the value."""
    sys.stdout.write(to_json(value, **more) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """A line on stderr: what a person wants to know and a script does not."""
    sys.stdout.flush()
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()


def open_engine(call: Call) -> Engine:
    """The engine over the home, made where there is none. Its log is closed with the command, however that ends."""
    from reconvene.trust import is_foreign
    from reconvene.wiring import open_engine as opened

    require_fit(call.place)
    engine = opened(call.home, say=lambda text: note(pasted(text)), foreign=is_foreign(call.place))
    click.get_current_context().call_on_close(engine.log.close)
    return engine


def open_home(call: Call) -> Engine:
    """The engine over a home that is there: looking for a run must not create one."""
    if not is_there(call.place):
        raise UserError(
            f"there are no runs here ({call.place.told})", hint=f"start one with: {call.command('run', 'WORKFLOW')}"
        )
    return open_engine(call)


def put_none(call: Call, text: str) -> None:
    """This text for an empty list; where nobody has started a run yet, where one was looked for and how to begin."""
    if is_there(call.place):
        put(text)
        _tell_strays(call)
    else:
        start = call.command("run", "WORKFLOW")
        put(f"no runs here ({call.place.told})\nstart one with: {start}, or see one at work: reconvene demo")


def _tell_strays(call: Call) -> None:
    """A list may be empty because the store is."""
    from reconvene.app.strays import folders, strays, told

    if not folders(call.home):
        return
    log = open_home(call).log
    if not log.runs() and (names := strays(log, call.home)):
        note(told(names, all_of_them=True))
        note(f"look: {call.command('doctor')}; put it back from a backup: {call.command('restore', 'FILE')}")


def open_run(call: Call, given: str | None) -> tuple[Engine, str]:
    """The engine, and the run that is meant: by id or a unique beginning of it, or the only open one.

    To read it; where it is changed or driven, `accepting.open_to_change`."""
    engine = open_home(call)
    return engine, engine.find(given) if given else _only_open(engine)


def _only_open(engine: Engine) -> str:
    rows = [row.run for status in OPEN for row in engine.log.index(status=status)]
    if len(rows) == 1:
        return rows[0]
    if not rows and engine.log.index(status="queued"):
        raise UserError(
            "there is no open run, but the queue holds some", hint="work them off with: reconvene queue run"
        )
    if not rows:
        raise UserError("there is no open run; name the one you mean", hint="see them all with: reconvene runs")
    raise UserError(
        f"{len(rows)} runs are open; name the one you mean",
        hint=f"one of: {', '.join(rows[:8])}{' …' * (len(rows) > 8)}",
    )
