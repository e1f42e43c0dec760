"""A run as one file: written out, and taken in where everything in it fits, or not at all.

A log that comes from elsewhere stays what it is, byte for byte, with the signatures of the people there. What it would
start is started only once the person here accepted it, as with a home that was only found (`reconvene.trust`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from reconvene.app.engine import Engine
from reconvene.app.misfits import DoesNotFit
from reconvene.app.new_runs import rest_point
from reconvene.app.references import named_by, sizes_in
from reconvene.app.session import due_at, index_row
from reconvene.app.signing import to_sign
from reconvene.app.verifying import Sound, read_log, require_sound
from reconvene.chain_ports import Stored
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.events import AnyEvent, Forked, Imported
from reconvene.core.facts.evolve import fold
from reconvene.core.paths import why_no_run_id
from reconvene.core.person.permitted import require_role
from reconvene.errors import Conflict, StoreError, UserError
from reconvene.ports import Append
from reconvene.wire import run_file
from reconvene.wire.event_json import decode_batch
from reconvene.wire.pins import unpin


class Exported(NamedTuple):
    run: str
    file: str
    head: int
    chain: str
    contents: int
    size: int


class Taken(NamedTuple):
    """`already`: all of it was here. `left_out`: events of work that was under way, which a fork does not copy."""

    run: str
    head: int
    chain: str
    already: bool = False
    left_out: int = 0


class _Arrived:
    """What came, as a log that can be looked through."""

    def __init__(self, run: str, rows: list[Stored], contents: Mapping[str, bytes]) -> None:
        self._run = run
        self._rows = rows
        self._contents = contents

    def stored(self, run: str) -> list[Stored]:
        return self._rows

    def chain(self, run: str, after: int = 0) -> list[tuple[int, bytes]]:
        return [(row.seq, row.chain) for row in self._rows] if run == self._run else []

    def artefact(self, digest: str) -> bytes:
        try:
            return self._contents[digest]
        except KeyError:
            raise StoreError(f"It holds no content with the digest {digest}.") from None

    def snapshot(self, run: str, key: str) -> tuple[int, bytes] | None:
        return None


def export(engine: Engine, run: str, path: str) -> Exported:
    """UserError where something is there already; StoreError where the run does not fit together."""
    log = engine.log
    engine.load(run)  # refuses what is not there
    require_sound(log, run, engine.signer)
    rows, named = log.stored(run), sorted(named_by(event for _, event in log.read(run)))
    head, value = rows[-1].seq, rows[-1].chain.hex()
    manifest = run_file.Manifest(run_file.VERSION, run, head, value, log.unchained(run))
    new = f"{path}.{os.urandom(4).hex()}"
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            run_file.write(file, manifest, rows, ((digest, log.artefact(digest)) for digest in named))
        os.link(new, path)
    except FileExistsError as error:
        raise UserError(f"There is a file {path} already.", hint="Choose another name; nothing was written.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            os.unlink(new)
    return Exported(run, path, head, value, len(named), os.path.getsize(path))


def take(
    engine: Engine, path: str, *, name: str = "", by: str = "", door: str = "", actor: Actor | None = None
) -> Taken:
    """`name`: another id for it, where there is another run of the same."""
    actor = actor or engine.actor
    require_role(actor, "decider", "to import a run")
    try:
        with open(path, "rb") as file:
            came = run_file.read(file, path, _named)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    manifest, rows = came.manifest, [Stored(*row) for row in came.rows]
    name = "" if name == manifest.run else name
    sound = _checked(engine, path, came, rows)
    if (why := why_no_run_id(manifest.run)) or (name and (why := why_no_run_id(name))):
        raise UserError(f"{name or manifest.run!r} cannot be the id of a run: it {why}. Nothing was taken.")
    if not name and engine.log.head(manifest.run):
        return _already(engine, path, manifest, rows)
    if name and engine.log.head(name):
        raise UserError(f"There is a run {name} here, or was. Nothing was taken.", hint="Choose another name with --as")
    workflow = unpin(came.contents[sound.state.workflow], manifest.run)
    folder = engine.new.folder(workflow, name or manifest.run)
    engine.new.require_empty(workflow, name or manifest.run, folder)
    mark = Imported(
        at=max(engine.now(), sound.state.updated),
        by=by,
        user=actor.user,
        door=door,
        chain=manifest.chain,
        workspace=folder,
    )
    try:
        if name:
            return _forked(engine, actor, name, manifest, rows, came.contents, mark)
        made = to_sign(engine.signer, actor, sound.state, fold([mark], sound.state), [mark])
        append = Append(made.events, came.contents, index_row(made.state), made.seal, due_at(made.state))
        head = engine.log.adopt(manifest.run, rows, manifest.unchained, append)
        return Taken(manifest.run, head, manifest.chain)
    except Conflict as error:
        raise UserError(f"There is a run {name or manifest.run} by now. Nothing was taken.") from error


def _checked(engine: Engine, path: str, came: run_file.RunFile, rows: list[Stored]) -> Sound:
    manifest = came.manifest
    try:
        if not rows:
            raise StoreError("its log is empty")
        sound = read_log(_Arrived(manifest.run, rows, came.contents), manifest.run, manifest, engine.signer)
        if rows[-1].chain.hex() != manifest.chain:
            raise StoreError(f"its log ends with {rows[-1].chain.hex()}, not with {manifest.chain}")
    except DoesNotFit as error:
        one = error.misfit
        raise _refused(path, f"{one.where}: expected {one.expected}, found {one.found}") from error
    except StoreError as error:
        raise _refused(path, error.message) from error
    return sound


def _refused(path: str, why: str) -> UserError:
    return UserError(
        f"{path} does not fit together: {why.rstrip('.')}. Nothing was taken.",
        hint="Export it once more, where it comes from: reconvene export RUN FILE",
    )


def _already(engine: Engine, path: str, manifest: run_file.Manifest, rows: list[Stored]) -> Taken:
    """Where our log begins with the file's, all of the file is here."""
    run = manifest.run
    if engine.log.stored(run)[: len(rows)] == rows:
        return Taken(run, engine.log.head(run), manifest.chain, already=True)
    raise UserError(
        f"There is another run {run} here, or was. Nothing was taken.",
        hint=f"Import it under another id: reconvene import {path} --as {run}-imported",
    )


def _forked(
    engine: Engine,
    actor: Actor,
    name: str,
    manifest: run_file.Manifest,
    rows: list[Stored],
    contents: Mapping[str, bytes],
    mark: Imported,
) -> Taken:
    """Under another id it is a fork of a run that is elsewhere: the chain of that one holds its id."""
    prefix, state = rest_point(manifest.run, list(enumerate(_events(rows), 1)), or_end=True)
    if not prefix:
        raise UserError(f"Nothing had been started in {manifest.run}. Nothing was taken.")
    value = next((row.chain.hex() for row in rows if row.seq >= len(prefix)), "")
    forked = Forked(
        at=mark.at, run=name, source=manifest.run, source_seq=len(prefix), source_chain=value, workspace=mark.workspace,
        by=mark.by, user=mark.user, door=mark.door,
    )  # fmt: skip
    own: list[AnyEvent] = [forked, mark]
    made = to_sign(engine.signer, actor, state, fold(own, state), own)
    named = named_by(prefix)
    kept = {digest: data for digest, data in contents.items() if digest in named}
    append = Append([*prefix, *made.events], kept, index_row(made.state), made.seal, due_at(made.state))
    left_out = manifest.head - len(prefix)
    return Taken(name, engine.log.append(name, 0, append), manifest.chain, left_out=left_out)


def _named(rows: list[tuple[int, bool, bytes, bytes, bytes]]) -> dict[str, int]:
    """The contents that these appends name, with the sizes that they say. ValueError where one is no append."""
    try:
        events = _events([Stored(*row) for row in rows])
    except StoreError as error:
        raise ValueError(error.message) from error
    sizes = dict.fromkeys(named_by(events), -1)
    for digest, size in sizes_in(events):
        sizes[digest] = max(size, sizes[digest])
    return sizes


def _events(rows: list[Stored]) -> list[AnyEvent]:
    import zlib

    return [event for row in rows for event in decode_batch(zlib.decompress(row.data) if row.packed else row.data)]
