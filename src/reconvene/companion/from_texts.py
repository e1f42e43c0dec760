"""What the texts of a run say: parts of its plan and results by their headings, else the best passages. No model is
asked, and nothing is put into other words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reconvene.app import cited_places, searching
from reconvene.app.views.written import first_lines
from reconvene.companion.looks_and_proposals import remark
from reconvene.companion.recognised import Question
from reconvene.companion.run_record import RunRecord
from reconvene.companion.told import Told, event, short
from reconvene.core.facts import events as e
from reconvene.core.shown.summaries import stated_summary
from reconvene.errors import UserError
from reconvene.language.counting import counted
from reconvene.language.late_patterns import late
from reconvene.search_ports import Found, Kind

_PLANNING = late(r"(^|/)(plan|workspace|todos?|context|scenario_context|status|decisions)\.\w+$|(^|/)(tools|todos)/")
_PLAN = late(r"(^|/)plan\.\w+$")
_PHASES = late(r"\b(phases?|steps?|stages?|phasen|schritte?)\b", re.IGNORECASE)
_DELIVERED = "deliverables"  # under which an output names them
_PROSE = (".md", ".txt", ".rst", ".html")
_HEADING = late(r"(#{1,6})\s+(\S.*?)\s*#*$")
_NUMBERED = late(r"\s*(\d{1,3})[.)]\s+\S")
_WHY = late(
    r"approach|method|trade-?offs?|rationale|reason|assum|alternative|why|ansatz|vorgehen|methode|annahme|abw(ä|ae)gung|"
    r"begr(ü|ue)ndung",
    re.IGNORECASE,
)
_FINDINGS = late(r"finding|result|conclusion|summary|takeaway|ergebnis|erkenntnis|fazit|zusammenfassung", re.IGNORECASE)
_LEFT_OUT = late(
    r"\b(skip\w*|omit\w*|left out|leav\w+ out|ignor\w*|without|not (read|cover|includ|in scope)\w*|out of scope|"
    r"(ü|ue)berspr\w*|ausgelassen|weggelassen|nicht (gelesen|behandelt))",
    re.IGNORECASE,
)
_PASSAGES = 5
_PARTS = 4
_HEADED = 3
_TELLING = 4  # letters of a word that says something
_EXCERPT = 400  # characters
_WORKED: tuple[Kind, ...] = ("file", "document", "output")


class Part(Struct, frozen=True):
    """A part of a file, from its heading or number on."""

    path: str
    first: int
    last: int
    title: str
    text: str
    depth: int = 0  # of its heading

    @property
    def cite(self) -> str:
        return f"{self.path}:{self.first}-{self.last}" if self.last > self.first else f"{self.path}:{self.first}"


# --- parts of files ---


def parts(path: str, text: str) -> Iterator[Part]:
    """Each heading with all that is below it."""
    lines = text.split("\n")
    heads = [(at, len(found[1]), found[2]) for at, line in enumerate(lines) if (found := _HEADING.match(line))]
    for number, (at, depth, title) in enumerate(heads):
        end = next((other for other, level, _ in heads[number + 1 :] if level <= depth), len(lines))
        while end > at + 1 and not lines[end - 1].strip():
            end -= 1
        yield Part(path, at + 1, end, title, "\n".join(lines[at + 1 : end]), depth)


def _numbered(path: str, text: str, number: int, first: int = 1) -> Iterator[Part]:
    """The item of a numbered list, with what is indented below it. `first`: the number of the text's first line."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        found = _NUMBERED.match(line)
        if found and int(found[1]) == number:
            end = at + 1
            while end < len(lines) and lines[end].startswith((" ", "\t")):
                end += 1
            yield Part(path, first + at, first + end - 1, line.strip(), "\n".join(lines[at + 1 : end]))


def _planning(record: RunRecord) -> list[tuple[str, str]]:
    return [(path, text) for path, text in record.texts() if _PLANNING.search(path)]


def _results(record: RunRecord) -> list[tuple[str, str]]:
    """What an output named as delivered comes first, then reports, then whatever else is prose."""
    delivered = _delivered(record)

    def rank(row: tuple[str, str]) -> tuple[int, bool, bool]:
        named = delivered.index(row[0]) if row[0] in delivered else len(delivered)
        return named, "report" not in row[0].lower(), not row[0].lower().endswith(_PROSE)

    return sorted(((path, text) for path, text in record.texts() if not _PLANNING.search(path)), key=rank)


def _delivered(record: RunRecord) -> list[str]:
    """By the last output that names any."""
    for _, output in reversed(record.events):
        if isinstance(output, e.AttemptEnded) and output.verdict == "accepted" and output.value is not None:
            value = record.book.load(output.value)
            named = value.get(_DELIVERED) if isinstance(value, dict) else None
            if isinstance(named, list) and named:
                return [str(one) for one in named]
    return []


def _quoted(part: Part) -> list[str]:
    body = [f"  {line}" for line in part.text.strip().split("\n")] if part.text.strip() else []
    return [f"{part.title} [{part.cite}]", *body[:12], *(["  …"] if len(body) > 12 else [])]


def plan_phase(record: RunRecord, question: Question) -> Told:
    """What the plan says of it; then, apart, what other lists of the run and the run itself call by that number."""
    number = question.numbers[0]
    titled = re.compile(rf"\b(phase|step|round|schritt|runde)\s+#?{number}\b|^{number}[.):]\s", re.IGNORECASE)
    planned, others = list[Part](), list[Part]()
    for path, text in _planning(record):
        named = [part for part in parts(path, text) if titled.search(part.title)]
        if _PLAN.search(path):
            planned += named or _in_a_list(path, text, number)
        else:
            others += named
    lines = [line for part in planned[:_PARTS] for line in _quoted(part)]
    own = [line for part in others[: _PARTS - len(planned[:_PARTS])] for line in _quoted(part)]
    at = record.phases[number - 1] if number <= len(record.phases) else None
    if at is not None:
        until = f" to {at.last}" if at.last else " on"
        own.append(f"The run's own {at.named}: from event {at.first}{until}{event(at.first)}.")
    if not lines:
        nowhere = f"No file of the run names a phase {number}, and the run has not come to one."
        lines = [f"The plan names no phase {number}." if own else nowhere]
    if own:
        lines += ["", "The run counts its own lists and phases apart from the plan's:", *own]
    cites = [part.cite for part in [*planned, *others][:_PARTS]]
    return Told("\n".join(lines), {"phase": number, "parts": cites})


def _in_a_list(path: str, text: str, number: int) -> list[Part]:
    """The item of this number; where a heading names phases, of the list below it."""
    for part in parts(path, text):
        if part.depth > 1 and _PHASES.search(part.title):
            return list(_numbered(path, part.text, number, part.first + 1))
    return list(_numbered(path, text, number))


def approach(record: RunRecord, question: Question) -> Told:
    found = [part for path, text in _planning(record) for part in parts(path, text) if _WHY.search(part.title)]
    lines = [line for part in _innermost(found)[:_PARTS] for line in _quoted(part)]
    rest = _found(record, f"{question.text} approach because trade-off assumption", ("file", "output"))
    others = [one for one in rest if not any(part.text.strip() in one.passage.text for part in found)]
    lines += _excerpts(others[: _PASSAGES - len(found[:_PARTS])])
    return _or_nothing(lines, question)


def findings(record: RunRecord, question: Question) -> Told:
    results = _results(record)
    found = [part for path, text in results for part in parts(path, text) if _FINDINGS.search(part.title)]
    lines = [line for part in _innermost(found)[:_PARTS] for line in _quoted(part)]
    if not lines:
        lines = ["No result has a heading for findings. They begin so:", *_beginnings(results)]
    return _or_nothing(lines, question)


def _innermost(found: list[Part]) -> list[Part]:
    """Not what holds another one of them."""
    return [
        one
        for one in found
        if not any(
            other is not one and other.path == one.path and one.first <= other.first and other.last <= one.last
            for other in found
        )
    ]


def produced(record: RunRecord, question: Question) -> Told:
    rows = [one for one in record.shown.files if not _PLANNING.search(one.path)]
    planning = [one.path for one in record.shown.files if _PLANNING.search(one.path)]
    lines = [f"{counted(len(rows), 'result file')}, and {len(planning)} of planning and memory."]
    texts = dict(record.texts())
    for one in rows:
        begins = short(" ".join(first_lines(texts[one.path])), 200) if one.path in texts else "no text"
        lines.append(f"- {one.path}, {one.size:,} bytes, by {one.by or 'the engine'}: {begins} [{one.path}:1]")
    for seq, output in record.events[::-1]:
        if isinstance(output, e.AttemptEnded) and output.verdict == "accepted" and output.output is not None:
            text = stated_summary(record.book, output.value or output.output)
            text = text or " ".join(first_lines(record.read(output.output.digest).decode("utf-8", "replace")))
            lines.append(f"The last output says: {short(text, 300)}{event(seq)}")
            break
    return Told("\n".join(lines), {"files": [one.path for one in rows]})


def _beginnings(results: list[tuple[str, str]]) -> list[str]:
    return [f"- {short(' '.join(first_lines(text)), 300)} [{path}:1]" for path, text in results]


# --- passages ---


def passages(record: RunRecord, question: Question) -> Told:
    """Parts whose headings name what is asked for, then the nearest passages."""
    named = [part for part in _headed(record, question) if not question.within or question.within in part.path.lower()]
    found = _found(record, question.text, _WORKED, 4 * _PASSAGES)
    if question.within:
        found = [one for one in found if question.within in one.passage.name.lower()] or found
    found = [one for one in found if not any(_is_told(part, one) for part in named)]
    found = found[: _PASSAGES - len(named)] or ([] if named else _found(record, question.text, ("talk", "audit")))
    lines = [line for part in named for line in _quoted(part)]
    lines += ["The passages nearest to your words:", *_excerpts(found)] if found else []
    return _or_nothing(lines, question, [*(part.cite for part in named), *(one.cite for one in found)])


def _headed(record: RunRecord, question: Question) -> list[Part]:
    """Not titles of whole files. Those of the plan come first."""
    asked = [word for word in _words(question.text) if word != question.within]
    pages = record.tool_pages
    found = [
        part
        for path, text in sorted(record.texts(), key=lambda row: not _PLAN.search(row[0]))
        if path not in pages
        for part in parts(path, text)
        if part.depth > 1 and (title := _words(part.title)) and all(_akin(word, asked) for word in title)
    ]
    return _innermost(found)[:_HEADED]


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if len(word) >= _TELLING]


def _akin(word: str, others: list[str]) -> bool:
    """Whether one of them is the same word in another form, or made from it: method, methods, methodology."""
    return any(word.startswith(one) or one.startswith(word) for one in others)


def _is_told(part: Part, one: Found) -> bool:
    text = one.passage.text.strip()
    return one.passage.name == part.path and (part.text.strip() in text or text in f"{part.title}\n{part.text}")


def skipped(record: RunRecord, question: Question) -> Told:
    topic = question.section
    if not topic:
        return passages(record, question)
    lines = _where(record, topic)
    told = _left_out(record, question, ("file", "output", "talk")) or _left_out(record, question, ("audit",))
    if told:
        lines += [f"Where {topic} is said to be left out:", *_excerpts(told[:_PASSAGES])]
    else:
        lines.append(f"Nothing on record says why {topic} was left out.")
    return Told("\n".join(lines), {"section": topic, "said": [one.cite for one in told[:_PASSAGES]]})


def _left_out(record: RunRecord, question: Question, kinds: tuple[Kind, ...]) -> list[Found]:
    found = _found(record, question.text, kinds, 4 * _PASSAGES)
    topic = question.section.lower()
    return [one for one in found if topic in one.passage.text.lower() and _LEFT_OUT.search(one.passage.text)]


def feedback(record: RunRecord, question: Question) -> Told:
    """The person's own words as a draft, with where what they name stands."""
    lines = _where(record, question.section) if question.section else []
    place = _place_of(record, question.section) if question.section else ""
    text = question.text.strip()
    drafted = f"{text} (it stands in {place})" if place else text
    path, numbers = question.about
    try:
        draft = remark(record.scope, drafted, path, numbers)
    except UserError:  # it names no file of the run, or lines that are not there
        draft = remark(record.scope, drafted)
    if not lines:
        near = _excerpts(_found(record, question.text, _WORKED, 3))
        lines = ["What stands on record about it:", *near] if near else []
    lines.append("A draft for the agents is below; they are shown it once you send it.")
    return Told("\n".join(lines), {"section": question.section}, (draft,))


def _where(record: RunRecord, topic: str) -> list[str]:
    """Where a section stands, and who writes about it."""
    place = _place_of(record, topic)
    lines = [f"{topic.capitalize()} stands in {place}: [{place}]" if place else f"No document has a {topic}."]
    about = [
        f"{path}:{number}"
        for path, text in record.texts()
        for number, line in enumerate(text.split("\n"), 1)
        if topic.lower() in line.lower()
    ]
    if about:
        lines.append("It is named in " + ", ".join(f"[{cite}]" for cite in about[:_PASSAGES]) + ".")
    else:
        lines.append(f"No file of the run names {topic}.")
    return lines


def _place_of(record: RunRecord, topic: str) -> str:
    """The document and place of a section, as `notes.md line 5`; "" where there is none."""
    number = topic.split()[-1]
    titled = re.compile(
        rf"^\s*#*\s*(?:{re.escape(topic)}\b|(?:section|chapter|part|abschnitt|kapitel|teil)?\s*{re.escape(number)}"
        r"(?:[.):]\s|\s+\S))",
        re.IGNORECASE,
    )
    for document in record.documents:
        lines = [(f"line {number}", line) for number, line in cited_places.numbered(document)]
        for place, text in lines or ((part.place, part.text) for part in document.parts):
            if any(titled.match(line) for line in text.split("\n")):
                return f"{document.name} {place}"
    return ""


def _found(record: RunRecord, text: str, kinds: tuple[Kind, ...], limit: int = _PASSAGES) -> list[Found]:
    index = record.scope.index
    if index is None:
        return []
    own = {f"event {seq}" for seq, event in record.events if isinstance(event, e.CompanionSaid)}
    found = searching.find(record.scope.engine, index, record.run, text, kinds=kinds, limit=limit + len(own))
    return [one for one in found if one.cite not in own][:limit]  # what was asked before is no answer


def _excerpts(found: list[Found]) -> list[str]:
    lines = []
    for one in found:
        heading = f"{one.passage.heading}: " if one.passage.heading else ""
        lines.append(f"- {heading}{short(_plain(one.passage.text), _EXCERPT)} [{one.cite}]")
    return lines


def _plain(text: str) -> str:
    """Without its headings: they are told apart."""
    lines = [line for line in text.split("\n") if not _HEADING.match(line)]
    return " ".join(" ".join(lines).split()) or text


def _or_nothing(lines: list[str], question: Question, cites: list[str] | None = None) -> Told:
    facts: dict[str, object] = {"passages": cites} if cites is not None else {}
    if not lines:
        return Told("Nothing on record has to do with these words. Ask in other words, or with a model.", facts)
    return Told("\n".join(lines), facts)
