"""Reading a JavaScript source: all that the engine accepts is read, and nothing but a refusal is ever raised."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest

from reconvene.language.expressions import check, compile
from reconvene.language.javascript.lexer import Refused
from reconvene.language.javascript.statements import read
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow


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
    assert [(source, compile(source).problem) for source in found if compile(source).problem] == []


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
        "(() => { switch (a.b) { case 1: case c: return d; default: { break } } })()",
        "({get x() { return a.b }, set x(v) { v.y }, get: 1, set: 2, *all() { yield; yield* a }, 'q r'() {}, 1: b}).x",
        "(() => { do { a.b } while (c.d) do a; while (b)\n return 1 })()",
        "(() => { outer: for (const x of a) { for (const y in x) { if (y) continue outer; break outer } } })()",
        "(() => { let x, y\n for (x of a) y = x; for ([x] of b); for (x in c); [x, y] = [y, x]; ({x, y = 1} = d) })()",
        "(() => { for (;;) { return } for (let i = 0, n = a; i < n; i++, n--); })()",
        "(function () { return new.target || this || arguments[0] })(a)",
        "new new a.b(c)(d).e",
        "({f() { return super.toString() }}).f()",
        "(() => { if (a) b; else if (c) { d } else e\n return\n })()",
        "a ? b => c : (d, {e}) => ({e, d})",
        "(() => { let x = 0; x ||= a; x **= b; x >>>= c; return x++ - --x })()",
        "(() => { a\n (b), c })()",
        "{a: {b: [c]}, d}",
        "(of => of)(1) && a",
        "'it\\'s' in a && `${a}` !== `b${c ? `d` : e}`",
        "1?" * 900 + "a" + ":b" * 900,
        "0?1:" * 900 + "a",
        "!" * 2000 + "a",
        "1**" * 2000 + "a",
        "+".join("abcde" * 1000),
        "a" + ".b" * 5000,
        "(() => {" + "if (a) 1; else " * 500 + "2 })()",
        "x=>" * 200 + "a",
        "(" * 100 + "a" + ")" * 100,
        "(function () { return " * 50 + "a" + "})()" * 50,
    ],
)
def test_what_the_engine_accepts_is_read(source: str) -> None:
    assert check(source, "abcde") is None
    assert compile(source).roots <= set("abcde")


@pytest.mark.parametrize(
    ("source", "roots"),
    [
        ("(() => { const a = {b: 1}; switch (a.b) { case c.d: let e; return a.e + e } })()", "c"),
        ("(() => { if (a) { var b = 1 } return b })()", "a"),
        ("(() => { for (var i = 0; a; ); return i })()", "a"),
        ("(() => { { let b = 1 } return b })()", "b"),
        ("(() => { return b(1); function b(x) { return x } })()", ""),
        ("((a = b) => { const b = 1; return a })()", "b"),
        ("(() => { outer: for (const x of a) { break outer } })()", "a"),
        ("({get a() { return b }, set c(d) { return d }, [e]: 1})", "b e"),
        ("({class: 1, async() { return a }, get try() { return b }})", "a b"),
        ("(() => { let x; ({x, y: x} = a); [x = b] = c })()", "a b c"),
        ("(() => { a: { break a } })()", ""),
        ("(() => { let x = 1, y\n (a)\n return y })()", "a"),
        ("(context) && (context).a", "context"),
    ],
)
def test_names_are_bound_where_javascript_binds_them(source: str, roots: str) -> None:
    assert compile(source).problem == ""
    assert compile(source).roots == frozenset(roots.split())


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("delete (context).x", "'(context).x' would be changed"),
        ("(() => { for (context.x of [1]); })()", "'context.x' would be changed"),
        ("(() => { throw (null) })()", "'throw null' does not say what is wrong"),
        ("({async a() {}})", "'async' cannot be used"),
        ("(() => { for await (const x of a); })()", "'await' cannot be used"),
        ("(() => { function () {} })()", "something is missing|unexpected token '('"),
        ("(a b)", "an operator or a comma is missing before 'b'"),
        ("(a +)", "something is missing before ')'"),
        ("(() => {" + "if (a) " * 101 + "b })()", "statements are nested more than 100 deep"),
    ],
)
def test_what_is_refused_is_said_in_words(source: str, says: str) -> None:
    assert any(words in compile(source).problem for words in says.split("|")), compile(source).problem


def test_nothing_but_a_refusal_is_raised() -> None:
    words = (
        "a context . ?. [ ] ( ) { } => function return const if for of in , ; : ? || && ! = == ... 'x' `y` /z/ 1 new"
        " switch case do while yield get * ++ delete throw break \n"
    )
    dice = random.Random(7)
    for _ in range(3000):
        source = " ".join(dice.choices(words.split(" "), k=dice.randint(1, 25)))
        try:
            read(source)
        except Refused:
            continue
