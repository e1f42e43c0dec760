"""`ask`: one question about a run, answered with what it rests on. And how answers of the companion are printed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import BY, DOOR, Call, command, note, put, put_json, say
from reconvene.doors.cli.text import clean, one_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.views.companion_talk import Proposed, Said
    from reconvene.companion.one_question import Reply
    from reconvene.companion.tool_scope import Tier
    from reconvene.ports import Listener, Progress

MODEL = click.option(
    "--model",
    default="",
    metavar="MODEL",
    help="Who answers, as provider:name; else RECONVENE_COMPANION_MODEL, companion_model; else the record.",
)
TIERS: tuple[Tier, ...] = ("basic", "research", "history", "debug")
TIER = click.option(
    "--tier",
    "tiers",
    multiple=True,
    type=click.Choice(TIERS),
    help="The tools that the model gets, instead of those of the stage. May be repeated.",
)
_FAILED = 1


@command("""
Examples:
  reconvene ask job-1 'What phase is it on?'
  reconvene ask job-1 'What does the plan say about data validation?' --json
  reconvene ask job-1 'Why is section 3 missing?' --model ollama:qwen3
  reconvene cite job-1 plan.md:3-5      # opens what an answer cites
""")
@click.argument("run")
@click.argument("question")
@MODEL
@TIER
@BY
def ask(call: Call, run: str, question: str, model: str, tiers: tuple[Tier, ...]) -> int:
    """Ask the companion about RUN. It knows this run and no other, and decides nothing.

    With a model it looks with its tools and says what it found. Without one, what can be answered from the record is,
    and for all else the best passages are shown. Each answer cites files and lines or events. Questions and answers are
    kept with the run; no agent is shown them.

    Exit code 1: a model was to answer and could not; what is printed comes from the record.
    """
    from reconvene.companion_wiring import companion, model_for
    from reconvene.doors.shared.carried_out import proposed

    if not (text := question.strip()):
        raise UserError("the question is empty", hint="reconvene ask RUN 'What phase is it on?'")
    named = model_for(model)
    engine, found = open_to_change(call, run)
    with companion(engine, call.by, DOOR, run=found, model=named, agrees=agrees(call)) as asked:
        asked.chosen = tiers
        before, _ = proposed(asked.conversation.entries())
        reply = asked.ask(text, listener(call))
    if call.as_json:
        put_json(as_json(call, found, reply))
    else:
        put_reply(call, engine, found, reply, len(before) + 1)
    return _FAILED if reply.said.fault else 0


# --- how it is printed ---


def put_reply(call: Call, engine: Engine, run: str, reply: Reply, first: int) -> None:
    """`first`: the number of the first thing that it proposes, in the conversation."""
    said = reply.said
    if said.fault:
        note(f"! {said.fault}" + (f" {reply.hint}" if reply.hint else ""))
        note("This is what the record says:")
    say(marked(said))
    put_cites(call, run, said)
    put_proposals(engine, run, said.proposals, first)
    for number, one in enumerate(said.proposals, first):
        if one.kind == "remark":
            say(f"send it: {_send_command(call, run, one)}")
        else:
            say(f"apply it: {call.command('chat', run)}, then /apply {number}")
    if told := cost_line(said):
        note(told)


def _send_command(call: Call, run: str, one: Proposed) -> str:
    from reconvene.doors.shared.carried_out import about

    where = ("--on", about(one)) if one.lines else ()
    return call.command("remark", run, one.text, *where)


def marked(said: Said) -> str:
    """The answer; what it cites and is not there is marked."""
    text = said.text
    for one in said.unknown:
        text = text.replace(f"[{one}]", f"[{one}: not found]")
    return text


def put_cites(call: Call, run: str, said: Said, *, command: str = "") -> None:
    """`command`: how one is opened; else by a command to paste."""
    if not said.cites:
        return
    put("\ncited:")
    for number, one in enumerate(said.cites, 1):
        put(f"  {number:>2}  {one_line(one)}" + ("  (not found)" if one in said.unknown else ""))
    first = next((one for one in said.cites if one not in said.unknown), "")
    if first:
        say(f"open one: {command or opens(call, run, first)}")


def opens(call: Call, run: str, cite: str) -> str:
    """The command that opens a citation."""
    if not cite.startswith("commit "):
        return call.command("cite", run, cite)
    import os
    import shlex

    history = os.path.join(os.path.abspath(call.home), "history.git")
    return shlex.join(["git", "--git-dir", history, "show", cite.removeprefix("commit ")])


def put_proposals(engine: Engine, run: str, proposals: Sequence[Proposed], first: int = 1) -> None:
    from reconvene.doors.shared.carried_out import shown

    for number, one in enumerate(proposals, first):
        put(f"\n{'draft' if one.kind == 'remark' else 'edit'} {number}")
        for line in clean(shown(engine, run, one)).split("\n"):
            put(f"  {line}")


def cost_line(said: Said) -> str:
    used = said.usage
    if not used.requests:
        return ""
    price = f", ${used.cost:.4f}" if used.cost else ""
    looked = f", {len(said.tools)} look{'s' * (len(said.tools) != 1)}" if said.tools else ""
    return f"({used.model}: {used.input_tokens + used.output_tokens:,} tokens{price}{looked})"


def as_json(call: Call, run: str, reply: Reply) -> dict[str, object]:
    from msgspec import to_builtins

    said = reply.said
    return {
        "run": run,
        "stage": said.stage,
        "question": reply.asked.text,
        "understood": reply.understood,
        "text": said.text,
        "cites": [{"cite": one, "found": one not in said.unknown, "open": opens(call, run, one)} for one in said.cites],
        "facts": reply.facts,
        "proposals": to_builtins(said.proposals),
        "tools": [{"tool": one.tool, "arguments": one.arguments, "failed": one.failed} for one in said.tools],
        "model": said.usage.model,
        "usage": to_builtins(said.usage),
        "fault": said.fault,
        "event": said.event,
    }


# --- while it works ---


def listener(call: Call) -> Listener:
    """Which tools are used, line by line on stderr."""

    def tell(progress: Progress) -> None:
        if progress.what == "output" and not call.as_json and sys.stderr.isatty():
            note(f"  · {one_line(progress.detail, 160)}")

    return tell


def agrees(call: Call) -> Callable[[str], bool]:
    """Whether a query may leave the machine: asked each time, refused where nobody can be asked."""

    def asked(query: str) -> bool:
        if not call.interactive:
            return False
        try:  # no menu: whoever asks is in the middle of something
            return click.confirm(f"Search the web for “{one_line(query, 200)}”?", default=False)
        except click.Abort:
            return False

    return asked
