"""Where kits are found: the engine asks here for one by its name.

Who knows the kits is named, not imported: the package `reconvene.kits` is loaded when the first one is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from reconvene.core.definition.workflow import OUTPUT_FORMS, OUTPUT_WORDS, every_phase
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.core.definition.workflow import Workflow
    from reconvene.core.extensions import Examiner, Field, Gate, Judge, Kit, ListFile, Pick, Reader, Tracker

PLANNING = "planning"  # whose list of to-dos every workflow can have
READING = "reading"  # whose reader is used where a workflow names no other
_KITS = "reconvene.kits"

_found: dict[str, Kit] = {}


def find(name: str) -> Kit | None:
    if name not in _found:
        kit: Kit | None = import_module(_KITS).find(name)
        if kit is None:
            return None
        _found[name] = kit
    return _found[name]


def kit(name: str) -> Kit:
    found = find(name)
    if found is None:
        known: tuple[str, ...] = import_module(_KITS).names()
        raise UserError(
            f"The kit {name!r} is not installed.",
            hint=f"Install the package that brings it, or use one that is there: {', '.join(known)}.",
        )
    return found


def packaged(name: str) -> bool:
    """Whether it comes with the engine, and so is always there."""
    return name in import_module(_KITS).PACKAGED


def require(workflow: Workflow) -> None:
    """Before a run moves: nothing is begun that could not be ended. Packaged kits are always there, and whole."""
    for name in workflow.kits:
        if find(name) is None:
            raise UserError(
                f"This run needs the kit {name!r}, which is not installed here. The run stays as it is.",
                hint="Install the package that brings the kit, and give the same command again.",
            )
    lacking = next(_lacking(workflow), "") if workflow.kits else ""
    if lacking:
        raise UserError(
            f"This run needs {lacking}, which is not in the version that is installed here. The run stays as it is.",
            hint="Install a version of the kit that has it, and give the same command again.",
        )


def _lacking(workflow: Workflow) -> Iterator[str]:
    """What the workflow uses and its kits do not have."""
    words = read_words(workflow.kits)
    for phase in every_phase(workflow):
        if phase.track is not None and kit(phase.track.kit).tracker is None:
            yield f"a tracker of the kit {phase.track.kit!r}"
        for step in phase.steps:
            for name in step.reads or ():
                word, _, form = name.partition(".")
                if form in OUTPUT_FORMS and word not in (*OUTPUT_WORDS, *words) and name not in workflow.names:
                    yield f"the word {word!r} of one of its kits ({', '.join(workflow.kits)})"
            agents = (workflow.agents[name] for name in step.agents)
            for gate in (*step.gates, *(gate for agent in agents for gate in agent.gates)):
                owner, _, own = gate.kit.partition(".")
                if own and own not in kit(owner).gates:
                    yield f"the gate {own!r} of the kit {owner!r}"


def _there(names: tuple[str, ...]) -> Iterator[Kit]:
    """These kits and the packaged reading, as far as they can be had: a run is shown also where its kit is missing."""
    for name in (*names, READING):
        with suppress(UserError):
            if (found := find(name)) is not None:
                yield found


def tracker(name: str) -> Tracker:
    found = kit(name).tracker
    if found is None:
        raise UserError(f"The kit {name!r} has no tracker.", hint="'track' needs a kit that follows something.")
    return found


def documents(tracker: Tracker) -> tuple[str, ...]:
    """The keys of `track` that name files; a tracker need not have any."""
    return tuple(getattr(tracker, "documents", ()))


def gate(name: str) -> Gate:
    """By its full name, KIT.GATE."""
    owner, _, own = name.partition(".")
    found = kit(owner).gates.get(own)
    if found is None:
        known = ", ".join(f"{owner}.{each}" for each in kit(owner).gates) or "none"
        wrong = f"The kit {owner!r} has no gate {own!r}." if own else f"'{owner}' names a kit and no gate of it."
        raise UserError(wrong, hint=f"Its gates: {known}.")
    return found


def asks(name: str) -> str:
    """What a gate asks of an output, in words that follow "It is refused"; `{about}` stands for the documents."""
    owner, _, own = name.partition(".")
    return kit(owner).asks.get(own, "")


def pick(names: tuple[str, ...], word: str) -> Pick | None:
    """What a word of `reads` (WORD.full, WORD.summary) picks, by the first of these kits that knows it."""
    return next((each.reads[word] for each in _there(names) if word in each.reads), None)


def read_words(names: tuple[str, ...]) -> tuple[str, ...]:
    """The words of `reads` that these kits know."""
    return tuple(dict.fromkeys(word for each in _there(names) for word in each.reads))


def list_file(names: tuple[str, ...], path: str) -> ListFile | None:
    """The list that is in this file, by the first of these kits that knows it."""
    lists = (each.list for each in _there((*names, PLANNING)))
    return next((one for one in lists if one is not None and one.path == path), None)


def fields(names: tuple[str, ...]) -> dict[str, Mapping[str, Field]]:
    """What `kit.NAME.FIELD` may be, of those of these kits that can be had."""
    found: dict[str, Mapping[str, Field]] = {}
    for name in names:
        with suppress(UserError):
            found[name] = kit(name).fields
    return found


def reader(names: tuple[str, ...] = ()) -> Reader:
    """Of the first of these kits that has a reader; else the packaged one."""
    for each in _there(names):
        if each.reader is not None:
            return each.reader
    raise UserError(f"The kit {READING!r} has no reader.")


def judge(names: tuple[str, ...] = ()) -> Judge:
    """Of the first of these kits that has a judge; else the packaged one."""
    for each in _there(names):
        if each.judge is not None:
            return each.judge
    raise UserError(f"The kit {READING!r} has no judge.")


def examiner(names: tuple[str, ...] = ()) -> tuple[str, Examiner]:
    """The first of these kits that has one, else the packaged one, and its name."""
    for each in _there(names):
        if each.examiner is not None:
            return each.name, each.examiner
    raise UserError(f"The kit {READING!r} has no examiner.")
