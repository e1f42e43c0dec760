"""What people do over HTTP: which role it takes, which version it is about, and what others said meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from reconvene.core.facts.events import DecisionRecorded, FilesEdited
from reconvene.doors.http import acts, run_acts
from reconvene.doors.http.acts import Said
from reconvene.doors.http.callers import Caller
from reconvene.doors.http.refusals import Missing, WhichVersion, WrongField
from reconvene.doors.http.service import Service
from reconvene.errors import Forbidden, Refused, Repeated, StaleDecision
from reconvene.settings import system_user
from served_home import Ground, ground, service_of

T = TypeVar("T")
ADA, BOB = Caller("Ada", "decider"), Caller("Bob", "reviewer", by_cookie=True)
VIEWER = Caller("Vera", "viewer")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ground]:
    with ground(tmp_path) as one:
        yield one


def served(made: Ground, act: Callable[[Service], Awaitable[T]]) -> T:
    async def run() -> T:
        service = service_of(made)
        try:
            return await act(service)
        finally:
            await service.close()

    return asyncio.run(run())


def version(made: Ground, run: str) -> str:
    from reconvene.app import queries

    point = queries.standing(made.engine, run).checkpoint
    assert point is not None
    return point.digest


def first_decision(made: Ground, run: str) -> DecisionRecorded:
    return next(iter(made.state(run).record.decisions.values()))


def test_a_decision_on_the_version_that_was_shown_is_on_record_with_who_and_through_which_door(made: Ground) -> None:
    run = made.parked()
    at = version(made, run)
    served(made, lambda s: acts.decide(s, ADA, run, "Go on", version=at, fields={"severity": "high"}))
    decision = first_decision(made, run)
    assert (decision.option, decision.by, decision.door, decision.digest) == ("Go on", "Ada", "rest", at)


def test_the_same_decision_again_is_told_to_be_on_record_already(made: Ground) -> None:
    run = made.parked()
    at = version(made, run)
    served(made, lambda s: acts.decide(s, ADA, run, "Go on", version=at))
    with pytest.raises(Repeated):
        served(made, lambda s: acts.decide(s, ADA, run, "Go on", version=at))
    with pytest.raises(StaleDecision, match="by Ada"):
        served(made, lambda s: acts.decide(s, Caller("Eve"), run, "Stop", version=at))
    assert len(made.state(run).record.decisions) == 1


def test_without_a_version_nothing_is_decided_and_an_unknown_one_is_stale(made: Ground) -> None:
    run = made.parked()
    with pytest.raises(WhichVersion):
        served(made, lambda s: acts.decide(s, ADA, run, "Go on", version=""))
    with pytest.raises(StaleDecision) as refused:
        served(made, lambda s: acts.decide(s, ADA, run, "Go on", version="0123456789abcdef"))
    assert refused.value.now == version(made, run)


def test_a_remark_of_somebody_else_refuses_a_decision_once_and_anyway_decides_with_it_on_record(made: Ground) -> None:
    run = made.parked()
    at = version(made, run)
    served(made, lambda s: acts.remark(s, BOB, run, [Said("correction: Revenue is 900, not 850")]))
    with pytest.raises(StaleDecision) as refused:
        served(made, lambda s: acts.decide(s, ADA, run, "Go on", version=at))
    assert any("Revenue is 900" in change for change in refused.value.changes)
    told = refused.value.now
    served(made, lambda s: acts.remark(s, BOB, run, [Said("and one more thing")]))
    with pytest.raises(StaleDecision):  # of that they were not told
        served(made, lambda s: acts.decide(s, ADA, run, "Go on", version=at, anyway=told))
    now = version(made, run)
    served(made, lambda s: acts.decide(s, ADA, run, "Go on", version=at, anyway=now))
    decision = first_decision(made, run)
    assert (decision.digest, decision.since) == (at, ("FB-001", "FB-002"))


def test_anyway_decides_nothing_that_is_not_open_any_more(made: Ground) -> None:
    run = made.parked()
    at = version(made, run)
    served(made, lambda s: acts.decide(s, ADA, run, "Once more", version=at, remarks=[Said("shorter")]))
    made.drive(run)
    with pytest.raises(StaleDecision):
        served(made, lambda s: acts.decide(s, Caller("Eve"), run, "Stop", version=at, anyway=version(made, run)))


def test_ones_own_remarks_go_with_a_decision(made: Ground) -> None:
    run = made.parked()
    at = version(made, run)
    served(made, lambda s: acts.remark(s, ADA, run, [Said("shorter, please")]))
    served(made, lambda s: acts.decide(s, ADA, run, "Once more", version=at))
    assert first_decision(made, run).since == ("FB-001",)


@pytest.mark.parametrize(
    ("option", "fields", "field"),
    [
        ("Go onward", {}, "option"),
        ("Go on", {"severity": "purple"}, "severity"),
        ("Go on", {"count": "many"}, "count"),
        ("Go on", {"colour": "red"}, "colour"),
        ("Once more", {}, "remarks"),
    ],
)
def test_what_does_not_fit_is_named(made: Ground, option: str, fields: dict[str, object], field: str) -> None:
    run = made.parked()
    at = version(made, run)
    with pytest.raises(WrongField) as refused:
        served(made, lambda s: acts.decide(s, ADA, run, option, version=at, fields=fields))
    assert refused.value.field == field
    assert not made.state(run).record.decisions


def test_each_act_needs_its_role(made: Ground) -> None:
    run = made.parked()
    at = version(made, run)
    for act in (
        lambda s: acts.decide(s, BOB, run, "Go on", version=at),
        lambda s: acts.roll_back(s, BOB, run, version=at),
        lambda s: acts.remark(s, VIEWER, run, [Said("hello")]),
        lambda s: acts.save_answers(s, VIEWER, run, "", {"severity": "low"}),
        lambda s: acts.withdraw(s, VIEWER, run, "FB-001"),
        lambda s: acts.read_remark(s, VIEWER, run, "FB-001", {"kind": "comment"}),
        lambda s: run_acts.pause(s, BOB, run),
        lambda s: run_acts.resume(s, BOB, run),
        lambda s: run_acts.abort(s, BOB, run),
        lambda s: run_acts.replan(s, BOB, run),
        lambda s: run_acts.reopen(s, BOB, run),
        lambda s: run_acts.fork(s, BOB, run, 1),
        lambda s: run_acts.move_in_queue(s, BOB, run, 1),
        lambda s: run_acts.drop_from_queue(s, BOB, run),
        lambda s: run_acts.take_allowance_back(s, BOB, run, "A1"),
    ):
        before = made.engine.log.head(run)
        with pytest.raises(Forbidden):
            served(made, act)
        assert made.engine.log.head(run) == before


def test_a_remark_on_lines_quotes_only_versions_that_the_file_had_in_this_run(made: Ground) -> None:
    run = made.parked()
    file = made.state(run).world.files["draft.md"].digest
    said = Said("which year?", path="draft.md", version=file, first=3, last=3)
    told = served(made, lambda s: acts.remark(s, BOB, run, [said]))
    assert (told.remarks[0].quote, told.remarks[0].lines) == ("Revenue is 850.", "draft.md:3")
    elsewhere = said._replace(version=made.state(run).workflow)  # there is such an artefact, and it is another file
    with pytest.raises(WrongField):
        served(made, lambda s: acts.remark(s, BOB, run, [elsewhere]))


def test_a_remark_can_be_read_otherwise_and_taken_back(made: Ground) -> None:
    run = made.parked()
    told = served(made, lambda s: acts.remark(s, BOB, run, [Said("The board wants growth now")]))
    id = told.remarks[0].id
    read = served(made, lambda s: acts.read_remark(s, BOB, run, id, {"kind": "strategic shift", "level": "major"}))
    assert (read.remarks[0].kind, read.remarks[0].level) == ("strategic shift", "major")
    served(made, lambda s: acts.withdraw(s, BOB, run, id))
    assert made.state(run).record.withdrawn
    with pytest.raises(Missing):
        served(made, lambda s: acts.withdraw(s, BOB, run, "FB-099"))


def test_answers_so_far_are_kept_and_checked(made: Ground) -> None:
    run = made.parked()
    served(made, lambda s: acts.save_answers(s, BOB, run, "", {"severity": "low"}))
    with pytest.raises(WrongField):
        served(made, lambda s: acts.save_answers(s, BOB, run, "", {"count": "many"}))
    from reconvene.app import queries

    point = queries.standing(made.engine, run).checkpoint
    assert point is not None
    assert point.answers == {"severity": "low"}


def test_runs_are_paused_resumed_forked_and_ended(made: Ground) -> None:
    run = made.parked()
    forked = served(made, lambda s: run_acts.fork(s, ADA, run, made.engine.log.head(run)))
    assert forked.run != run
    with pytest.raises(WrongField):
        served(made, lambda s: run_acts.fork(s, ADA, run, 9_999))
    served(made, lambda s: run_acts.pause(s, ADA, forked.run))
    assert made.state(forked.run).paused
    served(made, lambda s: run_acts.resume(s, ADA, forked.run))
    assert not made.state(forked.run).paused
    assert served(made, lambda s: run_acts.abort(s, ADA, forked.run, [Said("no use")])).status == "aborted"
    assert served(made, lambda s: run_acts.reopen(s, ADA, forked.run)).status != "aborted"
    with pytest.raises(Missing):
        served(made, lambda s: run_acts.pause(s, ADA, "flow"))  # a beginning is no name here


def test_a_round_is_undone_on_the_version_that_was_shown(made: Ground) -> None:
    run = made.parked()
    at = version(made, run)
    with pytest.raises(WhichVersion):
        served(made, lambda s: acts.roll_back(s, ADA, run, version=""))
    served(made, lambda s: acts.roll_back(s, ADA, run, version=at, remarks=[Said("too long")]))
    assert made.drive(run).status == "waiting"
    with pytest.raises(Refused):
        served(made, lambda s: acts.roll_back(s, ADA, run, version=at))


def test_what_was_changed_in_the_folder_is_nobodys_whom_the_server_serves(made: Ground) -> None:
    """They cannot have written there. They are told of it, and decide on what they were told."""
    run = made.parked()
    at, ada = version(made, run), Caller("Ada", "decider", listed=True)
    with (Path(made.home) / "runs" / run / "draft.md").open("a") as file:
        file.write("Debt is 30.\n")
    with pytest.raises(StaleDecision) as refused:
        served(made, lambda s: acts.decide(s, ada, run, "Go on", version=at))
    assert any("draft.md" in change for change in refused.value.changes)
    (edited,) = [event for _, event in made.engine.log.read(run) if isinstance(event, FilesEdited)]
    assert (edited.by, edited.user) == (system_user(), system_user())
    served(made, lambda s: acts.decide(s, ada, run, "Go on", version=version(made, run)))
    assert first_decision(made, run).by == "Ada"
