"""What another round changed: for each agent that looked again, a sentence of what it said before and of what it says.

Read from the state of a run at an open checkpoint: what was said since the last decision, beside what the same agents
had said before it in the same phase (and item). Knows no workflow, and no heading but `Summary`. Texts are compared
sentence by sentence, summaries first. Of the sentences that differ, a conclusion that turned round comes first, then
those with other figures, those that say the opposite, those that name a remark, and the first. Tables are compared cell
by cell; what differs beside that (code, the order, what lies beyond the part that is compared) is named. Of the agents,
those come first who say the opposite, then those with other figures; among these, who draws together what others wrote
before those others. Never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app.session import Session
from reconvene.app.views import parts
from reconvene.app.views.opposites import turned
from reconvene.app.views.read_model import Change
from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Ref
from reconvene.core.facts.state import RunState, TalkEntry
from reconvene.core.shown.on_record import changed_view
from reconvene.core.shown.summaries import summary_in
from reconvene.language.emphasis import without_emphasis
from reconvene.language.late_patterns import late

_LONGEST = 20_000  # characters of an output that are compared
_MOST = 100  # sentences of it
_WIDEST = 10 * _LONGEST  # characters in which tables and code are looked for
_SHOWN = 300  # characters of a sentence that are told
_REMARKS = 50  # of the person's, with which a sentence is compared to see whether it only repeats one
_ALIKE = 0.35  # share of words from which two sentences are taken to be about the same
_REPEATED = 0.7  # share of a sentence's words that stand in a remark
_PROSE = 30  # characters from which a text in a structured answer speaks for itself
_LABEL = 4  # words from which a sentence says something
_SHORT = 4  # letters from which a word says what a sentence is about
_REPLIES = ("reply", "message")  # where a structured answer speaks to the person: shown as talk

_BREAK = late(r"(?<=[.!?])\s+(?=[“\"'(\[]*[A-ZÀ-ÖØ-Þ])|(?<=[。！？])")
# A point that ends no sentence: e.g., U.S., z.B., and titles and the like before a name or a number.
_ABBREVIATED = late(
    r"(?:\b(?:\w\.)+\w|\b(?:dr|mr|mrs|ms|prof|st|vs|no|nr|fig|approx|ca|cf|inc|ltd|jr|sr|bzw|vgl|usw))\.$",
    re.IGNORECASE,
)
_HEADING = late(r"^\s*#{1,6}\s+(?P<title>.*?)[\s#:]*$", re.MULTILINE)
_PARAGRAPH = late(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+•]|\d{1,3}[.)])\s)")
_LEAD = late(r"\s*(?:>\s*|[-*+•]\s+|\d{1,3}[.)]\s+)*")
# Headings, tables, rules, and what an agent answers to a remark in the form that it is asked for.
_NOT_PROSE = late(r"\s*(?:[#|]|[-=*_]{3,}\s*$|[-*\[( ]*FB-\d+[\])]?:\s*(?i:taken up|declined)\b)")
_MARKS = frozenset("*_`")
_REMARK = late(r"\bFB-\d+\b")
_FIGURE = late(r"(?<![\w.,])(?<!\w-)\d+(?:[.,]\d+)*")  # and not part of a name such as ISSUE-R1-001
_WORD = late(r"[^\W_]+(?:[.,]\d+)*")


_NOTHING: Mapping[str, str] = {}


def changes(session: Session) -> tuple[Change, ...]:
    """What was said since the last decision and differs from before: what matters first, else in the order in which
    the agents worked."""
    found = sorted(_found(session.state, session.book), key=lambda one: _rank(*one))
    return tuple(change for change, _ in found)


def _rank(change: Change, together: bool) -> tuple[int, bool]:
    """The opposite; other figures, or another conclusion of all; other words; no words at all."""
    if not (change.was or change.now):
        return 3, not together
    if change.was and change.now and turned(change.was, change.now):
        return 0, not together
    figures = bool(change.was and change.now) and _figures(change.was) != _figures(change.now)
    another = together and bool(change.was and change.now) and _alike(_words(change.was), _words(change.now)) < _ALIKE
    return (1 if figures or another else 2), not together


def _found(state: RunState, book: Book) -> Iterator[tuple[Change, bool]]:
    """Each with whether its agent draws together what others wrote."""
    point, decided = state.world.open, _last_decision(state)
    if point is None or point.attention or not decided:
        return
    for number in _outputs(state, decided):
        entry, earlier = state.record.talk[number], _before(state, number, decided)
        before = state.record.talk[earlier].ref if earlier else None
        if before is not None and entry.ref is not None and before.digest != entry.ref.digest:
            said, again = _said(state, earlier, number), not _next_of_the_plan(state, book, entry)
            change = compared(_text(book, before), _text(book, entry.ref), said, again=again)
            if change is not None:
                because = _because(state, book, entry.role, change.now)
                yield replace(change, agent=entry.role, because=because), draws_together(book, entry.phase, entry.role)


def draws_together(book: Book, phase: str, agent: str) -> bool:
    """Whether the agent works after others of its phase, in a step of its own."""
    steps = book.phase(phase).steps if phase in book.nodes else ()
    return any(at > 0 and step.agents == (agent,) for at, step in enumerate(steps))


def unmoved(session: Session) -> tuple[str, ...]:
    """The remarks that the round was shown, where nothing that an agent says was changed by one of them."""
    if session.state.world.open is None or session.state.world.open.attention:
        return ()
    found = changed_view(session.state, session.book)
    rows = found["rows"]
    assert isinstance(rows, list)
    named = {id for change in changes(session) for id in change.because}
    return tuple(dict.fromkeys(row["remark"] for row in rows if row["remark"] not in named)) if found["nobody"] else ()


def _because(state: RunState, book: Book, agent: str, text: str) -> tuple[str, ...]:
    rows = changed_view(state, book)["rows"]
    assert isinstance(rows, list)
    proved = [row["remark"] for row in rows if row["agent"] == agent and row["verdict"] == "seen"]
    known = {remark.id for remark in state.record.remarks.values()}
    return tuple(dict.fromkeys([*proved, *(id for id in _REMARK.findall(text) if id in known)]))


def since_a_try(session: Session) -> bool:
    """Whether they are changes since a try that the person took back, and not since the round before."""
    decided = _last_decision(session.state)
    return bool(decided) and session.state.record.talk[decided].kind == "undone"


def _last_decision(state: RunState) -> int:
    """Where in the talk a person last had the run go on, or took a round back."""
    talk = state.record.talk
    return next((number for number in range(len(talk), 0, -1) if talk[number].kind in ("decision", "undone")), 0)


def _outputs(state: RunState, decided: int) -> list[int]:
    """The last one of each agent at each spot since the decision, oldest first."""
    talk = state.record.talk
    since = [number for number in range(decided + 1, len(talk) + 1) if talk[number].kind == "output"]
    return sorted({(talk[number].spot, talk[number].role): number for number in since}.values())


def _before(state: RunState, number: int, decided: int) -> int:
    """What the same agent had last said at the same spot before the decision; 0 where it said nothing there.

    Where the last word was to take a round back, that is the try that was taken back; tries that were taken back
    earlier are passed over."""
    talk, agent = state.record.talk, state.record.talk[number].role
    number, undone = talk[number].before, False
    while number:
        entry = talk[number]
        if number < decided:
            undone = _still_undone(state, number, undone)
        if number < decided and entry.kind == "output" and entry.role == agent and not undone:
            return number
        number = entry.before
    return 0


def _still_undone(state: RunState, number: int, undone: bool) -> bool:
    """Going back through the talk of a spot: whether what is met belongs to a round that was taken back."""
    talk, entry = state.record.talk, state.record.talk[number]
    if entry.kind == "undone":
        return True
    if entry.kind != "decision":
        return undone
    after = next((one for one in range(number + 1, len(talk) + 1) if talk[one].spot == entry.spot), 0)
    return undone and bool(after) and talk[after].kind == "undone"  # the decision to take it back is part of it


def _said(state: RunState, after: int, until: int) -> dict[str, str]:
    """The latest remarks made between two entries of the talk, by id."""
    talk, remarks = state.record.talk, state.record.remarks
    made = [remarks[talk[number].number] for number in range(after, until) if talk[number].kind == "remark"]
    return {remark.id: remark.text for remark in made[-_REMARKS:]}


def _next_of_the_plan(state: RunState, book: Book, entry: TalkEntry) -> bool:
    """Whether it answers another question than the round before: the next of the rounds that its phase plans."""
    round_ = state.world.top.round
    if round_ is None or round_.n == 1 or round_.extra or entry.spot != state.world.spot:
        return False
    return len(book.phase(entry.phase).rounds.plan) > 1


def _text(book: Book, ref: Ref) -> str:
    content = book.load(ref)
    return content if isinstance(content, str) else "\n\n".join(_leaves("", content))


def _leaves(name: str, value: object) -> Iterator[str]:
    """A structured answer as sentences: its texts, and whatever is short with the name it has."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(str(key), inner) if key not in _REPLIES else ()
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(name, inner)
    elif value is not None and value != "":
        alone = not name or (isinstance(value, str) and len(value) > _PROSE)
        yield str(value) if alone else f"{name}: {value}"


# --- two texts --------------------------------------------------------------------------------------------------------


class _Pair(Struct, frozen=True):
    was: str
    now: str
    label: bool = False  # too short to say anything
    repeats: bool = False  # the new one only repeats what the person said
    figures: bool = False  # both speak of the same, with other figures
    turned: bool = False  # and one of them says no
    named: bool = False  # the new one names a remark
    concludes: bool = False  # both stand at the beginning, where a text says what it comes to


def compared(before: str, after: str, said: Mapping[str, str] = _NOTHING, *, again: bool = True) -> Change | None:
    """The sentence that says best what changed, and the one in whose place it stands; nothing where none differs.

    `said`: what the person said in between, by the remark's id. `again`: the same question was asked again; else the
    text is a new one anyway, and only a sentence of its summary counts that has one like it before, or names a remark.
    """
    old, new = _Told(before), _Told(after)
    remarks = {id: set(_plain(text).split()) for id, text in said.items()}
    pairs = _pairs(old.summary, new.summary, old.known & new.known, remarks, conclusion=again)
    if not again:
        pairs = [pair for pair in pairs if pair.named or (pair.was and pair.now)]
    elif all(pair.label or pair.repeats for pair in pairs):
        pairs += _pairs(old.all, new.all, old.known & new.known, remarks)
    best = min(pairs, key=_worth, default=None)
    also = tuple(_beside(before, after)) if again else ()
    differ = parts.cells(before[:_WIDEST], after[:_WIDEST]) if again else []
    if differ and (best is None or best.label):
        return Change("", _cut(differ[0].was), _cut(differ[0].now), also)
    if differ or (again and parts.tables(before[:_WIDEST]) != parts.tables(after[:_WIDEST])):
        also = (f"a table{parts.told(differ)}", *also)
    if best is not None:
        return Change("", *_cut_both(best.was, best.now), also)
    if not also and again and old.all and sorted(map(_plain, old.all)) == sorted(map(_plain, new.all)):
        also = ("the order",) if list(map(_plain, old.all)) != list(map(_plain, new.all)) else ()
    return Change("", also=also) if also else None


def _worth(pair: _Pair) -> tuple[bool, ...]:
    """The least is told."""
    round_ = pair.turned and pair.concludes
    return pair.repeats, pair.label and not pair.turned, not round_, not pair.figures, not pair.turned, not pair.named


def _beside(before: str, after: str) -> Iterator[str]:
    """What differs and is no sentence and no table."""
    if parts.code(before[:_WIDEST]) != parts.code(after[:_WIDEST]):
        yield "code"
    if before[_LONGEST:].split() != after[_LONGEST:].split():
        yield f"what comes after {_LONGEST:,} characters"


class _Told:
    """A text in sentences."""

    def __init__(self, text: str) -> None:
        self.summary = sentences(summary_in(text))
        self.all = sentences(text)
        self.known = {_plain(sentence) for sentence in (*self.summary, *self.all)}


def _pairs(
    old: Sequence[str], new: Sequence[str], kept: set[str], said: Mapping[str, set[str]], *, conclusion: bool = False
) -> list[_Pair]:
    """Each new sentence with the old one that is most like it; or, where nothing is new, what is no longer said.

    `kept`: what both texts say. `said`: the words of each remark. `conclusion`: whatever they are about, the first new
    one replaces the first old one.
    """
    gone = {sentence: _words(sentence) for sentence in old if _plain(sentence) not in kept}
    fresh = [sentence for sentence in new if _plain(sentence) not in kept]
    if not fresh:
        return [_Pair(sentence, "") for sentence in gone]
    found = [_paired(sentence, gone, said) for sentence in fresh]
    if conclusion and gone:
        first = next(iter(gone))
        was = found[0].was or ("" if found[0].named else first)
        concludes = was == first == old[0] and fresh[0] == new[0]
        found[0] = replace(found[0], was=was, concludes=concludes, turned=bool(was) and turned(was, fresh[0]))
    return found


def _paired(sentence: str, gone: dict[str, frozenset[str]], said: Mapping[str, set[str]]) -> _Pair:
    words, told = _words(sentence), _plain(sentence).split()
    near = max(gone, key=lambda other: _alike(words, gone[other]), default="")
    was = near if near and _alike(words, gone[near]) >= _ALIKE else ""
    return _Pair(
        was,
        sentence,
        label=len(told) < _LABEL,
        repeats=any(sum(word in remark for word in told) >= _REPEATED * len(told) for remark in said.values()),
        figures=bool(was) and _figures(was) != _figures(sentence),
        turned=bool(was) and turned(was, sentence),
        named=not said.keys().isdisjoint(_REMARK.findall(sentence)),
    )


def sentences(text: str) -> list[str]:
    """Prose only, without markup: no headings, tables or code. A word or two stand with the heading above them."""
    found, heading = list[str](), ""
    for paragraph in _PARAGRAPH.split(parts.CODE.sub("", text[:_LONGEST])):
        headings = _HEADING.findall(paragraph) if "#" in paragraph else []
        heading = without_emphasis(headings[-1]) if headings else heading
        for sentence in _sentences(paragraph):
            short = len(_WORD.findall(sentence)) < _LABEL and not sentence.endswith((".", "!", "?"))
            titled = heading and short and ":" not in sentence
            found.append(f"{heading}: {sentence}" if titled else sentence)
        if len(found) >= _MOST:
            break
    return found[:_MOST]


@lru_cache(1000)  # most paragraphs stand in both texts, and those of a summary twice in each
def _sentences(paragraph: str) -> tuple[str, ...]:
    lines = [_LEAD.sub("", line, count=1) for line in paragraph.split("\n") if not _NOT_PROSE.match(line)]
    plain = " ".join(" ".join(lines).split())
    if not _MARKS.isdisjoint(plain):
        plain = without_emphasis(plain)
    whole = list[str]()
    for part in _BREAK.split(plain):
        if whole and _ABBREVIATED.search(whole[-1][-20:]):
            whole[-1] += f" {part}"
        else:
            whole.append(part)
    return tuple(part for part in whole if _WORD.search(part))


@lru_cache(1000)
def _plain(sentence: str) -> str:
    """What two sentences have in common that say the same: no punctuation, no case, no reference to a remark."""
    return " ".join(_WORD.findall(_REMARK.sub("", sentence).casefold()))


def _words(sentence: str) -> frozenset[str]:
    """What it is about."""
    return frozenset(word for word in _plain(sentence).split() if len(word) >= _SHORT and not word[0].isdigit())


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


def _figures(sentence: str) -> set[str]:
    return set(_FIGURE.findall(sentence))


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= _SHOWN else sentence[: _SHOWN - 1] + "…"


def _cut_both(was: str, now: str) -> tuple[str, str]:
    """Both so that what differs is in what is shown: what they begin with alike is left out where it is long."""
    if max(len(was), len(now)) <= _SHOWN or not was or not now:
        return _cut(was), _cut(now)
    same = next((at for at, (one, other) in enumerate(zip(was, now)) if one != other), min(len(was), len(now)))
    start = was.rfind(" ", 0, max(same - _SHOWN // 3, 0)) + 1
    if same < _SHOWN // 2 or start <= 0:
        return _cut(was), _cut(now)
    return _cut("… " + was[start:]), _cut("… " + now[start:])
