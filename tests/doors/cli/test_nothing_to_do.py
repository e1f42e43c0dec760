"""A command that had nothing to do says so, records nothing, and exits with how the run stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Command, Done

GO_ON = ("decide", "two-step-1", "--option", "Continue")
RUN = "two-step-1"


@pytest.fixture
def parked(folder: Path, reconvene: Command) -> Command:
    assert reconvene("run", "two-step.yaml").code == 3
    return reconvene


def events(reconvene: Command) -> int:
    return len(reconvene("log", RUN).out.splitlines())


def version(reconvene: Command) -> str:
    point = reconvene("show", RUN, "--json").object["checkpoint"]
    assert isinstance(point, dict)
    return str(point["digest"])


def decide(call: Command) -> tuple[str, ...]:
    words = (*GO_ON, "--at", version(call))
    call(*words)
    return words


def pause(call: Command) -> tuple[str, ...]:
    call("pause", RUN)
    return ("pause", RUN)


def resume(call: Command) -> tuple[str, ...]:
    return ("resume", RUN)


def withdraw(call: Command) -> tuple[str, ...]:
    call("remark", RUN, "shorter")
    call("remark", RUN, "--withdraw", "FB-001")
    return ("remark", RUN, "--withdraw", "FB-001")


def abort(call: Command) -> tuple[str, ...]:
    call("abort", RUN)
    return ("abort", RUN)


def pause_ended(call: Command) -> tuple[str, ...]:
    call("abort", RUN)
    return ("pause", RUN)


def resume_ended(call: Command) -> tuple[str, ...]:
    call("abort", RUN)
    return ("resume", RUN)


def resume_completed(call: Command) -> tuple[str, ...]:
    call(*GO_ON)
    call("decide", RUN, "--option", "Accept", "--latest")
    return ("resume", RUN)


CASES: list[tuple[Callable[[Command], tuple[str, ...]], int, str]] = [
    (decide, 3, "you decided so already, “Continue” at checkpoint C1 (draft): nothing was done again"),
    (pause, 3, "two-step-1 is paused already: there is nothing to do"),
    (resume, 3, "two-step-1 waits for a decision: there is nothing to do"),
    (withdraw, 0, "FB-001 was taken back already: there is nothing to do"),
    (abort, 2, "two-step-1 is aborted already: there is nothing to do"),
    (pause_ended, 2, "two-step-1 is aborted already: there is nothing to do"),
    (resume_ended, 2, "two-step-1 is aborted: there is nothing to do"),
    (resume_completed, 0, "two-step-1 is completed: there is nothing to do"),
]


@pytest.mark.parametrize(("before", "code", "said"), CASES, ids=[case[0].__name__ for case in CASES])
def test_it_is_said_and_the_exit_code_is_the_runs(
    parked: Command, before: Callable[[Command], tuple[str, ...]], code: int, said: str
) -> None:
    words = before(parked)
    known = events(parked)
    again = parked(*words)
    assert again.code == code
    assert said in again.out + again.err
    told = parked(*words, "--json")
    assert (told.code, told.object["nothing_to_do"]) == (code, True)
    assert events(parked) == known


def test_what_was_deleted_is_not_deleted_again(parked: Command) -> None:
    def deleted(*more: str) -> Done:
        return parked("delete", RUN, "--yes", *more)

    assert deleted().out.startswith("two-step-1 is deleted (")
    again = deleted()
    assert (again.code, again.out.endswith(": there is nothing to do\n")) == (0, True)
    assert deleted("--json").object["nothing_to_do"] is True


def test_what_had_something_to_do_does_not_say_so(parked: Command) -> None:
    for words in (("pause", RUN), ("resume", RUN), ("remark", RUN, "shorter"), (*GO_ON, "--latest"), ("abort", RUN)):
        done = parked(*words, "--json")
        assert "nothing_to_do" not in done.object
        assert "nothing to do" not in done.err
