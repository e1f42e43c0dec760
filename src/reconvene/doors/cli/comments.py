"""`comments` and `review`: what was said on lines of files, and a file with its comments in the person's editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import BY, Call, command, note, open_run, put, put_json, say
from reconvene.doors.cli.text import clean
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.facts.state import RunState
    from reconvene.doors.cli.reviewing import Confirm

_STATES = ("open", "applied", "answered", "declined")


@command("""
Examples:
  reconvene comments two-step-1
  reconvene comments two-step-1 draft.md --open
  reconvene comments two-step-1 --json
""")
@click.argument("run", required=False)
@click.argument("file", required=False)
@click.option("--open", "only_open", is_flag=True, help="Only those that nobody has applied, answered or declined.")
def comments(call: Call, run: str | None, file: str | None, only_open: bool) -> int:
    """Comments on lines of RUN's files, or of FILE: where the lines stand now, and what became of each comment.

    Open: nobody has acted on it. Applied: an agent that was shown it changed the lines. Answered: an agent speaks of
    it, and the lines are as they were. Declined: with the agent's reason. Outdated: the lines are lost, and the old
    ones are shown.
    """
    from reconvene.app.file_comments import comments as every
    from reconvene.doors.cli.typed_lines import require_file
    from reconvene.doors.shared.comment_lines import whole

    engine, found = open_run(call, run)
    rows = every(engine, found, file or "")
    if file and not rows:
        require_file(engine.load(found), file)
    shown = [one for one in rows if one.status == "open"] if only_open else rows
    if call.as_json:
        counts = {state: sum(one.status == state for one in rows) for state in _STATES}
        put_json({"run": found, "comments": shown, **counts, "outdated": sum(one.outdated for one in rows)})
        return 0
    for line in whole(shown):
        say(line)
    if not shown:
        put("no comment is open" if rows else f"nobody has commented on {file or 'a file'} yet")
        put(f"comment with: {call.command('review', found, *([file] if file else []))}")
    return 0


@command("""
Examples:
  reconvene review two-step-1 draft.md
  EDITOR=nano reconvene review two-step-1 draft.md
  EDITOR='sed -i "$ a >> Which year?"' reconvene review two-step-1 draft.md
""")
@click.argument("run", required=False)
@click.argument("file", required=False)
@click.option("--yes", is_flag=True, help="Take changes of the text itself without asking.")
@BY
def review(call: Call, run: str | None, file: str | None, yes: bool) -> int:
    """Open FILE of RUN in your editor, with its comments below their lines; what you add becomes comments.

    A line that begins with >> is a comment on the line above it. Other changes of the text are your edit of the file;
    you are asked once before it is taken. Whatever is not taken, such as a text that somebody changed meanwhile, is
    kept in a file, and its name is said. Without FILE: the file that the checkpoint shows.
    """
    from reconvene.app import queries
    from reconvene.doors.cli.reviewing import Reviewing

    engine, found = open_to_change(call, run)
    state = engine.load(found)
    if state.ended:
        raise UserError(
            f"{found} has ended ({state.ended}): nobody would read a comment",
            hint=f"take it up again with: {call.command('reopen', found)}",
        )
    path = file or _shown(call, engine, state)
    made = Reviewing(engine, found, call.by, note if call.as_json else say, _confirm(call, yes)).review(path)
    if made.kept and not yes and not call.interactive:
        note("--yes takes changes of the text without asking")
    if call.as_json:
        put_json(queries.summary(engine, found), file=path, remarks=made.remarks, edited=made.edited, kept=made.kept)
    return 1 if made.kept else 0


def _confirm(call: Call, yes: bool) -> Confirm:
    def confirm(diff: str, question: str) -> bool:
        if yes or not call.interactive:
            return yes
        from reconvene.doors.cli.ask import ask_yes

        put(clean(diff))
        return ask_yes(question)

    return confirm


def _shown(call: Call, engine: Engine, state: RunState) -> str:
    """Which file, where none is named: the one that the checkpoint shows, or the one that is picked."""
    from reconvene.doors.shared.comment_lines import to_comment_on

    shown, others = to_comment_on(state)
    if len(shown) == 1 or len([*shown, *others]) == 1:
        return [*shown, *others][0]
    if not shown and not others:
        raise UserError(f"{state.run} has no files yet")
    if not call.interactive:
        named = ", ".join([*shown, *others][:12])
        raise UserError("which file?", hint=f"name one of: {named}")
    from reconvene.doors.cli.ask import pick

    return pick("Which file?", [(path, path) for path in (*shown, *others)])
