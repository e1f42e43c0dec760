"""`--server URL inbox | show | remark | decide`: the same commands, asked of a server. They print the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import COUNT, EXIT_CODES, Call, answer, command, put, put_json, say
from reconvene.doors.cli.server_client import ServerClient
from reconvene.errors import Refused, StaleDecision, UserError

if TYPE_CHECKING:
    from reconvene.app.index import Listed
    from reconvene.app.views.read_model import Run

_PAGE = 200


@command()
@click.option("--limit", type=COUNT, default=0, metavar="N", help="At most N; 0 = all.")
@click.option("--after", default="", metavar="RUN", help="Only those that are listed after this one.")
@click.option("--mine", is_flag=True, help="Only what waits for you.")
def inbox(call: Call, limit: int, after: str, mine: bool) -> int:
    """Runs that wait for a person, or for a provider, the one that was started last first."""
    from reconvene.doors.cli.list_runs import Found, put_inbox

    server, rows = ServerClient(call.server), list[Any]()
    while True:
        wanted = min(_PAGE, limit - len(rows)) if limit else _PAGE
        page = server.get("/inbox", limit=wanted, after=after, mine="true" if mine else "").value
        rows, after = [*rows, *page["runs"]], page["next"]
        if not after or (limit and len(rows) >= limit):
            break
    put_inbox(call, Found([_listed(one) for one in rows], [], after), limit, mine=mine)
    return 0


def _listed(doc: dict[str, Any]) -> Listed:
    import json

    from reconvene.app.index import document, listed_of
    from reconvene.ports import IndexRow

    run, workflow, status, *times = (
        str(doc.get(name, "")) for name in ("run", "workflow", "status", "started", "updated")
    )
    row = IndexRow(run, workflow, status, times[0], times[1], json.dumps(doc, ensure_ascii=False))
    found = document(row)
    if found is None:
        raise UserError(f"what the server says of {row.run} cannot be read", hint="is it of another release?")
    return listed_of(row, found)


@command()
@click.argument("run")
def show(call: Call, run: str) -> int:
    """Where RUN stands: what is done and what is to come, its files, remarks and decisions, its open checkpoint."""
    from msgspec import convert

    from reconvene.app.views.beside import Review
    from reconvene.app.views.companion_talk import Spent
    from reconvene.app.views.read_model import RunInFull
    from reconvene.doors.cli.inspect_runs import put_run

    found = ServerClient(call.server).get(f"/runs/{quote(run, safe='')}").value
    beside, talked = found.pop("review", None), found.pop("companion", None)
    if call.as_json:
        put_json(found, review=beside or {}, **({"companion": talked} if talked else {}))
        return 0
    put_run(
        call,
        convert(found, RunInFull),
        convert(beside, Review) if beside else None,
        convert(talked, Spent) if talked else None,
    )
    return 0


@command("Example:\n  reconvene --server https://runs.example.org remark two-step-1 'correction: Revenue is $900M'")
@click.argument("run")
@click.argument("text")
@click.option("--understand", is_flag=True, help="TEXT is free text: split it, and find out what each part is.")
def remark(call: Call, run: str, text: str, understand: bool) -> int:
    """Say something about RUN, as "kind: text": every agent that works from now on is shown it."""
    from msgspec import convert

    from reconvene.app.views.read_model import Remark
    from reconvene.doors.shared.advice import weighed
    from reconvene.doors.shared.remarks import said_in

    require_person("to remark")
    body = {"remarks": [{"text": text}], "understand": understand}
    told = ServerClient(call.server).post(f"/runs/{quote(run, safe='')}/remarks", body).value
    if call.as_json:
        put_json(told)
        return 0
    for one in convert(told["remarks"], list[Remark]):
        put(said_in(one))
        say(f"  {weighed(one)}")
    put(f"noted for {run}" if told["remarks"] else f"nothing new was said of {run}")
    return 0


@command("""
Examples:
  reconvene --server https://runs.example.org show two-step-1
  reconvene --server https://runs.example.org decide two-step-1 --option Continue
""")
@click.argument("run")
@click.option(
    "--option", "option", required=True, metavar="LABEL", help="Its label, the beginning of it, or its number."
)
@click.option(
    "--field", "fields", multiple=True, metavar="ID=VALUE", help="The answer to a field; ID=@FILE reads a file."
)
@click.option("--feedback", multiple=True, metavar='"KIND: TEXT"', help="A remark for the agents; may be repeated.")
@click.option(
    "--at", default="", metavar="VERSION", help="The version that you saw; without it, the last one shown to you."
)
@click.option("--latest", is_flag=True, hidden=True)
def decide(
    call: Call, run: str, option: str, fields: tuple[str, ...], feedback: tuple[str, ...], at: str, latest: bool
) -> int:
    """Answer the open checkpoint of RUN. Whoever drives there goes on with it.

    You decide what you saw. Where somebody else changed it since, the decision is refused, with the difference and the
    command that goes on.
    """
    from msgspec import convert
    from msgspec.structs import replace

    from reconvene.app.views.read_model import Run
    from reconvene.doors.cli.stops import headline

    require_person("to decide")
    if latest:
        look = call.command("show", run)
        raise UserError("--latest is not for servers: a decision there names what was shown", hint=f"see: {look}")
    server, path = ServerClient(call.server), f"/runs/{quote(run, safe='')}"
    version = at or server.get(f"{path}/shown").value["version"]
    if not version:
        look = call.command("show", run)
        raise UserError(f"nothing was decided: no checkpoint of {run} was shown to you yet", hint=f"see: {look}")
    body = {
        "option": option,
        "fields": _answers(fields),
        "remarks": [{"text": text} for text in feedback if text.strip()],
    }
    try:
        told = server.post(f"{path}/decision", body, If_Match=f'"{version}"').value
    except StaleDecision as error:
        if error.now:
            given = [word for one in fields for word in ("--field", one)]
            given += [word for one in feedback for word in ("--feedback", one)]
            again = call.command("decide", run, "--option", option, *given, "--at", error.now)
            error.hint = f"look at it: {call.command('show', run)}\n  decide it as it is: {again}"
        raise
    except Refused as error:
        if error.field == "remarks":
            error.hint = 'say it with --feedback "…"'
        elif error.field and not error.hint:
            error.hint = f"answer it with --field {error.field}=…" if error.field in error.message else ""
        raise
    note_, more = told.pop("note", ""), {"nothing_to_do": True} if told.pop("nothing_to_do", False) else {}
    summary: Run = convert(told, Run)
    if note_ and not call.as_json:
        put(note_)
    goes_on = summary.status == "running"  # whoever drives there may not have taken it up in this very moment
    told_where = headline(replace(summary, driven=None)) if goes_on else headline(summary)
    answer(call, told, told_where + "; whoever drives there goes on with it" * goes_on, **more)
    return EXIT_CODES[summary.status]


def _answers(typed: tuple[str, ...]) -> dict[str, object]:
    """As they were typed: the server knows the types of the fields."""
    from pathlib import Path

    from reconvene.doors.cli.typed_values import read_text, split_pair

    pairs = [split_pair(one, "--field") for one in typed]
    return {name: read_text(name, Path(text[1:])) if text.startswith("@") else text for name, text in pairs}
