"""The gap tracker's door: what outputs and a person's orders make of the value, and what is wrong with an output.

All state is in the value: whoever restores the value restores the tracker. It must not know phases, tasks or files.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from reconvene.core.extensions import Objection
from reconvene.kits.gaps import gate
from reconvene.kits.gaps.applying import about_gaps, judge, propose, release
from reconvene.kits.gaps.conflicts import find_conflicts
from reconvene.kits.gaps.convergence import Config as Config
from reconvene.kits.gaps.convergence import Start, Stuck, row_of, start_of, warning_of
from reconvene.kits.gaps.endings import in_circles
from reconvene.kits.gaps.gap_states import Ledger, Origin
from reconvene.kits.gaps.likeness import digest
from reconvene.kits.gaps.lists import gaps_listed
from reconvene.kits.gaps.orders import Clerk
from reconvene.kits.gaps.proposals import proposals_in
from reconvene.kits.gaps.records import Book, Row, is_open, opened
from reconvene.kits.gaps.review import review_in
from reconvene.kits.gaps.spec_text import Texts, look, wrong_with_spec
from reconvene.kits.gaps.view import value_of


class Sources(NamedTuple):
    """What there is of a round so far. `round` 0 = before the first: lists of gaps only."""

    round: int
    spec: str = ""
    given: str | None = None
    found: str | None = None
    proposals: str | None = None
    review: str | None = None
    closed: bool = False
    proposals_file: str = ""  # where people find them; "" where they are in no file
    review_file: str = ""
    text: str | None = None  # the specification as it stands; `spec` is the draft of it
    said: str = ""  # what the person said
    final: bool = False  # the text is to be the end of it


def track(before: object, sources: Sources, config: Config) -> dict[str, object]:
    """The value after what there is of the round. `before`: the value at the round's start, None at first."""
    book = opened(before)
    sources = _numbered(book, sources)
    if book.adjustments is not None and book.adjustments.round not in (None, sources.round):
        book.adjustments = None  # it was for a round that has closed
    ledger = Ledger(book, sources.round, sources.spec)
    _take_lists(ledger, sources)
    if sources.text is not None and sources.round == 0:  # a look at the text, and no round of engineer and reviewer
        look(book, _texts(sources, sources.text))
        return value_of(book, None)
    start = start_of(book)
    stuck = _take_outputs(ledger, sources, config)
    for name in in_circles(book):
        book.notice(sources.round, "CIRCLE", f"{name} waits for a gap that waits for it: drop one “Blocked by”.", name)
    row = _converge(book, start, sources, stuck, config) if sources.round > 0 else None
    if sources.closed and book.outcome != "USER_APPROVED":
        book.outcome = "COMPLETE" if not book.open() and book.verdict == "APPROVE" else ""
    if sources.text is not None:
        look(book, _texts(sources, sources.text))
    return value_of(book, row)


def _numbered(book: Book, sources: Sources) -> Sources:
    """A phase that is entered anew counts its rounds from 1 again; the table goes on."""
    last = book.rounds[-1].round if book.rounds else 0
    return sources._replace(round=max(sources.round, last + 1)) if sources.round else sources


def _texts(sources: Sources, now: str) -> Texts:
    return Texts(sources.spec, now, sources.said, sources.final)


def _take_lists(ledger: Ledger, sources: Sources) -> None:
    """Each list once: the same text comes with every call. An agent's second list stands in the place of its first."""
    for text, by, file, strict in (
        (sources.given, "person", "the list of gaps", False),
        (sources.found, "reviewer", "the search for gaps", True),
    ):
        if text is None:
            continue
        mark, before = f"{by}:{digest(text)}", [one for one in ledger.book.read if one.startswith(f"{by}:")]
        if mark in (before[-1:] if strict else before):
            continue
        ledger.book.read.append(mark)
        found = gaps_listed(text, strict=strict)
        take = ledger.relist if strict and before else ledger.raise_all
        take(found, Origin(by, file))
        if not strict:
            ledger.restore(found, Origin(by, file))
        if not found and not strict:
            ledger.notice("NO_GAPS_LISTED", "No gap could be read from the list that was given.")


def _take_outputs(ledger: Ledger, sources: Sources, config: Config) -> Stuck:
    book = ledger.book
    book.verdict, book.checks, book.warning, book.readings = "NONE", [], None, []
    output, unchanged, sent_back = None, [], []
    idle = empty = sources.closed
    if sources.proposals is not None:
        file = sources.proposals_file or f"the proposals of round {sources.round}"
        output = proposals_in(sources.proposals, sources.round)._replace(file=file)
        unchanged, idle = propose(ledger, output), output.idle
    find_conflicts(book, output, sources.round, config.patience)
    if sources.review is not None:
        file = sources.review_file or f"the review of round {sources.round}"
        review = review_in(sources.review, sources.round, about_gaps(book, sources.round))._replace(file=file)
        sent_back, empty = judge(ledger, review), review.empty
    find_conflicts(book, None, sources.round, config.patience)
    release(book)
    book.empty = (idle, empty)
    again = [name for name in sent_back if book.gaps[name].rejections >= max(2, config.stall)]
    return Stuck(tuple(again), tuple(name for name in unchanged if is_open(book.gaps[name])))


def _converge(book: Book, start: Start, sources: Sources, stuck: Stuck, config: Config) -> Row:
    """The row as it stands; state and warning once the review is in; table and counter only when the round closes."""
    row, count = row_of(book, start, sources.round, stuck, config)
    if sources.closed or sources.review is not None:
        warned = warning_of(book, row, count, stuck, config)
        book.warning = msgspec.structs.asdict(warned) if warned else None
        book.state = row.state
    if sources.closed:
        book.rounds.append(row)
        book.stalled = count
        if book.adjustments is not None and book.adjustments.round is None:
            book.adjustments = msgspec.structs.replace(book.adjustments, round=sources.round)
    return row


def settle(value: object, round: int, by: str, at: str) -> dict[str, object]:
    """The value after a person's decision wrote into its `orders`: applied, logged, cleared."""
    book = opened(value)
    this_round = book.rounds[-1] if book.rounds else None
    Clerk(book, round, by, at).all()
    return value_of(book, this_round)


def wrong_with(
    value: object,
    role: str,
    text: str,
    sources: Sources,
    config: Config = Config(),  # noqa: B008
) -> Objection | None:
    sources = _numbered(opened(value), sources)
    match role:
        case "found":
            return gate.wrong_with_list(text)
        case "proposals":
            return gate.wrong_with_proposals(opened(value), text, sources.round)
        case "review":
            return gate.wrong_with_review(opened(value), text, sources.proposals, sources.round, config.rulings)
        case "worked":
            return wrong_with_spec(opened(value), _texts(sources, text), sources.text or sources.spec)
        case _:
            return None
