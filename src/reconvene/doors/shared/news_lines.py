"""What changed since a person last had a say, in lines: what matters first, and of each kind a few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reconvene.app.views.news import counted
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from reconvene.app.views.news import News, Since

_MOST = 4  # of one kind
_LONGEST = 200


def lines(since: Since) -> Iterator[str]:
    what = f"since {one_line(since.what)} ({since.at[:16].replace('T', ' ')})" if since.what else "all of it is new"
    yield f"What changed, {what}:" if since.news else f"Nothing changed {what}."
    for kind, count in since.counts.items():
        shown = [one for one in since.news if one.kind == kind]
        yield f"  {counted(kind, count)}"
        for one in shown[:_MOST]:
            yield from (f"    {line}" for line in _told(one))
        if count > _MOST:
            yield f"    … and {count - _MOST} more"


def _told(one: News) -> Iterator[str]:
    who = f"{one_line(one.who)}: " if one.who and one.kind not in ("wrote", "file") else ""
    if one.kind == "turned":
        yield f"{who}was: {one_line(one.was, _LONGEST) or '(nothing like it)'}"
        yield f"{' ' * len(who)}is:  {one_line(one.now, _LONGEST) or '(no longer said)'}"
        return
    if one.kind == "became":
        yield f"{one_line(one.id)} {one_line(one.was, 80)}: {one_line(one.text)}"
        return
    named = f" [{one_line(one.id)}]" if one.id and one.id != one.text else ""
    how = f" ({one.how})" if one.how else ""
    yield f"{who}{one_line(one.text, _LONGEST)}{how}{named}"
