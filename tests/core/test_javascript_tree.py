"""The tree of an expression: what is read whole, what falls back to plain look-ups, and that nothing ever raises."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest

from reconvene.core.language.expressions import check
from reconvene.core.language.javascript import nodes, tree
from reconvene.core.language.javascript.lexer import Lexer
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow import load_workflow


def whole(source: str) -> bool:
    """Whether all of it was understood."""
    try:
        tree._Whole(Lexer(source)).whole()
    except tree.Unread:
        return False
    return True


def names(node: object) -> Iterator[str]:
    """Every name in the tree, in order."""
    if isinstance(node, nodes.Name):
        yield node.text
    elif isinstance(node, tuple):
        for each in node:
            yield from names(each)
    elif hasattr(node, "__dataclass_fields__"):
        for field in node.__dataclass_fields__:
            yield from names(getattr(node, field))


def expressions(value: object) -> Iterator[str]:
    """The sources in a pinned workflow, by the keys that hold them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("when", "condition", "until", "recommend", "of", "each", "expr") and isinstance(inner, str):
                yield inner
            yield from expressions(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from expressions(inner)


def test_the_packaged_workflows_are_read_whole() -> None:
    every = [load_workflow(file) for file in packaged().values()]
    found = {source for workflow in every for source in expressions(msgspec.to_builtins(workflow)) if source != "tasks"}
    assert len(found) > 90
    assert [source for source in found if not whole(source)] == []


@pytest.mark.parametrize(
    "source",
    [
        "a ? b : c ? d : e",
        "(a ?? b) || c && !d",
        "2 ** 3 ** 2 + -1 % 2",
        "a?.b?.[c]?.(d)",
        "a in b && c instanceof Object",
        "((a, b = 1, {c, d: [e], ...f}, ...g) => a)(1)",
        "function named(a) { return a ? named(a - 1) : 0 }(3)",
        "`a ${b + `${c}`} d`",
        "({a, 'b': 1, [c]: 2, d() { return 1 }, ...e})",
        "(() => { for (let i = 0; i < 3; i++) { if (a[i]) continue; else break } while (b) {} return })()",
        "(() => { const [x, , y] = a, {z} = b\n return x + y + z })()",
        "a.b`raw`",
        "new Map([[1, 2]]).get(1)",
        "/a[/]b/.test(c) / 2",
        "typeof a === 'object' ? void 0 : a, b",
        "a.if.for.class",
        "[, a, ...b]",
    ],
)
def test_it_is_read_whole(source: str) -> None:
    assert check(source, "abcde") is None
    assert whole(source)


@pytest.mark.parametrize(
    "source",
    [
        "(() => { switch (a.b) { case 1: return c.d } })()",
        "({get x() { return a.b + c.d }}).x",
        "(() => { do { a.b } while (c.d) })()",
    ],
)
def test_what_is_not_understood_still_gives_its_look_ups(source: str) -> None:
    assert check(source, "abcde") is None
    assert not whole(source)
    assert {"a", "c"} <= set(names(tree.parse(source)))


def test_names_that_are_bound_inside_are_not_look_ups() -> None:
    source = "(() => { const a = {b: 1}; switch (a.b) { case c.d: return a.e } })()"
    assert set(names(tree.parse(source))) == {"c"}


def test_nothing_raises() -> None:
    words = "a context . ?. [ ] ( ) { } => function return const if for of , ; : ? || && ! = == ... 'x' `y` /z/ 1 new"
    dice = random.Random(7)
    for _ in range(2000):
        tree.parse(" ".join(dice.choices(words.split(), k=dice.randint(1, 25))))
