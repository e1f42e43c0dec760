"""All that the decision page shows, read in one go in the engine's thread, and cut so that the first screen can be read
in half a minute. What is cut is counted, and stands further below or one link away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from reconvene.app import measures, outlook, queries
from reconvene.app.since import since
from reconvene.app.views.aim import aim
from reconvene.app.views.news import News, Since, counted
from reconvene.core.facts.commands import Answers
from reconvene.core.facts.named_people import is_among
from reconvene.core.kit_finder import reader
from reconvene.core.person.limiting import tools_of
from reconvene.core.shown import on_record
from reconvene.core.working import spending
from reconvene.doors.shared.handing_over import offered
from reconvene.doors.shared.harmless import clean, one_line
from reconvene.doors.shared.options import on_offer
from reconvene.doors.shared.passages import Passage, to_read, wanted
from reconvene.doors.web.needs import Need, needs
from reconvene.doors.web.noted import ReadBack, read_back
from reconvene.doors.web.rendered import Pair, by_words, document
from reconvene.doors.web.several_people import answers_of_others, own_answers, what_yours_would_be
from reconvene.doors.web.typed_forms import limits_shown
from reconvene.language.late_patterns import late

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.session import Session
    from reconvene.app.views.ledger import Ledger
    from reconvene.app.views.ratings import Meter
    from reconvene.app.views.read_model import Approval, Checkpoint, Option, Run
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.web.drafted_decisions import Prepared

LONGEST_GOAL, LONGEST_QUESTION, LONGEST_LEAD = 80, 150, 100  # characters on the first screen
LONGEST_SIDE, LONGEST_SIDE_OF_MANY = 200, 95  # of a conclusion that turned: with few options, with many
MANY_OPTIONS = 6
MOST_NEEDS = 3
MOST_FACTS = 3
_NUMBERED = late(r"\w+ \d+\b")  # such as `Phase 2: …`
_FIRST_WORDS = 420  # characters of what there is to read that stand on the page at once


class Shift(Struct, frozen=True):
    """A conclusion that turned."""

    agent: str
    sides: Pair
    has_was: bool
    has_now: bool


class Fact(Struct, frozen=True):
    """A line of what else happened."""

    name: str
    text: str
    quoted: str = ""
    tag: str = ""
    good: bool = True
    at: str = ""  # where on the page there is more


class ToRead(Struct, frozen=True):
    """A passage of the prompt. The beginning of a long one, and the rest."""

    theirs: bool
    html: Markup
    rest: Markup = Markup("")
    characters: int = 0


class Limits(Struct, frozen=True):
    """What a person may set with a decision: what the run may cost, and which tools ask first."""

    spent: float
    allowed: float  # 0 = there is no limit
    tools: tuple[tuple[str, bool, bool], ...]  # its name, whether the workflow has it ask always, whether a person does

    @property
    def shown(self) -> str:
        return limits_shown(self.allowed, [name for name, always, asks in self.tools if asks and not always])


class DecisionView(Struct, frozen=True):
    run: Run
    point: Checkpoint
    goal: str
    phase: str
    place: str  # `phase 2 of 9`
    lead: str
    question: str
    question_theirs: bool
    since: Since
    shift: Shift | None
    facts: list[Fact]
    more: str  # what of all that is news is not on the first screen, counted
    needs: list[Need]
    more_needs: int
    quiet: str  # kinds of needs that there are none of
    to_read: list[ToRead]
    wanted: str  # what the workflow asks for a person's words
    hint: str
    options: list[Option]
    notes: list[ReadBack]
    kinds: tuple[str, ...]
    agents: tuple[str, ...]
    ledger: Ledger
    meter: Meter | None
    prepared: Prepared
    seq: int
    limits: Limits
    yours: bool  # this person is among those who may decide
    votes: tuple[Approval, ...]
    several: int  # so many people the option needs that needs most
    together: str  # what their choice would come to, where several people must choose
    hand_to: tuple[str, ...]  # names and teams that it can be handed over to
    answered: Mapping[str, Answers]  # option → what this person answered who chose it; "" = whichever option
    theirs: Mapping[str, Mapping[str, str]]  # the same of others: field → in words


def view(engine: Engine, run: str, caller: Caller, read: int, prepared: Prepared) -> DecisionView | None:
    """None where nothing waits for a decision."""
    shown = queries.standing(engine, run)
    point = shown.checkpoint
    if point is None:
        return None
    session = engine.session(run)
    review, ledger = measures.review(engine, run), measures.ledger(engine, run)
    notes = [read_back(session, one) for one in prepared.notes]
    point = outlook.with_outlook(engine, run, point, review, [one.as_said for one in notes])
    news = since(engine, run, caller.name, read)
    facts = _facts(news, point)
    every = needs(shown, point, review)
    workflow = session.book.workflow
    yours = not point.who or is_among(caller.name, caller.teams, point.who)
    may = yours and caller.may("decider")
    labels = ("", *(one.label for one in point.options))
    return DecisionView(
        shown,
        point,
        one_line(aim(session.state, session.book) or workflow.description, LONGEST_GOAL),
        _phase(session, shown),
        _place(session),
        _lead(point),
        one_line(point.question, LONGEST_QUESTION),
        point.filled is None or point.filled.question,
        news,
        _shift(news, LONGEST_SIDE_OF_MANY if len(on_offer(point.options)) > MANY_OPTIONS else LONGEST_SIDE),
        facts[:MOST_FACTS],
        _left(news, facts[:MOST_FACTS]),
        every[:MOST_NEEDS],
        max(len(every) - MOST_NEEDS, 0),
        _none_of(every, bool(ledger.open)),
        [_to_read(one) for one in to_read(point)],
        *_asked_words(point),
        on_offer(point.options),
        notes,
        reader(workflow.kits).kinds,
        tuple(on_record.workers_here(session.state, session.book)) if session.state.world.cursor else (),
        ledger,
        review.meter if review else None,
        prepared,
        session.state.seq,
        limits_of(session),
        yours,
        point.approvals,
        max((one.needs for one in point.options), default=1),
        what_yours_would_be(point, caller.name, may=may),
        offered(str(engine.home)) if may or caller.role == "admin" else (),
        {label: own_answers(point, caller.name, label) for label in labels},
        {label: answers_of_others(point, caller.name, label, may=may) for label in labels},
    )


def _phase(session: Session, run: Run) -> str:
    node = session.book.nodes.get(run.phase or "")
    name = (node.phase.title or run.phase or "") if node else run.phase or ""
    return f"{one_line(name, 44)}{f', round {run.round}' if run.round else ''}"


def _place(session: Session) -> str:
    """`phase 2 of 9`, `phase 1 of 2, part 2 of 2`. A title that has a number of its own is not numbered again."""
    book, found = session.book, list[str]()
    frames = [frame.phase for frame in session.state.world.cursor if frame.phase in book.nodes]
    for phase in frames:
        node = book.nodes[phase]
        among = [one.id for one in book.children(node.parent)]
        if len(among) > 1 and not _NUMBERED.match(node.phase.title or ""):
            found.append(f"{'part' if node.parent else 'phase'} {among.index(phase) + 1} of {len(among)}")
    return ", ".join(found)


def _lead(point: Checkpoint) -> str:
    """The sentence of the workflow's own that stands before the question."""
    own = [line.strip() for one in to_read(point) if not one.theirs for line in one.text.split("\n") if line.strip()]
    last = one_line(own[-1].strip("*_# ")) if own else ""
    fits = len(last) > 15 and len(point.question) <= LONGEST_LEAD and one_line(point.question) not in last
    return one_line(last, LONGEST_LEAD) if fits else ""


def _asked_words(point: Checkpoint) -> tuple[str, str]:
    """The workflow's words for "what do you say?": a question in one line, else what is asked for, in the box."""
    lines = [line.strip(" -*_#•") for one in wanted(point) for line in one.text.split("\n") if line.strip()]
    if len(lines) == 1 and len(lines[0]) <= 120:
        return lines[0], ""
    return "", one_line(" ".join(lines[1:]), 120)


def limits_of(session: Session) -> Limits:
    book, record = session.book, session.state.record
    total = spending.budgets(session.state, book)[0]
    used = [tool for agent in book.workflow.agents.values() for tool in agent.tools]
    always = {tool.name for tool in used if tool.ask == "always"}
    tools = tuple((name, name in always, name in record.ask_first) for name in tools_of(book))
    return Limits(total.spent.cost, total.allowed, tools)


# --- since you last looked ---


def _shift(news: Since, longest: int) -> Shift | None:
    first = next((one for one in news.news if one.kind == "turned"), None)
    if first is None:
        return None
    was, now = _around(first.was, first.now, longest)
    return Shift(first.who, by_words(was, now), bool(first.was), bool(first.now))


def _around(was: str, now: str, longest: int) -> tuple[str, str]:
    """Both cut to what the first screen has room for, around where they part."""
    if max(len(was), len(now)) <= longest:
        return was, now
    same = next((at for at, (one, other) in enumerate(zip(was, now)) if one != other), 0)
    start = was.rfind(" ", 0, max(same - 60, 0)) + 1 if same > 80 else 0
    before = "… " if start else ""
    return _whole_words(before + was[start:], longest), _whole_words(before + now[start:], longest)


def _whole_words(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return text[: max(text.rfind(" ", 0, longest), longest // 2)].rstrip(" ,;") + " …"


def _facts(news: Since, point: Checkpoint) -> list[Fact]:
    found = list[Fact]()
    by_kind: dict[str, list[News]] = {}
    for one in news.news:
        by_kind.setdefault(one.kind, []).append(one)
    for one in by_kind.get("trouble", [])[:1]:
        found.append(Fact("Went wrong", "", one_line(one.text, 70), good=False, at="news"))
    for one in by_kind.get("decided", [])[-1:]:
        found.append(Fact("Decided", f"{one.who} chose “{one_line(one.text, 50)}”"))
    for one in by_kind.get("said", [])[-1:]:
        found.append(Fact("Said", "", one_line(one.text, 64), one.who, at="ledger"))
    for one in by_kind.get("became", [])[-1:]:
        taken_up = one.how not in ("declined", "claimed")
        found.append(Fact("You said", "", one_line(one.was, 70), one.text, taken_up, "ledger"))
    for one in by_kind.get("ratings", [])[:1]:
        found.append(Fact("Ratings", one_line(one.text, 60), one_line(one.id, 40), at="map"))
    for one in by_kind.get("run", [])[-1:]:
        found.append(Fact("The run", one_line(f"{one.who} {one.text}".strip(), 90)))
    for one in by_kind.get("edited", [])[-1:]:
        found.append(Fact("Edited", one_line(f"{one.who}: {one.text}", 90), at="documents"))
    for one in by_kind.get("option", [])[:1]:
        found.append(Fact("Options", one_line(one.text, 90)))
    files = by_kind.get("file", [])
    if files:
        hows = [f"{sum(one.how == how for one in files)} {how}" for how in ("new", "changed", "gone")]
        found.append(Fact("Files", ", ".join(one for one in hows if not one.startswith("0 ")), at="documents"))
    wrote = [one for one in point.outputs if one.agent in news.worked and one.lines]
    for written in wrote[-1:]:
        found.append(Fact("Wrote", "", one_line(written.lines[0], 70), one_line(written.agent, 40), at="findings"))
    return found


NAMES = {
    "Went wrong": "trouble", "Decided": "decided", "Said": "said", "You said": "became", "Ratings": "ratings",
    "The run": "run", "Edited": "edited", "Options": "option", "Wrote": "wrote",
}  # fmt: skip


def _left(news: Since, facts: Sequence[Fact]) -> str:
    """What is news and not on the first screen, counted by kind. All of it is one link away."""
    left = dict(news.counts)
    left.pop("wrote", None)  # who worked is told beside the heading
    told = ({NAMES[one.name] for one in facts if one.name in NAMES} | {"turned"}) & set(left)
    for kind in told:
        left[kind] -= 1
    if any(one.name == "Files" for one in facts):
        left.pop("file", None)
    return ", ".join(counted(kind, count) for kind, count in left.items() if count)


def _none_of(every: Sequence[Need], remarks_open: bool) -> str:
    """`remarks_open`: the ledger has some, though none of them needs anybody now, such as what was said just here."""
    kinds = {one.kind for one in every} | ({"remark"} if remarks_open else set())
    names = {"field": "questions", "remark": "open remarks", "comment": "open comments", "torn": "disagreements"}
    none = [f"no {name}" for kind, name in names.items() if kind not in kinds]
    return " · ".join(none[:3]) if len(every) < MOST_NEEDS else ""


# --- what there is to read ---


def _to_read(one: Passage) -> ToRead:
    text = clean(one.text)
    if len(text) <= _FIRST_WORDS + 200:
        return ToRead(one.theirs, document(text, "prompt-").html, characters=len(text))
    at = max(text.rfind("\n\n", 0, _FIRST_WORDS), text.rfind(". ", 0, _FIRST_WORDS) + 1, 200)
    return ToRead(one.theirs, document(text[:at]).html, document(text[at:], "prompt-").html, len(text))
