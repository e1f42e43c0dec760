"""What the engine really shows to expressions and templates, at the stops of golden homes, is what the check knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.golden.archive import lay_out
from tests.golden.homes import every_home
from tests.golden.place import HOME, Ticks

from reconvene.app.session import Session
from reconvene.core.shown import scope
from reconvene.core.shown.scope import ENGINE_NAMES, TEMPLATE_ROOTS
from reconvene.kits.gaps.records import Book as GapBook
from reconvene.kits.gaps.view import value_of
from reconvene.wire.names.kinds import Anything, Kind, Missing, Record, alternatives, element, part
from reconvene.wire.names.known import Known, tracked
from reconvene.wire.reading import Use, Where
from reconvene.wiring import open_log

ROOTS = TEMPLATE_ROOTS | {"routing"}
NO_WORDS = dict.fromkeys(("record", "list", "text", "number", "flag"), frozenset[str]())
STOPS = {
    "brainstorm": ("waiting.task_review", "waiting.reassess", "waiting.questions.draft", "completed", "queued"),
    "spec-refinement": ("waiting.refine.conflict", "waiting.refine.redone", "waiting.find", "completed"),
    "scenario-planning": ("waiting.predetermined.extra", "completed"),
    "market-entry": ("waiting.assess.undone", "attention.assess"),
    "troubles": ("attention.check", "attention.conflict", "completed"),
    "quality-gate": ("new", "waiting.testing"),
}
HOMES = [home for home in every_home() if home.stop in STOPS.get(home.workflow, ())]
# Rows that have all their names whenever there is one.
WHOLE = ("phase", "round", "feedback", "feedback.all.*", "project", "attempts.*", "decisions.*", "rollbacks.*",
         "context.deliverables.*", "context.phases", "context.gap_checks.*")  # fmt: skip


def unknown(value: object, kind: Kind, path: str) -> Iterator[str]:
    """Every name in the value that the kind does not have."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            found = part(kind, str(name), NO_WORDS)
            if isinstance(found, Missing):
                if not found.contract:  # an agent may say more than its contract asks for
                    yield f"{path}.{name}"
            else:
                yield from unknown(inner, found, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from unknown(inner, element(kind), f"{path}.*")


def sessions(folder: Path) -> Iterator[Session]:
    for number, home in enumerate(HOMES):
        lay_out(home.home, folder / str(number))
        log = open_log(folder / str(number) / HOME)
        yield from (Session.load(log, Ticks(), row.run) for row in log.index())


def test_what_runs_show_is_exactly_what_is_known(tmp_path: Path) -> None:
    shown: dict[str, set[str]] = {path: set() for path in WHOLE}
    for session in sessions(tmp_path):
        seen = scope.for_template(session.state, session.book, ROOTS)
        phase = session.state.world.top.phase if session.state.world.cursor else ""
        known = Known(session.book.workflow).scope(Use("", "", ROOTS, Where(phase=phase), 0))
        assert [name for root in seen for name in unknown(seen[root], known[root], root)] == [], session.run
        for path in WHOLE:
            shown[path].update(*(row.keys() for row in rows(seen, path.split("."))))
    assert {path: sorted(names) for path, names in shown.items()} == {
        path: sorted(named(known, path.split("."))) for path in WHOLE
    }


def rows(value: object, path: list[str]) -> Iterator[Mapping[str, object]]:
    if not path:
        if isinstance(value, Mapping):
            yield value
    elif path[0] == "*":
        for inner in value if isinstance(value, list) else ():
            yield from rows(inner, path[1:])
    elif isinstance(value, Mapping):
        yield from rows(value.get(path[0]), path[1:])


def named(known: Mapping[str, Kind], path: list[str]) -> set[str]:
    kind = known[path[0]]
    for name in path[1:]:
        found = element(kind) if name == "*" else part(kind, name, NO_WORDS)
        assert not isinstance(found, Missing)
        kind = found
    (one,) = alternatives(kind)
    assert isinstance(one, Record)
    return set(one.parts)


def test_the_trackers_value_is_known_name_by_name() -> None:
    (kind,) = alternatives(tracked("gaps"))
    assert isinstance(kind, Record)
    assert set(kind.parts) == set(value_of(GapBook()))


def test_the_engines_own_names_are_known_in_every_workflow() -> None:
    from reconvene.wire.workflow_file import parse_workflow

    workflow = parse_workflow("name: w\nagents: {a: {}}\nphases: [{id: one, agents: [a]}]\n")
    known = Known(workflow).scope(Use("", "", ROOTS, Where(), 0))
    (context,) = alternatives(known["context"])
    assert isinstance(context, Record)
    assert set(context.parts) == set(ENGINE_NAMES)
    assert isinstance(alternatives(context.parts["feature"])[0], Anything)
