"""`talk`: the whole conversation of a run, every step and every version."""

from __future__ import annotations

import click

from reconvene.doors.cli import pager
from reconvene.doors.cli.common import Call, command, open_run, put, put_json
from reconvene.doors.cli.text import clean


@command("""
Examples:
  reconvene talk brainstorm-1                          # all that was presented, said, answered and chosen
  reconvene talk brainstorm-1 --phase questions
  reconvene talk brainstorm-1 --markdown > talk.md
""")
@click.argument("run", required=False)
@click.option("--phase", default="", metavar="ID", help="Only what was said in this phase.")
@click.option("--markdown", is_flag=True, help="As Markdown, without a pager: to keep, or to send.")
def talk(call: Call, run: str | None, phase: str, markdown: bool) -> int:
    """The conversation of RUN from the first word on: what agents presented, each version of it, and what people said,
    answered, chose and sent back.

    A question stands there in the words that it had when it was answered.
    """
    from msgspec import to_builtins

    from reconvene.app.views.whole_talk import as_markdown, whole_talk
    from reconvene.errors import UserError

    engine, found = open_run(call, run)
    book = engine.session(found).book
    said = whole_talk(engine.log.read(found), book)
    if phase:
        known = list(dict.fromkeys(one.spot.rpartition("/")[2].partition("[")[0] for one in said))
        said = [one for one in said if one.spot.rpartition("/")[2].partition("[")[0] == phase]
        if not said:
            raise UserError(f"Nothing was said in {phase!r}.", hint=f"phases: {', '.join(known) or 'none yet'}")
    if call.as_json:
        put_json({"run": found, "talk": [to_builtins(one) for one in said]})
    elif markdown:
        put(as_markdown(found, said).rstrip("\n"))
    else:
        pager.show(clean(as_markdown(found, said)))
    return 0
