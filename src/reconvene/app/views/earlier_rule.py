"""How remarks were judged before verdicts were on record: whoever cites a remark has answered it.

Read for outputs and files of releases that recorded no verdict, so that their ledgers stay as they were. Never changed.
A citation in an accepted output is an answer; in a talk, so is the reply to what was said there. A file that cites a
remark, or states its new value, reflects it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from msgspec import json

from reconvene.app.views.remark_lives import Reflection
from reconvene.core import kit_finder
from reconvene.core.extensions import Citation, Stated
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task

TextOf = Callable[[e.Ref], str]


class Outputs(NamedTuple):
    """What an output is read with. `earlier`: the kits that the run had up to a round, with the serial of that."""

    text_of: TextOf
    kits: tuple[str, ...]
    earlier: Sequence[tuple[int, tuple[str, ...]]]

    def cited(self, output: e.AttemptEnded) -> Iterator[Citation]:
        """From the parsed value where there is one, then whatever only the text around it cites."""
        serial = parse_task(output.task)[0]
        cited_in = kit_finder.judge(next((kits for last, kits in self.earlier if serial <= last), self.kits))
        inside = cited_in(self.text_of(output.value)) if output.value else ()
        yield from inside
        seen = {found.id for found in inside}
        around = cited_in(self.text_of(output.output)) if output.output else ()
        yield from (found for found in around if found.id not in seen)

    def replied(self, output: e.AttemptEnded, new: Sequence[e.RemarkAdded]) -> Iterator[Citation]:
        """In a talk a reply is an answer to what was said to it, whether or not it cites it. `new`: that."""
        reply = _reply(self.text_of(output.value)) if new and output.value else ""
        if reply:
            cited = {found.id for found in self.cited(output)}
            yield from (Citation(remark.id, "addressed", reply, 0) for remark in new if remark.id not in cited)


def _reply(value: str) -> str:
    """What an output says to the person, on one line."""
    try:
        found = json.decode(value)
    except ValueError:
        return ""
    said = found.get("reply") if isinstance(found, dict) else None
    return " ".join(said.split()) if isinstance(said, str) else ""


def echoes(citation: Citation, remark: e.RemarkAdded) -> bool:
    """Only repeats the remark as it was delivered ("[FB-001] Correction: …"): no answer to it."""
    words = " ".join(remark.text.split()).casefold()[:200].strip(" .")
    said = citation.reason.casefold()
    return bool(words) and said.startswith(
        (words, f"{remark.kind}: {words}", f"{remark.kind} to {remark.target}: {words}")
    )


# --- files ---


class Page(NamedTuple):
    """A deliverable as it stands now. `remarks`: so many its writer had been shown; `cited`: remark → line."""

    path: str
    text: str
    remarks: int
    cited: Mapping[str, int]
    read: Callable[[str], Stated]
    stated: Callable[[], Stated]  # all of it; read when it is first asked for


def page(path: str, text: str, remarks: int, cited: Mapping[str, int], kits: tuple[str, ...]) -> Page:
    read = kit_finder.reader(kits).stated
    return Page(path, text, remarks, cited, read, cache(partial(read, text)))


def reflection(remark: e.RemarkAdded, page: Page) -> Reflection | None:
    if remark.id in page.cited:
        return Reflection(page.path, "cites", page.cited[remark.id])
    # A file from before the remark that happens to hold the value reflects nothing.
    if remark.kind != "edit" and remark.now and page.remarks >= remark.number and page.stated().holds(remark.now):
        return Reflection(page.path, "value", _line_of(page, remark.now))
    return None


def _line_of(page: Page, value: str) -> int:
    """The first line that states the value, counted from 1; 0 where only several lines together do."""
    lines = enumerate(page.text.splitlines(), 1)
    return next((number for number, line in lines if page.read(line).holds(value)), 0)
