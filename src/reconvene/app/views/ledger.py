"""The life of every remark: captured → delivered → claimed, declined, addressed or reflected; replaced or withdrawn.

A pure fold of the log. Delivery is what the log itself proves (StepStarted.remarks). What an output proves is on record
as a verdict (ClaimJudged), and is not judged anew; what older releases left without one is read by `earlier_rule`.
Reflected means that a file an agent wrote shows it, in a line that still stands there. Files that the engine renders
prove nothing: they list every remark anyway. So does a section that it keeps in a file of theirs. What an undone round
answered no longer counts, what it was shown stays on record. Knows no workflow; texts come from the caller's `text_of`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Literal

from immutables import Map
from msgspec import Struct, convert
from msgspec.structs import replace

from reconvene.app.views import earlier_rule
from reconvene.app.views.earlier_rule import TextOf
from reconvene.app.views.read_model import LATEST
from reconvene.app.views.remark_lives import (
    Answer,
    Deliveries,
    Delivery,
    Entry,
    Ledger,
    Reflection,
    Unknown,
    Withdrawn,
    answer_of,
    edit_stands,
    judged,
    ledger_of,
)
from reconvene.app.views.who import is_proved, told
from reconvene.core import kit_finder
from reconvene.core.extensions import Citation, ListFile
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task, remark_number, task_id
from reconvene.core.shown import anchors
from reconvene.core.working.rendering import without_section
from reconvene.language.entries import Listed, ListEntry, changes, commented_on, place_in
from reconvene.language.following import says

__all__ = ["Answer", "Citation", "Delivery", "Entry", "Ledger", "Reflection", "Unknown", "ledger"]


def ledger(
    events: Iterable[e.AnyEvent],
    text_of: TextOf,
    kits: tuple[str, ...] = (),
    earlier: Sequence[tuple[int, tuple[str, ...]]] = (),
    sections: Mapping[str, str] = MappingProxyType({}),
) -> Ledger:
    """`text_of` reads what a Ref names; a text that cannot be read any more should come as "". `kits`: the run's;
    `earlier`: those that it had up to a round, with the serial of that. `sections`: path → the heading below which the
    engine writes, in a file that is others'."""
    fold = _Fold(kits, earlier, sections)
    for event in events:
        fold.take(event)
    return fold.close(text_of)


# --- the fold ---


class _File(Struct, frozen=True):
    ref: e.Ref
    remarks: int  # how many remarks its writer had been shown
    rendered: bool = False
    judged: bool = False  # what it proves is on record


class _Version(Struct, frozen=True):
    """A file as somebody left it, and the version before."""

    digest: str  # "" = removed
    made: int  # how many remarks there were then
    shown: int  # how many of them its writer had been shown
    agent: str = ""  # "" = a person wrote it, or the engine
    before: _Version | None = None
    order: int = 0  # among all that was written


class _Fold:
    def __init__(
        self, kits: tuple[str, ...], earlier: Sequence[tuple[int, tuple[str, ...]]], sections: Mapping[str, str]
    ) -> None:
        self._kits = kits
        self._earlier = earlier
        self._sections = sections
        self.remarks: list[e.RemarkAdded] = []
        self._withdrawn: dict[int, e.RemarkWithdrawn | e.RemarkAdded] = {}  # the one in its place, where there is one
        self._settled: dict[int, e.RemarkSettled] = {}
        self._verdicts: list[e.ClaimJudged] = []
        self._judged: set[tuple[int, int]] = set()  # rounds and steps whose outputs have verdicts
        self._sources: dict[str, str] = {}  # remark → the file of answers that said it
        self._deliveries: list[Delivery] = []
        self._counts: list[int] = []  # of each delivery: how many remarks; they only ever grow
        self.outputs: list[e.AttemptEnded] = []
        self.undone: set[int] = set()
        self.files: Map[str, _File] = Map()
        self._versions: Map[str, _Version] = Map()
        self._names: dict[str, str] = {}  # file that a person renamed → its new name
        self._written = 0
        self._marks: dict[int, tuple[Map[str, _File], Map[str, _Version]]] = {}  # round → the files before it
        self._writers: dict[tuple[int, int, str], str] = {}  # round, step, path → the agent whose file it is
        self._rounds: dict[int, e.RoundStarted] = {}
        self._replies: dict[str, range] = {}  # task of a talk → remarks that are new to it
        self._spoken: dict[tuple[str, str], int] = {}  # phase, agent → remarks delivered when it last worked there
        self._shown: dict[tuple[int, int], int] = {}  # round, step → remarks delivered
        self._open: e.StepStarted | None = None  # the last one

    def take(self, event: e.AnyEvent) -> None:
        match event:
            case e.RemarkAdded():
                self.remarks.append(event)
                if event.replaces:
                    self._withdrawn[remark_number(event.replaces)] = event
            case e.RemarkSettled():
                self._settled[event.number] = event
            case e.ClaimJudged(claim="remark"):
                self._verdicts.append(event)
            case e.RemarkRead():
                read = {"kind": event.kind, "target": event.target, "was": event.was, "now": event.now}
                self.remarks[event.number - 1] = replace(self.remarks[event.number - 1], **read)
            case e.RemarkWithdrawn():
                self._withdrawn[event.number] = event
            case e.DecisionRecorded() | e.ApprovalRecorded() if event.source != LATEST:
                self._sources |= dict.fromkeys(event.remarks, event.source)
            case e.RoundStarted():
                self._rounds[event.serial] = event
                self._marks[event.serial] = self.files, self._versions
            case e.StepStarted():
                self._open = event
                self._deliver(event, [start.agent for start in event.tasks], event.remarks, event.at)
            case e.TroubleSettled() if event.remarks and self._open is not None:
                self._deliver(self._open, event.agents, event.remarks, event.at)
            case e.AttemptEnded(verdict="accepted", output=e.Ref()):
                serial, step, agent = parse_task(event.task)
                if event.judged:
                    self._judged.add((serial, step))
                else:
                    self.outputs.append(event)
                self._writers |= {(serial, step, file.path): agent for file in event.files}
            case e.StepClosed():
                self._write(event.files, self._shown.get((event.serial, event.step), 0), (event.serial, event.step))
            case e.FilesEdited():
                self._names |= {old: new for new, old in event.renamed.items()}
                self._write(event.files, len(self.remarks), renamed=event.renamed)
            case e.FilesRendered():
                self._write(event.files, 0, rendered=True)
            case e.RoundUndone():
                self.undone |= {serial for serial in self._rounds if serial >= event.serial}
                self.files, self._versions = self._marks.get(event.serial, (self.files, self._versions))
            case _:
                pass  # everything else moves the run, and no remark

    def _deliver(self, event: e.StepStarted, agents: Iterable[str], remarks: int, at: str) -> None:
        """To those who begin the step, or try it again: so many remarks."""
        self._shown[event.serial, event.step] = remarks
        round_ = self._rounds.get(event.serial)
        phase, n = (round_.phase, round_.n) if round_ else ("", 0)
        for agent in agents:
            task = task_id(event.serial, event.step, agent)
            delivery = Delivery(task, agent, phase, n, at)
            self._deliveries.append(delivery)
            self._counts.append(remarks)
            if event.talk:
                told = self._replies[task].start if task in self._replies else self._spoken.get((phase, agent), 0) + 1
                self._replies[task] = range(told, remarks + 1)
            self._spoken[phase, agent] = remarks

    def _write(
        self,
        files: tuple[e.FileOut, ...],
        remarks: int,
        step: tuple[int, int] = (0, 0),
        *,
        rendered: bool = False,
        renamed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        for file in files:
            agent = self._writers.get((*step, file.path), "")
            self._written += 1
            before = self._versions.get(renamed.get(file.path, file.path))
            version = _Version(file.digest, len(self.remarks), remarks, agent, before, self._written)
            self._versions = self._versions.set(file.path, version)
            if file.digest:
                ref = e.Ref(file.digest, "text", file.size)
                last = self.files.get(file.path)
                if rendered and last and file.path in self._sections:
                    made = _File(ref, last.remarks, last.rendered, last.judged)
                else:
                    judged = step in self._judged if step != (0, 0) else bool(self._judged)
                    made = _File(ref, remarks, rendered, judged)
                self.files = self.files.set(file.path, made)
            elif file.path in self.files:
                self.files = self.files.delete(file.path)

    def close(self, text_of: TextOf) -> Ledger:
        standing = [remark for remark in self.remarks if remark.number not in self._withdrawn]
        known = {remark.id: remark for remark in standing}
        every = {remark.id for remark in self.remarks}
        answers: dict[str, list[Answer]] = {}
        unknown: list[Unknown] = []
        read = earlier_rule.Outputs(text_of, self._kits, self._earlier)
        for output in self.outputs:
            serial, _, agent = parse_task(output.task)
            for found in (*read.cited(output), *read.replied(output, self._new_in_talk(output.task))):
                if found.id not in every:
                    unknown.append(Unknown(found.id, output.task, found.line))
                elif found.id in known and not earlier_rule.echoes(found, known[found.id]):
                    undone = serial in self.undone
                    answer = Answer(output.task, agent, found.how, found.reason, found.line, output.at, undone)
                    answers.setdefault(found.id, []).append(answer)
        for verdict in self._verdicts:
            if verdict.id not in every:
                unknown.append(Unknown(verdict.id, verdict.task, verdict.line))
            else:
                answers.setdefault(verdict.id, []).append(answer_of(verdict, self.undone))
        reflected = self._reflections(text_of, known, every, unknown)
        for remark in standing:
            places = self._proved(answers.get(remark.id, ()), text_of)
            reflected.setdefault(remark.id, []).extend(places)
        delivered = self._delivered()
        entries = tuple(
            judged(
                replace(
                    convert(remark, Entry, from_attributes=True),
                    proved=is_proved(remark.by, remark.user),
                    source=self._sources.get(remark.id, ""),
                    delivered=delivered[remark.number],
                    answers=tuple(answers.get(remark.id, ())),
                    reflected=tuple(reflected.get(remark.id, ())),
                    settled=self._settled_by(remark.number),
                )
            )
            for remark in standing
        )
        return ledger_of(entries, tuple(dict.fromkeys(unknown)), tuple(map(self._gone, sorted(self._withdrawn))))

    def _settled_by(self, number: int) -> str:
        event = self._settled.get(number)
        return (told(event.by, event.user) or event.user or "a person") if event is not None else ""

    def _new_in_talk(self, task: str) -> list[e.RemarkAdded]:
        """What was said in a talk since its agent last spoke there."""
        new, round_ = self._replies.get(task), self._rounds.get(parse_task(task)[0])
        if not new or not round_:
            return []
        return [one for one in self.remarks[new.start - 1 : new.stop - 1] if one.phase == round_.phase]

    def _proved(self, answers: Sequence[Answer], text_of: TextOf) -> Iterator[Reflection]:
        """Where files show what was proved, in the words of the verdict, as long as these stand there."""
        for answer in answers:
            if answer.how != "addressed" or answer.undone:
                continue
            for one in answer.evidence:
                file = self.files.get(one.path) if one.path else None
                if file is None or not one.now:
                    continue
                text = text_of(file.ref)
                if file.ref.digest == one.version or _words(one.now.rstrip("…")) in _words(text):
                    yield Reflection(one.path, "changed", one.line, answer.agent, one.was, one.now)

    def _gone(self, number: int) -> Withdrawn:
        event, remark = self._withdrawn[number], self.remarks[number - 1]
        said_by, by = told(remark.by, remark.user) or remark.user, told(event.by, event.user) or event.user
        instead = event.id if isinstance(event, e.RemarkAdded) else ""
        status: Literal["replaced", "withdrawn"] = "replaced" if instead else "withdrawn"
        return Withdrawn(remark.id, remark.kind, remark.text, remark.at, said_by, by, event.at, status, instead)

    def _delivered(self) -> dict[int, Deliveries]:
        """By number of a remark: whoever was given so many."""
        since = {remark.number: bisect_left(self._counts, remark.number) for remark in self.remarks}
        agents: dict[int, tuple[str, ...]] = {}  # from each task on, in the order of their first
        times: dict[int, int] = {}
        tasks: set[str] = set()
        later: tuple[str, ...] = ()
        for at in range(len(self._deliveries) - 1, -1, -1):
            first = self._deliveries[at].agent
            if later[:1] != (first,):
                later = (first, *(agent for agent in later if agent != first))
            agents[at] = later
            tasks.add(self._deliveries[at].task)
            times[at] = len(tasks)
        return {
            number: Deliveries(self._deliveries, first, agents.get(first, ()), times.get(first, 0))
            for number, first in since.items()
        }

    def _reflections(
        self, text_of: TextOf, known: dict[str, e.RemarkAdded], every: set[str], unknown: list[Unknown]
    ) -> dict[str, list[Reflection]]:
        """Comments whose lines were changed, edits that stand, and what files without a verdict show."""
        found: dict[str, list[Reflection]] = {}
        edits: dict[str, list[e.RemarkAdded]] = {}
        for remark in known.values():
            if remark.kind == "edit":
                edits.setdefault(remark.path, []).append(remark)
        found |= {remark.id: places for remark in known.values() if (places := list(self._changed(remark, text_of)))}
        valued = [remark for remark in known.values() if remark.now and remark.kind != "edit"]
        for path, file in sorted(self.files.items()):
            if file.rendered:
                continue
            text = text_of(file.ref)
            if heading := self._sections.get(path):
                text = without_section(text, heading)
            cited: dict[str, int] = {}
            for citation in kit_finder.judge(self._kits)(text):
                if citation.id not in every:
                    unknown.append(Unknown(citation.id, path, citation.line))
                elif file.judged or citation.how != "addressed" or citation.id not in known:
                    continue
                elif not earlier_rule.echoes(citation, known[citation.id]):
                    cited.setdefault(citation.id, citation.line)
            for remark in edits.get(path, ()):
                if remark.id not in cited and remark.diff and edit_stands(text_of(e.Ref(remark.diff)), text):
                    found.setdefault(remark.id, []).append(Reflection(path, "edit"))
            # No other remark can show in this file; where there is none, it is not read for what it states.
            possible = (*(known[name] for name in cited), *valued) if not file.judged else ()
            if not possible:
                continue
            page = earlier_rule.page(path, text, file.remarks, cited, self._kits)
            for remark in {one.id: one for one in possible}.values():
                if reflection := earlier_rule.reflection(remark, page):
                    found.setdefault(remark.id, []).append(reflection)
        return found

    def _changed(self, remark: e.RemarkAdded, text_of: TextOf) -> Iterator[Reflection]:
        """Where an agent that was shown the comment changed the lines, or took them out; the first that did. Nobody
        did where they stand as they were commented on."""
        anchor = remark.anchor
        if anchor is None or not anchor.version:
            return
        anchor = replace(anchor, path=self._name(anchor.path))
        since = self._since(anchor.path, remark.number)
        texts = [text_of(e.Ref(one.digest)) if one.digest else "" for one in since]
        seen = text_of(e.Ref(anchor.version)) or None
        listed = kit_finder.list_file(self._kits, anchor.path)
        if (
            listed is not None
            and seen
            and (entry := commented_on(listed.entries, anchors.place_of(anchor), seen)) is not None
        ):
            yield from self._changed_entry(remark, listed, entry, text_of)
            return
        every = list(anchors.standings(anchor, seen, texts))
        last = every[-1].place
        if every[-1].same:
            return
        for one, text, was, now in zip(since, texts, every, every[1:]):
            taken = now.text if now.place is not None else ""
            if was.place is not None and one.agent and one.shown >= remark.number and not says(taken or text, was.text):
                yield Reflection(anchor.path, "changed", last.first if last is not None else 0, one.agent)
                return

    def _changed_entry(
        self, remark: e.RemarkAdded, listed: ListFile, entry: ListEntry, text_of: TextOf
    ) -> Iterator[Reflection]:
        """The same of an entry of a list. The next list, which replaces this one, changes nothing in it."""
        paths = [path for path in self._versions if path == listed.path or fnmatchcase(path, listed.kept)]
        since = sorted(
            ((one, path) for path in paths for one in self._since(path, remark.number)), key=lambda pair: pair[0].order
        )
        versions = [Listed(path, text_of(e.Ref(one.digest)) if one.digest else "") for one, path in since]
        for at in changes(listed.entries, entry, listed.path, versions):
            one, _ = since[at]
            if one.agent and one.shown >= remark.number:
                file = self.files.get(listed.path)
                place = place_in(listed.entries, entry, text_of(file.ref)) if file is not None else None
                yield Reflection(listed.path, "changed", place.first if place is not None else 0, one.agent)
                return

    def _name(self, path: str) -> str:
        """The name that a person gave the file last."""
        seen = {path}
        while path not in self.files and (name := self._names.get(path)) is not None and name not in seen:
            path = name
            seen.add(path)
        return path

    def _since(self, path: str, remark: int) -> list[_Version]:
        """What a file became since a remark, oldest first."""
        found: list[_Version] = []
        version = self._versions.get(path)
        while version is not None and version.made >= remark:
            found.append(version)
            version = version.before
        return found[::-1]


def _words(text: str) -> str:
    return " ".join(text.split())
