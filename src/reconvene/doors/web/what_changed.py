"""What happened while somebody had a page open, in a person's words: who decided what, who said what, which files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.app.since import since
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.views.news import News

_MOST = 6  # sentences
_FIRST = ("decided", "said", "edited", "answered", "run", "trouble", "turned", "option", "ratings")


def told_since(engine: Engine, run: str, person: str, seq: int) -> list[str]:
    """What came after this event and is not this person's own; the rest is counted."""
    news = since(engine, run, person, after=seq).news
    every = list(_sentences(news))
    return every if len(every) <= _MOST else [*every[: _MOST - 1], f"And {len(every) - _MOST + 1} things more."]


def _sentences(news: Sequence[News]) -> Iterator[str]:
    for kind in _FIRST:
        yield from (_sentence(one) for one in news if one.kind == kind)
    worked = [one.who for one in news if one.kind == "wrote"]
    if worked:
        yield f"{_named(worked)} worked."
    for how, verb in (("new", "new"), ("changed", "changed"), ("gone", "gone")):
        paths = [one.text for one in news if one.kind == "file" and one.how == how]
        if paths:
            yield f"{_named(paths)} {'is' if len(paths) == 1 else 'are'} {verb}."


def _sentence(one: News) -> str:
    who, text = one_line(one.who, 60) or "Somebody", one_line(one.text, 160)
    match one.kind:
        case "decided":
            return f"{who} chose “{text}”."
        case "said" if one.id:
            return f"{who} said: “{text}”"
        case "edited":
            return f"{who} edited {text}."
        case "turned":
            return f"{who} says something else now: “{one_line(one.now or one.text, 160)}”"
        case "trouble":
            return f"Something went wrong: {text}."
        case "ratings":
            return f"Ratings of {one_line(one.id, 60)} moved: {text}."
        case "option":
            return f"{text}."
        case _:
            return f"{who if one.who else 'The run:'} {text}."


def _named(names: Sequence[str]) -> str:
    """`a, b and 3 more`"""
    shown = [one_line(one, 60) for one in names[:3]]
    if len(names) > len(shown):
        return f"{', '.join(shown)} and {len(names) - len(shown)} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
