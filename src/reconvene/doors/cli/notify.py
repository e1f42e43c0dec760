"""`notify` and its commands: what is set up, what waits in the outbox, test, retry, send. Shows no address."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import Call, answer, command, open_home, put, put_json, put_table
from reconvene.doors.cli.text import clean, clock_time, nearest, one_line
from reconvene.errors import UserError
from reconvene.home import is_there, user_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reconvene.message_ports import Destination, Queued, Routes

_SHOWN = 200  # messages that are looked through
_LISTED = 20


@command()
@click.argument("name", required=False)
def test(call: Call, name: str | None) -> int:
    """Send a short message to the destination NAME, or to all of them, at once and past the outbox."""
    import asyncio

    from reconvene.app.message_text import trial
    from reconvene.notify_wiring import sender

    require_person("to send messages")
    chosen = _chosen(name)

    async def sent(one: Destination) -> str:
        return one.problem or (await sender().send(one, [trial()]))[0]

    async def every() -> list[str]:
        return await asyncio.gather(*map(sent, chosen))

    errors = asyncio.run(every())
    if call.as_json:
        put_json([{"name": one.name, "error": error} for one, error in zip(chosen, errors, strict=True)])
    else:
        for one, error in zip(chosen, errors, strict=True):
            put(f"{one.name}: {clean(error) or 'sent'}")
    return 1 if any(errors) else 0


@command()
@click.argument("name", required=False)
def retry(call: Call, name: str | None) -> int:
    """What waits or was given up is due now, for NAME or for all. A worker sends it, or `notify send`."""
    require_person("to send messages")
    engine = open_home(call)
    count = engine.log.retry_messages(engine.now(), name or "")
    told = f"{count} {'message is' if count == 1 else 'messages are'} due now"
    return answer(call, {"due": count}, told + (f"; send them: {call.command('notify', 'send')}" if count else ""))


@command("Example:\n  reconvene notify send             # from cron, where nobody serves or works; `tick` does it too")
def send(call: Call) -> int:
    """Send what is due now, and stop. Whoever serves or works does this by itself."""
    import asyncio

    from msgspec.structs import asdict

    from reconvene.notify_wiring import deliverer

    require_person("to send messages")
    engine = open_home(call)
    done = asyncio.run(deliverer(engine.log).deliver())
    told = f"sent {done.sent}, failed {done.failed}" + (f", given up {done.given_up}" if done.given_up else "")
    answer(call, asdict(done), told)
    return 1 if done.failed else 0


@command(
    """
Examples:
  reconvene notify                  # destinations, what waits, what went wrong
  reconvene notify test chat
  reconvene notify retry            # what was given up, once more
""",
    commands=(test, retry, send),
)
def notify(call: Call) -> int:
    """Where messages go, who is told of what, what waits to be sent, and what went wrong.

    Destinations stand in your own settings file, under [notify.destinations]; docs/messages.md says how.
    """
    from reconvene.notify_wiring import destinations, routes

    known, routed = destinations(), routes()
    rows = _messages(call)
    if call.as_json:
        put_json(_as_json(known, routed, rows))
        return 0
    if not known and not rows:
        put(f"no destination is set up; write one into {user_file()}, as docs/messages.md says")
        return 0
    _put_destinations(known, routed, rows)
    _put_messages(call, rows)
    return 0


def _chosen(name: str | None) -> list[Destination]:
    from reconvene.notify_wiring import destinations

    known = destinations()
    if name and name not in known:
        raise UserError(f"there is no destination {name!r} in your settings", hint=nearest(name, known))
    if not known:
        raise UserError("no destination is set up", hint=f"write one into {user_file()}, as docs/messages.md says")
    return [known[name]] if name else list(known.values())


def _messages(call: Call) -> list[Queued]:
    from reconvene.wiring import open_log

    if not is_there(call.place):
        return []
    with closing(open_log(call.home)) as log:
        return log.messages(_SHOWN)


def _told_of(name: str, routed: Routes) -> list[str]:
    """What a destination is told of, in words."""
    everybody = ["all runs"] if name in routed.everybody else []
    people = [f"what is {who}'s" for who, names in routed.people.items() if name in names]
    return [*everybody, *people, *(f"runs of {one}" for one, names in routed.workflows.items() if name in names)]


def _put_destinations(known: Mapping[str, Destination], routed: Routes, rows: list[Queued]) -> None:
    table = []
    named = dict.fromkeys([*known, *(one.message.to for one in rows), *_named(routed)])
    for name in named:
        one = known.get(name)
        kinds = ", ".join(sorted(one.kinds)) if one is not None and len(one.kinds) < 5 else "all"
        last = next((row for row in rows if row.message.to == name and (row.error or row.state == "delivered")), None)
        state = (one.problem if one is not None else "not set up here") or _last(last)
        told = ", ".join(_told_of(name, routed)) or "runs started with --notify"
        table.append((name, one.way if one is not None else "–", kinds, told, state))
    put_table(table, ("destination", "by", "kinds", "is told of", "last"))


def _named(routed: Routes) -> list[str]:
    lists = (routed.everybody, *routed.people.values(), *routed.workflows.values())
    return [name for names in lists for name in names]


def _last(row: Queued | None) -> str:
    if row is None:
        return "–"
    return one_line(row.error) if row.error else f"delivered {clock_time(row.changed)}"


def _put_messages(call: Call, rows: list[Queued]) -> None:
    open_rows = [row for row in rows if row.state != "delivered"]
    if not open_rows:
        put("nothing waits to be sent")
        return
    put("")
    table = []
    for row in open_rows[:_LISTED]:
        notice = row.message.notice
        due = "given up" if row.state == "given up" else f"due {clock_time(row.due)}"
        table.append((row.message.to, notice.kind, notice.run, clock_time(row.made), row.attempts, due))
    below = [[f"  {one_line(row.error, 200)}"] if row.error else [] for row in open_rows[:_LISTED]]
    put_table(table, ("to", "kind", "run", "made", "tries", "next"), below)
    if len(open_rows) > _LISTED:
        put(f"and {len(open_rows) - _LISTED} more")
    if any(row.state == "given up" for row in open_rows):
        put(f"what was given up is tried again with: {call.command('notify', 'retry')}")


def _as_json(known: Mapping[str, Destination], routed: Routes, rows: list[Queued]) -> dict[str, object]:
    told = [
        {
            "name": name,
            "by": one.way,
            "kinds": sorted(one.kinds),
            "told_of": _told_of(name, routed),
            "problem": one.problem,
        }
        for name, one in known.items()
    ]
    return {"destinations": told, "messages": [_message_json(row) for row in rows]}


def _message_json(row: Queued) -> dict[str, object]:
    notice = row.message.notice
    said = {"id": row.message.id, "to": row.message.to, "kind": notice.kind, "run": notice.run, "asks": notice.asks}
    return {
        **said, "state": row.state, "made": row.made, "due": row.due, "attempts": row.attempts, "error": row.error,
        "changed": row.changed,
    }  # fmt: skip
