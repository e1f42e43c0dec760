"""Lists, proposals and reviews that come as JSON instead of Markdown.

Names of keys are taken leniently, meanings strictly. It must not know which gaps exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from reconvene.kits.gaps.found import NOTHING, Found, gap_of_fields, id_first, item_of, with_blocker
from reconvene.kits.gaps.gap_ids import ISSUE, issue_named, issues_in
from reconvene.kits.gaps.likeness import digest
from reconvene.kits.gaps.markdown import bare, clip
from reconvene.kits.gaps.outputs import Answer, Judged, Proposals, Raised, Resolution, Review, answer_of, first_of
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.verdicts import OVERALL_KEYS, overall, phrase
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
    )


def review_of(value: object, text: str, round: int) -> Review:
    source = value if isinstance(value, Mapping) else {"verdicts": value}
    verdicts, issues = [], []
    new: list[Found] = []
    checks: list[tuple[str, bool]] = []
    decided: list[Overall] = []
    for key, inner in source.items():
        name = str(key).lower()
        if isinstance(inner, str) and OVERALL_KEYS.match(name.replace("_", " ")):
            decided.append(overall(phrase(inner)))
        for item in inner if isinstance(inner, list) else []:
            if "new" in name:
                new += _gaps([item])
            elif "check" in name:
                told = item.get("text", "") if isinstance(item, Mapping) else item
                checks.append((clip(str(told), TITLE), True))
            elif isinstance(item, Mapping):
                issues += [issue] if (issue := _issue_of_json(item, name, round)) else []
                verdicts += [judged] if (judged := _judged_of_json(item)) else []
    return Review(tuple(verdicts), tuple(issues), tuple(new), tuple(checks), settled(decided), text)


def _judged_of_json(item: Mapping[str, object]) -> Judged | None:
    said = _texts(item)
    name, _ = id_first(first_of(said, "gap", "gap id", "id"))
    verdict = phrase(first_of(said, "verdict", "status", "decision"))
    return Judged(name, verdict, clip(said.get("note", said.get("notes", "")), TEXT), 0) if name and verdict else None


def _issue_of_json(item: Mapping[str, object], key: str, round: int) -> Raised | None:
    said = _texts(item)
    match = ISSUE.match(said.get("id", said.get("issue", "")))
    text = first_of(said, "text", "description", "concern", "title")
    if (match is None and "issue" not in key) or not text:
        return None
    gap, _ = id_first(first_of(said, "gap", "gap id"))
    name = issue_named(match, round) if match else ""
    title = said.get("title") or text
    return Raised(name, gap, severity_named(said.get("severity", "")), clip(title, 80), clip(text, TEXT), "")
