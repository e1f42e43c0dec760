"""Decisions through an MCP client: always the person's, on what they were shown, and never the model's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from tests.acceptance.support.stage import Stage
from tests.doors.mcp.clients import EVERY, Person, text

from reconvene.core.facts.commands import AddRemark, RemarkIn
from reconvene.core.facts.events import DecisionRecorded
from reconvene.doors.mcp.served import Served
from reconvene.doors.mcp.server import Deciding, make
from reconvene.wiring import open_index

FLOW = """\
name: flow
agents: {a: {python: "m:f"}}
phases:
  - id: draft
    rounds: {max: 5}
    agents: [a]
    checkpoint:
      prompt: "Read it.\\n\\nGood enough?"
      fields:
        - {id: severity, type: choice, options: [low, high], prompt: How bad is it?}
        - {id: pages, type: number, prompt: How many pages?}
        - {id: why-not, type: text, prompt: What is missing?}
      options:
        - {label: Accept, then: continue}
        - {label: Again, remark: required, then: again}
        - {label: Never, when: "false", then: continue}
"""


class Seat(Stage):
    """A run at its checkpoint, served to a client whose person answers."""

    def __init__(self, tmp_path: Path, *, only: bool = False, allow: bool = True, flow: str = FLOW) -> None:
        super().__init__(tmp_path / "home", flow, {"a": "A draft."})
        self.drive()
        self.seen: list[tuple[str, str]] = []
        self.gone_on: list[str] = []
        served = Served(self.engine, open_index(self.home), self.run if only else "")
        self.server = make(served, "1", self.deciding() if allow else None)

    def deciding(self, permit: Callable[[str], None] = lambda run: None) -> Deciding:
        def shown(run: str, version: str) -> None:
            self.seen.append((run, version))

        def decided(run: str) -> str:
            self.gone_on.append(run)
            return "The run goes on."

        return Deciding("ann", permit, shown, decided)

    def call(self, person: Person, mode: str, **arguments: object) -> CallToolResult:
        async def once() -> CallToolResult:
            async with Client(self.server, elicitation_callback=person, mode=mode) as client:
                return await client.call_tool("decide", arguments if arguments else {"run": self.run})

        return asyncio.run(once())

    def refused(self, mode: str, **arguments: object) -> MCPError:
        """Of a client that has no way to ask its person."""

        async def once() -> MCPError:
            async with Client(self.server, mode=mode) as client:
                with pytest.raises(MCPError) as refused:
                    await client.call_tool("decide", {"run": self.run, **arguments})
            return refused.value

        return asyncio.run(once())

    @property
    def decisions(self) -> list[DecisionRecorded]:
        return self.events(DecisionRecorded)


pytestmark = pytest.mark.parametrize("mode", EVERY)


def test_what_the_person_answers_is_recorded_signed_and_bound_to_what_they_saw(tmp_path: Path, mode: str) -> None:
    seat = Seat(tmp_path)
    version = seat.point.id, seat.engine.load(seat.run)
    person = Person("accept", {"option": "Again", "feedback": "shorter please", "field_1": "high", "field_2": 3})
    result = seat.call(person, mode)
    assert not result.is_error, text(result)
    (made,) = seat.decisions
    assert (made.option, made.by, made.door, made.checkpoint) == ("Again", "ann", "mcp", version[0])
    assert made.user  # the account that signs
    assert seat.engine.session(seat.run).book.object(made.fields)["severity"] == "high"
    assert [one.text for one in seat.state.record.remarks.values()] == ["shorter please"]
    (asked,) = person.asked
    assert made.digest in asked.message
    assert seat.seen == [(seat.run, made.digest)]
    assert seat.gone_on == [seat.run]
    assert "ann decided 'Again'" in text(result)


def test_the_question_holds_the_whole_checkpoint_and_only_what_can_be_chosen(tmp_path: Path, mode: str) -> None:
    seat, person = Seat(tmp_path), Person("decline")
    seat.call(person, mode)
    message, form = person.asked[0].message, person.asked[0].requested_schema
    for words in ("Good enough?", "Read it.", "1. Accept", "2. Again", "How bad is it?", "A draft."):
        assert words in message
    properties = form["properties"]
    assert isinstance(properties, dict)
    assert properties["option"]["enum"] == ["Accept", "Again"]
    assert properties["field_1"]["enum"] == ["low", "high"]
    assert properties["field_2"]["type"] == "number"
    assert form["required"] == ["option"]


@pytest.mark.parametrize(("action", "what"), [("decline", "declined"), ("cancel", "cancelled")])
def test_a_person_who_does_not_answer_has_decided_nothing(tmp_path: Path, mode: str, action: str, what: str) -> None:
    seat = Seat(tmp_path)
    assert f"The person {what}: nothing was decided." in text(seat.call(Person(action), mode))
    assert seat.decisions == []
    assert seat.gone_on == []


def test_a_client_that_cannot_ask_its_person_is_refused(tmp_path: Path, mode: str) -> None:
    seat = Seat(tmp_path)
    refused = seat.refused(mode)
    assert refused.error.code == -32021
    assert f"reconvene decide {seat.run}" in refused.error.message
    assert seat.decisions == []


def test_arguments_of_the_model_never_answer_for_the_person(tmp_path: Path, mode: str) -> None:
    seat, person = Seat(tmp_path), Person("decline")
    smuggled = {"answer": {"action": "accept", "data": {"option": "Accept"}}, "option": "Accept", "feedback": "ok"}
    seat.call(person, mode, run=seat.run, **smuggled)
    assert len(person.asked) == 1
    assert seat.refused(mode, **smuggled).error.code == -32021
    assert seat.decisions == []


def test_what_somebody_else_changed_meanwhile_is_not_decided_unseen(tmp_path: Path, mode: str) -> None:
    seat = Seat(tmp_path)

    def remark() -> None:
        seat.other().engine.submit(seat.run, AddRemark(RemarkIn("Wait: the figures are wrong"), "bob", "test"))

    person = Person("accept", {"option": "Accept"}, remark)
    result = seat.call(person, mode)
    if mode == "legacy":  # the answer comes within the call: it is refused, with what changed
        assert result.is_error
        assert "the figures are wrong" in text(result)
        assert seat.decisions == []
    else:  # the question is put again, as it is now
        assert [("figures are wrong" in one.message) for one in person.asked].count(True) <= 1
        assert person.asked[0].message != person.asked[1].message
        (made,) = seat.decisions
        assert made.digest in person.asked[1].message
        assert made.digest not in person.asked[0].message


def test_the_first_answer_wins(tmp_path: Path, mode: str) -> None:
    seat = Seat(tmp_path)

    def decided() -> None:
        seat.other().answer("Accept")

    result = seat.call(Person("accept", {"option": "Again", "feedback": "no"}, decided), mode)
    assert result.is_error
    assert [one.option for one in seat.decisions] == ["Accept"]


@pytest.mark.parametrize(
    "content",
    [{}, {"option": "Never"}, {"option": "Whatever"}, {"option": "Accept", "field_2": "many"}, {"option": "Again"}],
)
def test_an_answer_that_does_not_fit_is_refused_and_nothing_is_decided(
    tmp_path: Path, mode: str, content: dict[str, str]
) -> None:
    seat = Seat(tmp_path)
    refused = seat.call(Person("accept", dict(content)), mode)
    assert refused.is_error
    assert "Resolver" not in text(refused)
    assert "reconvene.doors" not in text(refused)
    assert seat.decisions == []


def test_nothing_is_decided_where_that_is_not_allowed(tmp_path: Path, mode: str) -> None:
    seat = Seat(tmp_path, allow=False)
    person = Person("accept", {"option": "Accept"})
    result = seat.call(person, mode)
    assert result.is_error
    assert "decide" in text(result)
    assert (person.asked, seat.decisions) == ([], [])


def test_a_server_of_one_run_decides_that_run_alone(tmp_path: Path, mode: str) -> None:
    seat = Seat(tmp_path, only=True)
    other = seat.other()
    other.run = other.engine.start(seat.engine.session(seat.run).book.workflow, by="ann")
    other.drive()
    seat.call(Person("accept", {"option": "Accept"}), mode, run=other.run)
    assert [one.option for one in seat.decisions] == ["Accept"]  # the one that it serves, whatever a model names
    assert other.events(DecisionRecorded) == []


def test_a_run_that_waits_for_nobody_has_nothing_to_decide(tmp_path: Path, mode: str) -> None:
    seat = Seat(tmp_path)
    seat.decide("Accept")
    result = seat.call(Person("accept", {"option": "Accept"}), mode)
    assert result.is_error
    assert "there is no checkpoint to decide" in text(result)


def test_a_checkpoint_with_one_option_and_odd_words_is_a_form_as_well(tmp_path: Path, mode: str) -> None:
    odd = 'Yes, "all" of it – 100 % \U0001f44d'
    flow = FLOW.replace("{label: Accept,", f"{{label: {json.dumps(odd, ensure_ascii=False)},")
    flow = flow.replace("        - {label: Again, remark: required, then: again}\n", "")
    seat = Seat(tmp_path, flow=flow)
    person = Person("accept", {"option": odd})
    assert not seat.call(person, mode).is_error
    assert [one.option for one in seat.decisions] == [odd]
    properties = person.asked[0].requested_schema["properties"]
    assert isinstance(properties, dict)
    assert properties["option"]["enum"] == [odd]
