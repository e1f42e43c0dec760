"""`chat`: a conversation with the companion, on a terminal or from a pipe; before a run, about its draft."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.doors.cli.accepting import open_to_change, permit_home
from reconvene.doors.cli.common import BY, DOOR, Call, command, note, open_engine, put, say
from reconvene.doors.cli.companion import MODEL, TIER, agrees
from reconvene.doors.cli.drive import DOCUMENTS, SOURCES, material
from reconvene.doors.cli.text import one_line
from reconvene.errors import UserError
from reconvene.home import require_fit

if TYPE_CHECKING:
    from reconvene.companion.one_question import Companion
    from reconvene.companion.tool_scope import Tier
    from reconvene.doors.cli.chat_session import Chat

_INTERRUPTED = 130


@command("""
Examples:
  reconvene chat job-1
  reconvene chat --new job --doc contracts/ --model ollama:qwen3     # prepare a run, then /start
  reconvene chat --draft draft-1
  echo 'How far is it?' | reconvene chat job-1
""")
@click.argument("run", required=False)
@click.option("--new", "workflow", default="", metavar="WORKFLOW", help="Prepare a run of WORKFLOW; /start begins it.")
@click.option("--draft", default="", metavar="ID", help="Go on with what was prepared.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="Of a draft: an input, or NAME=@FILE.")
@DOCUMENTS
@SOURCES
@MODEL
@TIER
@BY
def chat(
    call: Call,
    run: str | None,
    workflow: str,
    draft: str,
    inputs: tuple[str, ...],
    documents: tuple[str, ...],
    sources: tuple[str, ...],
    model: str,
    tiers: tuple[Tier, ...],
) -> int:
    """Talk with the companion about RUN, or about a run that is still to be started.

    It explains what is there and cites it, helps to word feedback, and proposes edits. You send, apply, decide and
    start; /help says how. One conversation goes on from before the run to after its end, also while agents work. It is
    kept with the run, and no agent is shown it. Ctrl-C leaves; what was said is on record.
    """
    require_person("to talk with the companion")
    if bool(run) + bool(workflow) + bool(draft) > 1:
        raise UserError("give one of RUN, --new WORKFLOW and --draft ID", hint="see: reconvene chat --help")
    if (inputs or documents or sources) and not (workflow or draft):
        raise UserError("inputs are for a run that has not started", hint="--new WORKFLOW or --draft ID")
    from reconvene.companion_wiring import companion, model_for
    from reconvene.doors.cli.chat_session import Chat

    named = model_for(model)
    if not (workflow or draft):
        engine, found = open_to_change(call, run)
        with companion(engine, call.by, DOOR, run=found, model=named, agrees=agrees(call)) as asked:
            return _talk(call, asked, Chat(call, engine, asked, run=found), tiers)
    draft = _draft(call, workflow, draft, inputs, documents, sources)
    from reconvene.companion_wiring import drafts_of
    from reconvene.doors.cli.named_workflow import load

    engine = open_engine(call)
    about = load(drafts_of(call.home).load(draft).workflow)
    with companion(engine, call.by, DOOR, draft=draft, workflow=about, model=named, agrees=agrees(call)) as asked:
        code = _talk(call, asked, talk := Chat(call, engine, asked, draft=draft, workflow=about), tiers)
    return _started(call, draft) if talk.starts else code


def _draft(
    call: Call,
    workflow: str,
    draft: str,
    inputs: tuple[str, ...],
    documents: tuple[str, ...],
    sources: tuple[str, ...],
) -> str:
    """A new draft, or the one that is named, with what was given for it."""
    from reconvene.companion_wiring import drafts_of
    from reconvene.doors.cli.drafted import inputs_named, workflow_named
    from reconvene.doors.cli.named_workflow import load

    require_fit(call.place)
    permit_home(call)
    drafts = drafts_of(call.home)
    named = workflow_named(workflow) if workflow else drafts.load(draft).workflow
    given = inputs_named(load(named), (*inputs, *material(named, documents, sources)))
    if draft:
        if started := drafts.load(draft).started:
            raise UserError(f"{draft} was started, as the run {started}", hint=call.command("chat", started))
        if given:
            drafts.give(draft, given)
        return draft
    open_engine(call)  # makes the home
    return drafts.new(named, given)


def _started(call: Call, draft: str) -> int:
    """What `run --draft` does."""
    from reconvene.doors.cli import drafted
    from reconvene.doors.cli.drive import who_decides
    from reconvene.doors.cli.proceed import proceed

    engine, run = drafted.start(call, draft, (), (), ask=call.interactive, anyway=False, driving=True)
    return proceed(call, engine, run, who_decides(call, None, no_input=False))


def _talk(call: Call, asked: Companion, talk: Chat, tiers: tuple[Tier, ...]) -> int:
    asked.chosen = tiers
    if not call.as_json:
        talk.greet()
    lines = _typed(talk) if call.interactive else _piped(call)
    try:
        for line in lines:
            if not talk.hear(line):
                break
    except EOFError:  # Ctrl-D where a key was asked for
        put()
    except (KeyboardInterrupt, click.Abort):
        put()
        note(f"what was said is on record; go on with: {talk.again}")
        return _INTERRUPTED
    if not call.as_json and not talk.starts:
        say(f"go on with: {talk.again}")
    return talk.code


def _typed(talk: Chat) -> Iterator[str]:
    """Line by line, until the person leaves. What stands in a line that is broken off is there the next time."""
    from reconvene.doors.cli.ask import ask_text

    while True:
        try:
            yield ask_text(talk.prompt, talk.unsent(), broken_off=talk.keep)
        except EOFError:
            return


def _piped(call: Call) -> Iterator[str]:
    for line in sys.stdin:
        if line.strip():
            if not call.as_json:
                put(f"> {one_line(line.strip(), 500)}")
            yield line
