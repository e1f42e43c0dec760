"""How the tries of one round differ: what each of them gave, what the person asked to change, a diff of the outputs.

Pure: contents come from the caller's `read`, what a try did to gaps from its `gaps`. Judges nothing: that is for the
person to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from reconvene.app.line_diff import diff_summary, unified_diff
from reconvene.app.views.all_rounds import Round, Said, Tried, tries_of
from reconvene.core.facts.commands import Answers

Read = Callable[[str], bytes]
_STANDS = ("accepted", "forced")


class Facts(Struct, frozen=True):
    """One try in numbers."""

    serial: int
    outcome: str
    started: str
    seconds: float
    cost: float
    attempts: int
    rejections: tuple[str, ...]  # why a gate sent an output back
    characters: dict[str, int]  # agent → length of what it gave
    missing: tuple[str, ...] = ()
    gaps: Mapping[str, object] | None = None  # what a tracker says of it
    archive: str = ""


class Asked(Struct, frozen=True):
    """What the person wanted otherwise when they took a try back."""

    serial: int
    at: str
    by: str
    why: str
    fields: Answers
    remarks: tuple[Said, ...]
    user: str = ""


class Difference(Struct, frozen=True):
    """One output or file, in an earlier try and in the one it is compared with. `diff` "" = the same."""

    what: str
    old: int  # serial
    new: int
    diff: str

    @property
    def summary(self) -> str:
        return diff_summary(self.diff)


class Comparison(Struct, frozen=True):
    phase: str
    place: str
    n: int
    standing: int  # serial of the try that the others are compared with; 0 = none gave anything yet
    tries: tuple[Facts, ...]
    asked: tuple[Asked, ...]
    differences: tuple[Difference, ...]


class _Content(NamedTuple):
    digest: str
    note: str = ""
    told: bool = False  # a file that is an output's very text


def compare(
    found: Sequence[Round],
    one: Round,
    read: Read,
    fields: Callable[[str], Mapping[str, object]],
    gaps: Callable[[Round], Mapping[str, object] | None] = lambda _: None,
) -> Comparison:
    """All tries of the round that `one` is a try of; each one that was taken back against the one that stands."""
    tries = tries_of(found, one)
    # Where the round was dropped, or its retry has given nothing yet, the tries are compared among themselves.
    newest = next((each for each in reversed(tries) if _outputs(each)), None)
    earlier = [each for each in tries if newest and each.serial < newest.serial]
    return Comparison(
        one.phase,
        one.place,
        one.n,
        newest.serial if newest and not newest.undone else 0,
        tuple(_facts(each, read, gaps(each)) for each in tries),
        tuple(_asked(each, fields) for each in tries if each.undone),
        tuple(difference for each in earlier if newest for difference in _differences(each, newest, read)),
    )


def _facts(one: Round, read: Read, gaps: Mapping[str, object] | None) -> Facts:
    lengths: dict[str, int] = {}
    for tried in _outputs(one).values():
        if tried.output is not None:
            text = read(tried.output.digest).decode("utf-8", errors="replace")
            lengths[tried.agent] = lengths.get(tried.agent, 0) + len(text)
    return Facts(
        one.serial,
        one.outcome,
        one.started,
        one.seconds,
        one.cost,
        one.attempts,
        tuple(f"{tried.agent}: {tried.why}" for tried in one.rejected),
        lengths,
        one.missing,
        gaps,
        one.undone.folder if one.undone else "",
    )


def _asked(one: Round, fields: Callable[[str], Mapping[str, object]]) -> Asked:
    undone = one.undone
    assert undone is not None
    why = undone.option or undone.why
    return Asked(one.serial, undone.at, undone.by, why, dict(fields(undone.fields)), undone.remarks, undone.user)


def _outputs(one: Round) -> dict[tuple[int, str], Tried]:
    """What every agent gave in every step: the output that was accepted, else the last that a gate sent back."""
    best: dict[tuple[int, str], Tried] = {}
    for tried in one.tried:
        known = best.get((tried.step, tried.agent))
        if tried.output is not None and (tried.verdict in _STANDS or known is None or known.verdict not in _STANDS):
            best[tried.step, tried.agent] = tried
    return best


def _contents(one: Round) -> dict[str, _Content]:
    outputs = _outputs(one)
    agents = [agent for _, agent in outputs]
    contents: dict[str, _Content] = {}
    for (step, agent), tried in outputs.items():
        assert tried.output is not None
        name = f"{agent} (step {step + 1})" if agents.count(agent) > 1 else agent
        contents[name] = _Content(tried.output.digest, "" if tried.verdict == "accepted" else f" ({tried.verdict})")
    told = {content.digest for content in contents.values()}
    files = [file for file in one.versions if file.digest]
    return {**{file.path: _Content(file.digest, told=file.digest in told) for file in files}, **contents}


def _differences(old: Round, new: Round, read: Read) -> list[Difference]:
    before, after = _contents(old), _contents(new)
    found: list[Difference] = []
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name), after.get(name)
        if all(content.told for content in (was, now) if content):
            continue  # the output's own difference says it
        diff = unified_diff(name, read(was.digest) if was else None, read(now.digest) if now else None)
        if diff:
            head = [_head("---", old, name, was), _head("+++", new, name, now)]
            diff = "\n".join([*head, *diff.split("\n")[2:]])
        found.append(Difference(name, old.serial, new.serial, diff))
    return found


def _head(mark: str, one: Round, name: str, content: _Content | None) -> str:
    if content is None:
        return f"{mark} R{one.serial}: no {name}"
    return f"{mark} R{one.serial}/{name} ({one.outcome}){content.note}"
