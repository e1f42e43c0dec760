"""The `reconvene` command: finds the command that is meant, loads only its module, and turns every error into words.

No rule of the engine lives here. Importing this module imports click and nothing heavier.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence

import click

from reconvene.doors.cli.common import AT_SERVER, HOME_HELP
from reconvene.doors.cli.text import clean, nearest, to_json
from reconvene.errors import ReconveneError, StaleDecision
from reconvene.settings import debugging

USAGE = 64
INTERRUPTED = 130
COMPLETING = "_RECONVENE_COMPLETE"  # set by the shell's script, as click writes it
_UNIX = ("fcntl", "resource", "termios")  # modules of Python that Windows lacks

# command → (module under doors/cli, function, one-line help). The helps are here so that --help imports no module.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "run": ("drive", "run_command", "Start a workflow and drive it to its next stop."),
    "new": ("drive", "new", "Record a new run without driving it."),
    "resume": ("drive", "resume", "Drive a parked run on; on a terminal, answer its checkpoints."),
    "worker": ("work_on", "worker", "Drive every run that is due, until you stop it."),
    "decide": ("decide", "decide", "Answer the open checkpoint and drive on."),
    "remark": ("remark", "remark", "Say something that every later agent will be shown."),
    "ask": ("companion", "ask", "Ask about a run: how it stands, what it says, what went wrong; with citations."),
    "chat": ("chat", "chat", "Talk about a run, or prepare one: questions, feedback, proposed edits."),
    "review": ("comments", "review", "A file with its comments in your editor: comment on lines, change the text."),
    "comments": ("comments", "comments", "Comments on lines of files: where they stand, what became of them."),
    "pause": ("decide", "pause", "Let running agents finish, start nothing new."),
    "abort": ("decide", "abort", "End a run for good."),
    "rollback": ("decide", "rollback", "Undo the round you are looking at and run it again."),
    "upgrade": ("mend_runs", "upgrade", "Go on with a mended workflow, as the same run."),
    "reopen": ("mend_runs", "reopen", "Take a run up again after its end."),
    "queue": ("queue", "queue", "Runs that wait for their turn: list, move, drop, run."),
    "inbox": ("list_runs", "inbox", "Runs that wait for a person."),
    "runs": ("list_runs", "runs", "Every run, the one started last first."),
    "show": ("inspect_runs", "show", "Where a run stands, in full."),
    "output": ("output", "output", "What agents wrote, what they were sent, what was sent back and why."),
    "talk": ("told_talk", "talk", "The whole conversation of a run: every step, every version, what was answered."),
    "ledger": ("run_views", "ledger", "What became of every remark: what proves it, or what is missing."),
    "stats": ("run_views", "stats", "How well the checkpoints serve you: rounds, minutes, answered remarks, cost."),
    "gaps": ("gaps", "gaps", "The gaps a run follows: which are open, how they converge, one gap's life."),
    "view": ("run_views", "view", "What a kit of the workflow shows of a run, as rows."),
    "calls": ("used_tools", "calls", "What agents did with their tools: each call, its result, who decided on it."),
    "allowed": ("used_tools", "allowed", "Calls of tools that are not asked about any more; take that back."),
    "rounds": ("rounds", "rounds", "Every round, those rolled back included, and what differed in a retry."),
    "log": ("inspect_runs", "log", "A run's events, one per line."),
    "files": ("inspect_runs", "files", "A run's files, or the content of one."),
    "search": ("search", "search", "Passages of a run that answer a question, with where they stand."),
    "cite": ("search", "cite", "Open what a search or an agent cites."),
    "take": ("take", "take", "Take a file that was kept aside because it holds a secret."),
    "diff": ("inspect_runs", "diff", "What a round changed in the files."),
    "replan": ("replan", "replan", "Go back to planning at any stop, with what you have to say."),
    "fork": ("decide", "fork", "A new run that shares another's history up to an event."),
    "compare": ("comparing", "compare", "Two runs side by side: where they part, what differs, what each took."),
    "verify": ("verify", "verify", "Whether what is stored of a run fits together."),
    "export": ("exchange", "export_command", "Write a run into one file, to take it elsewhere."),
    "import": ("exchange", "import_command", "Take a run in that was exported elsewhere."),
    "backup": ("backing_up", "backup", "Write the whole home into one file, while others work in it."),
    "restore": ("backing_up", "restore", "Put a home back from such a file."),
    "delete": ("delete", "delete", "Delete a run for good, with what no other run needs."),
    "eject": ("eject", "eject", "A copy of a packaged workflow, to change."),
    "notify": ("notify", "notify", "Where messages go, what waits to be sent, what went wrong; test, retry, send."),
    "accept": ("accepting", "accept_command", "Accept what a file that was found here may start."),
    "workflows": ("help", "workflows", "The packaged workflows."),
    "check": ("help", "check", "Check a workflow file; every problem at once, with its line."),
    "schema": ("help", "schema", "The JSON Schema of workflow files, for editors."),
    "doctor": ("help", "doctor", "What this machine offers, and what is missing."),
    "completion": ("completing", "completion", "The script with which your shell completes commands and run ids."),
    "assign": ("due_and_handed_over", "assign", "Hand an open checkpoint over to somebody else."),
    "limit": ("limit_runs", "limit", "What a run may cost in all, and which tools ask first."),
    "tick": ("due_and_handed_over", "tick", "Do what deadlines and reminders say by now; for cron."),
    "people": ("people", "people", "Who may do what in this home, and their tokens."),
    "serve": ("serve", "serve", "Runs in your browser and over REST, and whoever drives them."),
    "mcp": ("serve_mcp", "mcp", "Serve runs to an MCP client; its person may decide."),
    "demo": ("demo", "demo", "See agents, a checkpoint and feedback at work, offline."),
}


# How --help lists them. What is in no group is listed last.
GROUPS: dict[str, tuple[str, ...]] = {
    "Start and go on": ("run", "new", "resume", "queue", "worker", "demo"),
    "Decide and say": ("inbox", "decide", "remark", "review", "allowed", "rollback", "replan", "pause", "abort"),
    "Ask": ("ask", "chat", "search", "cite"),
    "Mend": ("upgrade", "reopen", "limit"),
    "Look": ("runs", "show", "talk", "output", "calls", "comments", "ledger", "rounds", "gaps", "view", "stats", "log"),
    "Files and history": ("files", "diff", "take", "fork", "compare"),
    "What is stored": ("verify", "backup", "restore", "export", "import", "delete"),
    "Workflows": ("workflows", "check", "schema", "eject"),
    "People and deadlines": ("people", "assign", "tick"),
    "Browser and other programs": ("serve", "notify", "mcp"),
    "This machine": ("doctor", "accept", "completion"),
}


def _grouped() -> dict[str, tuple[str, ...]]:
    known = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in COMMANDS if name not in known)
    return {**GROUPS, **({"Other": others} if others else {})}


class LazyGroup(click.Group):
    """A group that knows its commands' names and helps, and imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in _grouped().values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, function, line = COMMANDS[cmd_name]
        if ctx.params.get("server"):
            if cmd_name not in AT_SERVER:
                raise click.UsageError(f"{cmd_name} is not asked of a server; that are: {', '.join(AT_SERVER)}", ctx)
            module = "at_server"
        found = getattr(importlib.import_module(f"reconvene.doors.cli.{module}"), function)
        assert isinstance(found, click.Command)
        found.short_help = line
        if COMPLETING in os.environ:
            from reconvene.doors.cli.completing import attach

            attach(found)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}; {nearest(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        wide = max(map(len, COMMANDS))  # the same column in every group
        for title, names in _grouped().items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(wide), COMMANDS[name][2]) for name in names])


@click.group(
    "reconvene",
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 completed, 1 failed, 2 aborted, 3 parked (waiting or paused), 64 wrong usage or bad input.",
)
@click.option("--home", default="", metavar="DIR", help=HOME_HELP)
@click.option(
    "--server", default="", metavar="URL", help=f"Ask a server instead of a home: {', '.join(AT_SERVER)}; docs/rest.md."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
@click.version_option(package_name="reconvene", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, home: str, server: str, as_json: bool) -> int:
    """Durable runs of teams of agents, with a person at the checkpoints."""
    if ctx.invoked_subcommand is None:
        sys.stderr.write(ctx.get_help() + "\n")
        return USAGE
    return 0


def main() -> int:
    """The `reconvene` command itself: what `run` answers is the exit code of the process."""
    code = run()
    _leave(code)
    return code


def run(arguments: Sequence[str] | None = None) -> int:
    """One command in this process; the exit code is the answer. Nothing but an exit code ever leaves here."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _settle_streams()
    try:
        code = _call(words)
        sys.stdout.flush()
        _tell_kits()
        return code
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain at exit when it flushes once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _leave(code: int) -> None:
    """End the process without taking the interpreter apart, which may take longer than the command did.

    The log is closed by now. Returns where something is still at work, or watches: then the ordinary way out is taken.
    """
    import atexit
    import threading

    at_work = any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    if at_work or sys.gettrace() is not None or sys.getprofile() is not None:
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)


def _call(words: list[str]) -> int:
    try:
        answer = cli.main(words, prog_name="reconvene", standalone_mode=False)
        return answer if isinstance(answer, int) else 0
    except click.MissingParameter as error:
        message, hint = _missing(error)
        return _complain(words, message, hint, USAGE)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "reconvene"
        quoted = (
            "words with spaces between them stand in quotes; " if "extra argument" in error.format_message() else ""
        )
        return _complain(words, error.format_message(), f"{quoted}see: {path} --help", USAGE)
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("\ninterrupted; nothing that was recorded is lost\n")
        return INTERRUPTED
    except ReconveneError as error:
        changes = [f"  {change}" for change in error.changes] if isinstance(error, StaleDecision) else []
        return _complain(words, "\n".join([error.message, *changes]), error.hint, error.exit_code)
    except BrokenPipeError:
        raise
    except OSError as error:
        file = f"{error.filename}: " if error.filename else ""
        unwritable = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        hint = "keep runs where you may write: reconvene --home DIR …" if unwritable else ""
        return _complain(words, f"{file}{error.strerror or error}", hint, 1)
    except ModuleNotFoundError as error:
        if error.name not in _UNIX:
            return _report_bug(words, error)
        what = f"this command does not work on this system: its Python has no module {error.name}"
        return _complain(words, what, "on Windows, use WSL 2; docs/installing.md says what works where", 1)
    except Exception as error:
        return _report_bug(words, error)


def _tell_kits() -> None:
    """What kits could not say, so that it was done without. Who uses packaged kits alone never loads the guard."""
    guard = sys.modules.get("reconvene.kits.kit_guard")
    for message in guard.unheard() if guard is not None else ():
        sys.stderr.write(f"! {clean(message)} Tell whoever made the kit.\n")


def _missing(error: click.MissingParameter) -> tuple[str, str]:
    path = error.ctx.command_path if error.ctx is not None else "reconvene"
    name = error.param.human_readable_name if error.param is not None else ""
    if isinstance(error.param, click.Option):
        name = f"{error.param.opts[0]} {error.param.make_metavar(error.ctx)}" if error.ctx else error.param.opts[0]
    if name == "WORKFLOW":
        example = f"{path} two-step.yaml"
        return "which workflow? name a file, or a packaged one", f"{example}; see those: reconvene workflows"
    return f"{name} is missing", f"see: {path} --help"


def _complain(words: list[str], message: str, hint: str, code: int) -> int:
    sys.stdout.flush()
    if "--json" in words:
        sys.stderr.write(to_json({"error": message, "hint": hint}) + "\n")
    else:
        sys.stderr.write(f"error: {clean(message)}\n" + (f"hint: {clean(hint)}\n" if hint else ""))
    return code


def _report_bug(words: list[str], error: Exception) -> int:
    import tempfile
    import traceback

    trace = "".join(traceback.format_exception(error))
    if debugging():
        sys.stderr.write(trace)
    try:
        handle, name = tempfile.mkstemp(".log", "reconvene-bug-")
        with open(handle, "w", encoding="utf-8") as file:
            file.write(trace)
        where = f"details are in {name}"
    except OSError:
        where = "set RECONVENE_DEBUG=1 to see the details"
    what = f"this is a bug in reconvene ({type(error).__name__}: {error}); nothing that was recorded is lost"
    return _complain(words, what, f"{where}; please report it", 1)


def _settle_streams() -> None:
    """Text that the terminal's encoding lacks is escaped, never a crash. A stream that the caller closed is empty."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
