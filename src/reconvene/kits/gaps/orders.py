"""What a person decided at a checkpoint, applied to the gaps and logged.

An order that does not fit is refused with a reason, never raised. It must not know checkpoints, options or how the
orders were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from reconvene.kits.gaps.conflicts import ANSWER, FALSE_ALARM, HOLD, LET, WAIVE
from reconvene.kits.gaps.convergence import CONVERGING
from reconvene.kits.gaps.editing import Editor
from reconvene.kits.gaps.endings import blocking, why_not_accept
from reconvene.kits.gaps.gap_ids import canonical, gaps_in, tidy
from reconvene.kits.gaps.gap_states import Ledger
from reconvene.kits.gaps.likeness import digest
from reconvene.kits.gaps.markdown import clip
from reconvene.kits.gaps.records import (
    TEXT,
    Book,
    Conflict,
    Decision,
    Gap,
    IssueState,
    Kind,
    Redo,
    Similar,
    is_open,
    plain,
)
from reconvene.kits.gaps.vocabulary import State

_TOLD: dict[Kind, str] = {
    "explicit": "Engineer against reviewer on {0.title}",
    "silence": "The engineer passed over {0.issue}",
    "unchanged": "The section criticised in {0.issue} came back unchanged",
    "deflection": "{0.issue} was answered without a position",
    "disobeyed": "The proposal follows another way than was decided on {0.title}",
}


class Clerk:
    """Writes a person's orders into the book."""

    def __init__(self, book: Book, round: int, by: str, at: str) -> None:
        self._book = book
        self._ledger = Ledger(book, round)
        self._round = round
        self._by = by
        self._at = at

    def all(self) -> None:
        """In an order in which one does not undo another: rulings first, the end of it all last."""
        work: dict[str, Callable[[object], None]] = {
            "rulings": self._rulings,
            "answers": self._answers,
            "readings": self._readings,
            "similar": self._similar,
            "list": self._list,
            "reopen": self._reopen,
            "defer": self._defer,
            "accept": self._accept,
            "scope": self._scope,
            "accept_complexity": self._accept_complexity,
            "looked": self._looked,
            "redo": self._redo,
            "complete": self._complete,
        }
        orders = self._book.orders
        for name, apply in work.items():
            if orders.get(name) not in (None, "", {}, False):
                apply(orders[name])
        for name in orders:
            if name not in work and name != "rationale":
                self._refuse(f"There is no order “{clip(str(name), 40)}”; there are {', '.join(work)}.")
        self._book.orders = {}

    def _log(
        self, title: str, decision: str, gap: str = "", conflict: Conflict | None = None, due: bool = False
    ) -> None:
        rationale = self._book.orders.get("rationale")
        if isinstance(rationale, Mapping):
            rationale = rationale.get(conflict.id if conflict else gap)
        made = Decision(
            round=self._round,
            id=f"D-{len(self._book.decisions) + 1:03d}",
            title=clip(title, 120),
            decision=clip(decision, TEXT),
            by=self._by,
            at=self._at,
            gap=gap,
            issue=conflict.issue if conflict else "",
            conflict=_TOLD[conflict.kind].format(conflict) if conflict else "",
            rationale=clip(str(rationale or ""), TEXT),
            due=due,
        )
        self._book.decisions.append(made)

    def _refuse(self, text: str, gap: str = "") -> None:
        self._book.notice(self._round, "ORDER_REFUSED", text, gap)

    def _each(self, orders: object, what: str) -> list[tuple[str, object]]:
        if not isinstance(orders, Mapping):
            self._refuse(f"“{what}” wants one entry per gap.")
            return []
        return [(str(name), said) for name, said in orders.items() if said not in (None, "", False, "no", "false")]

    def _gaps(self, orders: object, what: str) -> list[Gap]:
        found = []
        for name, _ in self._each(orders, what):
            gap = self._ledger.find(name)
            if gap is None:
                near = self._ledger.unknown(name)
                self._refuse(f"{clip(name, 40)} is not a known gap{f'; did you mean {near}?' if near else '.'}")
            else:
                found.append(gap)
        return found

    # Conflicts and questions

    def _rulings(self, orders: object) -> None:
        for name, said in self._each(orders, "rulings"):
            conflict = self._book.conflicts.get(name) or self._book.conflicts.get(tidy(name))
            if conflict is None:
                self._refuse(f"There is no open conflict {clip(name, 40)}.")
                continue
            self._rule(conflict, _option(conflict, str(said)))
            del self._book.conflicts[conflict.id]

    def _rule(self, conflict: Conflict, ruling: str) -> None:
        if conflict.kind == "disobeyed":
            self._rule_again(conflict, ruling)
            return
        issue = self._book.issues.get(conflict.issue)
        if issue is not None:
            states: dict[str, IssueState] = {WAIVE: "waived", FALSE_ALARM: "false alarm", ANSWER: "open"}
            answers = {WAIVE: issue.answer, FALSE_ALARM: issue.answer, ANSWER: ""}
            state, answer = states.get(ruling, "decided"), answers.get(ruling, clip(ruling, 300))
            self._book.issues[issue.id] = replace(issue, state=state, answer=answer)
        due = ruling not in (WAIVE, FALSE_ALARM)
        self._log(f"{conflict.issue} - {conflict.title}", ruling, conflict.gap, conflict, due=due)

    def _rule_again(self, conflict: Conflict, ruling: str) -> None:
        """On a decision that was not followed: hold to it, let the proposal stand, or another one in its place."""
        same = [one for one in self._book.decisions if conflict.id in (one.issue, one.id) and one.followed is False]
        first = same[-1] if same else None
        self._book.decisions = [
            replace(one, due=False, obeyed=None) if one in same else one for one in self._book.decisions
        ]
        held = first.decision if first is not None and ruling == HOLD else ruling
        self._log(f"{conflict.id} - {conflict.title}", held, conflict.gap, conflict, due=ruling != LET)

    def _readings(self, orders: object) -> None:
        """Verdicts that could be read in two ways, as the person reads them."""
        for name, said in self._each(orders, "readings"):
            reading = next((one for one in self._book.readings if tidy(name) in (one.id, one.gap)), None)
            gap = self._ledger.find(reading.gap) if reading else None
            if reading is None or gap is None or not is_open(gap):
                self._refuse(f"{clip(name, 40)} was read without a doubt.")
                continue
            meant = str(said).strip().lower()
            state: State = {"approved": "resolved", "no verdict": "proposed"}.get(meant, "needs revision")  # type: ignore[assignment]
            if gap.state != state:
                cleared = replace(gap, question="", rejections=0) if state == "resolved" else gap
                self._ledger.move(cleared, state, self._by, f"the verdict is read as “{clip(meant, 40)}”")
            self._log(f"{gap.id} - {reading.doubt}", f"the verdict is read as “{clip(meant, 40)}”", gap.id)
            self._book.readings.remove(reading)
        if not self._book.open() and self._book.verdict == "APPROVE" and self._book.rounds:
            self._book.outcome = self._book.outcome or "COMPLETE"

    def _list(self, order: object) -> None:
        """The person's own changes to the list, line by line."""
        aside = set()
        for done in Editor(self._ledger, self._by).all(order):
            if done.refused:
                self._refuse(done.refused)
                continue
            self._log(f"{done.gap} - {done.title}", done.decision, done.gap)
            gap = self._book.gaps.get(done.gap)
            aside |= {done.gap} if gap is not None and not is_open(gap) else set()
        self._settled(aside)

    def _answers(self, orders: object) -> None:
        for name, said in self._each(orders, "answers"):
            gap = self._ledger.find(name)
            if gap is None or not gap.question:
                self._refuse(f"{clip(name, 40)} asks nothing of you.")
                continue
            self._ledger.put(replace(gap, question=""))
            self._log(f"{gap.id} - {gap.question}", str(said), gap.id, due=is_open(gap))

    # Single gaps

    def _similar(self, orders: object) -> None:
        shown: dict[str, list[Similar]] = {}
        for one in reversed(self._book.similar):
            shown.setdefault(canonical(one.id), []).append(one)
        done: set[int] = set()
        for name, said in self._each(orders, "similar"):
            if not shown.get(canonical(name)):
                self._refuse(f"{clip(name, 40)} was not shown as similar to another gap.")
                continue
            pair = shown[canonical(name)].pop()
            done.add(id(pair))
            gap, of = self._book.gaps.get(pair.id), self._ledger.find(pair.of)
            if str(said).strip().lower() == "merge" and gap and of and gap.id != of.id and not gap.into:
                self._ledger.merge(gap, of, self._by, pair.why)
                self._log(f"{pair.id} and {of.id}", f"merged into {of.id}", pair.id)
            else:
                self._log(f"{pair.id} and {pair.of}", "kept apart", pair.id)
        self._book.similar = [one for one in self._book.similar if id(one) not in done]

    def _reopen(self, orders: object) -> None:
        for gap in self._gaps(orders, "reopen"):
            if is_open(gap):
                self._refuse(f"{gap.id} is open already.", gap.id)
                continue
            self._ledger.move(gap, "open", self._by, "reopened")
            self._log(f"{gap.id} - {gap.title}", "reopened", gap.id)

    def _defer(self, orders: object) -> None:
        still = [gap for gap in self._gaps(orders, "defer") if is_open(gap)]
        self._put_aside(still, "deferred", "put aside by name", "deferred")

    def _accept(self, orders: object) -> None:
        barred = {gap.id for gap in blocking(self._book)}
        aside = []
        for gap in self._gaps(orders, "accept"):
            if gap.id in barred or (is_open(gap) and gap.severity == "CRITICAL"):
                kind = "CRITICAL" if gap.severity == "CRITICAL" else "blocking"
                why = f"{gap.id} is {kind}: it is resolved, or completion is forced; it cannot be accepted."
                self._refuse(why, gap.id)
            elif is_open(gap):
                aside.append(gap)
        self._put_aside(aside, "accepted", "accepted by name", "accepted as a known gap")

    def _put_aside(self, gaps: list[Gap], state: State, why: str, each: str = "") -> None:
        """Nobody argues about a gap that was put aside, and no decision on it is still to be taken up. `each`: what is
        logged about every one."""
        for gap in gaps:
            self._ledger.move(gap, state, self._by, why)
            if each:
                self._log(f"{gap.id} - {gap.title}", each, gap.id)
        self._settled({gap.id for gap in gaps})

    def _settled(self, aside: set[str]) -> None:
        book = self._book
        book.conflicts = {name: one for name, one in book.conflicts.items() if one.gap not in aside}
        book.decisions = [replace(one, due=one.due and one.gap not in aside) for one in book.decisions]

    # The whole

    def _scope(self, order: object) -> None:
        if order not in ("blocking", "all"):
            self._refuse("The scope is “blocking” or “all”.")
            return
        needed = {gap.id for gap in blocking(self._book)}
        self._book.scope = str(order)
        if order == "all":
            self._log("Scope", "all gaps are in scope")
            return
        aside = [gap for gap in self._book.open() if gap.id not in needed]
        self._put_aside(aside, "deferred", "outside the narrowed scope")
        names = ", ".join(gap.id for gap in aside) or "nothing"
        self._log("Scope", f"narrowed to blocking gaps; deferred: {names}")

    def _accept_complexity(self, order: object) -> None:
        self._book.stalled = 0
        self._book.state = CONVERGING
        self._book.warning = None
        self._log("Convergence", "the complexity is accepted; the stall counter starts again")

    def _looked(self, order: object) -> None:
        """The person has looked at the text themselves, and says of each thing that was not found: it is in it."""
        spec = self._book.spec or {}
        missing = [str(one["id"]) for one in plain_list(spec.get("missing"))]
        seen = {tidy(name) for name, _ in self._each(order, "looked")}
        left = [name for name in missing if name not in seen]
        if left or not spec.get("changed"):
            told = f"{', '.join(left)} not found in the text, and not confirmed" if left else "it is still the draft"
            self._refuse(f"The specification is not taken as it is: {told}.")
            return
        self._book.looked = digest(str(spec.get("text", "")))
        self._log(
            "The specification", f"taken as it is, after a look of their own: {', '.join(missing) or 'all of it'}"
        )

    def _redo(self, order: object) -> None:
        told = order if isinstance(order, Mapping) else {"reason": order}
        focus = told.get("focus")
        words = " ".join(str(one) for one in focus) if isinstance(focus, (list, tuple)) else str(focus or "")
        named = [gap.id for name in _ids(words, self._book) if (gap := self._ledger.find(name))]
        reason = clip(str(told.get("reason") or ""), TEXT)
        adjust = clip(str(told.get("adjust") or "same prompt"), TEXT)
        redo = Redo(reason, adjust, focus=tuple(dict.fromkeys(named)), by=self._by, at=self._at)
        if words.strip() and not named:
            self._refuse(f"No gap is named in the focus “{clip(words, 80)}”: all open gaps stay in focus.")
        self._book.adjustments = redo
        self._book.redos.append(redo)

    def _complete(self, order: object) -> None:
        forced = order == "forced"
        if not forced:
            refusal = why_not_accept(self._book)
            highs = [gap.id for gap in self._book.open() if gap.severity == "HIGH"]
            if not refusal and highs:
                refusal = f"HIGH gaps are open: {', '.join(highs)}. Accept each by name, or force completion."
            if refusal:
                self._refuse(f"Not accepted as complete: {refusal}")
                return
        rest = self._book.open()
        self._put_aside(rest, "accepted", "completion was forced" if forced else "accepted as a known gap")
        self._book.outcome = "USER_APPROVED"
        known = ", ".join(gap.id for gap in rest) or "none"
        self._log("Completion", f"{'forced' if forced else 'accepted'} as complete; known gaps: {known}")


def _option(conflict: Conflict, said: str) -> str:
    """The option that is meant, by label or letter; other words are a decision of the person's own."""
    wanted = said.strip().lower()
    for option in conflict.options:
        if wanted == option.lower() or (len(wanted) <= 2 and option.lower().startswith(wanted.rstrip(":.") + ":")):
            return option
    return ANSWER if conflict.kind != "explicit" and wanted in ("answer", "answered") else said.strip()


def plain_list(value: object) -> list[Mapping[str, object]]:
    items = plain(value)
    return [one for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []


def _ids(words: str, book: Book) -> list[str]:
    return gaps_in(words) or [name for name in book.gaps if name in words.upper()]
