"""What somebody could write into a workflow to hold the engine up, or to get out: families of it, each the same every
time. As a program it tries those that it is given by number and prints what came of each, so that a hang is its own.

    python -m support.hostile FOLDER NUMBER…
"""
# ruff: noqa: E501

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

SECRET = "sesame-7319"  # in the environment and in a file where the program runs: nothing may ever show it


class Case(NamedTuple):
    kind: str  # condition | template | schema | pattern
    text: str
    scope: str = "small"


# --- conditions -------------------------------------------------------------------------------------------------------

_LISTS = (
    "at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach includes"
    " indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice toLocaleString"
    " toReversed toSorted toSpliced toString unshift values with"
).split()
_TEXTS = (
    "at charAt charCodeAt codePointAt concat endsWith includes indexOf lastIndexOf localeCompare match matchAll"
    " normalize padEnd padStart repeat replace replaceAll search slice split startsWith substring toLowerCase"
    " toUpperCase toWellFormed trim trimEnd trimStart"
).split()


def _list_conditions() -> Iterator[str]:
    for name in _LISTS:
        yield f"Array.prototype.{name}.call({{length: 2 ** 53 - 1}}, x => x)"
        yield f"Array(4e9).{name}(x => x)"
        yield f"(() => {{ const a = Array(1e6).fill('ab'); for (;;) a.{name}('b') }})()"


def _text_conditions() -> Iterator[str]:
    for name in _TEXTS:
        yield f"(() => {{ const s = 'ab'.repeat(1e7); for (;;) s.{name}('b') }})()"
        yield f"'x'.{name}(1e9, 'y')"
    for name in ("repeat", "padStart", "padEnd"):
        yield f"'x'.{name}(6e7).{name}(6e7)"


_STATICS = [
    "String.raw({raw: {length: 1e9}})",
    "String.raw({raw: {length: 2 ** 53 - 1}}, ...[1, 2, 3])",
    "[1].map(x => String.raw({raw: {length: 1e9}}))",
    "Array.from({length: 1e9})",
    "Array.from({length: 1e9}, (x, i) => i)",
    "Array.of(...Array(1e8))",
    "Array.isArray(Array(4294967295).fill(0))",
    "new Array(2 ** 32 - 1).fill(0)",
    "Object.fromEntries(Array(1e7).entries())",
    "Object.groupBy(Array(1e8), x => x)",
    "Object.keys(Array(1e8).fill(0)).length",
    "Object.entries('x'.repeat(3e7)).length",
    "Object.assign({}, 'x'.repeat(3e7))",
    "Object.getOwnPropertyNames('x'.repeat(3e7)).length",
    "Object.freeze(Array(4e9))",
    "JSON.stringify({toJSON() { for (;;); }})",
    "JSON.stringify(Array(1e8))",
    "JSON.stringify('x'.repeat(6e7)).length",
    "JSON.stringify({a: 1}, null, 'x'.repeat(1e8))",
    "JSON.parse('['.repeat(1e7))",
    "JSON.parse('[' + '1,'.repeat(1e7) + '1]').length",
    "JSON.parse('1'.repeat(6e7))",
    "(() => { const a = []; a.push(a); return JSON.stringify(a) })()",
    "Math.max(...Array(1e8))",
    "Math.hypot(...Array(1e7).fill(1))",
    "String.fromCharCode(...Array(1e7).fill(65)).length",
    "parseInt('9'.repeat(6e7))",
    "(() => { const s = '9'.repeat(6e6); for (;;) parseFloat(s) })()",
    "Number('0x' + 'f'.repeat(5e7))",
    "new Set(Array(1e8)).size",
    "new Map(Array(1e7).fill([1, 2])).size",
    "(() => { const s = new Set(); for (let i = 0; ; i++) s.add(i) })()",
    "encodeURIComponent('é'.repeat(1e7)).length",
    "decodeURIComponent('%41'.repeat(1e7)).length",
    "new Date('2025-01-01T00:00:00.' + '0'.repeat(6e7) + 'Z')",
    "new RegExp('(a+)+b').test('a'.repeat(40))",
    "new RegExp('('.repeat(1e6))",
    "'é'.repeat(2e7).normalize('NFD').length",
    "'a'.localeCompare('b'.repeat(1e7))",
    "Error('x'.repeat(6e7)).message.length",
]
_OPERATORS = [
    "(() => { const s = 'a'.repeat(3e7), t = 'a'.repeat(3e7); for (;;) s === t })()",
    "(() => { const s = 'a'.repeat(3e7), t = 'a'.repeat(3e7); for (;;) s < t })()",
    "(() => { const s = 'a'.repeat(3e7); for (;;) +s })()",
    "(() => { const s = 'a'.repeat(3e7); for (;;) `${s}b`.length })()",
    "(() => { const s = 'a'.repeat(1e7); for (;;) (s + 'b')[5] })()",
    "(() => { const a = Array(1e6).fill(1); for (;;) [...a] })()",
    "(() => { const a = Array(1e6).fill(1); for (;;) { const [x, ...rest] = a } })()",
    "(() => { const a = Array(1e6).fill(1); for (;;) ({...a}) })()",
    "(() => { const a = Array(1e6).fill(1); for (;;) a + '' })()",
    "(() => { const a = Array(1e6).fill(1); for (;;) a == 1 })()",
    "(() => { const f = (...a) => a.length, a = Array(1e5); for (;;) f(...a) })()",
    "(() => { let s = 'x'; for (;;) s += s })()",
    "(() => { let a = [1]; for (;;) a = [a, a] })()",
    "(() => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a })()",
    "(() => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return String(a) })()",
    "(() => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a.flat(Infinity) })()",
    "(() => { for (;;); })()",
    "(() => { while (true) { [1, 2].map(x => x) } })()",
    "(() => { do {} while (true) })()",
    "(() => { for (const k in 'x'.repeat(1e7)); })()",
    "(() => { for (const c of 'x'.repeat(5e7)); for (;;); })()",
    "(() => { label: for (;;) continue label })()",
    "(() => { switch (1) { case (() => { for (;;); })(): } })()",
]
_EVIL = [
    "(a+)+b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*)*b", "(.+)+b", "(a+a+)+b", "((a+)+)+b", "(?:a+)+b", "(a?){30}a{30}b",
    "(?=(a+))*b", "(?=(a+)+b)", "(?!(a+)+b)x", "(?<=(a+)+b)x", "(.*)\\\\1b", "(a*)\\\\1\\\\1b", "a*a*a*a*a*a*b",
    ".*.*.*.*.*=", "(x+x+)+y|a", "([a-z]+)*$b", "(a{1,100}){1,100}b", "(\\\\w+\\\\s?)*$\\\\d", "^(([a-z])+.)+[A-Z]b", "(?:(?:a)*)*b",
]  # fmt: skip


def _regex_conditions() -> Iterator[str]:
    for evil in _EVIL:
        plain = evil.replace("\\\\", "\\")
        yield f"/{plain}/.test('a'.repeat(30000))"
        yield f"new RegExp('{evil}', 'g').test('a'.repeat(5000) + '!')"
    yield "'a'.repeat(1e6).replace(/a*?b/g, '')"
    yield "'a'.repeat(1e6).replace(/a/g, 'b'.repeat(1e4))"
    yield "'a'.repeat(1e6).split(/(?:)/).length"
    yield "[...'a'.repeat(1e6).matchAll(/a*?/g)].length"
    yield "/" + "[^\\p{L}]" * 2400 + "/iu.test('a')"
    yield "/[" + "[\\p{L}--\\p{Lu}]" * 1200 + "]/v.test('a')"


_CALLS = [
    "(function f() { return f() })()",
    "(() => { const f = x => [f(x)]; return f(1) })()",
    "(() => { const f = n => n < 2 ? n : f(n - 1) + f(n - 2); return f(60) })()",
    "(() => { const a = (m, n) => m ? n ? a(m - 1, a(m, n - 1)) : a(m - 1, 1) : n + 1; return a(4, 4) })()",
    "(() => { const f = () => g(), g = () => f(); return f() })()",
    "[...(function* () { for (;;) yield 1 })()]",
    "(function* () { for (;;) yield 1 })().toArray()",
    "(function* () { for (;;) yield 1 })().forEach(x => x)",
    "(function* () { for (;;) yield 1 })().drop(1e15).next()",
    "(function* () { for (;;) yield 1 })().reduce((a, b) => a + b)",
    "[].concat(...(function* () { for (;;) yield [1] })())",
    "new Set((function* () { let i = 0; for (;;) yield i++ })())",
    "({toString() { for (;;); }}) + ''",
    "({valueOf() { for (;;); }}) > 1",
    "({get x() { for (;;); }}).x",
    "[3, 1, 2].sort(() => { for (;;); })",
    "[...Array(1e6).keys()].sort(() => 1).length",
    "'abc'.replace(/b/, () => { for (;;); })",
    "({[Symbol.iterator]: 1})",
    "[1, 2, 3].map(''['repeat'], 'x')",
    "[6e7].map(''['padStart'], 'x')",
    "({__proto__: [], length: 2 ** 53 - 1}).includes(1)",
    "({'__proto__': [], length: 2 ** 53 - 1}).lastIndexOf(1)",
    '({"\\x5f_proto__": [], length: 2 ** 53 - 1}).indexOf(1)',
    "({toString: [].indexOf, length: 2 ** 53 - 1}) + ''",
    "({toString: [].join, length: 1e9}) + ''",
    "Object.create(Array.prototype, {length: {value: 1e15}}).every(x => 1)",
]
_ESCAPES = [
    "globalThis", "eval('1')", "Function('return 1')()", "require('fs')", "process.env", "performance.now()",
    "Reflect.ownKeys({})", "new Proxy({}, {})", "Symbol.iterator", "setTimeout(() => 1)", "WeakRef", "Promise",
    "queueMicrotask(() => 1)", "console.log(1)", "std.exit(1)", "std.loadFile('secret.txt')", "std.getenv('SECRET')",
    "os.open('secret.txt')", "BigInt(1) ** BigInt(1e9)", "2n ** 99999999n", "new Uint8Array(1e10)", "Atomics.wait()",
    "new SharedArrayBuffer(8)", "Date()", "new Date()", "Date.now()", "Math.random()", "import('fs')", "import.meta",
    "new (new Date(0).constructor)()", "({}).constructor.constructor('return this')()", "arguments.callee.caller",
    "(x => x).constructor('return globalThis')()", "(function* () {}).constructor('yield 1')", "(async () => 1)()",
    "[].map.constructor('return this')()", "Object.getPrototypeOf(Object).constructor('return 1')()",
    "(() => { try { return 'x'.repeat(1e9) } catch { return 1 } })()", "(o => { o.x = 1 })(Object.prototype)",
    "new Error().stack", "Error.captureStackTrace({})", "this.constructor", "(0, eval)('1')", "Array.fromAsync([1])",
    "`${Function}`", "''.constructor.raw({raw: {length: 1e9}})", "new.target", "super.x", "await 1", "debugger",
    "1) + (2", "1; for (;;);", "1 } for (;;); {", "]; for (;;); [", "*/ 1 /*", "<!-- 1", "\\u0066or", "1//", "\0",
]  # fmt: skip
_SOURCES = [
    "+".join(["phase"] * 3300),
    "x=>" * 190 + "1?" * 4000 + "1" + ":1" * 4000,
    "(x=>" * 99 + "x" + ")" * 99,
    "(x=>" * 101 + "x" + ")" * 101,
    "[" * 100 + "1" + "]" * 100,
    "[" * 5000,
    "(" * 99 + "1" + "+1" * 9000 + ")" * 99,
    "(()=>{" + "".join(f"let a{n}=1,b{n}=2;" for n in range(195)) + "a," * 8000 + "1})()",
    "`" + "${1}" * 4000 + "`",
    "!" * 19990 + "1",
    "- " * 9990 + "1",
    "phase" + ".a" * 9000,
    "phase" + "?.a" * 6000,
    "/*" * 9000 + "*/1",
    " " * 19990 + "1",
    "'" + "\\u{1F600}" * 2000 + "'",
    "1?" * 4900 + "1" + ":1" * 4900,
    "x" * 30_000,
    "/" + "(" * 4000 + "a" + ")" * 4000 + "/.test('a')",
    "/" + "(a{0,1000}){0,1000}" * 1000 + "/.test('a')",
    "[" + "1," * 9900 + "]",
    "({" + ",".join(f"a{n}:{n}" for n in range(2000)) + "})",
    "1" + "**9" * 6000,
    "9" * 19_000,
    "0x" + "f" * 19_000,
]
# What runs in the engine's own process, with as much data as a workflow can have.
_CHEAP = [
    "context.long.includes(context.text)",
    "context.long.indexOf(context.text + 'b')",
    "context.long.split('').join(context.long)",
    "context.long.replaceAll('a', context.long)",
    "context.long.replace(/a/g, context.long)",
    "context.list.some(x => context.long.includes(x))",
    "context.list.map(x => context.long + x).length",
    "context.list.filter(x => context.list.includes(x + 'b')).length",
    "context.list.map(x => context.list).length",
    "context.list.every(x => context.list.every(y => context.list.every(z => x === z)))",
    "context.list.join(context.long).length",
    "context.list.concat(context.list, context.list).length",
    "context.long.match(/a*a*a*a*b/)",
    "/a*a*a*a*a*b/.test(context.long)",
    "/(a|b)(a|b)(a|b)(a|b)c/.test(context.long)",
    "context.long.split(/a*b|/).length",
    "context.long.toUpperCase().toLowerCase().trim() === context.long",
    "context.long + context.long + context.long + context.long === context.long",
    "String(context.list) + String(context.list) === String(context.rows)",
    "context.rows.map(r => r.text).includes(context.long)",
    "new Set(context.rows.map(r => r.text)).size",
    "Object.keys(context.rows).length + Object.entries(context.rows).length",
    "context.rows == context.long",
    "context.rows.find(r => r.text.startsWith(context.long))",
    "[context.long, context.long].map(s => s.split('a').join(s)).length",
    "context.long.slice(1).slice(1).slice(1).endsWith(context.text)",
    "Number(context.long) || parseInt(context.long) || parseFloat(context.long)",
    "context.rows.filter(Boolean).map(String).length",
]


def _conditions() -> Iterator[Case]:
    small = chain(
        _STATICS, _list_conditions(), _text_conditions(), _OPERATORS, _regex_conditions(), _CALLS, _ESCAPES, _SOURCES
    )
    yield from (Case("condition", source) for source in small)
    yield from (Case("condition", source, "large") for source in _CHEAP)


# --- templates --------------------------------------------------------------------------------------------------------

_FILTERS = (
    "abs attr batch capitalize center count d date default dictsort duration e escape filesizeformat first float"
    " groupby indent int items join json last length list lower map max min pad present quote quote_lines reject rejectattr"
    " replace reverse round select selectattr signed slice slug sort string striptags sum title tojson trim truncate"
    " unique upper urlencode wordcount wordwrap"
).split()
_ARGUMENTS = {
    "attr": "'__class__'", "batch": "2", "duration": "text", "groupby": "'id'", "join": "text", "map": "'upper'",
    "replace": "'a', text", "select": "'in', list", "reject": "'eq', list", "selectattr": "'text', 'in', text",
    "rejectattr": "'text'", "slice": "3",
}  # fmt: skip
_METHODS = (
    "upper lower title capitalize strip lstrip rstrip split rsplit splitlines find startswith endswith removeprefix"
    " removesuffix count isdigit isalpha isspace"
).split()
_TESTS = (
    "divisibleby(7) eq(rows) even ge(text) in(rows) in(text) iterable lower mapping ne(rows) sameas(rows) upper".split()
)
_FOR = "{% for i in range(99999) %}"
_DOUBLED = "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}"


def _filter_templates() -> Iterator[str]:
    for name in _FILTERS:
        given = f"({_ARGUMENTS[name]})" if name in _ARGUMENTS else ""
        yield f"{_FOR}{{% set x = long | {name}{given} %}}{{% endfor %}}"
        yield f"{_FOR}{{% set x = rows | {name}{given} | list %}}{{% endfor %}}"
        yield f"{{{{ text | {name}(10 ** 9) }}}}{{{{ 7 | {name}(-10 ** 9) }}}}"
        yield f"{_DOUBLED}{{{{ ns.a | {name}{given} }}}}"


def _other_templates() -> Iterator[str]:
    for name in _METHODS:
        yield f"{_FOR}{{% set x = long.{name}('a') %}}{{% endfor %}}{_FOR}{{% set x = long.{name}() %}}{{% endfor %}}"
    for test in _TESTS:
        yield f"{_FOR}{{% if rows is {test} %}}{{% endif %}}{{% if text is {test} %}}{{% endif %}}{{% endfor %}}"
    for sign in ("==", "!=", "<", "in", "not in", "+", "~", "and", "or"):
        yield f"{_FOR}{{% set x = rows {sign} (rows | list) %}}{{% endfor %}}"
        yield f"{_FOR}{{% set x = long {sign} long[1:] %}}{{% endfor %}}"
        yield f"{_DOUBLED}{{% set x = ns.a {sign} ns.b %}}"


_TEMPLATES = [
    "{{ 'x' * 10**9 }}", "{{ 10**9 * 'x' }}", "{{ ([1] * 10**9) | length }}", "{{ 9 ** (9 ** 9) }}", "{{ 9 ** 9 ** 9 }}",
    "{{ -9 ** 99999 }}", "{{ 10 ** -10 ** 9 }}", "{{ (10 ** 4000) // 3 }}", "{{ '%09999999999d' % 1 }}", "{{ '%s' % 1 }}",
    "{{ range(10 ** 9) | list }}", "{{ range(99999) | map('string') | join(long) }}", "{{ long * 5 }}{{ long * 5 }}",
    "{% for i in range(10**9) %}{% endfor %}", _FOR + _FOR + "{% endfor %}{% endfor %}",
    "{% for a in list %}{% for b in list %}{% for c in list %}{% endfor %}{% endfor %}{% endfor %}",
    _FOR + "x" * 40_000 + "{% endfor %}", "{% set b %}" + _FOR + "x" * 1000 + "{% endfor %}{% endset %}",
    _FOR + "{{ i }}{% if i %}{% endif %}" * 200 + "{% endfor %}", _FOR + "{% if " + " and ".join(["i"] * 150) + " %}{% endif %}{% endfor %}",
    "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set n = namespace(x='x') %}{% for i in range(99) %}{% set n.x %}{{ n.x * 2 }}{% endset %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[]) %}" + _FOR + "{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
    "{% macro d(n) %}{% if n %}{{ d(n - 1) }}{{ d(n - 1) }}{% endif %}{% endmacro %}{{ d(60) }}",
    "{% macro r() %}{{ r() }}{% endmacro %}{{ r() }}", "{% macro m() %}{{ caller() }}{% endmacro %}" + _FOR + "{% call m() %}x{% endcall %}{% endfor %}",
    "{% for x in [1] recursive %}{{ loop(range(99999)) }}{% endfor %}", "{% for x in list recursive %}{{ loop(list) if loop.depth < 5 }}{% endfor %}",
    "{% for x in range(99999) if x > 10**6 recursive %}{% endfor %}" * 50, _FOR + "{{ loop.changed(rows) }}{% endfor %}",
    "{% include 'twice-a' %}", "{% include 'self' %}", "{% import 'self' as s %}", "{% extends 'self' %}", "{% include ['x', 'self'] %}",
    "{% block a %}" + _FOR + "{{ self.b() }}{% endfor %}{% endblock %}{% block b %}{{ long }}{% endblock %}", "{% block a %}{{ self.a() }}{% endblock %}",
    "{% filter upper %}" + _FOR + "x{% endfor %}{% endfilter %}" * 9, "{% set c = cycler(*range(99999)) %}" + _FOR + "{{ c.next() }}{% endfor %}",
    "{{ dict(a=rows, **{'b': rows}) }}" * 200, _FOR + "{% set x = dict(a=rows) %}{{ x }}{% endfor %}", _FOR + "{{ list.index(999) }}{% endfor %}",
    "".join("{% for a in [1] %}" for _ in range(25)) + "x" + "{% endfor %}" * 25, "{{ " + "(" * 300 + "1" + ")" * 300 + " }}",
    "{{ " + "[" * 150 + "]" * 150 + " }}", "{{ " + "+".join(["1"] * 9000) + " }}", "{{ " + "-" * 9000 + "1 }}", "{{ a" + "|upper" * 3000 + " }}",
    "{% if 1 %}" + "{{ a }}" * 9000 + "{% endif %}", "{{ [" + "1," * 40_000 + "] }}", "{{ '" + "\\n" * 40_000 + "' }}", "{{ " + "9" * 9000 + " }}",
    "{% if a %}" * 500 + "{% endif %}" * 500, "{% set " + ",".join(f"a{n}" for n in range(3000)) + " = rows %}", "{{ text[::-1][:10**9] }}" * 2000,
]  # fmt: skip
_TEMPLATE_ESCAPES = [
    "''.__class__", "''['__class__']", "'' | attr('__class__')", "().__class__.__bases__", "text._x", "context.__class__",
    "text.format", "'{0.__class__}'.format(text)", "'{}'.format_map(context)", "text['format'](1)", "text.encode()",
    "text.join(list)", "list.append(1)", "list.clear()", "context.update({})", "context.pop('plan')", "range.__globals__",
    "namespace.__init__", "self.__init__", "self._TemplateReference__context", "list.__len__()", "lipsum()", "cycler.__init__",
    "cycler.__init__.__globals__.os.environ", "joiner.__init__.__globals__", "(text | map)._x", "none.__class__", "loop",
    "get_flashed_messages", "request", "config", "open('secret.txt').read()", "[].__class__", "{}.__class__.mro()",
    "context | attr('update')", "list | map(attribute='__class__') | list", "[text] | map('attr', '__class__') | list",
    "[text] | selectattr('__class__') | list", "rows | groupby('__class__')", "rows | sort(attribute='__class__')",
    "'%s' | format(text)", "namespace(__class__=1)", "dict(__class__=1).__class__", "('a' | e).__class__", "caller", "varargs",
    "environment", "self.environment", "text.upper.__self__", "text.upper.__func__", "range(3).__reduce__()", "(1).real.__class__",
    "rows[0].items().__class__", "rows[0].get.__self__", "text | attr('format')", "rows | map('attr', 'pop') | list",
]  # fmt: skip


def _templates() -> Iterator[Case]:
    yield from (Case("template", text, "large") for text in chain(_TEMPLATES, _filter_templates(), _other_templates()))
    yield from (Case("template", "{{ " + text + " }}", "large") for text in _TEMPLATE_ESCAPES)


# --- schemas and patterns ---------------------------------------------------------------------------------------------

_SCHEMAS: list[object] = [
    *({"type": "string", "pattern": pattern} for pattern in ("^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*=", "(a*)*b")),
    {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
    {"propertyNames": {"pattern": "^(a+)+$"}},
    {"$ref": "http://127.0.0.1:9/schema.json"},
    {"$ref": "file:///etc/passwd"},
    {"$dynamicRef": "http://127.0.0.1:9/#x"},
    {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    {
        "$defs": {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)} | {"a40": {}},
        "$ref": "#/$defs/a0",
    },
    {"type": "array", "uniqueItems": True},
    {"type": "array", "items": {"enum": [[n] for n in range(900)]}},
    {"anyOf": [{"properties": {"a": {"minLength": n}}} for n in range(600)]},
    {"$schema": "http://127.0.0.1:9/meta", "type": "string"},
    {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(5000)}},
    {"pattern": "(" * 50 + ")" * 50},
    {"pattern": "("},
    {"pattern": "a{99999999999}"},
]
_VALUES = ["a" * 40 + "!", {"a" * 40 + "!": 1}, [{"n": n} for n in range(5000)]]
_PATTERNS = ["*a" * 100, "**/" * 100 + "x", "*" * 200, "[a-z]*" * 60, "?*" * 100, "[!a]" * 90 + "*" * 90]


def _rest() -> Iterator[Case]:
    for schema in _SCHEMAS:
        for value in _VALUES:
            yield Case("schema", json.dumps([schema, value]))
    yield from (Case("pattern", pattern) for pattern in _PATTERNS)


def corpus() -> list[Case]:
    return [*_conditions(), *_templates(), *_rest()]


# --- the program ------------------------------------------------------------------------------------------------------

_LARGE: dict[str, object] = {
    "long": "a" * 400_000,
    "text": "a" * 200_000,
    "list": ["a" * 40 for _ in range(2000)],
    "rows": [{"id": f"r{n}", "text": "word " * 10, "n": n} for n in range(2000)],
}
_SCOPES: dict[str, dict[str, object]] = {
    "small": {"context": {"a": 1}, "phase": {"id": "p"}},
    "large": {"context": _LARGE, "phase": {"id": "p"}, **_LARGE},
}
_LOADER = {
    f"twice-{name}": f"{{% include 'twice-{after}' %}}" * 2 for name, after in zip("abcdefghijkl", "bcdefghijklm")
}
_LOADER |= {"twice-m": "{{ text }}", "self": "{% include 'self' %}"}


def limit(case: Case) -> float:
    """Seconds of a processor that the case may use by its own rules; see docs/language.md."""
    from reconvene.language.javascript.evaluating import CPU_SECONDS

    size = sum(len(json.dumps(value)) for value in _SCOPES[case.scope].values())
    return CPU_SECONDS + size / 10_000_000 if case.kind == "condition" else 2.0


def attempt(case: Case) -> str:
    """What comes of it: "value …", or the error in words."""
    from reconvene.core.paths import matches
    from reconvene.language import expressions, templates
    from reconvene.wire import replies
    from reconvene.wire.contracts import wrong_with

    scope = _SCOPES[case.scope]
    try:
        match case.kind:
            case "condition":
                if wrong := expressions.check(case.text, scope.keys()):
                    return f"refused {wrong}"
                return f"value {expressions.evaluate(case.text, scope)!r}"
            case "template":
                if found := templates.check(case.text):
                    return f"refused {found[1]}"
                return f"value {templates.render(case.text, scope, loader=_LOADER)}"
            case "schema":
                schema, value = json.loads(case.text)
                return f"value {wrong_with(schema)} {replies.validate(schema, value)}"
        return f"value {matches('a' * 300 + '/b', case.text)}"
    except (expressions.ExpressionError, templates.TemplateError) as error:
        return f"error {error.message}"


def main(folder: str, numbers: list[int]) -> None:
    from reconvene.adapters.guest.helper import Helper
    from reconvene.language import guest

    os.chdir(folder)
    os.environ["SECRET"] = SECRET
    cases = corpus()
    for number in numbers:
        helper = Helper()
        guest.lodge(helper)
        before = _used()
        said = attempt(cases[number])
        helper.close()  # so that what it used is counted
        print(json.dumps({"number": number, "seconds": _used() - before, "said": said[:2000]}), flush=True)


def _used() -> float:
    both = [resource.getrusage(whom) for whom in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1], [int(number) for number in sys.argv[2:]])
