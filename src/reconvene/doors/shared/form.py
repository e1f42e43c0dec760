"""Remarks as a form to fill in: written for an editor, and read back leniently. Pure: opens nothing, records nothing.

What stands in a form is never dropped: a line that fits nowhere is part of the remark above it, and a problem is
reported beside the best reading, not instead of it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reconvene.app.model_reader import Entry
from reconvene.core.facts.commands import RemarkIn
from reconvene.core.kit_finder import reader
from reconvene.doors.shared.remarks import figures_in

HINT = "#:"  # begins a line that is for the person only; a plain "#" may be a heading of theirs
_PROBLEM = f"{HINT} PROBLEM"
FREE = "anything"

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<name>\S.*?)[\s:*_]*")
_BARE = re.compile(r"(?P<name>[A-Za-z][A-Za-z _-]+):\s*")
_FIELD = re.compile(r"\s*(?P<name>[A-Za-z]+)\s*:\s*(?P<value>.*?)\s*")
_ITEM = re.compile(r"[-*•]\s+(?P<rest>.*)")
_SEPARATORS = re.compile(r"[\s_-]+")
_REACTION = re.compile(r"reactions?(?: to)?(?: (?P<target>.+))?", re.IGNORECASE)
_FIELDS = {
    "correction": {
        **dict.fromkeys(("was", "from", "old"), "was"),
        **dict.fromkeys(("now", "to", "is", "new"), "now"),
        "what": "what",
    },
    "reaction": dict.fromkeys(("to", "agent", "agents", "whom"), "target"),
}
_EVERYBODY = ("all", "everybody", "everyone")


class Problem(NamedTuple):
    line: int
    what: str


class Read(NamedTuple):
    """Everything in a form, and what the person may want to put right."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]


# --- writing ----------------------------------------------------------------------------------------------------------


def blank(agents: Sequence[str] = (), about: str = "") -> str:
    """The form with nothing in it."""
    return write((), agents, about=about)


def write(entries: Sequence[Entry], agents: Sequence[str] = (), *, about: str = "", kits: tuple[str, ...] = ()) -> str:
    """The form, with these remarks under their headings."""
    lines = [f"{HINT} Your remarks{f' on {about}' if about else ''}. Use what fits and leave the rest empty."]
    lines += [f'{HINT} "- " at the beginning of a line begins another remark. Lines with {HINT} are hints, not kept.']
    lines += ["", "## Anything", f"{HINT} In any words, as much as you like: it is sorted for you.", ""]
    kinds = [kind for kind in reader(kits).kinds if kind != "comment"]
    for kind in kinds:
        lines += _section(kind, [entry.remark for entry in entries if entry.remark.kind == kind], agents)
    rest = [entry.remark for entry in entries if entry.remark.kind not in kinds]
    return "\n".join([*lines, *(_section("comment", rest, agents) if rest else [])]).rstrip("\n") + "\n"


def again(text: str, problems: Iterable[Problem]) -> str:
    """The same form, word for word, with each problem above the line it is about."""
    above: dict[int, list[str]] = {}
    for problem in problems:
        above.setdefault(problem.line, []).append(f"{_PROBLEM}: {problem.what}")
    lines = [f"{_PROBLEM}s are marked below. To keep everything as it stands, save this unchanged."]
    for number, line in enumerate(text.splitlines(), 1):
        lines += above.get(number, [])
        lines += [] if line.startswith(_PROBLEM) else [line]
    return "\n".join(lines) + "\n"


def _section(kind: str, remarks: Sequence[RemarkIn], agents: Sequence[str]) -> list[str]:
    lines = [f"## {kind.capitalize()}{' to' * (kind == 'reaction')}"]
    if kind == "correction":
        lines += [f"{HINT} What it is about, what it says, what it should say; or all of it in a sentence."]
    if kind == "reaction" and agents:
        lines += [f"{HINT} to: {', '.join(agents)}"]
    for remark in remarks:
        first, *more = remark.text.splitlines() or [""]
        lines += [f"- {first}", *(f"  {line}" for line in more)]
        fields = (("was", remark.was), ("now", remark.now)) if kind == "correction" else (("to", remark.target),)
        lines += [f"  {name}: {value}" for name, value in fields if value and kind in _FIELDS]
    if not remarks:
        lines += {"correction": ["what:", "was:", "now:"], "reaction": ["to:"]}.get(kind, [])
    return [*lines, ""]


# --- reading ----------------------------------------------------------------------------------------------------------


class _Draft:
    """A remark being read."""

    def __init__(self, kind: str, line: int, target: str = "") -> None:
        self.kind = kind
        self.line = line
        self.lines: list[str] = []
        self.fields: dict[str, str] = {"target": target} if target else {}

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    @property
    def started(self) -> bool:
        return bool(self.text or self.fields.keys() - {"target"})


def read(text: str, agents: Sequence[str] = (), kits: tuple[str, ...] = ()) -> Read:
    """The remarks of a filled-in form, in its order. Free text is split and classified as if it had been typed."""
    drafts, kinds = [_Draft(FREE, 1)], reader(kits).kinds
    problems: list[Problem] = []
    target = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(HINT):
            continue
        heading = _heading(line, number, kinds, problems)
        if heading is not None:
            kind, target = heading
            drafts.append(_Draft(kind, number, target))
        elif drafts[-1].kind == FREE:
            drafts[-1].lines.append(line)
        else:
            _take(line, number, drafts, target)
    entries: list[Entry] = []
    for draft in drafts:
        entries += _entries(draft, tuple(agents), kits, problems)
    return Read(tuple(entries), tuple(problems))


def _heading(line: str, number: int, kinds: tuple[str, ...], problems: list[Problem]) -> tuple[str, str] | None:
    """`## Correction`, `Corrections:`, `# Reaction to economist` → the kind and whom it is for."""
    marked = _HEADING.fullmatch(line)
    found = marked or _BARE.fullmatch(line)
    if found is None:
        return None
    name = _SEPARATORS.sub(" ", found["name"]).strip(" *_:")
    reaction = _REACTION.fullmatch(name)
    if reaction:
        return "reaction", (reaction["target"] or "").strip()
    folded = name.casefold()
    for kind in (*kinds, FREE):
        if folded in (kind, f"{kind}s"):
            return kind, ""
    near = difflib.get_close_matches(folded, [*kinds, FREE], n=1, cutoff=0.8) if marked else []
    if not near:
        return None
    problems.append(Problem(number, f"there is no heading {name!r}; did you mean {near[0].capitalize()}?"))
    return near[0], ""


def _take(line: str, number: int, drafts: list[_Draft], target: str) -> None:
    """One line under a heading."""
    item = _ITEM.fullmatch(line)
    if item:
        line = item["rest"]
        if drafts[-1].started:
            drafts.append(_Draft(drafts[-1].kind, number, target))
    draft = drafts[-1]
    field = _FIELD.fullmatch(line)
    name = _FIELDS.get(draft.kind, {}).get(field["name"].casefold(), "") if field else ""
    if not field or not name:
        draft.lines.append(line.removeprefix("  "))
        return
    if not field["value"]:
        return
    if name in draft.fields and draft.started:
        drafts.append(_Draft(draft.kind, number, target))
    drafts[-1].fields[name] = field["value"]


def _entries(draft: _Draft, agents: tuple[str, ...], kits: tuple[str, ...], problems: list[Problem]) -> list[Entry]:
    if draft.kind == FREE:
        return [Entry(one.remark, one.rule) for one in reader(kits).split(draft.text, agents)]
    what, was, now, target = (draft.fields.get(name, "") for name in ("what", "was", "now", "target"))
    text = f"{what}: {draft.text}" if what and draft.text else draft.text or (what if not was and not now else "")
    if not text and not was and not now:
        if target:
            problems.append(Problem(draft.line, f"nothing is said to {target}"))
        return []
    if was and not now and not text:
        problems.append(Problem(draft.line, f"it was {was!r}, and what is it now? Write it after “now:”"))
    if not text:
        text = f"{now}, not {was}" if was and now else f"it should be {now}" if now else f"it is not {was}"
        text = f"{what}: {text}" if what else text[0].upper() + text[1:]
    elif not was and not now:
        was, now = figures_in(f"{draft.kind}: {text}", agents, kits)
    target = _known(target, draft.line, agents, problems)
    return [Entry(RemarkIn(text, draft.kind, target, was, now), f"you wrote it under “{draft.kind}”")]


def _known(target: str, line: int, agents: tuple[str, ...], problems: list[Problem]) -> str:
    """The agents as the workflow spells them."""
    spelled = {_SEPARATORS.sub(" ", agent).casefold(): agent for agent in agents}
    names: list[str] = []
    for part in re.split(r",|\band\b|&", target):
        name = _SEPARATORS.sub(" ", part).strip().casefold().removeprefix("the ")
        if not name:
            continue
        if agents and name not in spelled and name not in _EVERYBODY:
            near = difflib.get_close_matches(name, spelled, n=1)
            told = f"did you mean {spelled[near[0]]}?" if near else f"there is: {', '.join(agents)}"
            problems.append(Problem(line, f"there is no agent {part.strip()!r}; {told}"))
        names.append(spelled.get(name, part.strip()))
    return ", ".join(dict.fromkeys(names))
