"""What each survey says: the names of its result, so that a misspelt one is found before a run begins."""

from __future__ import annotations

from collections.abc import Mapping


def _schema(**parts: object) -> Mapping[str, object]:
    return {"type": "object", "properties": parts}


_ANY: Mapping[str, object] = {}
_TEXT, _NUMBER, _YES = ({"type": kind} for kind in ("string", "integer", "boolean"))
_TEXTS = {"type": "array", "items": _TEXT}

# By what the survey looks at. One that is not here answers in words.
RESULTS: Mapping[str, Mapping[str, object]] = {
    "ground": _schema(
        git=_YES, why=_TEXT, mend=_TEXT, commit=_TEXT, branch=_TEXT, uncommitted=_TEXTS, uncommitted_count=_NUMBER,
        submodules=_TEXTS, lfs=_TEXTS, lent=_TEXTS, suites=_ANY, test=_TEXT, setup=_TEXT,
    ),
    "tests": _schema(
        verdict=_TEXT, ok=_YES, line=_TEXT, output=_TEXT, exit=_NUMBER, tool=_TEXT, passed=_NUMBER, failed=_NUMBER,
        skipped=_NUMBER, ran=_NUMBER, failures=_TEXTS, new=_TEXTS, flaky=_TEXTS, command=_TEXT, setup=_TEXT,
    ),
    "change": _schema(
        commit=_TEXT, files=_ANY, added=_NUMBER, removed=_NUMBER, commits=_ANY, look_at=_TEXTS, story=_ANY, diff=_TEXT,
        **{"from": _TEXT},
    ),
    "merge": _schema(clean=_YES, conflicts=_TEXTS, in_the_way=_TEXTS, why=_TEXT, head=_TEXT),
}  # fmt: skip
