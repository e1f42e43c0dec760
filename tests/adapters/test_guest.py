"""The helper process: the same answers as here, an end to everything, and nothing that survives it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.adapters.guest import LateHelper
from reconvene.adapters.guest.helper import Helper
from reconvene.language import guest
from reconvene.language.expressions import ExpressionError, ExpressionLimit, check, compile, evaluate, truth
from reconvene.language.guest import OutOfTime
from reconvene.language.javascript.machine import Ask
from reconvene.wire import replies
from reconvene.wire.contracts import wrong_with
from reconvene.wiring import open_engine

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/expressions/expressions.json").read_text(encoding="utf-8"))
ENDLESS = "String.raw({raw: {length: 1e9}})"


class Watched(Helper):
    """Counts what it is asked, and sends everything through the process."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def evaluate(self, ask: Ask) -> str:
        self.asked.append(ask.forms[-1].split("\n")[1])
        return super().evaluate(ask)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid


@pytest.fixture
def helper() -> Iterator[Watched]:
    before, made = guest.here(), Watched()
    guest.lodge(made)
    yield made
    guest.lodge(before)
    made.close()


def direct(helper: Helper, source: str, values: dict[str, object]) -> object:
    """Whatever it is, by the process."""
    head = f'function({",".join(values)}){{"use strict";return '
    forms = tuple(f"{head}{a}\n{source}\n{b}}}" for a, b in ("[]", "()"))
    return helper.evaluate(Ask(forms, json.dumps(list(values.values())), "value", 5.0))


def test_golden_expressions_give_the_same_in_both_processes(helper: Watched) -> None:
    scopes = GOLDEN["scopes"]
    for case in GOLDEN["cases"][::7]:
        source, scope = case["source"], scopes[case["scope"]]
        if check(source, scope.keys()) is not None:
            continue
        guest.lodge(None)
        try:
            here: object = json.dumps(evaluate(source, scope))
        except ExpressionError:
            here = None
        guest.lodge(helper)
        said = direct(helper, source, scope)
        assert isinstance(said, str)
        if here is None:
            assert said.startswith(("=!", "!", "?")), source
        elif "NaN" not in said and "Infinity" not in said and not said.startswith("=!"):
            assert json.loads(said[1:]) == json.loads(str(here)), source


def test_ordinary_conditions_need_no_other_process(helper: Watched) -> None:
    scope = {"context": {"a": {"list": [{"id": 1}], "text": "x y"}, "n": 3}, "phase": {"id": "p"}}
    for source in (
        "context.n > 2 && phase.id === 'p'",
        "(context.a || {}).list.length === 1",
        "context.a.list.some(one => one.id === 1)",
        "context.a.text.includes('x') && !/z/.test(context.a.text)",
        "Object.keys(context.a).length > 0 ? context.n : null",
        "new Set(context.a.list.map(one => one.id)).size",
        "{outcome: context.n, why: 'so'}".replace("{", "({").replace("}", "})"),
    ):
        assert truth(source, scope)
    assert helper.asked == []


@pytest.mark.parametrize(
    "source",
    [
        ENDLESS, "x['repeat'](9)", "(x.repeat)(9)", "f(1)", "x`y`", "`${x}`", "[...x]", "new Array(5)", "Array(5)",
        "x?.(1)", "[1].map(x['repeat'], 'x')", "[1].map(x.repeat)", "({toString: x, a: 1})",
        "({'__proto__': [], a: 1})", "({[x]: 1})", "({\"\\x5f_proto__\": []})", "({length: 9})", "({a() {}})",
        "({get a() { return 1 }})", "x => { for (;;); }", "x = 1", "x.repeat(2)", "x.reduce((a, b) => a + b)",
        "x.sort()", "x.flatMap(a => a)", "[].includes.call(x, 1)", "JSON.parse(x)", "/(a+)+b/.test(x)",
        "/(?=a)b/.test(x)", "/\\1/.test(x)", "/\\p{L}/u.test(x)", "x.match(y)", "Object.assign({}, x)",
        "x.split('a')(1)", "(() => 1)()", "typeof x.y()", "x++", "delete x.y", "new Map(x)", "this.x",
        "Math.random()", "[''.constructor.raw].map(Number => Number({raw: x}))", "[x].map(({a: String}) => String(x))",
        "({trim: a => a.trim()}).trim(x)", "x.match(/a/ + y)", "x.map((a, b = a.repeat(9)) => b)",
    ],
)  # fmt: skip
def test_whatever_could_call_more_than_it_shows_is_not_cheap(source: str) -> None:
    assert compile(source).shape is None


def test_much_data_makes_a_cheap_expression_expensive(helper: Watched) -> None:
    source = "context.list.some(x => context.text.includes(x))"
    assert not truth(source, {"context": {"list": ["b"] * 5, "text": "aaa"}})
    assert helper.asked == []
    assert not truth(source, {"context": {"list": ["b" * 100] * 30, "text": "a" * 30_000}})
    assert helper.asked == [source]


def test_what_never_ends_is_ended_and_the_next_one_works(helper: Watched) -> None:
    for _ in range(2):
        with pytest.raises(ExpressionLimit, match="takes longer than"):
            evaluate(ENDLESS, {})
        assert evaluate("[3, 1, 2].sort().join('')", {}) == "123"


def test_one_process_serves_many_and_a_killed_one_is_replaced(helper: Watched) -> None:
    assert evaluate("'ab'.repeat(2)", {}) == "abab"
    first = helper.pid
    assert evaluate("'ab'.repeat(3)", {}) == "ababab"
    assert helper.pid == first
    os.kill(first, signal.SIGTERM)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert evaluate("'ab'.repeat(2)", {}) == "abab"


def test_ctrl_c_is_heard_while_an_expression_runs(helper: Watched) -> None:
    evaluate("'x'.repeat(1)", {})

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            direct(helper, "(() => { for (;;); })()", {})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert evaluate("'x'.repeat(2)", {}) == "xx", "not the answer to the question before"


def test_texts_and_numbers_of_every_kind_come_back(helper: Watched) -> None:
    scope = {"item": ["é😀", "a\ud800b", "\0", 1.5, None, True, 10**20, {"k": []}]}
    assert evaluate("[...item]", scope) == ["é😀", "a\ufffdb", "\0", 1.5, None, True, 1e20, {"k": []}]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows it")
def test_it_has_no_environment_and_no_terminal(helper: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "sesame")
    evaluate("'x'.repeat(1)", {})
    assert b"sesame" not in Path(f"/proc/{helper.pid}/environ").read_bytes()
    assert os.getsid(helper.pid) == helper.pid


def test_it_ends_when_nobody_asks_any_more(helper: Watched) -> None:
    evaluate("'x'.repeat(1)", {})
    process = helper._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0


def test_a_forked_process_has_a_helper_of_its_own(helper: Watched) -> None:
    evaluate("'x'.repeat(1)", {})
    first = helper.pid
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"failed"
        try:
            evaluate("'y'.repeat(2)", {})
            said = str(helper.pid).encode()
            helper.close()
        finally:
            os.write(writing, said)
            os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 100)
    os.close(reading)
    os.close(writing)
    assert int(theirs) not in (first, 0)
    assert evaluate("'x'.repeat(2)", {}) == "xx"
    assert helper.pid == first


def test_a_python_that_cannot_be_started_is_a_limit_and_not_a_crash(
    helper: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(OutOfTime):
        direct(helper, "1", {})
    with pytest.raises(ExpressionLimit):
        evaluate("'x'.repeat(1)", {})


# --- schemas ---


def test_a_pattern_that_never_ends_is_a_problem_in_words(helper: Watched) -> None:
    assert replies.validate({"pattern": "^(a+)+$"}, "a" * 40 + "!") == [
        "the output contract takes longer than 2 s to check; simplify its patterns"
    ]
    assert replies.validate({"pattern": "^a+$"}, "b") == ["the reply: 'b' does not match '^a+$'"]
    assert replies.validate({"pattern": "^a+$"}, "aa") == []


def test_plain_schemas_need_no_other_process(helper: Watched) -> None:
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "n": {"enum": [1, 2]}}}
    assert replies.validate(schema, {"n": 3}) == ["the reply: 'id' is missing", "n is 3; it should be one of 1, 2"]
    assert helper._process is None


def test_nothing_is_ever_fetched(helper: Watched) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        assert "points out of it" in wrong_with({"properties": {"a": {"$ref": address}}})
        (problem,) = replies.validate({"$ref": address}, 1)
        assert "cannot be used" in problem
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"pattern": "("}, "cannot be read"),
        ({"patternProperties": {"[": {}}}, "cannot be read"),
        ({"type": "strin"}, "strin"),
        ({"properties": {"a": {"description": "Short", "plain": None}}}, "'plain' stands there as a key with"),
        ({"properties": {"a b": {"const": None, "default": None}}}, ""),
        ({"properties": {f"p{n}": {} for n in range(3000)}}, "more than 2000 parts"),
        ({"$ref": "other.json"}, "points out of it"),
        ({"enum": [{"$ref": "not a reference"}], "const": {"pattern": "("}}, ""),
    ],
)
def test_a_schema_that_nobody_could_use_is_refused(schema: object, why: str) -> None:
    assert (why in wrong_with(schema)) if why else not wrong_with(schema)


def test_an_engine_has_its_guest(tmp_path: Path) -> None:
    before = guest.here()
    guest.lodge(None)
    try:
        engine = open_engine(tmp_path / "home")
        assert isinstance(guest.here(), LateHelper)
        with pytest.raises(ExpressionLimit):
            evaluate(ENDLESS, {})
        engine.log.close()
    finally:
        made = guest.here()
        guest.lodge(before)
        if isinstance(made, LateHelper):
            made.helper.close()
