"""What an accepted output claims, judged at once: a claim, its evidence, seen or not. Commits with the output.

Only remarks that the agent was shown, and that are for it, are looked at: those that are new to it, those that its
output cites, and those that it has not proved yet. Its texts are compared with those from before it was shown them.
How texts are compared is a kit's business (`Examiner`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import json

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Step
from reconvene.core.extensions import Asked, Citation, Compared, Examined, Finding, Spot
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import remark_number
from reconvene.core.facts.round import OutputAt, StepAt, TaskAt
from reconvene.core.facts.rows import ClaimAt
from reconvene.core.shown import scope
from reconvene.core.working.transaction import Transaction
from reconvene.errors import StoreError

REMARK = "remark"
_MOST = 60  # remarks that one output is judged by; the latest count
_LARGEST = 1_000_000  # bytes of a text; a larger one is no report
_MOST_FILES = 40

_Before = tuple[e.FileOut, ...]  # the output under the path ""


def version(tx: Transaction) -> int:
    return kit_finder.examiner(tx.book.workflow.kits)[1].version


def judge(tx: Transaction, step: StepAt, task: TaskAt, ended: e.AttemptEnded) -> None:
    """`ended` is on record: what it proves of each remark is recorded with it."""
    if ended.output is None:
        return
    cited = (*_cited(tx, ended), *_replied(tx, step, task, ended))
    for one in cited:
        if number_of(one.id) not in tx.state.record.remarks:
            _unknown(tx, ended, one)
    remarks = _remarks(tx, step, task, {one.id for one in cited})
    if not remarks:
        return
    definition = tx.phase.steps[step.index]
    after = _after(tx, definition, task.agent, ended)
    own, revised = _own(tx, step, task.agent)
    latest = _before(tx, own, after)
    known: Mapping[str, ClaimAt] = tx.state.world.claims.get(task.agent, {})
    groups: dict[_Before, list[e.RemarkAdded]] = {}
    for remark in remarks:
        earlier = known.get(f"{REMARK} {remark.id}")
        groups.setdefault(_since(earlier, latest), []).append(remark)
    name, examiner = kit_finder.examiner(tx.book.workflow.kits)
    for before, some in groups.items():
        given = Examined(
            agent=task.agent,
            others=tuple(agent for agent in tx.book.workflow.agents if agent != task.agent),
            remarks=tuple(Asked(one.id, one.text, one.kind, one.was, one.now) for one in some),
            texts=tuple(_compared(tx, before, after)),
            cited=cited,
            revised=revised,
            demanded=_demanded(definition, tx, task.agent),
        )
        findings = examiner.examine(given)
        for found in (*findings, *_no_longer(some, findings, known)):
            if _is_news(found, task, known.get(f"{REMARK} {found.id}"), cited):
                tx.emit(_event(tx, ended, found, after, before, (name, examiner.version)))


def _no_longer(
    some: Sequence[e.RemarkAdded], found: Sequence[Finding], known: Mapping[str, ClaimAt]
) -> Iterator[Finding]:
    """What a remark contests stood in the text until now, and no longer does; more is not to be seen."""
    told = {one.id for one in found}
    for remark in some:
        claim = known.get(f"{REMARK} {remark.id}")
        if remark.id not in told and claim is not None and claim.contested:
            yield Finding(remark.id, "unseen", "", "what it contests no longer stands", "", 0, (), ())


def _is_news(found: Finding, task: TaskAt, earlier: ClaimAt | None, cited: tuple[Citation, ...]) -> bool:
    """What an agent was shown before, and says no more of, is told again only where what it proves is other."""
    if number_of(found.id) > task.seen_before or earlier is None or any(one.id == found.id for one in cited):
        return True
    return found.verdict != earlier.verdict or bool(found.against) != earlier.contested


def _unknown(tx: Transaction, ended: e.AttemptEnded, one: Citation) -> None:
    why = "there is no such remark"
    claim = e.ClaimJudged(at=tx.now, claim=REMARK, id=one.id, task=ended.task, verdict="unseen", why=why, line=one.line)
    if claim not in tx.events:
        tx.emit(claim)


def _event(
    tx: Transaction, ended: e.AttemptEnded, found: Finding, after: Mapping[str, str], before: _Before,
    rule: tuple[str, int],
) -> e.ClaimJudged:  # fmt: skip
    def kept(spots: tuple[Spot, ...]) -> tuple[e.Passage, ...]:
        return tuple(map(passage, spots))

    def passage(one: Spot) -> e.Passage:
        line = 0 if _structured(tx, after[one.path]) else one.line
        return e.Passage(one.path, line, one.was, one.now, after[one.path] if one.path else "")

    return e.ClaimJudged(
        at=tx.now,
        claim=REMARK,
        id=found.id,
        task=ended.task,
        verdict=found.verdict,
        said=found.said,
        why=found.why,
        reason=found.reason,
        line=found.line,
        evidence=kept(found.evidence),
        against=kept(found.against),
        before=before,
        rule=rule[0],
        version=rule[1],
    )


# --- which remarks ---


def _remarks(tx: Transaction, step: StepAt, task: TaskAt, cited: set[str]) -> list[e.RemarkAdded]:
    record = tx.state.record
    known: Mapping[str, ClaimAt] = tx.state.world.claims.get(task.agent, {})
    numbers = set(range(task.seen_before + 1, step.remarks + 1))
    numbers |= {number for id in cited if (number := number_of(id)) <= step.remarks}
    numbers |= {remark_number(key.partition(" ")[2]) for key, one in known.items() if one.verdict == "unseen"}
    latest = sorted(number for number in numbers if 0 < number <= len(record.remarks))[-_MOST:]
    return [
        remark
        for number in latest
        if number not in record.withdrawn
        and number not in record.settled
        and _is_for(remark := record.remarks[number], task.agent)
        and (not remark.diff or (remark.was and remark.now))  # an edit: where it changes a figure
    ]


def number_of(id: str) -> int:
    """0 = no remark is called so."""
    try:
        return remark_number(id)
    except ValueError:
        return 0


def _is_for(remark: e.RemarkAdded, agent: str) -> bool:
    """A remark that names somebody is answered by them. Words that name no agent are for everybody."""
    named = {_plain(one) for one in remark.target.split(",") if one.strip()}
    return not named or _plain(agent) in named


def _plain(name: str) -> str:
    return " ".join(name.strip().removeprefix("@").replace("_", " ").replace("-", " ").split()).casefold()


def _cited(tx: Transaction, ended: e.AttemptEnded) -> tuple[Citation, ...]:
    """From the parsed value where there is one, then whatever only the text around it cites."""
    judge = kit_finder.judge(tx.book.workflow.kits)
    inside = tuple(judge(tx.book.text(ended.value.digest))) if ended.value else ()
    seen = {one.id for one in inside}
    around = judge(tx.book.text(ended.output.digest)) if ended.output else ()
    return (*inside, *(one for one in around if one.id not in seen))


def _replied(tx: Transaction, step: StepAt, task: TaskAt, ended: e.AttemptEnded) -> Iterator[Citation]:
    """In a talk the reply speaks of what was said there since the agent last spoke, whether or not it cites it."""
    value = tx.book.load(ended.value) if step.talk and ended.value else None
    reply = value.get("reply") if isinstance(value, dict) else None
    if not isinstance(reply, str) or not reply.strip():
        return
    cited = {one.id for one in _cited(tx, ended)}
    for number in range(task.seen_before + 1, step.remarks + 1):
        remark = tx.state.record.remarks[number]
        if remark.phase == tx.frame.phase and remark.id not in cited:
            yield Citation(remark.id, "addressed", " ".join(reply.split()), 0)


# --- what is compared ---


def _after(tx: Transaction, definition: Step, agent: str, ended: e.AttemptEnded) -> dict[str, str]:
    """Path → digest: the output, the files that came with it, and those that the agent wrote before and left."""
    assert ended.output is not None
    found = {file.path: file.digest for file in ended.files}
    if definition.output_file:
        found[scope.output_file(tx.state, tx.book, definition)] = ended.output.digest
    files = tx.state.world.files
    for output in outputs(tx, agent):
        for file in output.files:
            if file.path not in found and file.path in files:
                found[file.path] = files[file.path].digest
    return {"": ended.output.digest, **dict(sorted(found.items())[:_MOST_FILES])}


def _before(tx: Transaction, own: OutputAt | None, after: Mapping[str, str]) -> _Before:
    """The same texts as they stand now, before this output counts."""
    files = tx.state.world.files
    there = tuple(e.FileOut(path, files[path].digest, files[path].size) for path in after if path and path in files)
    return (*((e.FileOut("", own.output.digest, own.output.size),) if own is not None else ()), *there)


def _own(tx: Transaction, step: StepAt, agent: str) -> tuple[OutputAt | None, bool]:
    """What the agent last gave in this step; else in this phase; else anywhere. And whether it was this step."""
    frame = tx.frame
    same = [one for one in frame.outputs if (one.agent, one.step) == (agent, step.index)]
    here = tx.state.world.outputs.get(f"{frame.phase}/{agent}")
    elsewhere = list(outputs(tx, agent))
    if same or (here is not None and here.step == step.index):
        return (same[-1] if same else here), True
    return here if here is not None else elsewhere[-1] if elsewhere else None, False


def outputs(tx: Transaction, agent: str) -> Iterator[OutputAt]:
    """Its last output in each phase, in the order of the workflow."""
    outputs = tx.state.world.outputs
    return (outputs[key] for phase in tx.book.nodes if (key := f"{phase}/{agent}") in outputs)


def _since(earlier: ClaimAt | None, latest: _Before) -> _Before:
    """What was judged before is compared with the same again; files that came later, with what they are."""
    if earlier is None:
        return latest
    known = {file.path for file in earlier.before}
    return (*earlier.before, *(file for file in latest if file.path and file.path not in known))


def _compared(tx: Transaction, before: _Before, after: Mapping[str, str]) -> Iterator[Compared]:
    """An output that is a file at the same time is read once, as the file."""
    old = {file.path: file.digest for file in before}
    output = after[""]
    filed = list(after.values()).count(output) > 1
    for path, digest in after.items():
        if path or not filed:
            then = old.get(path) or (old.get("", "") if digest == output else "")
            yield Compared(path, text_of(tx, then), text_of(tx, digest))


def text_of(tx: Transaction, digest: str) -> str:
    """Empty where there is none, or where it is too large to be a report. Of JSON, the texts in it."""
    data = _raw(tx, digest)
    if _structured(tx, digest):
        return "\n\n".join(_strings(json.decode(data)))
    text = data.decode("utf-8", "replace")
    return "" if "\x00" in text else text


def _raw(tx: Transaction, digest: str) -> bytes:
    try:
        data = tx.book.read(digest) if digest else b""
    except StoreError:
        return b""
    return data if len(data) <= _LARGEST else b""


def _structured(tx: Transaction, digest: str) -> bool:
    """Whether it is JSON, which has no lines to name."""
    data = _raw(tx, digest)
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        json.decode(data)
    except (ValueError, RecursionError):
        return False
    return True


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case int() | float() if not isinstance(value, bool):
            yield str(value)
        case list():
            for one in value:
                yield from _strings(one)
        case dict():
            for name, one in value.items():
                if isinstance(one, str | int | float) and not isinstance(one, bool):
                    yield f"{name}: {one}"
                else:
                    yield from _strings(one)


def _demanded(definition: Step, tx: Transaction, agent: str) -> tuple[str, ...]:
    gates = (*tx.book.workflow.agents[agent].gates, *definition.gates)
    return tuple(text for gate in gates for text in (gate.when, gate.retry_with, gate.append, gate.example) if text)
