"""What a model thinks of a claim that rules left open. It counts where the words that it relies on stand where it says,
and are new there, and nothing that a rule worked out speaks against it.
"""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.rows import ClaimAt
from reconvene.core.working.claims import REMARK, number_of, outputs, text_of
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused

RULE, VERSION = "model", 1


def judge_by_model(tx: Transaction, command: c.JudgeClaim) -> None:
    agent = parse_task(command.task)[2]
    remark = tx.state.record.remarks.get(number_of(command.id))
    known: Mapping[str, ClaimAt] = tx.state.world.claims.get(agent, {})
    claim = known.get(f"{REMARK} {command.id}")
    if remark is None or claim is None or claim.task != command.task or claim.verdict != "unseen":
        raise Refused(f"{command.task} has left nothing open about {command.id!r}.")
    if claim.contested:
        raise Refused(f"What {command.id} contests still stands in the text of {agent}: no model says otherwise.")
    before, after = text_of(tx, _before(claim, command.path)), text_of(tx, _after(tx, agent, command.path))
    if wrong := unfounded(command.was, command.now, before, after, remark.text):
        raise Refused(f"{command.model} judged {command.id} of {command.task} by {wrong}: that does not count.")
    place = after.find(command.now) if command.now else -1
    version = _after(tx, agent, command.path) if command.path else ""
    spot = e.Passage(
        command.path, 1 + after.count("\n", 0, place) if place >= 0 else 0, command.was, command.now, version
    )
    tx.emit(
        e.ClaimJudged(
            at=tx.now,
            claim=REMARK,
            id=command.id,
            task=command.task,
            verdict="seen",
            said="taken up",
            reason=command.why,
            evidence=(spot,),
            before=claim.before,
            rule=RULE,
            version=VERSION,
            by=command.model,
        )
    )


def _before(claim: ClaimAt, path: str) -> str:
    return next((file.digest for file in claim.before if file.path == path), "")


def _after(tx: Transaction, agent: str, path: str) -> str:
    if path:
        return tx.state.world.files[path].digest if path in tx.state.world.files else ""
    here = tx.state.world.outputs.get(f"{tx.frame.phase}/{agent}")
    last = here if here is not None else next(reversed(list(outputs(tx, agent))), None)
    return last.output.digest if last is not None else ""


def unfounded(was: str, now: str, before: str, after: str, remark: str) -> str:
    """Why words before and after prove nothing; "" where they stand as they are said to."""
    was, now, before, after = map(_flat, (was, now, before, after))
    if not was and not now:
        return "no words at all"
    if now and now not in after:
        return "words that do not stand there"
    if now and now in before:
        return "words that stood there before"
    if was and was not in before:
        return "words that did not stand there before"
    if was and was in after:
        return "words that still stand there"
    return "the words of the remark" if now and now in _flat(remark) else ""


def _flat(text: str) -> str:
    return " ".join(text.split())
