"""One file of a run as a person wants it: recorded as their edit, brought to the folder, and told to the agents."""

from __future__ import annotations

from reconvene.app.engine import Engine
from reconvene.app.line_diff import diff_summary, unified_diff
from reconvene.core.facts.commands import EditIn, RecordEdits
from reconvene.core.facts.ids import digest_of


def record(engine: Engine, run: str, path: str, data: bytes, *, by: str = "", door: str = "") -> None:
    session = engine.session(run)
    old = session.state.world.files.get(path)
    diff = unified_diff(path, session.book.read(old.digest) if old else None, data)
    blobs = {digest_of(each): each for each in (data, diff.encode())}
    edit = EditIn(path, digest_of(data), len(data), digest_of(diff.encode()), diff_summary(diff))
    engine.submit(run, RecordEdits((edit,), by, door), blobs)
