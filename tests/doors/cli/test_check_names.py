"""What `check` says of names in less usual places, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command

WORKFLOW = """\
name: named
inputs: {topic: text}
agents: {a: {}}
phases:
  - {id: one, agents: [a], output: names}
  - {id: two, checkpoint: {%s: %s}}
"""


def _checked(reconvene: Command, folder: Path, key: str, text: str) -> str:
    (folder / "named.yaml").write_text(WORKFLOW % (key, json.dumps(text)), encoding="utf-8")
    done = reconvene("check", "named.yaml")
    assert (done.code == 0) == (done.err == "")
    return " ".join(done.err.split())


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("prompt", "{{ item.title }}", "'item.title' is not there: item is known only inside an each"),
        ("condition", "item.done", "item is known only inside an each"),
        ("prompt", "{% include 'nosuch.md' %}", "there is no template 'nosuch.md'"),
        ("prompt", "{% import 'nosuch.md' as x %}", "there is no template 'nosuch.md'"),
        ("prompt", "{% from 'nosuch.md' import x %}", "there is no template 'nosuch.md'"),
        ("prompt", "{% extends 'nosuch.md' %}", "there is no template 'nosuch.md'"),
        ("condition", "context[`naems`] > 3", "nothing writes 'context.naems' (did you mean 'context.names'?)"),
        ("condition", "'naems' in context", "nothing writes 'context.naems' (did you mean 'context.names'?)"),
        ("prompt", "{{ 'naems' in context }}", "nothing writes 'context.naems' (did you mean 'context.names'?)"),
        ("prompt", "{{ context|attr('naems') }}", "nothing writes 'context.naems' (did you mean 'context.names'?)"),
        ("prompt", "{{ context.names|map('uper')|list }}", "there is no filter 'uper' (did you mean 'upper'?)"),
        ("prompt", "{% for x in [1] %}{{ loop.idnex }}{% endfor %}", "(did you mean 'loop.index'?)"),
        ("prompt", "{{ inputs.topic.replace('a', 'b') }}", "use the filter: … | replace('old', 'new')"),
        ("prompt", "{{ ', '.join(context.names) }}", "use the filter: list | join(', ')"),
        ("condition", "(() => { throw null })()", "'throw null' does not say what is wrong; throw a text"),
        ("prompt", "{{ '{}'.format(1) }}", "join the parts with '~'"),
    ],
)
def test_a_name_that_is_not_there_is_an_error(reconvene: Command, folder: Path, key: str, text: str, says: str) -> None:
    assert says in _checked(reconvene, folder, key, text)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("prompt", "{{ ('=' * 20).strip() }}{{ ([0] * 3).count(0) }}"),
        ("prompt", "{% set d = {'a': 1} %}{{ d.b is defined }} {{ d.b|default('z') }}"),
        ("prompt", "{% include 'nosuch.md' ignore missing %}{{ 'names' in context }}"),
        ("prompt", "{% for x in [1] %}{{ loop.index }}{{ loop.cycle('a', 'b') }}{% endfor %}"),
        ("prompt", "{{ context.names|map('upper')|join }}{{ context.names|map(attribute='t')|join }}"),
        ("condition", "(() => { let n = 0; outer: for (const x of [1]) { n++; continue outer } return n })()"),
        ("condition", "(() => { outer: while (true) { break outer } return 1 })()"),
        ("condition", "(function () { return arguments.length })(1)"),
        ("condition", "(({a, b = 3}) => a + b)({a: 1}) > 3"),
        ("condition", "(() => { const {a, b = 3} = {a: 1}; return a + b })() > 3"),
    ],
)
def test_what_is_right_is_left_alone(reconvene: Command, folder: Path, key: str, text: str) -> None:
    assert _checked(reconvene, folder, key, text) == ""


@pytest.mark.parametrize(
    ("contract", "right"),
    [
        ('{$ref: "#"}', False),
        ('{$ref: "#/$defs/a", $defs: {a: {anyOf: [{type: string}, {$ref: "#/$defs/a"}]}}}', False),
        ('{type: object, properties: {inner: {$ref: "#"}}}', True),
        ('{$ref: "#/$defs/a", $defs: {a: {type: object, properties: {b: {$ref: "#/$defs/a"}}}}}', True),
    ],
)
def test_a_contract_that_only_leads_back_to_itself_is_refused(
    reconvene: Command, folder: Path, contract: str, right: bool
) -> None:
    flow = f"name: c\nagents: {{a: {{contract: {contract}}}}}\nphases: [{{id: p, agents: [a], output: x}}]\n"
    (folder / "c.yaml").write_text(flow, encoding="utf-8")
    done = reconvene("check", "c.yaml")
    assert (done.code == 0) == right, done.err
    assert ("leads back to itself" in done.err) != right
