"""Lists, proposals and reviews that come as JSON instead of Markdown.

Names of keys are taken leniently, meanings strictly. It must not know which gaps exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from reconvene.kits.gaps.cues import issue_state
from reconvene.kits.gaps.found import NOTHING, Found, gap_of_fields, id_first, item_of, with_blocker
from reconvene.kits.gaps.gap_ids import ISSUE, issue_named, issues_in
from reconvene.kits.gaps.likeness import digest
from reconvene.kits.gaps.markdown import bare, clip
from reconvene.kits.gaps.outputs import (
    Answer,
    Judged,
    Proposals,
    Raised,
    Resolution,
    Review,
    Ruled,
    answer_of,
    first_of,
)
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.verdicts import OVERALL_KEYS, opinion, overall, phrase
from reconvene.kits.gaps.verdicts import decided as settled
from reconvene.kits.gaps.vocabulary import Overall, severity_named


def as_json(text: str) -> object | None:
    """The value, when the text is a JSON list or object (in a fence or not)."""
    inner = text.strip().removeprefix("\ufeff")
    if inner.startswith("```") and inner.endswith("```"):
        inner = inner[3:-3].strip()
        inner = inner[4:].strip() if inner[:4].lower() == "json" else inner
    if not inner.startswith(("{", "[")):
        return None
    try:
        value: object = msgspec.json.decode(inner.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, (list, dict)) else None


_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_REVIEW_KEYS = ("verdict", "issue", "new_gaps", "newgaps", "new gaps", "rulings", "overall")


def closing_json(text: str) -> object | None:
    """The last fenced block that is a review as JSON; None where there is none. One inside a sample is a sample."""
    for body in reversed(_fences(text.replace("\r\n", "\n").split("\n"))):
        value = as_json(body)
        if isinstance(value, Mapping) and any(str(key).lower().startswith(_REVIEW_KEYS) for key in value):
            return value
    return None


def _fences(lines: list[str]) -> list[str]:
    """What stands in fences that are not themselves in one."""
    made: list[str] = []
    mark, since = "", 0
    for at, line in enumerate(lines):
        found = _FENCE.match(line[:200])
        if found and not mark:
            mark, since = found[1], at + 1
        elif found and found[1].startswith(mark) and not found[2].strip():
            made.append("\n".join(lines[since:at]))
            mark = ""
    return made


def lists_new_gaps(value: object) -> bool:
    return isinstance(value, Mapping) and any(_key(key).startswith("new") for key in value)


def gaps_of(value: object) -> Iterator[Found]:
    items: object = value
    if isinstance(value, Mapping):
        lists = [inner for key, inner in value.items() if isinstance(inner, list) and "gap" in str(key).lower()]
        items = lists[0] if lists else next((inner for inner in value.values() if isinstance(inner, list)), [value])
    return _gaps(items if isinstance(items, list) else [])


def _gaps(items: list[object]) -> Iterator[Found]:
    return (found for item in items if (found := _gap(item)))


def _gap(item: object) -> Found | None:
    """One gap as JSON has it: a text, or an object with the usual names."""
    if isinstance(item, str):
        name, title = id_first(bare(item))
        return None if not name and (NOTHING.match(title) or not title) else item_of(name, title, "")
    if not isinstance(item, Mapping):
        return None
    return gap_of_fields({str(key): _flat(value) for key, value in item.items()}, "")


def _flat(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_flat(one) for one in value[:50] if not isinstance(one, (list, dict)))
        case None | dict():
            return ""
        case _:
            return str(value)


def proposals_of(value: Mapping[str, object], text: str, round: int) -> Proposals:
    solved, answers, new = [], [], []
    for key, items in value.items():
        for item in items if isinstance(items, list) else []:
            if "new" in key.lower() and (raised := _gap(item)):
                new.append(raised)
            elif isinstance(item, Mapping) and (answer := _answer_of_json(item, round)):
                answers.append(answer)
            elif isinstance(item, Mapping) and "new" not in key.lower() and (made := _solution_of_json(item)):
                solved.append(made)
    cited = frozenset(issues_in(text, round - 1))
    return Proposals(tuple(solved), tuple(answers), tuple(new), issues=cited, said=text)


def _texts(item: Mapping[str, object]) -> dict[str, str]:
    return {_key(key): one for key, one in item.items() if isinstance(one, str)}


def _key(key: object) -> str:
    return str(key).lower().replace("_", " ")


def _answer_of_json(item: Mapping[str, object], round: int) -> Answer | None:
    said = _texts(item)
    match = ISSUE.search(first_of(said, "issue", "issue id", "response to"))
    return answer_of(issue_named(match, round - 1), said, said.get("text", ""), "") if match else None


def _solution_of_json(item: Mapping[str, object]) -> Resolution | None:
    said = _texts(item)
    name, title = id_first(bare(first_of(said, "gap", "gap id", "id")))
    solution = first_of(said, "proposed solution", "solution", "proposal", "text")
    if not name or not solution:
        return None
    blocked = with_blocker(Found("", ""), said.get("blocked by", ""))
    lists = {_key(key): one for key, one in item.items() if isinstance(one, list)}
    return Resolution(
        name,
        clip(title or said.get("title", ""), TITLE),
        "",
        digest(solution),
        clip(bare(solution), TEXT),
        said.get("confidence", "").upper()[:20],
        blocked.question,
        blocked.blocked_by,
        tuple(_gaps(lists.get("new gaps introduced") or lists.get("new gaps") or [])),
        tuple(_gaps(lists.get("split into") or lists.get("split") or [])),
        "\n".join(said.values()),
        solution,
    )


def review_of(value: object, text: str, round: int) -> Review:
    source = value if isinstance(value, Mapping) else {"verdicts": value}
    verdicts, issues, rulings = [], [], []
    new: list[Found] = []
    checks: list[tuple[str, bool]] = []
    decided: list[Overall] = []
    for key, inner in source.items():
        name = str(key).lower()
        if isinstance(inner, str) and OVERALL_KEYS.match(name.replace("_", " ")):
            decided.append(overall(phrase(inner)))
        for item in _entries(inner):
            if "new" in name:
                new += _gaps([item])
            elif "check" in name:
                checks.append(_check(item))
            elif "ruling" in name or "decision" in name:
                rulings += [ruled] if isinstance(item, Mapping) and (ruled := _ruled_of_json(item, round)) else []
            elif isinstance(item, Mapping):
                issues += [issue] if (issue := _issue_of_json(item, name, round)) else []
                verdicts += [judged] if "issue" not in name and (judged := _judged_of_json(item)) else []
    return Review(
        tuple(verdicts), tuple(issues), tuple(new), tuple(checks), settled(decided), text, rulings=tuple(rulings)
    )


def _entries(inner: object) -> list[object]:
    """A list as it is; an object by id as a list of objects that name it: {"GAP-A-001": "APPROVED"}."""
    if isinstance(inner, list):
        return inner
    if not isinstance(inner, Mapping):
        return []
    made: list[object] = []
    for key, one in inner.items():
        told = dict(one) if isinstance(one, Mapping) else {"verdict": one, "text": one}
        made.append({"id": str(key), **told})
    return made


def _check(item: object) -> tuple[str, bool]:
    if not isinstance(item, Mapping):
        return clip(str(item), TITLE), True
    done = item.get("done", item.get("passed", item.get("ok", True)))
    said = next((str(item[key]) for key in ("text", "check", "name", "id") if item.get(key)), "")
    return clip(said, TITLE), done not in (False, "no", "false", "failed")


def _judged_of_json(item: Mapping[str, object]) -> Judged | None:
    said = _texts(item)
    name, _ = id_first(first_of(said, "gap", "gap id", "id"))
    found = opinion(first_of(said, "verdict", "status", "decision", "state"))
    if not name or found is None:
        return None
    note = clip(first_of(said, "note", "notes", "why", "reason", "comment"), TEXT)
    return Judged(name, found.verdict, note, 0, found.doubt)


def _ruled_of_json(item: Mapping[str, object], round: int) -> Ruled | None:
    said = _texts(item)
    name = first_of(said, "id", "ruling", "decision", "issue").strip().upper()
    issue = ISSUE.match(name)
    followed = item.get("followed", item.get("follows", item.get("verdict")))
    if not name or followed is None:
        return None
    yes = followed is True or (
        isinstance(followed, str) and re.match(r"(?:yes|followed|follows|true)", followed.strip(), re.I)
    )
    why = first_of(said, "why", "reason", "note") or (followed if isinstance(followed, str) and not yes else "")
    return Ruled(issue_named(issue, round) if issue else name, bool(yes), clip(str(why), TITLE))


def _issue_of_json(item: Mapping[str, object], key: str, round: int) -> Raised | None:
    said = _texts(item)
    match = ISSUE.match(first_of(said, "id", "issue", "issue id"))
    text = first_of(said, "text", "description", "concern", "title", "summary", "problem") or (
        match[0] if match else ""
    )
    if (match is None and "issue" not in key) or not text:
        return None
    gap, _ = id_first(first_of(said, "gap", "gap id"))
    name = issue_named(match, round) if match else ""
    title = said.get("title") or text
    state = issue_state(first_of(said, "state", "status")) or "open"
    return Raised(name, gap, severity_named(said.get("severity", "")), clip(title, 80), clip(text, TEXT), "", state)
