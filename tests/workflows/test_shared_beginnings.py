"""The specialists of a round share nearly all of their documents at the beginning of their prompts, where providers
cache them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile

import pytest

from golden.homes import releases
from golden.rendered import records

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


def test_the_seven_specialists_share_nine_tenths_of_their_documents_and_all_where_none_reads_its_own() -> None:
    seven = [shared(step) for step in steps("scenario-planning") if len(step) == 7]
    assert sum(common for common, _ in seven) / sum(read for _, read in seven) > 0.88
    assert sum(common / read > 0.99 for common, read in seven) >= 8
