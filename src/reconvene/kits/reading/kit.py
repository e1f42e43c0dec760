"""What this kit brings: a reader of remarks, a judge of citations, an examiner of claims, gates against generic texts
and against figures that the person replaced, the facts that the person named, and `near` in reads.

Its rules compile many patterns, so each is loaded only when it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reconvene.core import extensions as ports
from reconvene.core.definition.workflow import Gate
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import RemarkIn
from reconvene.core.facts.state import RunState
from reconvene.kits.reading.feedback import KINDS, parse_remark

EXAMINER_VERSION = 1  # raised whenever `evidence` may judge the same texts otherwise
_LONGEST_CORRECTION = 2000  # characters; a longer text is no plain correction
_MOST_TOLD = 5  # old figures that are named in one objection


class RuleReader:
    kinds = KINDS

    def typed(self, text: str) -> RemarkIn:
        return parse_remark(text)

    def split(self, text: str, agents: tuple[str, ...] = ()) -> tuple[ports.Understood, ...]:
        from reconvene.kits.reading.understanding import remarks_in

        return tuple(ports.Understood(found.remark, found.rule) for found in remarks_in(text, agents))

    def order(self, text: str) -> str:
        from reconvene.kits.reading.engine_orders import order

        return order(text)

    def refuses_round(self, text: str) -> bool:
        from reconvene.kits.reading.engine_orders import refuses_round

        return refuses_round(text)

    def read(self, remark: RemarkIn, outputs: Mapping[str, str]) -> ports.Reading:
        from reconvene.kits.reading.assumptions import assumptions_in
        from reconvene.kits.reading.significance import assess

        was, now = self._corrected(remark)
        assumptions = {agent: assumptions_in(text) for agent, text in outputs.items()}
        found = assess(remark.kind, remark.text, assumptions, was=was, now=now)
        return ports.Reading(was, now, found.level, found.reason)

    def _corrected(self, remark: RemarkIn) -> tuple[str, str]:
        """A corrected figure as was → now, where the words say both and nobody has said it apart."""
        from reconvene.kits.reading.figures import corrections_in

        if remark.was or remark.now or len(remark.text) > _LONGEST_CORRECTION:
            return remark.was, remark.now
        both = [found for found in corrections_in(remark.text) if found.was_text and found.now_text]
        return (both[0].was_text, both[0].now_text) if both else ("", "")

    def concerned(
        self, remarks: Sequence[ports.RemarkLike], agents: Mapping[str, ports.AgentProfile], always: tuple[str, ...]
    ) -> tuple[ports.Concerned, ...]:
        from reconvene.kits.reading.routing import affected

        return affected(remarks, agents, always)

    def words(self, text: str) -> dict[str, str]:
        from reconvene.kits.reading.terms import content

        return content(text)

    def tokens(self, text: str) -> list[tuple[str, str, bool]]:
        from reconvene.kits.reading.terms import tokens
        from reconvene.kits.reading.tongues import of

        tongue = of(text)
        return [(word, tongue.stem(word), word.casefold() in tongue.stop) for word in tokens(text)]

    def asserted(self, text: str) -> str:
        from reconvene.kits.reading.figures import asserted

        return asserted(text)

    def stated(self, text: str) -> ports.Stated:
        from reconvene.kits.reading.terms import StatedIn

        return StatedIn(text)


def cited(text: str) -> Sequence[ports.Citation]:
    from reconvene.kits.reading.citations import citations

    return citations(text)


def examined(given: ports.Examined) -> Sequence[ports.Finding]:
    from reconvene.kits.reading.evidence import examine

    return examine(given)


def specific_to(output: ports.Judged) -> ports.Objection | None:
    """Sent back once where it names nothing that only the documents name."""
    from reconvene.kits.reading.terms import names_something, particular

    if not output.first or names_something(output.text, particular(output.documents)):
        return None
    why = f"nothing in it is about this case. Name what is particular in {', '.join(output.about)}."
    return ports.Objection("GENERIC", why)


def holds_facts(output: ports.Judged) -> ports.Objection | None:
    """Sent back where it says a figure that the person replaced, and not the one that is right."""
    from reconvene.kits.reading.fact_sheet import fact_sheet
    from reconvene.kits.reading.old_figures import old_figures

    sheet = fact_sheet(output.remarks, output.documents)
    texts = output.written or {"": output.text}
    told: list[str] = []
    for path, text in texts.items():
        for found in old_figures(text, sheet, output.documents):
            where = f"{path}, line {found.line}" if path else f"line {found.line}"
            said = f"{found.fact.value} [{found.fact.ids[-1]}]"
            told.append(f"{where}, says {found.old} and not {said}: “{found.quoted}”")
    if not told:
        return None
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    why = f"{'; '.join(told[:_MOST_TOLD])}{more}. The person replaced these figures. Say the one that is right there, "
    return ports.Objection("OLD_FIGURE", f"{why}or both where you tell what was.")


def facts(state: RunState, book: Book) -> object:
    """What the person said is right, as rows: the documents are those of the gate `holds_facts`."""
    from reconvene.core.working.gates import said
    from reconvene.kits.reading.fact_sheet import fact_sheet

    names = dict.fromkeys(name for gate in _gates(book) if gate.kit == "reading.holds_facts" for name in gate.about)
    files = state.world.files
    documents = [book.text(files[name].digest) for name in names if name in files]
    remarks = state.record.remarks
    at = {remark.id: remark for remark in remarks.values()}
    return [
        {
            "id": fact.ids[-1],
            "ids": list(fact.ids),
            "text": fact.text,
            "value": fact.value,
            "was": list(fact.replaced),
            "kind": at[fact.ids[-1]].kind,
            "by": at[fact.ids[-1]].by,
            "at": at[fact.ids[-1]].at,
            "phase": at[fact.ids[-1]].phase,
            "round": at[fact.ids[-1]].n,
        }
        for fact in fact_sheet(said(state), documents)
    ]


def _gates(book: Book) -> Iterator[Gate]:
    for phase in book.nodes:
        for step in book.phase(phase).steps:
            yield from step.gates
    for agent in book.workflow.agents.values():
        yield from agent.gates


def near(text: str, others: Mapping[str, str]) -> Sequence[str]:
    from reconvene.kits.reading.terms import nearest

    return nearest(text, others)


KIT = ports.Kit(
    "reading",
    reader=RuleReader(),
    judge=cited,
    examiner=ports.Examiner(EXAMINER_VERSION, examined),
    gates={"specific_to": specific_to, "holds_facts": holds_facts},
    reads={"near": near},
    fields={"facts": facts},
    asks={
        "specific_to": "nothing in it is about this case, that is, about what is particular in {about}",
        "holds_facts": "a paragraph says a figure that the person replaced, without the one that is right",
    },
)
