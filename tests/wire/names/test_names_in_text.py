"""What expressions and templates look up, followed through their own variables, and what is left alone."""

from __future__ import annotations

import pytest

from reconvene.language.expressions import check as check_expression
from reconvene.language.templates import check as check_template
from reconvene.wire.names import in_expressions, in_templates
from reconvene.wire.names.kinds import ANYTHING, Kind, ListOf, Record, record
from reconvene.wire.names.schema_kinds import kind_of

ROW = {"type": "object", "properties": {"name": {"type": "string"}, "risk": {"type": "number"}}}
SCOPE: dict[str, Kind] = {
    "context": record(
        analysis=kind_of(
            {
                "type": "object",
                "properties": {
                    "risk": {"type": "number"},
                    "title": {"type": "string"},
                    "rows": {"type": "array", "items": ROW},
                    "best": ROW,
                },
            }
        ),
        team=Record({"economist": kind_of(ROW), "sceptic": kind_of(ROW)}),
        free=ANYTHING,
    ),
    "items": Record({"chapter": Record({}, record(text=ANYTHING, rows=ListOf(kind_of(ROW))))}),
    "settings": record(deep=ANYTHING),
    "drafts": ANYTHING,
    "groups": Record({"both": ListOf(ANYTHING)}),
}


def in_javascript(source: str) -> list[str]:
    assert check_expression(source, SCOPE.keys()) is None
    return [miss.path for miss in in_expressions.misses(source, SCOPE)]


def in_jinja(text: str, **beside: str) -> list[str]:
    assert check_template(text) is None
    files = {f"{name}.md": text for name, text in beside.items()}
    return [miss.path for miss in in_templates.misses(text, SCOPE, files)]


@pytest.mark.parametrize(
    "source",
    [
        "context.analysis.risk > 3",
        "context['analysis']['risk']",
        "context?.analysis?.rows?.[0]?.name",
        "context[settings.deep].anything.at.all",
        "context.analysis[settings.deep]",
        "context.free.whatever.it.may.be",
        "(context.analysis || {}).risk",
        "((context.analysis || {}).rows || []).length",
        "context.analysis.rows.some(row => row.name === 'x')",
        "context.analysis.rows.filter(({name}) => name).map(row => row.risk).includes(3)",
        "context.analysis.rows.find(r => r.risk > 1).name",
        "context.analysis.rows.map(r => ({id: r.name})).filter(r => r.id)",
        "context.analysis.rows.concat([{other: 1}]).some(r => r.other)",
        "context.analysis.rows.reduce((sum, row) => sum + row.risk, 0)",
        "context.analysis.rows.slice().sort((a, b) => a.risk - b.risk)[0].name",
        "[...context.analysis.rows, {other: 1}].some(r => r.other || r.name)",
        "Object.values(context.team).some(one => one.risk > 3)",
        "Object.entries(context.team).some(([name, one]) => one.risk > 3 && name.length)",
        "Object.keys(context.team).length",
        "groups.both.some(name => ((context.team || {})[name] || {}).risk > 3)",
        "context.team.economist.risk",
        "(() => { const all = context.analysis.rows; return all.some(r => r.name); })()",
        "(() => { for (const row of context.analysis.rows) { if (row.risk > 3) return true } return false })()",
        "(() => { let x = context.analysis; x = {other: 1}; return x.other })()",
        "(() => { let x = context.analysis; [x] = [{other: 1}]; return x.other })()",
        "(() => { let x; for (x of context.analysis.rows) if (x.name) return x.risk; return /x/.flags })()",
        "({get one() { return context.analysis.risk }}).one",
        "(({risk, ...rest}) => risk || rest.anything)(context.analysis)",
        "(function (context) { return context.of.its.own })({of: {its: {own: 1}}})",
        "settings.deep ? context.analysis.risk : context.team.sceptic.risk",
        "(settings.deep ? context.analysis : context.free).whatever",
        "items.chapter[settings.deep].text",
        "items.chapter.c1.rows.some(r => r.name)",
        "context.analysis.hasOwnProperty('risk')",
        "context.analysis.title.toUpperCase().includes('X')",
        "context.analysis.risk.toFixed(1)",
        "context.analysis.title.split(',').map(one => one.trim()).length",
        "`${context.analysis.risk} of ${context.analysis.rows.length}`",
        "'context.anaylsis'.length && /context.anaylsis/.test('x')",
        "({anaylsis: 1, [context.analysis.title]: 2}).anaylsis",
        "drafts.whatever && typeof context.analysis === 'object'",
        "new Set(context.analysis.rows.map(r => r.name)).size",
        "context.analysis.rows.length > 0 && context.analysis.rows.at(-1).name",
        "context.analysis.rows.flatMap(r => [r.name]).join(',')",
        "Array.isArray(context.analysis.rows) ? 1 : 2",
    ],
)
def test_an_expression_that_is_right(source: str) -> None:
    assert in_javascript(source) == []


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ("context.anaylsis.risk > 3", "context.anaylsis"),
        ("context['anaylsis']", "context.anaylsis"),
        ("context?.anaylsis?.risk", "context.anaylsis"),
        ("context.analysis.rsk > 3", "context.analysis.rsk"),
        ("context.analysis['rsk']", "context.analysis.rsk"),
        ("(context.analysis || {}).rsk", "context.analysis.rsk"),
        ("context.analysis.rows[0].nme", "context.analysis.rows[…].nme"),
        ("context.analysis.rows.some(row => row.nme)", "row.nme"),
        ("context.analysis.rows.filter(({nme}) => nme).length", "nme"),
        ("context.analysis.rows.map(r => r.risk).lenght", "(…).lenght"),
        ("context.analysis.rows.find(r => r.risk).nme", "(…).nme"),
        ("context.analysis.rows.slice().sort((a, b) => a.rsk - b.risk)", "a.rsk"),
        ("context.analysis.rows.reduce((sum, row) => sum + row.rsk, 0)", "row.rsk"),
        ("Object.values(context.team).some(one => one.rsk > 3)", "one.rsk"),
        ("Object.entries(context.team).some(([name, one]) => one.rsk)", "one.rsk"),
        ("context.team.economits.risk", "context.team.economits"),
        ("groups.both.some(name => ((context.team || {})[name] || {}).rsk)", "context.team[…].rsk"),
        ("(() => { const {rsk} = context.analysis; return rsk })()", "context.analysis.rsk"),
        ("(() => { const a = context.analysis; return a.rsk })()", "a.rsk"),
        ("(({rsk}) => rsk)(context.analysis)", "rsk"),
        ("(() => { for (const row of context.analysis.rows) { if (row.rsk) return 1 } })()", "row.rsk"),
        ("(() => { do { let {rows} = context.analysis; rows[0].rsk } while (context.b) })()", "rows[…].rsk context.b"),
        ("({get one() { return context.analysis.rsk }}).one", "context.analysis.rsk"),
        ("(({[context.b]: a = context.c}) => a)(1)", "context.b context.c"),
        ("settings.deep ? context.analysis.rsk : context.b", "context.analysis.rsk context.b"),
        ("`${context.anaylsis}`", "context.anaylsis"),
        ("({[context.anaylsis]: 1})", "context.anaylsis"),
        ("settings.dep && items.chaptr && groups.bth", "settings.dep items.chaptr groups.bth"),
        ("items.chapter.c1.txt", "items.chapter.c1.txt"),
        ("context.analysis.best.best.best", "context.analysis.best.best"),
        ("context.analysis.title.lenght", "context.analysis.title.lenght"),
        ("context.analysis.risk.fixed", "context.analysis.risk.fixed"),
        ("(() => { switch (context.anaylsis) { case 1: return 2 } return context.analysis.rsk })()",
         "context.anaylsis context.analysis.rsk"),
    ],
)  # fmt: skip
def test_an_expression_that_is_wrong(source: str, paths: str) -> None:
    assert in_javascript(source) == paths.split()


def test_an_expression_of_any_size_is_read() -> None:
    sums, nots, choices = ["context.b"] * 500, "!" * 5000 + "context.b", "1?" * 900 + "context.b" + ":0" * 900
    for source in ("+".join(sums), nots, choices):
        assert {miss.path for miss in in_expressions.misses(source, SCOPE)} == {"context.b"}


@pytest.mark.parametrize(
    "text",
    [
        "{{ context.analysis.risk }} {{ context.free.what.ever }}",
        "{{ context['analysis']['risk'] }} {{ context[settings.deep] }}",
        "{% for row in context.analysis.rows %}{{ loop.index }} {{ row.name }}{% endfor %}",
        "{% for context in context.analysis.rows %}{{ context.name }}{% endfor %}",
        "{% set a = context.analysis %}{{ a.risk }}",
        "{% set context = {'of': 1} %}{{ context.of }}",
        "{% if drafts %}{% set a = context.analysis %}{% else %}{% set a = {'b': 1} %}{% endif %}{{ a.b }}{{ a.risk }}",
        "{% set n = namespace(x=1) %}{% set n.x = 2 %}{{ n.x }}",
        "{% macro show(row) %}{{ row.name }}{% endmacro %}{{ show(context.analysis.best) }}",
        "{% with a = context.analysis %}{{ a.risk }}{% endwith %}",
        "{{ (context.analysis or {}).risk }}",
        "{{ (context.analysis or {}).get('risk', 0) }}",
        "{{ context.analysis.rows | selectattr('risk', '>', 3) | map(attribute='name') | join(', ') }}",
        "{{ (context.analysis.rows | first).name }} {{ (context.analysis.rows | sort(attribute='risk'))[-1].name }}",
        "{% for name, one in context.team.items() %}{{ name }} {{ one.risk }}{% endfor %}",
        "{% for one in context.team.values() if one.risk > 3 %}{{ one.name }}{% endfor %}",
        "{% for name in context.team %}{{ context.team[name].risk }}{% endfor %}",
        "{{ context.analysis.best.name if context.analysis else 'none' }}",
        "{{ context.free | default('x') }} {{ nobody | default('x') }} {{ 'y' if nobody is defined }}",
        "{{ context.analysis.title.upper() }} {{ context.analysis.title.split(',')[0].strip() }}",
        "{% set x %}text{% endset %}{{ x | trim }}",
        "{{ range(3) | list }} {{ dict(a=1).a }}",
        "{% raw %}{{ context.anaylsis }}{% endraw %}{# {{ context.anaylsis }} #}",
        "{{ {'a': 1}[settings.deep] }} {{ {'a': 1}.get(settings.deep) }}",
        "{% for file in context.free %}{{ file.name[:3] }}{% endfor %}",
        "{% macro wrap() %}{{ caller() }}{% endmacro %}{% call wrap() %}{{ context.analysis.risk }}{% endcall %}",
    ],
)
def test_a_template_that_is_right(text: str) -> None:
    assert in_jinja(text) == []


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("{{ context.anaylsis }}", "context.anaylsis"),
        ("{{ contxt.analysis }}", "contxt"),
        ("{{ nobody }}\n{% if nobody %}{% endif %}", "nobody nobody"),
        ("{{ context.analysis.rsk }} {{ settings.dep }}", "context.analysis.rsk settings.dep"),
        ("{{ context['anaylsis'] | trim }}", "context.anaylsis"),
        ("{% if context.analysis.rsk is defined %}x{% endif %}", "context.analysis.rsk"),
        ("{{ context.analysis.rsk | default('x') }}", "context.analysis.rsk"),
        ("{% for row in context.analysis.rows %}{{ row.nme }}{% endfor %}", "row.nme"),
        ("{% for row in context.analysis.rows %}{% endfor %}{{ row.name }}", "row"),
        ("{% for row in context.analysis.rows if row.rsk %}x{% endfor %}", "row.rsk"),
        ("{% set a = context.analysis %}{{ a.rsk }}", "a.rsk"),
        ("{% with a = context.analysis %}{{ a.rsk }}{% endwith %}", "a.rsk"),
        ("{% macro show(row) %}{{ row.nme }}{% endmacro %}{{ show(context.analysis.best) }}", "row.nme"),
        ("{% macro show() %}{{ context.nme }}{% endmacro %}", "context.nme"),
        ("{{ (context.analysis or {}).rsk }}", "context.analysis.rsk"),
        ("{{ (context.analysis or {}).get('rsk', 0) }}", "context.analysis.rsk"),
        ("{{ context.analysis.rows | selectattr('rsk') | list }}", "context.analysis.rows.rsk"),
        ("{{ context.analysis.rows | map(attribute='nme') | join }}", "context.analysis.rows.nme"),
        ("{{ (context.analysis.rows | first).nme }}", "context.analysis.rows.nme"),
        ("{% for name, one in context.team.items() %}{{ one.rsk }}{% endfor %}", "one.rsk"),
        ("{% for one in context.team.values() %}{{ one.rsk }}{% endfor %}", "one.rsk"),
        ("{% set x = context.anaylsis if settings.deep else none %}{{ x }}", "context.anaylsis"),
        ("{{ context.analysis.title.uper() }}", "context.analysis.title.uper"),
        ("{% filter upper %}{{ context.anaylsis }}{% endfilter %}", "context.anaylsis"),
        ("{{ {context.anaylsis: 1} }} {{ [context.b] }} {{ 'a' ~ context.c }}", "context.anaylsis context.b context.c"),
        ("{% set x %}{{ context.anaylsis }}{% endset %}", "context.anaylsis"),
    ],
)
def test_a_template_that_is_wrong(text: str, paths: str) -> None:
    assert in_jinja(text) == paths.split()


def test_templates_are_followed_into_those_that_they_take_in() -> None:
    row = "{{ row.nme }}"
    assert in_jinja("{% for row in context.analysis.rows %}{% include 'a.md' %}{% endfor %}", a=row) == ["row.nme"]
    assert in_jinja("{% include 'a.md' %}", a=row) == ["row"]
    assert in_jinja("{% extends 'a.md' %}{% block b %}{{ context.x }}{% endblock %}", a="{{ context.y }}") == [
        "context.y",
        "context.x",
    ]
    assert in_jinja("{% include 'a.md' %}", a="{% include 'a.md' %}") == []
    assert in_jinja("{% include settings.deep %}{% include 'gone.md' ignore missing %}") == []


def test_macros_of_other_templates_are_followed() -> None:
    parts = "{% macro show(row) %}{{ row.nme }}{% endmacro %}{% set all = [1] %}"
    assert in_jinja("{% from 'a.md' import show, all %}{{ show(context.analysis.best) }}{{ all }}", a=parts) == [
        "row.nme"
    ]
    assert in_jinja("{% import 'a.md' as a %}{{ a.show(context.analysis.best) }}", a=parts) == ["row.nme"]
    assert in_jinja("{% from 'a.md' import show %}{{ show(context.free) }}", a=parts) == []
    outer = "{% macro show() %}{{ context.analysis }}{% endmacro %}"
    assert in_jinja("{% from 'a.md' import show %}{{ show() }}", a=outer) == ["context"]  # imported without context
    assert in_jinja("{% from 'a.md' import show with context %}{{ show() }}", a=outer) == []


def test_macros_that_call_themselves_come_to_an_end() -> None:
    both = "{% macro m(x) %}{{ m(x.a) }}{{ m(x.b) }}{% endmacro %}{{ m(context.free) }}"
    assert in_jinja(both) == []


def test_a_plain_template_is_read_without_jinja() -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom reconvene.wire.names import in_templates\n"
        "assert in_templates.misses('a\\n{{ b.c }}', {}, {})[0].line == 2\nassert 'jinja2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
