"""The condition language: golden results from Node.js, hostile expressions, what is said about a source at load."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from immutables import Map

from reconvene.language.expressions import ExpressionError, ExpressionLimit, check, compile, evaluate, truth

GOLDEN = Path(__file__).parent.parent / "golden" / "expressions"
FILE = json.loads((GOLDEN / "expressions.json").read_text(encoding="utf-8"))
ROOTS = ("context", "phase", "round", "item", "up", "inputs", "settings", "groups", "feedback", "output", "routing")


def expected(value: object) -> object:
    """What Python is to receive for a golden value: `undefined` is None in a list and absent in an object."""
    match value:
        case {"$": "undefined"}:
            return None
        case {"$": str(number)}:
            return float(number.replace("Infinity", "inf"))
        case dict():
            return {key: expected(each) for key, each in value.items() if each != {"$": "undefined"}}
        case list():
            return [expected(each) for each in value]
    return value


def same(got: object, want: object) -> bool:
    if isinstance(got, bool) or isinstance(want, bool):
        return got is want
    if isinstance(got, float) and isinstance(want, float) and math.isnan(got):
        return math.isnan(want)
    if isinstance(got, list) and isinstance(want, list):
        return len(got) == len(want) and all(same(a, b) for a, b in zip(got, want))
    if isinstance(got, dict) and isinstance(want, dict):
        return list(got) == list(want) and all(same(got[key], want[key]) for key in got)
    return got == want


@pytest.mark.parametrize("scope", FILE["scopes"])
def test_every_golden_expression_gives_what_node_gives(scope: str) -> None:
    wrong: list[str] = []
    for case in FILE["cases"]:
        if case["scope"] != scope:
            continue
        source, data = case["source"], FILE["scopes"][scope]
        try:
            got = evaluate(source, data)
            if "error" in case or not same(got, expected(case["value"])) or truth(source, data) is not case["truth"]:
                wrong.append(f"{source} gave {got!r}, wanted {case}")
        except ExpressionError as error:
            if not error.message.startswith(f"{case.get('error')}: "):
                wrong.append(f"{source} failed: {error.message}, wanted {case}")
    assert not wrong, "\n".join(wrong)


def test_there_are_several_hundred_golden_expressions() -> None:
    assert len(FILE["cases"]) > 700


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_node_still_gives_the_golden_results() -> None:
    made = subprocess.run(["node", str(GOLDEN / "make.mjs")], capture_output=True, check=True)
    assert json.loads(made.stdout) == FILE


def test_golden_expressions_name_every_root_they_use() -> None:
    for case in FILE["cases"]:
        if case.get("error") not in ("ReferenceError", "SyntaxError") and case["source"] != "typeof unknown":
            assert check(case["source"], FILE["scopes"][case["scope"]].keys()) is None, case["source"]


class TestLimits:
    @pytest.mark.parametrize(
        "source",
        [
            "(() => { for (;;); })()",
            "(() => { while (true) { [1, 2].map(x => x) } })()",
            "/(a+)+b/.test('a'.repeat(50))",
            "'x'.repeat(1e9)",
            "(() => { const all = []; for (;;) all.push('x'.repeat(1000) + all.length) })()",
            "(() => { let s = 'x'; for (;;) s += s })()",
            "Array(1e9).fill(0)",
            "[...Array(1e9)]",
            "(function f() { return f() })()",
            "(() => { const f = x => [f(x)]; return f(1) })()",
            "Array(4e9).join()",
            "Array(4e9).reverse()",
            "[].concat(Array(4e9))",
            "[[Array(4e9)]].flat(Infinity)",
            "[1].flatMap(() => Array(4e9))",
            "Array.prototype.slice.call({length: 2 ** 53 - 1})",
            "String(Array(4e9))",
            "'a'.repeat(1e6).includes('a'.repeat(5e5) + 'b')",
            "'a'.repeat(1e6).split('a'.repeat(5e5) + 'b')",
            "'é'.repeat(1e7).normalize('NFD').length",
        ],
    )
    def test_a_limit_is_an_error_of_its_own_and_the_next_evaluation_works(self, source: str) -> None:
        with pytest.raises(ExpressionLimit):
            evaluate(source, {})
        with pytest.raises(ExpressionLimit):
            truth(source, {})
        assert evaluate("1 + 1", {}) == 2

    @pytest.mark.parametrize("hidden", ["Object.create({length: 2 ** 53 - 1})", "{get length() { return 2 ** 53 }}"])
    def test_a_list_that_hides_its_length_is_refused(self, hidden: str) -> None:
        with pytest.raises(ExpressionError, match="needs a list"):
            evaluate(f"Array.prototype.slice.call(({hidden}))", {})

    def test_a_limit_cannot_be_caught_inside(self) -> None:
        with pytest.raises(ExpressionError, match="'try' cannot be used"):
            evaluate("(() => { try { return 'x'.repeat(1e9) } catch { return false } })()", {})

    def test_memory_left_behind_by_others_is_not_counted(self) -> None:
        for _ in range(10):
            assert evaluate("(() => { const a = {text: 'x'.repeat(1e7)}; a.self = a; return 1 })()", {}) == 1

    def test_a_large_scope_is_read(self) -> None:
        rows = [{"id": f"r{n}", "text": "word " * 10, "n": n} for n in range(20_000)]
        assert evaluate("context.rows.filter(r => r.n % 1000 === 0).length", {"context": {"rows": rows}}) == 20

    def test_a_scope_too_large_for_the_memory_is_a_limit(self) -> None:
        with pytest.raises(ExpressionLimit):
            evaluate("context.text.length", {"context": {"text": "x" * 70_000_000}})

    def test_data_and_results_nested_too_deeply_are_limits(self) -> None:
        deep: list[object] = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(ExpressionLimit):
            evaluate("item", {"item": deep})
        with pytest.raises(ExpressionLimit):
            evaluate("(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a })()", {})
        with pytest.raises(ExpressionLimit):
            evaluate("(() => { const a = []; a.push(a); return a })()", {})


class TestSandbox:
    @pytest.mark.parametrize(
        "source",
        [
            "globalThis", "eval('1')", "Function('return 1')()", "require('fs')", "process.env", "performance.now()",
            "Reflect.ownKeys({})", "new Proxy({}, {})", "Symbol.iterator", "setTimeout(() => 1)", "WeakRef", "Promise",
            "queueMicrotask(() => 1)", "console.log(1)", "std.exit(1)", "os", "BigInt(1)", "new Uint8Array(8)",
            "Date()", "new Date()", "Date.now()", "new Date(2025, 1, 1)", "new Date('2025-01-01T10:00')",
            "new Date(0).getHours()", "new Date(0).toDateString()", "new Date(0).getTimezoneOffset()", "Math.random()",
            "new (new Date(0).constructor)()", "({}).constructor.constructor('return 1')()",
            "(x => x).constructor('return 1')()", "(function* () {}).constructor('yield 1')",
            "Object.getPrototypeOf(function* () {}).constructor('yield 1')", "[].map.constructor('return this')()",
            "Object.getPrototypeOf(Object).constructor('return 1')()", "new (Object.constructor)('return 1')",
            "Array.fromAsync([1])", "arguments.callee.caller", "import('x')", "import.meta", "(async () => 1)()",
        ],
    )  # fmt: skip
    def test_nothing_of_the_host_is_in_reach(self, source: str) -> None:
        with pytest.raises(ExpressionError):
            evaluate(source, {})

    def test_this_is_undefined(self) -> None:
        assert evaluate("this", {}) is None
        assert evaluate("typeof this", {}) == "undefined"
        assert evaluate("(function () { return typeof this })()", {}) == "undefined"

    @pytest.mark.parametrize(
        ("attack", "probe", "clean"),
        [
            ("(o => { o.polluted = 1 })(Object.prototype)", "({}).polluted", None),
            ("(o => { o.__proto__.polluted = 1 })({})", "({}).polluted", None),
            ("(a => { a.includes = () => true })(Array.prototype)", "[].includes(1)", False),
            ("(a => { a.push(1) })(Array.prototype)", "[].length + Array.prototype.length", 0),
            ("Object.defineProperty(Array.prototype, 0, {value: 9})", "[,][0]", None),
            ("Object.assign(Math, {max: () => 9})", "Math.max(1)", 1),
            ("Object.assign(JSON, {parse: () => 9, stringify: () => 9})", "JSON.stringify([1])", "[1]"),
            ("Object.setPrototypeOf(Array.prototype, {evil: 1})", "[].evil", None),
            ("Object.setPrototypeOf(Object.prototype, {evil: 1})", "({}).evil", None),
            ("(p => { p.next = () => ({done: true}) })(Object.getPrototypeOf([].values()))", "[...[1, 2]]", [1, 2]),
            ("(p => { p.leak = 1 })(Object.getPrototypeOf(Object.getPrototypeOf([].values())).constructor)",
             "Object.getPrototypeOf(Object.getPrototypeOf([].values())).constructor.leak", None),
            ("(p => { p.leak = 1 })(Object.getPrototypeOf(function* () {}))",
             "Object.getPrototypeOf(function* () {}).leak", None),
            ("(e => { e.prepareStackTrace = () => 1; e.stackTraceLimit = 0 })(Error)", "Error.stackTraceLimit", None),
            ("(p => { p.stack = 'leak' })(Error.prototype)", "Error.prototype.stack", None),
            ("(f => { f.leak = 1 })(parseInt)", "parseInt.leak", None),
            ("(f => { f.leak = 1 })(({}).hasOwnProperty)", "({}).hasOwnProperty.leak", None),
            ("(f => { f.leak = 1 })([].concat)", "[].concat.leak", None),
            ("(o => { o.toString = () => 'evil' })(Object.prototype)", "String({})", "[object Object]"),
            ("(r => { r.exec = () => null })(RegExp.prototype)", "/a/.test('a')", True),
            ("(t => { t.leak = 1 })((s => s)`x`)", "(s => s.leak)`x`", None),
            ("(() => { leak = 1 })()", "typeof leak", "undefined"),
            ("(() => { undefined = 1 })()", "typeof undefined", "undefined"),
        ],
    )  # fmt: skip
    def test_no_evaluation_leaves_a_trace_for_the_next(self, attack: str, probe: str, clean: object) -> None:
        before = evaluate(probe, {})
        with pytest.raises(ExpressionError):
            evaluate(attack, {})
        assert evaluate(probe, {}) == before == clean

    def test_everything_shared_is_frozen(self) -> None:
        loose = evaluate(
            """(() => {
              const seen = new Set(), loose = [], open = [
                ['Object', Object], ['Array', Array], ['String', String], ['Number', Number], ['Map', Map],
                ['Set', Set], ['RegExp', RegExp], ['Date', Date], ['Math', Math], ['JSON', JSON], ['Error', Error],
                ['isNaN', isNaN], ['Boolean', Boolean], ['TypeError', TypeError], ['encodeURI', encodeURI],
                ...[
                  [].values(), ''.matchAll(/a/g), new Map().keys(), new Set().keys(), (function* () {})(),
                  [].values().map(x => x),
                ].map((each, at) => [`hidden ${at}`, Object.getPrototypeOf(each)]),
              ];
              while (open.length) {
                const [name, each] = open.pop();
                if (Object(each) !== each || seen.has(each)) continue;
                seen.add(each);
                if (!Object.isFrozen(each) && !/hidden 4$/.test(name)) loose.push(name);
                open.push([name + '.^', Object.getPrototypeOf(each)]);
                for (const key of [...Object.getOwnPropertyNames(each), ...Object.getOwnPropertySymbols(each)]) {
                  const {value, get, set} = Object.getOwnPropertyDescriptor(each, key);
                  for (const part of [value, get, set]) open.push([`${name}.${String(key)}`, part]);
                }
              }
              return [loose, seen.size > 300];
            })()""",
            {},
        )
        assert loose == [[], True]

    def test_the_data_cannot_be_changed(self) -> None:
        for change in ("c.list.push(1)", "c.x = 1", "delete c.list", "c.deep.er.x = 1", "c.list.length = 3"):
            with pytest.raises(ExpressionError, match="TypeError"):
                evaluate(f"(c => {{ {change} }})(context)", {"context": {"list": [], "deep": {"er": {}}}})

    def test_threads_have_engines_of_their_own(self) -> None:
        results: list[object] = []

        def work(number: int) -> None:
            results.extend(evaluate("item * 2", {"item": number}) for _ in range(50))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, results)) == sorted(str(n * 2) for n in range(6) for _ in range(50))


class TestValues:
    @pytest.mark.parametrize("text", ["plain", "naïve 😀 日本", "a\0b", "\u2028\u2029", "'\"`\\${}", "</script>", ""])
    def test_text_comes_back_as_it_went_in(self, text: str) -> None:
        assert evaluate("item", {"item": text}) == text
        assert evaluate("item.key", {"item": {"key": text}}) == text
        assert evaluate("item", {"item": {text: 1}}) == {text: 1}

    def test_half_a_surrogate_pair_goes_in_and_comes_back_as_a_replacement_character(self) -> None:
        assert evaluate("item.length", {"item": "\ud800"}) == 1
        assert evaluate("[item, {[item]: 1}]", {"item": "a\ud800"}) == ["a\ufffd", {"a\ufffd": 1}]
        assert evaluate("item[0] + '!'", {"item": "😀"}) == "\ufffd!"

    def test_numbers_are_javascript_numbers(self) -> None:
        assert evaluate("item", {"item": 2**53 + 1}) == 2**53
        assert evaluate("item", {"item": 2**70}) == 2**70
        assert evaluate("item", {"item": 10**400}) == math.inf
        assert evaluate("item", {"item": math.nan}) is None
        assert evaluate("[item.a, item.b]", {"item": {"a": math.inf, "b": "\ud800 NaN"}}) == [None, "\ufffd NaN"]
        assert isinstance(evaluate("2", {}), int)

    def test_names_that_objects_inherit_are_plain_keys_of_data(self) -> None:
        data = json.loads('{"__proto__": {"x": 1}, "constructor": 2, "hasOwnProperty": 3}')
        assert evaluate("item", {"item": data}) == data
        assert evaluate("context.constructor", {"context": data}) == 2
        assert evaluate("context.x", {"context": data}) is None
        assert evaluate("context.hasOwnProperty('other')", {"context": {"other": 1}}) is True

    def test_mappings_and_tuples_are_objects_and_lists(self) -> None:
        assert evaluate("[item.a, item.b]", {"item": Map({"a": 1, "b": (1, 2)})}) == [1, [1, 2]]

    @pytest.mark.parametrize("source", ["x => x", "[x => x]", "({f: x => x})", "new Set([1])", "new Map()", "/a/"])
    def test_what_cannot_be_recorded_is_an_error(self, source: str) -> None:
        with pytest.raises(ExpressionError, match="the result holds a"):
            evaluate(source, {})
        assert truth(source, {}) is True

    def test_truth_is_javascripts(self) -> None:
        scope = {"item": {"text": "", "zero": 0, "list": [], "none": None}}
        sources = ["item.text", "item.zero", "item.zero / 0", "item.none", "item.missing", "item.list", "item", "'0'"]
        assert [truth(source, scope) for source in sources] == [False] * 5 + [True] * 3

    def test_constants_need_no_engine(self) -> None:
        assert (truth("true", {}), truth("false", {}), evaluate("true", {})) == (True, False, True)

    def test_errors_are_plain(self) -> None:
        with pytest.raises(ExpressionError) as caught:
            evaluate("context.feature.flags", {"context": {}})
        assert caught.value.message == "TypeError: cannot read property 'flags' of undefined"
        with pytest.raises(ExpressionError, match=r"^thrown: stop$"):
            evaluate("(() => { throw 'stop' })()", {})
        assert not isinstance(caught.value, ExpressionLimit)

    @pytest.mark.parametrize(
        "source", ["context.x", "context.x[0].text + context.x[1].text", "({a: context.x, [context.x[0].text]: 1})"]
    )
    def test_a_long_result_in_any_script_comes_out_whole(self, source: str) -> None:
        rows = [{"id": n, "text": f"“{n}” 漢字 " * 300} for n in range(20)]
        found = evaluate(source, {"context": {"x": rows}})
        texts = (rows[0]["text"], rows[1]["text"])
        assert found in (rows, f"{texts[0]}{texts[1]}", {"a": rows, texts[0]: 1})


class TestCheck:
    @pytest.mark.parametrize(
        ("source", "says"),
        [
            ("", "empty"),
            ("  ", "empty"),
            ("context.x; context.y", "';' ends a statement"),
            ("context.x > 1;", "without ';'"),
            ("let x = 1", "'let' begins a statement"),
            ("if (context.x) 1", "'if' begins a statement"),
            ("return context.x", "'return' begins a statement"),
            ("context.x = 1", "'context.x' would be changed, but an expression only reads (did you mean '==='?)"),
            ("phase.id = 'a'", "did you mean '==='"),
            ("(phase['id'] = 'a')", "would be changed"),
            ("context.n++ > 1", "'context.n' would be changed"),
            ("++context.n", "would be changed"),
            ("context.list.map(x => context.n += x)", "'context.n' would be changed"),
            ("delete context.x", "would be changed"),
            ("item ||= 1", "'item' would be changed"),
            ("1) + (2", "')' closes nothing"),
            ("1] + [2", "']' closes nothing"),
            ("1); globalThis.x = (2", "closes nothing"),
            ("[1", "'[' is never closed"),
            ("'abc", "a string is never closed"),
            ("`abc", "a template literal is never closed"),
            ("`${`", "never closed"),
            ("/abc", "never closed"),
            ("/* abc", "never closed"),
            ("1 +", "ends before it is complete"),
            ("context.", "SyntaxError|expecting|complete"),
            ("context context", "Unexpected identifier|operator"),
            ("...context", "unexpected token"),
            ("context <!-- 1", "begin comments"),
            ("1\n--> 2", "begin comments"),
            ("10n", "big integers"),
            ("c\\u006fntext", "escape"),
            ("contxt.x", "'contxt' is not known here; did you mean 'context'?"),
            ("phases.x", "did you mean 'phase'?"),
            ("zzz", "known names are context, feedback"),
            ("globalThis.x", "'globalThis' is not known"),
            ("arguments[0]", "'arguments' is not known"),
            ("await context", "'await' cannot be used"),
            ("class {}", "'class' cannot be used"),
            ("with (context) x", "'with' begins a statement"),
            ("'\0'", "not text"),
            ("(" * 200 + ")" * 200, "nested more than"),
            ("1" * 30_000, "longer than"),
            ("x => " * 3_000 + "x", "more than 200 functions"),
            ("{a: 1} }", "closes nothing"),
            ("#x in context", "unexpected character"),
        ],
    )  # fmt: skip
    def test_a_bad_source_is_refused_at_load_in_one_plain_sentence(self, source: str, says: str) -> None:
        problem = check(source, ROOTS)
        assert problem is not None
        assert any(part in problem for part in says.split("|")), problem
        assert "\n" not in problem

    @pytest.mark.parametrize("source", ["1) + (2", "context.x = 1", "a; b", "", "let x = 1"])
    def test_what_load_refuses_does_not_run_either(self, source: str) -> None:
        with pytest.raises(ExpressionError):
            evaluate(source, {"context": {}})

    @pytest.mark.parametrize(
        "source",
        [
            "{a: 1}", "context.x // a ) comment", "/* ( */ context.x", "'(' + \")\" + `]${'}'}`",
            "/[)\\]}]/.test(item)",
            "(() => { let n = 0; n += 1; n++; return n })()", "((a = 1) => a)()", "(({a = 1, b: {c} = {}}) => a)(item)",
            "context.x ? {a: 1} : [2]", "item.async && item.class && item.try",
            "({async: 1, class: 2, import: 3}).import",
            "(() => { for (const x of context.list) if (x) return x; return null })()", "context.a / 2 / item.b",
            "(() => { function twice(n) { return n * 2 } return twice(item) })()", "item['a'] <= 1 && item.b >= 2",
            "new Set(context.list).size", "context.a\n  && context.b", "typeof item === 'undefined'", "a => a" + " ",
            "context.list.map(([k, v]) => ({[k]: v, k, ...item}))", "String.raw`\\d`",
            "item.x - -1 > 1",
        ],
    )  # fmt: skip
    def test_a_good_source_is_let_through(self, source: str) -> None:
        assert check(source, ROOTS) is None


class TestScan:
    @pytest.mark.parametrize(
        ("source", "roots"),
        [
            ("context.a + phase.id", "context phase"),
            ("'context' + \"phase\" + `round`", ""),
            ("`${context.a} ${`${round.n}`} item`", "context round"),
            ("1 // context\n + item /* phase */", "item"),
            ("/context/.test(item)", "item"),
            ("item / context / phase", "item context phase"),
            ("(item) / context / 2", "item context"),
            ("a.context?.phase", "a"),
            ("{context: 1, phase}", "phase"),
            ("item ? context : phase", "item context phase"),
            ("{a: item ? context : phase, round: 1}", "item context phase"),
            ("list.map(item => item.x)", "list"),
            ("item.list.map(item => item.x)", "item"),
            ("list.map(item => item.x) && item", "list item"),
            ("list.map((a, {b, c: [d]}, ...e) => a + b + c + d + e)", "list c"),
            ("list.map((a = context, b = a) => a)", "list context"),
            ("list.map(({a = context.x}) => a)", "list context"),
            ("list.map(({[key]: a}) => a)", "list key"),
            ("c ? x => x : x", "c x"),
            ("[x => x, x]", "x"),
            ("x => { const y = x; return y + z }", "z"),
            ("(() => { for (const x of xs) { x } return x })()", "xs x"),
            ("(() => { let a = 1, b = a; return b })()", ""),
            ("(() => { let a = 1\n foo(a), context; return 1 })()", "foo context"),
            ("(function f(a) { return f(a) + b })(f)", "b f"),
            ("({f(a) { return a }, get b() { return c }})", "c"),
            ("Math.max(JSON.parse(item), NaN, undefined)", "item"),
            ("this.context", ""),
            ("typeof missing", "missing"),
            ("context.of + of", "context of"),
            ("a?.5:b", "a b"),
            ("1..toFixed() + 1.e3 + .5", ""),
            ("'it\\'s' + context", "context"),
            ("naïve + $x + _y", "naïve $x _y"),
            ("/[/]context/.test(x) / y", "x y"),
            ("(() => { if (a) { b } /context/.test(c) })()", "a b c"),
            ("tag`${a}`", "tag a"),
            ("{...context}", "context"),
        ],
    )
    def test_the_names_a_source_uses_from_outside(self, source: str, roots: str) -> None:
        assert compile(source).roots == frozenset(roots.split())

    @pytest.mark.parametrize(
        ("source", "keys"),
        [
            ("context.a && context?.b.c && context['d'] && context?.[\"e\"]", "a b d e"),
            ("phase.id", ""),
            ("phase.context.x", ""),
            ("list.map(context => context)", ""),
            ("context.a.map(context => context.b)", "a"),
            ("context", None),
            ("context[phase.id]", None),
            ("context['a' + 'b']", None),
            ("context['\\x61']", None),
            ("Object.keys(context)", None),
            ("{context}", None),
            ("{...context}", None),
            ("context.a && (({a}) => a)(context)", None),
            ("context.hasOwnProperty('a')", None),
            ("'a' in context", None),
            ("`${context}`", None),
            ("context\n  .a", "a"),
        ],
    )
    def test_the_parts_of_the_context_a_source_looks_at(self, source: str, keys: str | None) -> None:
        expected = None if keys is None else frozenset(keys.split())
        assert compile(source).context_keys == expected
        assert compile(source.replace("context", "feedback")).feedback_keys == expected

    def test_a_source_that_cannot_be_read_says_so_and_does_not_raise(self) -> None:
        assert compile("'").problem == "a string is never closed"

    def test_compiling_again_is_free(self) -> None:
        assert compile("context.a") is compile("context.a")
