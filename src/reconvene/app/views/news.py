"""What happened in a run since somebody last had a say in it, as structs for every door. `app.since` makes them."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.app.views.read_model import Shown

KINDS = {  # what matters first; each with how several are counted
    "turned": ("conclusion that changed", "conclusions that changed"),
    "trouble": ("thing that went wrong", "things that went wrong"),
    "decided": ("decision of somebody else", "decisions of others"),
    "said": ("remark of somebody else", "remarks of others"),
    "became": ("answer to what you said", "answers to what you said"),
    "ratings": ("rating that moved", "ratings that moved"),
    "run": ("change of the run", "changes of the run"),
    "edited": ("edit of somebody else", "edits of others"),
    "answered": ("field that somebody filled in", "fields that others filled in"),
    "option": ("option that changed", "options that changed"),
    "file": ("file", "files"),
    "wrote": ("agent that wrote", "agents that wrote"),
}


class News(Shown, frozen=True):
    """One thing. `was`, `now`: of a conclusion, a rating or an option, where there are two sides to it."""

    kind: str
    text: str
    was: str = ""
    now: str = ""
    who: str = ""
    id: str = ""  # of the remark, or the path of the file
    at: str = ""
    how: str = ""  # of a file: new, changed, gone; of a remark: its state


class Since(Shown, frozen=True):
    """`after`: the last event that is not news. `what`: what the person did then; "" = nothing yet, it is all news."""

    after: int
    at: str
    what: str
    news: tuple[News, ...]  # what matters first
    decided: str = ""  # the option that this person chose last
    decided_at: str = ""
    worked: tuple[str, ...] = ()  # agents whose work was taken since

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of each kind, in the order of what matters."""
        found = dict.fromkeys(KINDS, 0)
        for one in self.news:
            found[one.kind] += 1
        return {kind: count for kind, count in found.items() if count}


def counted(kind: str, count: int) -> str:
    """`3 files`"""
    return f"{count} {KINDS[kind][count != 1]}"
