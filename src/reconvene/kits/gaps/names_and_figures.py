"""The names and figures of a text, by which it is found again elsewhere; and its words of substance. Knows no gaps."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reconvene.core import kit_finder
from reconvene.kits.gaps.gap_ids import GAP, ISSUE

_CODE = re.compile(r"`([^`\n]{2,60})`")
_QUOTED = re.compile(r"[“\"„]([^“”\"„\n]{2,40})[”\"“]")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d.,:]*(?:\d|(?=\D|$))")
_NAME = re.compile(
    r"(?<![\w`])(?:[A-Za-z][\w-]*_[\w-]+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[\w-]+\.(?:md|json|ya?ml|log|txt|csv|py|db)|[A-Z]{2,}\d*)(?!\w)"
)
_ORDINAL = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|#{1,6}(?: \d[\d.]*)?)[ \t]+", re.MULTILINE)
_DECISION = re.compile(r"\bD-\d{1,4}\b")
_WORDS_FOR = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13)))
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_WORDS_FOR)})\b", re.IGNORECASE)
_COMMON = frozenset(
    "HIGH LOW MEDIUM CRITICAL OK TODO TBD NOT AND OR GAP ISSUE DISAGREE AGREE PARTIAL APPROVED USER".split()
)
MOST = 60


def marks(text: str) -> tuple[str, ...]:
    """Figures, names in code and quotes, identifiers; in reading order, each once, small numbers as figures."""
    plain = _ORDINAL.sub("", _DECISION.sub(" ", ISSUE.sub(" ", GAP.sub(" ", text))))
    found: dict[str, None] = {}
    for pattern in (_CODE, _QUOTED, _NAME):
        for match in pattern.finditer(plain):
            name = " ".join((match[1] if match.re.groups else match[0]).split()).strip(".,:;")
            if name.upper() not in _COMMON and len(name) > 1 and not name.isdigit():
                found[name.casefold()] = None
    for number in _NUMBER.finditer(_NUMBER_WORD.sub(lambda word: str(_WORDS_FOR[word[1].lower()]), plain)):
        figure = number[0].rstrip(".,:")
        if figure not in ("1",):  # "one" is an article as often as a figure
            found[figure] = None
    return tuple(found)[:MOST]


def figures_in(text: str) -> frozenset[str]:
    """For asking whether a text holds a mark: all of it in small letters, numbers as figures."""
    return frozenset(marks(text))


def plain_text(text: str) -> str:
    """A text in which marks are looked for: one case, one blank, small numbers as figures."""
    tidy = _NUMBER_WORD.sub(lambda word: str(_WORDS_FOR[word[1].lower()]), text)
    return " ".join(tidy.replace("`", " ").replace("*", " ").casefold().split())


def holds(plain: str, mark: str) -> bool:
    """`plain`: as `plain_text` makes it. A figure is a whole one: 5 is not in 50."""
    at = plain.find(mark)
    while at >= 0:
        before, after = plain[at - 1 : at], plain[at + len(mark) : at + len(mark) + 1]
        if not (before.isalnum() and mark[0].isalnum()) and not (after.isalnum() and mark[-1].isalnum()):
            return True
        at = plain.find(mark, at + 1)
    return False


def words(text: str) -> tuple[str, ...]:
    """Stems of words of substance, each once."""
    said = re.sub(r"[^\w\s'’-]", " ", ISSUE.sub(" ", GAP.sub(" ", text)))
    stems = (stem for _, stem, common in kit_finder.reader().tokens(said) if not common)
    return tuple(dict.fromkeys(stem for stem in stems if not stem.isdigit() and len(stem) > 2))[: MOST * 2]


def spans(numbers: Iterable[int]) -> str:
    """3, 4, 5, 9 → "3–5, 9"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs[:8])
