"""Which contents a log names: all that a run needs, for whoever exports or deletes it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.companion.planned_job import two_jobs

from reconvene.app.references import named_by
from reconvene.core.facts.events import AnyEvent
from reconvene.errors import StoreError
from reconvene.ports import EventLog
from reconvene.wire.event_json import to_json


def test_every_content_of_a_job_with_tools_is_named_by_its_log(tmp_path: Path) -> None:
    with two_jobs(tmp_path / "home") as two:
        log = two.job.engine.log
        events = log.read(two.job.run)
        told = {digest for seq, event in events for digest in digests_in(seq, event) if is_there(log, digest)}
        assert len(told) > 30
        assert told - named_by(event for _, event in events) == set()


def digests_in(seq: int, event: AnyEvent) -> list[str]:
    """Whatever looks like one, wherever the event says it."""
    return re.findall(r"\b[0-9a-f]{32}\b", str(to_json(seq, event)))


def is_there(log: EventLog, digest: str) -> bool:
    try:
        return bool(log.artefact(digest)) or True
    except StoreError:
        return False
