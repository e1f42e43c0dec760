"""A message written out: a title and a few lines for people, a JSON object for programs. Pure.

Words of agents stand in it as plain text on one line. The command and the link lead to where one decides; nothing in a
message decides.
"""

from __future__ import annotations

import json
import os
import shlex

from reconvene.language.plain_text import unmarked
from reconvene.message_ports import Letter, Message, Notice

_TITLES = {
    "waiting": "{run} waits for a decision",
    "attention": "{run} needs attention",
    "deadline": "{run}: the deadline is near",
    "ended": "{run} has ended",
    "failed": "{run} has failed",
}


def letter(message: Message, *, url: str, still: bool) -> Letter:
    """`url`: of the pages, "" = there are none. `still`: the checkpoint that it tells of is open."""
    notice = message.notice
    title = _TITLES.get(notice.kind, "{run}")
    if notice.kind == "deadline" and (not notice.deadline or notice.at >= notice.deadline):
        title = "{run}: the deadline has passed"
    text = "\n".join([*_lines(notice, still), *_where(notice, url, still), f"Message {message.id}"])
    return Letter(message.id, notice.kind, unmarked(title.format(run=notice.run)), text, _data(message, url, still))


def _asks(notice: Notice) -> bool:
    """Whether it is about a checkpoint that was open then. Of deadlines, one that took a decision names no time."""
    return notice.kind in ("waiting", "attention") or (notice.kind == "deadline" and bool(notice.deadline))


def _lines(notice: Notice, still: bool) -> list[str]:
    asks = _asks(notice)
    over = "This has been decided since." if asks and not still else ""
    facts = [
        unmarked(notice.asks),
        over,
        _said("Workflow", f"{notice.workflow}{f', {notice.phase}' if notice.phase else ''}"),
        _said("Title", notice.title),
        _said("For", ", ".join(notice.who)),
        _said("Waits since" if asks else "Started", _moment(notice.since)),
        _said("Deadline", _moment(notice.deadline)),
    ]
    return [line for line in facts if line]


def _said(what: str, value: str) -> str:
    return f"{what}: {unmarked(value)}" if value else ""


def _moment(at: str) -> str:
    return f"{at[:10]} {at[11:16]} UTC" if at else ""


def _where(notice: Notice, url: str, still: bool) -> list[str]:
    return [f"Look at it: {command(notice.run)}", *([page(url, notice, still)] if url else [])]


def command(run: str) -> str:
    return f"reconvene show {shlex.quote(run)}"


def page(url: str, notice: Notice, still: bool) -> str:
    """Where one reads and decides; of what is not asked any more, the page of the run."""
    from urllib.parse import quote

    return f"{url.rstrip('/')}/runs/{quote(notice.run, safe='')}{'/decide' if still and _asks(notice) else ''}"


def _data(message: Message, url: str, still: bool) -> bytes:
    notice = message.notice
    told = {"id": message.id, **{name: value for name, value in notice._asdict().items() if value}}
    told["command"] = command(notice.run)
    if url:
        told["url"] = page(url, notice, still)
    if _asks(notice):
        told["open"] = still
    return json.dumps(told, ensure_ascii=False).encode()


def trial() -> Letter:
    """What `reconvene notify test` sends."""
    text = "This is a test: messages of Reconvene reach this place."
    id = f"msg_test_{os.urandom(8).hex()}"  # another each time: receivers pass over an id that they have seen
    data = json.dumps({"id": id, "kind": "test"}).encode()
    return Letter(id, "test", "Reconvene: a test", text, data)
