"""The small menus with which a person at a terminal puts right how a remark was understood. Records nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.app.model_reader import Entry
from reconvene.doors.cli.ask import ask_text, pick, tick
from reconvene.doors.cli.text import clean
from reconvene.doors.shared.remarks import joined, kinds, with_text

if TYPE_CHECKING:
    from reconvene.core.facts.commands import RemarkIn


def typed(title: str, given: str = "") -> str:
    """Bytes that are not UTF-8 come out of a terminal as halves of characters, which nothing can store."""
    return clean(ask_text(title, given)).encode("utf-8", "replace").decode()


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
            entries[index - 1 : index + 1] = [joined(entries[index - 1], entries[index])]
        case "back":
            pass
        case _:
            entries[index] = Entry(_changed(remark, what, agents), "as you put it")


def _changed(remark: RemarkIn, what: str, agents: tuple[str, ...]) -> RemarkIn:
    from msgspec.structs import replace

    match what:
        case "kind":
            kind = pick("What is it?", [(kind, kind) for kind in kinds()], remark.kind)
            asks = kind == "reaction" and not remark.target
            return replace(remark, kind=kind, target=_target(remark, agents) if asks else remark.target)
        case "text":
            text = typed("Its words:", remark.text).strip()
            return with_text(remark, text, agents) if text else remark
        case "target":
            return replace(remark, target=_target(remark, agents))
        case _:
            was = typed("What it said:", remark.was).strip()
            return replace(remark, was=was, now=typed("What it should say:", remark.now).strip())


def _target(remark: RemarkIn, agents: tuple[str, ...]) -> str:
    named = [part.strip() for part in remark.target.split(",")]
    return ", ".join(tick("For whom? Nobody is everybody", agents, named, {}))
