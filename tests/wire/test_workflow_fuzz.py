"""Whatever is handed in, a workflow loads or is refused with problems: nothing else is ever raised."""

from __future__ import annotations

import contextlib
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from exploring import examples
from reconvene.errors import WorkflowError
from reconvene.wire.grammar import TABLES
from reconvene.wire.pins import pin, unpin
from reconvene.wire.workflow_file import parse_workflow

FIXTURES = Path(__file__).parents[1] / "fixtures"
TEXTS = [file.read_text() for file in sorted((FIXTURES / "sketches").glob("*.yaml"))]
KEYS = sorted({key for table in TABLES.values() for key in table})
WORDS = ["continue", "again", "previous", "current", "a", "b", "true", "context.x", "{{ x }}", "../x", "", "p.md"]

_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from(WORDS), st.text()
)
_trees = st.recursive(
    _leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=25,
)


def load(text: str) -> None:
    with contextlib.suppress(WorkflowError):
        workflow = parse_workflow(text)
        assert unpin(pin(workflow)) == workflow


@examples(60)
@given(st.data())
def test_mangled_workflows_load_or_are_refused(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 40))
        text = text[:at] + data.draw(st.one_of(st.text(max_size=8), st.sampled_from(KEYS))) + text[at + cut :]
    load(text)


@examples(40)
@given(st.data())
def test_workflows_with_lines_lost_or_moved_load_or_are_refused(data: st.DataObject) -> None:
    lines = data.draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        line = lines.pop(data.draw(st.integers(0, len(lines) - 1)))
        if data.draw(st.booleans()):
            lines.insert(data.draw(st.integers(0, len(lines))), line)
    load("\n".join(lines))


@given(_trees)
def test_any_tree_of_known_keys_loads_or_is_refused(tree: object) -> None:
    load(yaml.safe_dump({"name": "w", "agents": {"a": {}, "b": tree}, "phases": [{"id": "a"}, tree]}))


@given(st.dictionaries(st.sampled_from(sorted(TABLES["phase"])), _trees, max_size=6))
def test_any_phase_loads_or_is_refused(phase: dict[str, object]) -> None:
    load(yaml.safe_dump({"name": "w", "agents": {"a": {}}, "phases": [{"id": "p", **phase}, {"id": "q"}]}))


@given(st.text())
def test_any_text_loads_or_is_refused(text: str) -> None:
    load(text)
