"""How well reviews are read: precision and recall of verdicts, issues and new gaps over a folder of forms with truth.

A folder holds NN-name.md and NN-name.truth.json. REVIEW_FORMS names another one than the fixtures beside this
file. `python tests/kits/gaps/measured_reviews.py [-v]` prints the figures.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from reconvene.kits.gaps.outputs import Raised, Review
from reconvene.kits.gaps.review import review_in
from reconvene.kits.gaps.review_places import About
from reconvene.kits.gaps.verdicts import APPROVALS, strictest

HERE = Path(__file__).parent / "reviews"


class Form(NamedTuple):
    name: str
    text: str
    truth: Mapping[str, Any]

    @property
    def read(self) -> Review:
        gaps = tuple(self.truth["open_gaps"].items())
        return review_in(self.text, self.truth["round"], About(gaps, tuple(self.truth["open_gaps"])))


class Count(NamedTuple):
    """`right` of `found` were right, of `wanted` that there were."""

    right: int = 0
    found: int = 0
    wanted: int = 0
    wrong: tuple[str, ...] = ()

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0

    def plus(self, other: Count) -> Count:
        sums = [one + two for one, two in zip(self[:3], other[:3])]
        return Count(sums[0], sums[1], sums[2], (*self.wrong, *other.wrong))

    def __str__(self) -> str:
        figures = f"precision {self.precision:.3f}, recall {self.recall:.3f}"
        return f"{figures} ({self.right} of {self.wanted}, {self.found} found)"


def folder() -> Path:
    return Path(os.environ.get("REVIEW_FORMS") or HERE)


def forms(where: Path | None = None) -> list[Form]:
    found = sorted((where or folder()).glob("*.truth.json"))
    return [
        Form(
            one.name.removesuffix(".truth.json"),
            one.with_name(one.name.replace(".truth.json", ".md")).read_text(),
            json.loads(one.read_text()),
        )
        for one in found
    ]


def measured(every: list[Form]) -> dict[str, Count]:
    total: dict[str, Count] = {}
    for form in every:
        for name, count in _counts(form):
            total[name] = total.get(name, Count()).plus(count)
    return total


def _counts(form: Form) -> Iterator[tuple[str, Count]]:
    yield "verdicts", _verdicts(form)
    found = _issues(form)
    yield "issues", found
    yield "issues' states", _parts(form, "state")
    yield "issues' severities", _parts(form, "severity")
    yield "gaps", _gaps(form)
    yield "differences", _differences(form)


def _group(verdict: str) -> str:
    """Both kinds of approval go through."""
    return "approved" if verdict.replace("_", " ") in APPROVALS else verdict.replace("_", " ")


def _verdicts(form: Form) -> Count:
    truth = form.truth
    said: dict[str, list[Any]] = {}
    for one in form.read.verdicts:
        if one.gap in truth["open_gaps"]:
            said.setdefault(one.gap, []).append(one)
    right, wrong, wanted, found = 0, [], 0, 0
    for gap in truth["open_gaps"]:
        judged, expected = said.get(gap), truth["verdicts"].get(gap)
        if gap in truth["doubtful"]:
            if judged and not any(one.doubt for one in judged):
                found += 1
                if strictest([one.verdict for one in judged]) in APPROVALS:
                    wrong.append(f"{form.name} {gap}: an approval without a doubt")
                else:
                    right, wanted = right + 1, wanted + 1
            continue
        wanted += expected is not None
        found += judged is not None
        read = _group(strictest([one.verdict for one in judged])) if judged else ""
        if expected and read == _group(expected):
            right += 1
        elif expected or read:
            wrong.append(f"{form.name} {gap}: read {read or 'nothing'}, is {expected or 'nothing'}")
    return Count(right, found, wanted, tuple(wrong))


def _pairs(form: Form) -> tuple[list[tuple[Raised, Mapping[str, Any]]], list[Raised], list[Mapping[str, Any]]]:
    """Issues that are the same, those only read, those only true."""
    left = list(form.truth["issues"])
    optional = list(form.truth.get("issues_optional", []))
    pairs, only = [], []
    for one in form.read.issues:
        match = next((want for want in left if want["id"] and want["id"].upper() == one.id), None)
        match = match or next((want for want in left if not want["id"] and not one.id and _alike(one, want)), None)
        match = match or next((want for want in left if not (want["id"] and one.id) and _alike(one, want)), None)
        if match is not None:
            left.remove(match)
            pairs.append((one, match))
        elif not any(_alike(one, want) for want in optional):
            only.append(one)
    return pairs, only, left


def _alike(one: Raised, want: Mapping[str, Any]) -> bool:
    gaps = {want["gap"], *want.get("gap_also", ())}
    mine, true = {*one.title.lower().split(), *one.text.lower().split()}, set(want["title"].lower().split())
    near = SequenceMatcher(None, one.title.lower(), want["title"].lower()).ratio() >= 0.5
    return (one.gap in gaps or not one.gap or None in gaps) and (near or len(mine & true) * 2 >= len(true))


def _issues(form: Form) -> Count:
    pairs, only, left = _pairs(form)
    wrong = [f"{form.name}: made up {one.id or one.title}" for one in only]
    wrong += [f"{form.name}: missed {one['id'] or one['title']}" for one in left]
    return Count(len(pairs), len(pairs) + len(only), len(pairs) + len(left), tuple(wrong))


def _parts(form: Form, part: str) -> Count:
    """State or severity of the issues that were found. A severity that only the text's quotes give may be missing."""
    pairs, _, _ = _pairs(form)
    wrong, right = [], 0
    for one, want in pairs:
        fits = {want[part], *want.get(f"{part}_also", ())}
        if part == "severity" and want["state"] == "resolved":
            fits.add(None)
        right += getattr(one, part) in fits
        wrong += (
            []
            if getattr(one, part) in fits
            else [f"{form.name} {one.id}: {part} {getattr(one, part)}, is {want[part]}"]
        )
    return Count(right, len(pairs), len(pairs), tuple(wrong))


def _gaps(form: Form) -> Count:
    left, right, wrong = list(form.truth["new_gaps"]), 0, []
    read = form.read.new
    for one in read:
        match = next((want for want in left if (want["id"] or "").upper() == one.id and one.id), None)
        match = match or next((want for want in left if not want["id"] and _near(one.title, want["title"])), None)
        if match is None:
            wrong.append(f"{form.name}: made up gap {one.id or one.title}")
        else:
            left.remove(match)
            right += 1
    wrong += [f"{form.name}: missed gap {one['id'] or one['title']}" for one in left]
    return Count(right, len(read), right + len(left), tuple(wrong))


def _near(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio() >= 0.4


def _differences(form: Form) -> Count:
    want, read = set(form.truth["json_differs"]), {one.what for one in form.read.differs}
    wrong = [f"{form.name}: differs {one}" for one in sorted(want ^ read)]
    return Count(len(want & read), len(read), len(want), tuple(wrong))


if __name__ == "__main__":
    for name, count in measured(forms()).items():
        print(f"{name}: {count}")
        for line in count.wrong if "-v" in sys.argv else ():
            print("   ", line)
