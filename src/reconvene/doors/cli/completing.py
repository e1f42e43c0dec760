"""What a shell may complete: run ids, workflows, the options of an open checkpoint, agents. And the script that asks.

Read from the index, where that is enough: it is asked at every press of a key. Nothing is made, and an error is no
completion.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import OPEN, Call, command
from reconvene.doors.cli.text import one_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from reconvene.app.index import Listed
    from reconvene.home import Home

VARIABLE = "_RECONVENE_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")
_Found = Iterator[tuple[str, str]]  # what there is, each with a few words about it
_Finds = Callable[[click.Context], _Found]


def attach(command: click.Command) -> None:
    """Let its parameters be completed, each by its name."""
    for param in command.params:
        if find := _KNOWN.get((command.name, param.name)) or _KNOWN.get(("", param.name)):
            vars(param)["shell_complete"] = _completes(find)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            attach(inner)


def _completes(find: _Finds) -> Callable[[click.Context, str], list[CompletionItem]]:
    def complete(context: click.Context, begun: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            found = [(value, told) for value, told in find(context) if value.casefold().startswith(begun.casefold())]
        except Exception:  # whatever is wrong is said by the command, not between two keys
            return []
        return [CompletionItem(_written(value), help=one_line(told, 60) or None) for value, told in found]

    return complete


def _written(value: str) -> str:
    """As the shell takes it for one word; those other than bash see to that themselves."""
    import shlex

    return shlex.quote(value) if os.environ.get(VARIABLE, "").startswith("bash") else value


def _home(context: click.Context) -> Home:
    from reconvene.home import find

    named = ""
    inner: click.Context | None = context
    while inner is not None and not named:
        named, inner = inner.params.get("home") or "", inner.parent
    return find(named)


def _listed(context: click.Context) -> list[Listed]:
    from reconvene.app.index import listed
    from reconvene.home import is_there
    from reconvene.wiring import open_log

    home = _home(context)
    if not is_there(home):
        return []
    with closing(open_log(home.folder)) as log:
        return listed(log)


def _runs(context: click.Context) -> _Found:
    for one in _listed(context):
        yield one.run, f"{one.status} {one.phase}"


def _open_runs(context: click.Context) -> _Found:
    for one in _listed(context):
        if one.status in OPEN:
            yield one.run, f"{one.status} {one.asks or one.phase}"


def _waiting(context: click.Context) -> _Found:
    for one in _listed(context):
        if one.status == "waiting":
            yield one.run, one.asks


def _ended(context: click.Context) -> _Found:
    for one in _listed(context):
        if one.status in ("completed", "failed", "aborted"):
            yield one.run, f"{one.status} {one.outcome}"


def _workflows(context: click.Context) -> _Found:
    """Packaged ones, and files here. (The shell itself knows other folders.)"""
    from reconvene.wire.packaged import packaged

    for name in packaged():
        yield name, "packaged"
    for file in sorted(os.listdir(".")):
        if file.endswith((".yaml", ".yml")):
            yield file, ""


def _named_run(context: click.Context) -> str | None:
    """Also where nothing of the option to be completed is typed yet: then what came before it was not sorted."""
    return context.params.get("run") or next(iter(context.args), None)


def _options(context: click.Context) -> _Found:
    import json

    given = _named_run(context)
    waiting = [one for one in _listed(context) if one.status == "waiting"]
    meant = [one for one in waiting if given in (None, one.run)] or [
        one for one in waiting if one.run.startswith(str(given))
    ]
    if len(meant) == 1:
        for option in json.loads(meant[0].doc)["checkpoint"]["options"]:
            if option.get("offered", True) and option["available"]:
                yield option["label"], "recommended" if option.get("recommend") else ""


def _agents(context: click.Context) -> _Found:
    from reconvene.app.session import book_for
    from reconvene.wiring import open_log

    run = _named_run(context)
    meant = next((one for one in _listed(context) if one.run == run), None)
    if meant is not None:
        import json

        with closing(open_log(_home(context).folder)) as log:
            agents = book_for(log, json.loads(meant.doc)["pinned"], meant.run).workflow.agents
        for name, agent in agents.items():
            yield name, agent.remit


# command ("" = any) and parameter → what it may be
_KNOWN: dict[tuple[str | None, str | None], _Finds] = {
    ("", "run"): _runs,
    ("decide", "run"): _waiting,
    ("resume", "run"): _open_runs,
    ("pause", "run"): _open_runs,
    ("abort", "run"): _open_runs,
    ("rollback", "run"): _waiting,
    ("reopen", "run"): _ended,
    ("upgrade", "to"): _workflows,
    ("", "workflow"): _workflows,
    ("demo", "name"): _workflows,
    ("check", "file"): _workflows,
    ("", "option"): _options,
    ("", "agent"): _agents,
}


@command("""
Examples:
  eval "$(reconvene completion bash)"                            # in ~/.bashrc
  eval "$(reconvene completion zsh)"                             # in ~/.zshrc
  reconvene completion fish > ~/.config/fish/completions/reconvene.fish
""")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(call: Call, shell: str) -> int:
    """The script with which SHELL completes commands, run ids, workflows, options and agents."""
    import sys

    from click.shell_completion import ShellComplete, get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    # Not the class's own `source`: that of bash starts a shell to see which version it is.
    sys.stdout.write(ShellComplete.source(found(root, {}, "reconvene", VARIABLE)) + "\n")
    return 0
