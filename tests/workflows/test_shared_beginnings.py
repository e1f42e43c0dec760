"""The specialists of a round share nearly all of their documents at the beginning of their prompts, where providers
cache them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

import pytest

from golden.homes import releases
from golden.journey import Journey
from golden.place import Still
from golden.rendered import records
from reconvene.app import as_sent
from reconvene.core.facts.events import AttemptEnded
from reconvene.core.facts.ids import parse_task
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow

_NAME = re.compile(r"(.+)/prompts/(R\d+/\d+)/(\w+)#1")


def beginning(texts: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda each: len(set(each)) == 1, zip(*texts, strict=False)))


def steps(workflow: str) -> list[Mapping[str, str]]:
    """The first attempts of each step with several agents, as the recording of the packaged workflow plays it."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for of, one in records(releases()[-1], workflow).items():
        for name, text in one.items() if of.startswith("anew/") else ():
            if said := _NAME.fullmatch(name):
                found.setdefault((of, said[1], said[2]), {})[said[3]] = text
    return [step for step in found.values() if len(step) > 1]


def shared(step: Mapping[str, str]) -> tuple[int, float]:
    """Characters of documents in the common beginning, and in a prompt on average."""
    documents = [text.partition("<role-")[0].partition("The mark of this message")[2] for text in step.values()]
    return beginning(documents), sum(map(len, documents)) / len(documents)


@pytest.mark.parametrize(("workflow", "most"), [("scenario-planning", 7), ("market-entry", 4), ("brainstorm", 2)])
def test_what_agents_of_a_step_read_in_common_is_the_beginning_of_their_prompts(workflow: str, most: int) -> None:
    found = steps(workflow)
    assert max(map(len, found)) == most
    for step in found:
        texts = list(step.values())
        names = [re.findall(r'^<document-\w+ name="(.+?)"', text, re.MULTILINE) for text in texts]
        common = set(names[0]).intersection(*names[1:])
        told = texts[0][: beginning(texts)]
        assert [
            name for name in common if not re.search(rf'name="{re.escape(name)}".*?\n</document-', told, re.S)
        ] == []


def share(found: list[Mapping[str, str]]) -> float:
    """Of all characters of documents in these prompts, those in the common beginning of their step."""
    sizes = [shared(step) for step in found]
    return sum(common for common, _ in sizes) / sum(read for _, read in sizes)


def test_of_what_is_recorded_the_rest_is_what_an_agent_reads_alone() -> None:
    """Its own words of the round before, in most cases. The documents of the recordings are short beside them."""
    assert {name: round(share(steps(name)), 2) for name in ("scenario-planning", "market-entry", "brainstorm")} == {
        "scenario-planning": 0.89,
        "market-entry": 0.8,
        "brainstorm": 1.0,
    }
    isolated = [shared(step) for step in steps("scenario-planning") if len(step) == 7]
    assert sum(common / read > 0.99 for common, read in isolated) >= 8


PAGES = "\n".join(
    f"- In {1990 + n % 40} the site made {n * 37 % 911} thousand of kind {n}." for n in range(420)
)  # six or so


@pytest.mark.parametrize(
    ("workflow", "given", "decisions"),
    [
        pytest.param(
            "scenario-planning", "company", ["That is right", *["Looks good"] * 8, "Finish"], marks=pytest.mark.torture
        ),
        ("market-entry", "brief", ["Look again: is it dear?", "Accept the memo"]),
    ],
)
def test_with_documents_of_some_pages_more_than_nine_tenths_of_all_that_is_read_is_shared(
    workflow: str, given: str, decisions: list[str], tmp_path: Path
) -> None:
    """The prompts are then about as long as those of real runs: 34,000 characters for a specialist."""
    go = Journey(workflow, "", tmp_path, Still)
    default = load_workflow(str(packaged()[workflow])).inputs[given].default
    inputs = {given: default, **(go.packaged_inputs() if default is None else {})}
    go.start({**inputs, given: f"{inputs[given]}\n\n## Annex\n\n{PAGES}\n"}).drive()
    for option in decisions:
        label, *said = option.split(": ")
        go.decide(label, *said, **({"captured": "yes", "words": "Yes."} if option == "Finish" else {}))
    found: dict[tuple[int, int], dict[str, str]] = {}
    for _, event in go.engine.log.read(go.run):
        if isinstance(event, AttemptEnded) and event.attempt == 1:
            serial, step, agent = parse_task(event.task)
            found.setdefault((serial, step), {})[agent] = as_sent.whole(event, go.engine.log.artefact).decode()
    go.close()
    together = [step for step in found.values() if len(step) > 1]
    assert share(together) > 0.9
    assert min(common / read for common, read in map(shared, together)) > 0.8
