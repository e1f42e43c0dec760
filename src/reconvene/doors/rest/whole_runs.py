"""The operations on runs as a whole, such as search, export, upgrade and delete, and on the people of the home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict
from starlette.responses import Response

from reconvene.app.views.workflow_changes import changes
from reconvene.doors.http import kept_runs, people_acts
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.rest import whole_run_bodies as bodies
from reconvene.doors.rest.giving import received

if TYPE_CHECKING:
    from reconvene.doors.rest.operations import Asked
    from reconvene.people_ports import Person, Token
    from reconvene.search_ports import Kind

_KINDS: dict[str, Kind] = {
    "files": "file", "documents": "document", "outputs": "output", "talk": "talk", "audit": "audit",
}  # fmt: skip


async def search(asked: Asked) -> object:
    query = asked.query(bodies.Search)
    if not query.query.strip():
        raise WrongField("query", "say what to look for")
    names = [name.strip() for name in query.kinds.split(",") if name.strip()]
    if unknown := [name for name in names if name not in _KINDS]:
        hint = f"there is: {', '.join(_KINDS)}"
        raise WrongField("kinds", f"there is nothing to search named {unknown[0]!r}", hint=hint)
    kinds = [_KINDS[name] for name in names]
    found, model, left_out = await kept_runs.search(
        asked.service, asked.caller, asked.run, query.query, kinds, query.limit, meaning=not query.text_only
    )
    rows = [(one.cite, one.passage, one.score) for one in found]
    return bodies.FoundPassages(
        asked.run,
        query.query,
        model,
        left_out,
        tuple(
            bodies.FoundPassage(cite, one.kind, one.name, str(one.place), one.heading, one.text, round(score, 4))
            for cite, one, score in rows
        ),
    )


async def cite(asked: Asked) -> object:
    return await kept_runs.cite(asked.service, asked.run, asked.query(bodies.Cited).what)


async def verify(asked: Asked) -> object:
    return await kept_runs.verify(asked.service, asked.caller, asked.run)


async def export(asked: Asked) -> object:
    data = await kept_runs.export(asked.service, asked.caller, asked.run)
    headers = {"content-disposition": "attachment", "content-security-policy": "default-src 'none'; sandbox"}
    return Response(data, headers=headers, media_type="application/zip")


async def take_in(asked: Asked) -> object:
    asked.caller.require("decider", "to import a run")
    name = asked.query(bodies.ImportAs).name
    async with received(asked) as file:
        data = await file.read()
    taken = await kept_runs.take_in(asked.service, asked.caller, data, name)
    return bodies.Imported(taken.run, taken.head, taken.chain, taken.already, taken.left_out)


async def delete(asked: Asked) -> object:
    return await kept_runs.delete(asked.service, asked.caller, asked.run)


async def upgrade(asked: Asked) -> object:
    body = await asked.body(bodies.UpgradeBody)
    run, found = await kept_runs.upgrade(
        asked.service, asked.caller, asked.run, body.workflow, body.inputs, body.drop, dry=body.dry_run
    )
    command = found.command
    return {
        "run": run,
        "before": command.before,
        "workflow": command.pinned.digest,
        "changes": changes(found.before, command.pinned.workflow),
        "passed": found.passed,
        "unbound": command.unbound,
        "dropped": command.dropped,
        "dry_run": body.dry_run,
    }


# --- people ---


async def everyone(asked: Asked) -> object:
    people, tokens = await people_acts.everyone(asked.service, asked.caller)
    return bodies.Everyone(tuple(_person(one, tokens) for one in people))


async def add_person(asked: Asked) -> object:
    body = await asked.body(bodies.PersonBody)
    return _person(await people_acts.add(asked.service, asked.caller, body.name, body.role, body.teams, body.account))


async def change_person(asked: Asked) -> object:
    body = await asked.body(bodies.PersonChanged)
    return _person(
        await people_acts.change(asked.service, asked.caller, asked.path("name"), body.role, body.teams, body.account)
    )


async def remove_person(asked: Asked) -> object:
    return _person(await people_acts.remove(asked.service, asked.caller, asked.path("name")))


async def make_token(asked: Asked) -> object:
    body = await asked.body(bodies.TokenBody)
    made, secret = await people_acts.token(asked.service, asked.caller, asked.path("name"), body.expires, body.label)
    return _token(made, secret)


async def revoke_token(asked: Asked) -> object:
    return _token(await people_acts.revoke(asked.service, asked.caller, asked.path("id")))


def _person(one: Person, tokens: list[Token] | None = None) -> bodies.PersonShown:
    held = tuple(_token(each) for each in tokens or () if each.person == one.name)
    return bodies.PersonShown(one.name, one.role, one.teams, one.account or "", held)


def _token(one: Token, secret: str = "") -> bodies.TokenShown:
    return bodies.TokenShown(**asdict(one), token=secret)
