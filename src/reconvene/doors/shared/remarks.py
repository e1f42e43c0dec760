"""How a remark is read before it is recorded: a free text split and sorted, and put right by the person.

`kits`, everywhere: those of the run that it is said about. The first that has a reader reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from reconvene.app.model_reader import Entry, by_rules
from reconvene.core.facts.commands import RemarkIn
from reconvene.core.kit_finder import reader
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconvene.app.views.read_model import Remark


class Reading(NamedTuple):
    """`note`: who read it, or why somebody else did not; "" where nobody else was asked."""

    entries: list[Entry]
    note: str = ""


def understood(text: str, agents: tuple[str, ...], kits: tuple[str, ...] = ()) -> list[Entry]:
    """The remarks in a free text, read by rules. None: it only agrees."""
    try:
        return list(by_rules(text, agents, kits).entries)
    except Exception as error:  # whatever is wrong with the rules, the words are the person's
        return [Entry(RemarkIn(text.strip()), f"kept whole ({type(error).__name__} while sorting it)")]


def said_with_decision(text: str, agents: tuple[str, ...], kits: tuple[str, ...] = ()) -> list[RemarkIn]:
    """What goes with a decision, or stands in a file of answers. A kind that is written wins; free text is split and
    sorted, and what only agrees is nothing."""
    if has_kind(text, kits):
        return [reader(kits).typed(text)]
    return [entry.remark for entry in understood(text, agents, kits)]


def understood_better(text: str, agents: tuple[str, ...], entries: list[Entry], kits: tuple[str, ...] = ()) -> Reading:
    """The same read by a model, where one is configured and does not fail. May take a minute."""
    from reconvene.settings import feedback_model
    from reconvene.surroundings import from_files
    from reconvene.wiring import listen

    model = feedback_model() or from_files("feedback_model")
    if not model or not entries:
        return Reading(entries)
    try:
        heard = listen(text, agents, model, kits)
    except Exception as error:
        return Reading(entries, f"{model} could not be asked ({type(error).__name__}); understood by rules")
    return Reading(list(heard.entries) if heard.entries and heard.entries[0].model else entries, heard.note)


def agrees(text: str, kits: tuple[str, ...] = ()) -> bool:
    """Whether there is nothing in a text to record. By rules alone: they are quick, and this is asked often."""
    try:
        return not reader(kits).split(text)
    except Exception:  # then there is something in it, whatever it is
        return False


def has_kind(line: str, kits: tuple[str, ...] = ()) -> bool:
    """Whether a line is written as "kind: text"."""
    return bool(line.strip()) and reader(kits).typed(line).text != line.strip()


def joined(first: Entry, second: Entry) -> Entry:
    """Two that are one after all."""
    one, other = first.remark, second.remark
    figures = one if one.was or one.now else other
    between = "\n" if "\n" in one.text + other.text else " "
    both = replace(
        one,
        text=f"{one.text}{between}{other.text}",
        kind=one.kind if one.kind != "comment" else other.kind,
        target=", ".join(dict.fromkeys(part for part in (one.target, other.target) if part)),
        was=figures.was,
        now=figures.now,
    )
    return Entry(both, "joined by you")


def with_text(remark: RemarkIn, text: str, agents: tuple[str, ...], kits: tuple[str, ...] = ()) -> RemarkIn:
    """New words may name new figures; the kind stays what it is."""
    was, now = figures_in(text, agents, kits)
    return replace(remark, text=text, was=was, now=now)


def figures_in(text: str, agents: Sequence[str], kits: tuple[str, ...] = ()) -> tuple[str, str]:
    """The value that a text corrects, and the new one."""
    found = [one for one in reader(kits).split(text, tuple(agents)) if one.remark.now]
    return (found[0].remark.was, found[0].remark.now) if found else ("", "")


def in_line(entry: Entry) -> str:
    return said_in(entry.remark)


def said_in(remark: RemarkIn | Remark) -> str:
    """A remark in a line: what it is, for whom, its words, and the values it changes."""
    target = f" to {one_line(remark.target)}" if remark.target else ""
    target += f" on {one_line(remark.lines)}" if remark.lines else ""
    values = f"   [{one_line(remark.was) or '?'} → {one_line(remark.now) or '?'}]" if remark.was or remark.now else ""
    return f"{remark.kind}{target}: {one_line(remark.text, 300)}{values}"
