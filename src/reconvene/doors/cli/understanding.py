"""How a free text was understood, and the small menus with which a person puts that right. Records nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.doors.cli.advice import said
from reconvene.doors.cli.ask import ask_text, pick, tick
from reconvene.doors.cli.form import Entry
from reconvene.doors.cli.text import clean

if TYPE_CHECKING:
    from reconvene.core.facts.commands import RemarkIn


def understood(text: str, agents: tuple[str, ...]) -> list[Entry]:
    """The remarks in a free text, read by rules. None: it only agrees."""
    from reconvene.app.listening import by_rules
    from reconvene.core.facts.commands import RemarkIn

    try:
        return list(by_rules(text, agents).entries)
    except Exception as error:  # whatever is wrong with the rules, the words are the person's
        return [Entry(RemarkIn(text.strip()), f"kept whole ({type(error).__name__} while sorting it)")]


def understood_better(text: str, agents: tuple[str, ...], entries: list[Entry]) -> list[Entry]:
    """The same read by a model, where one is configured and does not fail. May take a minute."""
    from reconvene.doors.cli.common import note
    from reconvene.settings import feedback_model
    from reconvene.wiring import listen

    model = feedback_model()
    if not model or not entries:
        return entries
    try:
        heard = listen(text, agents, model)
    except Exception as error:
        note(f"{clean(model)} could not be asked ({type(error).__name__}); understood by rules")
        return entries
    note(clean(heard.note))
    return list(heard.entries) if heard.entries and heard.entries[0].model else entries


def agrees(text: str) -> bool:
    """Whether there is nothing in a text to record. By rules alone: they are quick, and this is asked often."""
    from reconvene.core.kit_finder import reader

    try:
        return not reader().split(text)
    except Exception:  # then there is something in it, whatever it is
        return False


def typed(title: str, given: str = "") -> str:
    """Bytes that are not UTF-8 come out of a terminal as halves of characters, which nothing can store."""
    return clean(ask_text(title, given)).encode("utf-8", "replace").decode()


def has_kind(line: str) -> bool:
    """Whether a line is written as "kind: text"."""
    from reconvene.core.kit_finder import reader

    return bool(line.strip()) and reader().typed(line).text != line.strip()


def in_line(entry: Entry) -> str:
    remark = entry.remark
    return said(remark.kind, remark.text, remark.target, remark.was, remark.now)


def change(entries: list[Entry], index: int, agents: tuple[str, ...]) -> None:
    """One entry put right, joined with the one before it, or dropped."""
    remark = entries[index].remark
    what = pick(
        f"What about {index + 1}?",
        [
            ("kind", f"Its kind (now: {remark.kind})"),
            ("text", "Its words"),
            ("target", f"Whom it is for (now: {remark.target or 'everybody'})"),
            ("values", f"The values (now: {remark.was or '?'} → {remark.now or '?'})"),
            *([("join", f"Join it with {index}")] if index else []),
            ("drop", "Drop it"),
            ("back", "Leave it as it is"),
        ],
    )
    match what:
        case "drop":
            del entries[index]
        case "join":
            entries[index - 1 : index + 1] = [_joined(entries[index - 1], entries[index])]
        case "back":
            pass
        case _:
            entries[index] = Entry(_changed(remark, what, agents), "as you put it")


def _changed(remark: RemarkIn, what: str, agents: tuple[str, ...]) -> RemarkIn:
    from msgspec.structs import replace

    from reconvene.core.kit_finder import reader

    match what:
        case "kind":
            kind = pick("What is it?", [(kind, kind) for kind in reader().kinds], remark.kind)
            asks = kind == "reaction" and not remark.target
            return replace(remark, kind=kind, target=_target(remark, agents) if asks else remark.target)
        case "text":
            text = typed("Its words:", remark.text).strip()
            return _with_text(remark, text, agents) if text else remark
        case "target":
            return replace(remark, target=_target(remark, agents))
        case _:
            was = typed("What it said:", remark.was).strip()
            return replace(remark, was=was, now=typed("What it should say:", remark.now).strip())


def _target(remark: RemarkIn, agents: tuple[str, ...]) -> str:
    named = [part.strip() for part in remark.target.split(",")]
    return ", ".join(tick("For whom? Nobody is everybody", agents, named, {}))


def _joined(first: Entry, second: Entry) -> Entry:
    from msgspec.structs import replace

    one, other = first.remark, second.remark
    figures = one if one.was or one.now else other
    between = "\n" if "\n" in one.text + other.text else " "
    joined = replace(
        one,
        text=f"{one.text}{between}{other.text}",
        kind=one.kind if one.kind != "comment" else other.kind,
        target=", ".join(dict.fromkeys(part for part in (one.target, other.target) if part)),
        was=figures.was,
        now=figures.now,
    )
    return Entry(joined, "joined by you")


def _with_text(remark: RemarkIn, text: str, agents: tuple[str, ...]) -> RemarkIn:
    """New words may name new figures; the kind stays what it is."""
    from msgspec.structs import replace

    from reconvene.core.kit_finder import reader

    found = [one for one in reader().split(text, agents) if one.remark.now]
    was, now = (found[0].remark.was, found[0].remark.now) if found else ("", "")
    return replace(remark, text=text, was=was, now=now)
