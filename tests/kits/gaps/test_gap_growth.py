"""Ten times the gaps cost ten times as much, and every short cut gives what the plain rule gives.

The plain rules stand here as they were first written: every pair, every span, every decision looked at one by one.
"""

from __future__ import annotations

import difflib
import random
import re

import pytest
from gap_texts import wrong_with
from hypothesis import given
from hypothesis import strategies as st

from reconvene.kits.gaps import applying, likeness, lists, markdown, proposals, review
from reconvene.kits.gaps.gap_ids import canonical
from reconvene.kits.gaps.likeness import Titles, normal
from reconvene.kits.gaps.markdown import within
from reconvene.kits.gaps.outputs import Answer, Proposals, Resolution
from reconvene.kits.gaps.records import Book, Decision
from reconvene.kits.gaps.tracker import Config, Sources, track

WORDS = (
    "queue retry limit 5 50 timeouts order agents failure digest owner review the no budget v2 figures archive".split()
)
TITLES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


def plainly_like(seen: dict[str, str], title: str) -> tuple[str, str]:
    """The title most alike, by comparing with each."""
    words = likeness._substance(title)
    if len(words) < 3:
        return "", ""
    count = {word: sum(word in likeness._substance(other) for other in seen.values()) for word in words}
    best, why, most = "", "", 0.0
    for name, other in seen.items():
        theirs = likeness._substance(other)
        common = sum(word in theirs for word in words if count[word] <= 60)
        figures = [{word for word in each if any(letter.isdigit() for letter in word)} for each in (words, theirs)]
        if not common or figures[0] != figures[1]:
            continue
        part, grade, reason = common / len(words | theirs), 0.0, ""
        if part >= 0.75 and len(theirs) >= 3:
            grade, reason = part, f"{common} of {len(words | theirs)} words of substance are the same"
        elif part >= 0.5:
            ratio = difflib.SequenceMatcher(None, normal(title)[:200], normal(other)[:200], autojunk=False).ratio()
            grade, reason = (ratio, f"the wording is the same to {ratio:.0%}") if ratio >= 0.9 else (0.0, "")
        if grade > most:
            best, why, most = name, reason, grade
    return best, why


@given(st.lists(TITLES, max_size=25), TITLES)
def test_the_title_most_alike_is_the_one_that_comparing_all_would_find(seen: list[str], title: str) -> None:
    titles, all_of_them = Titles(), {f"G-{n}": one for n, one in enumerate(seen)}
    for name, one in all_of_them.items():
        titles.add(name, one)
    assert titles.like(title) == plainly_like(all_of_them, title)


def test_words_in_more_titles_than_sixty_say_nothing_in_both() -> None:
    titles, seen = Titles(), {f"G-{n}": f"queue retry limit {'archive' if n < 40 else 'owner'}" for n in range(80)}
    for name, one in seen.items():
        titles.add(name, one)
    for title in ("queue retry limit archive", "archive digest budget"):
        assert titles.like(title) == plainly_like(seen, title)


SPANS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=12)


@given(SPANS, st.lists(st.integers(1, 40), max_size=20))
def test_lines_within_spans_are_those_that_lie_in_any(spans: list[tuple[int, int]], numbers: list[int]) -> None:
    assert within(spans, numbers) == {n for n in numbers if any(first <= n <= last for first, last in spans)}


LINES = st.sampled_from(
    [
        "as the person decided, GAP-A-1",
        "gap-a-10: option B",
        "ruling on D-001",
        "GAP-A-2 is done",
        "see D-0012",
        "fix it",
    ]
)
ANSWERS = st.builds(
    Answer,
    st.sampled_from(["ISSUE-R1-001", "ISSUE-R1-002"]),
    st.sampled_from(["AGREE", "DISAGREE"]),
    *(st.just(""),) * 3,
)
SOLUTIONS = st.builds(
    lambda gap, body: Resolution(gap, "", "", "", "", body=body),
    st.sampled_from(["GAP-A-001", "GAP-A-2", ""]),
    st.lists(LINES, max_size=2).map("\n".join),
)
OUTPUTS = st.builds(
    lambda answers, solved, said, issues: Proposals(
        tuple(solved), tuple(answers), issues=frozenset(issues), said="\n".join(said)
    ),
    st.lists(ANSWERS, max_size=2),
    st.lists(SOLUTIONS, max_size=2),
    st.lists(LINES, max_size=3),
    st.sets(st.sampled_from(["ISSUE-R1-001", "ISSUE-R1-003"])),
)
DECISIONS = st.builds(
    lambda number, decision, gap, issue: Decision(1, f"D-{number:03d}", "", decision, "ann", "t", gap=gap, issue=issue),
    st.integers(1, 3),
    st.sampled_from(["A: yes", "B: no", "have it answered"]),
    st.sampled_from(["", "GAP-A-1", "GAP-A-001", "GAP-A-2"]),
    st.sampled_from(["", "ISSUE-R1-001", "ISSUE-R1-003"]),
)


def plainly_taken_up(decision: Decision, output: Proposals) -> bool:
    if any(answer.issue == decision.issue and answer.position == "DISAGREE" for answer in output.answers):
        return decision.decision.startswith(("A:", "have it answered"))
    if decision.issue and decision.issue in output.issues:
        return True
    if re.search(rf"(?<![\w-]){re.escape(decision.id)}(?!\d)", output.said, re.IGNORECASE):
        return True
    if not decision.gap:
        return not decision.issue
    about = [one.body for one in output.resolutions if canonical(one.gap) == canonical(decision.gap)]
    about += [line for line in output.said.split("\n") if decision.gap in line.upper()]
    return any(applying._RULED.search(text) for text in about)


@given(OUTPUTS, st.lists(DECISIONS, max_size=4))
def test_decisions_are_taken_up_as_looking_at_each_would_say(output: Proposals, decisions: list[Decision]) -> None:
    is_taken_up = applying.taken_up(output)
    assert [is_taken_up(one) for one in decisions] == [plainly_taken_up(one, output) for one in decisions]


# --- what a list and a round cost, counted ---


def given_list(count: int) -> str:
    chance = random.Random(count)
    words = [f"{a}{b}" for a in "arbor bast corn delt ember".split() for b in "ine ock ume yard eld oth".split()]
    return "\n".join(f"- GAP-A-{n:03d} (HIGH): {' '.join(chance.sample(words, 5))}" for n in range(1, count + 1))


def proposed(count: int) -> str:
    return "\n".join(
        f"## Gap Resolution: GAP-A-{n:03d}\n\n### Proposed Solution\nKeep it.\n\n### New Gaps Introduced\nNone.\n"
        for n in range(1, count + 1)
    )


def reviewed(count: int) -> str:
    return "\n".join(f"{n}. GAP-A-{n:03d}: it - **needs revision**" for n in range(1, count + 1)) + "\n\n**REVISE**\n"


@pytest.mark.parametrize("count", [50, 500])
def test_taking_in_a_list_compares_each_title_with_a_few(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    grade, title = likeness._grade, likeness._title
    monkeypatch.setattr(likeness, "_grade", lambda *given: calls.append("compared") or grade(*given))
    monkeypatch.setattr(likeness, "_title", lambda given: calls.append("read") or title(given))
    assert track(None, Sources(round=0, given=given_list(count)), Config())["total"] == count
    assert calls.count("read") == 2 * count
    assert calls.count("compared") <= 5 * count


def test_a_text_is_read_once_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate of each output, the track after each step and at the close all ask for the same readings."""
    reads: dict[int, int] = {}
    readers = (proposals.proposals_in, review.review_in, lists._gaps_listed)
    for reader in readers:
        reader.cache_clear()
    given, work, verdicts = given_list(30), proposed(30), reviewed(30)
    for module in (markdown, lists):
        read = module.read

        def counted(text: str, read=read) -> object:
            reads[len(text)] = reads.get(len(text), 0) + 1
            return read(text)

        monkeypatch.setattr(module, "read", counted)
    first = Sources(round=1, given=given)
    assert wrong_with(track(None, first, Config()), "proposals", work, first) == ""
    second = first._replace(proposals=work)
    assert wrong_with(track(None, second, Config()), "review", verdicts, second) == ""
    track(None, second._replace(review=verdicts), Config())
    track(None, second._replace(review=verdicts, closed=True), Config())
    assert {len(text): reads.get(len(text), 0) for text in (given, work, verdicts)} == {
        len(given): 1,
        len(work): 1,
        len(verdicts): 1,
    }


def test_what_is_noticed_is_noticed_once_also_in_a_book_that_was_read() -> None:
    book = Book()
    for _ in range(3):
        book.notice(1, "A", "one")
    again = Book(errors=list(book.errors))
    again.notice(1, "A", "one")
    again.notice(1, "A", "two")
    assert [one.text for one in again.errors] == ["one", "two"]
