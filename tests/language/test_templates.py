"""Templates: what they show, what they say when they fail, what they are refused, and that both ways agree."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from exploring import examples
from reconvene.language import templates
from reconvene.language.jinja import environment as template_sandbox
from reconvene.language.templates import TemplateError, check, names, render

SCOPE: dict[str, object] = {
    "name": "checkout",
    "n": 3,
    "half": 0.5,
    "yes": True,
    "nothing": None,
    "list": [1, "two", None, True],
    "text": "first\n\nthird",
    "at": "2025-10-31T14:05:59Z",
    "context": {"plan": None, "deep": {"er": "here"}, "items": "own key", "tasks": [{"id": "t1"}, {"id": "t2"}]},
    "frozen": Map({"a": 1}),
}


class TestValues:
    @pytest.mark.parametrize(
        ("template", "text"),
        [
            ("plain", "plain"),
            ("", ""),
            ("a\n", "a\n"),
            ("{{ name }}\n", "checkout\n"),
            ("{{name}}-{{ n }}", "checkout-3"),
            ("{{ context.deep.er }}", "here"),
            ("{{ nothing }}|{{ yes }}|{{ half }}", "|true|0.5"),
            ("{{ list }}", '[1, "two", null, true]'),
            ("{{ context.deep }}", '{"er": "here"}'),
            ("{{ frozen }} {{ frozen.a }}", '{"a": 1} 1'),
            ("{{ context.items }}", "own key"),
            ("{{ context.deep.items() | list }}", '[["er", "here"]]'),
            ("{% if yes %}y{% endif %}{# note #}", "y"),
            ("{% for t in context.tasks %}{{ loop.index }}{{ t.id }}{{ ',' if not loop.last }}{% endfor %}", "1t1,2t2"),
            ("{% for t in context.plan %}x{% else %}none{% endfor %}", "none"),
            ("<{{ context.plan.steps }}{{ context.plan.steps.first }}{{ context.plan['steps'][0] }}>", "<>"),
            ("{% for t in context.plan.steps %}x{% else %}none{% endfor %}", "none"),
            ("{{ context.plan is none }} {{ context.plan.steps is none }} {{ context.plan.steps is defined }}",
             "true true false"),
            ("{{ 'no plan' if not context.plan.steps }} {{ context.plan.steps == 'x' }}", "no plan false"),
            ("<{{ nothing | trim }}{{ nothing | upper }}{{ context.plan.steps | title }}>", "<>"),
            ("{{ nothing | length }}{{ context.plan.steps | length }}<{{ context.plan.steps | join(', ') }}>", "00<>"),
            ("{{ context.plan.steps | json }} {{ {'a': context.plan.steps} | json }}", 'null {"a": null}'),
            ("{{ context.plan.n == none }} {{ none == context.plan.n }} {{ context.plan.n != none }}",
             "true true false"),
            ("{{ context.plan == none }} {{ context.plan.n == context.plan.m }} {{ context.plan.n != 3 }}",
             "true true true"),
            ("{{ context.plan > 3 }} {{ context.plan.n > 3 }} {{ 3 > context.plan.n }} {{ context.plan <= n }}",
             "false false false false"),
            ("{{ 'a' in context.plan }} {{ 'a' in context.plan.names }} {{ 'a' not in context.plan }}",
             "false false true"),
            ("{% for k, v in context.plan.items() %}x{% endfor %}{{ context.plan.keys() | list }}", "[]"),
            ("{{ context.plan.get('x') }}{{ context.plan.get('x', 'y') }}{{ context.plan.title.upper() }}", "y"),
            ("{{ context.plan.split(',') }} {{ context.plan.names.count('a') }}", "[] 0"),
            ("{% for i in range(context.plan.n) %}x{% endfor %}{% for i in range(context.plan) %}x{% endfor %}", ""),
            ("{{ nothing | sum }} {{ context.plan.rows | sum(attribute='n') }} {{ [{'n': 1}, {}] | sum('n') }}",
             "0 0 1"),
            ("<{{ nothing | first }}{{ nothing | last }}{{ nothing | max }}{{ context.plan.rows | min }}>", "<>"),
            ("{{ ([] | first) is none }} {{ (context.plan | first).x == none }}", "true true"),
            ("{% for k, v in nothing | dictsort %}x{% endfor %}{% for k, v in context.plan.x | items %}x{% endfor %}",
             ""),
            ("{{ nothing | abs }} {{ context.plan.n | round }} {{ nothing | filesizeformat }}", "0 0 0 Bytes"),
            ("{{ context.plan.n | int }} {{ context.plan.n | float }}", "0 0.0"),
            ("<{{ nothing | duration(at) }}{{ at | duration(context.plan.end) }}{{ context.plan.end | date }}>", "<>"),
            ("{{ context.plan.rows | map(attribute='t') | list }} {{ nothing | selectattr('x') | list }}", "[] []"),
            ("{{ context.tasks | map(attribute='id') }} {{ context.tasks | map(attribute='id') | present }}",
             '["t1", "t2"] - t1\n- t2'),
            ("{{ context.tasks | map(attribute='id') | upper }}", "['T1', 'T2']"),
            ("{{ context.plan.steps | default('none yet') }} {{ context.plan | default('-', true) }}", "none yet -"),
            ("{{ nothing | list }} {{ context.plan.steps | sort }} {{ 'a' in context.plan.steps }}", "[] [] false"),
            ("{{ name ~ n ~ nothing ~ yes }}", "checkout3true"),
            ("{{ list | join(', ') }}", "1, two, , true"),
            ("{{ context.tasks | map(attribute='id') | join('+') }}", "t1+t2"),
            ("{{ context.tasks | json }}", '[{"id": "t1"}, {"id": "t2"}]'),
            ("{{ context.deep | json(2) }}", '{\n  "er": "here"\n}'),
            ("{{ at | date }}", "2025-10-31 14:05"),
            ("{{ at | date(false) }}", "2025-10-31"),
            ("{{ '2025-10-31T14:05:59+02:00' | date }}{{ nothing | date }}", "2025-10-31 12:05"),
            ("{{ at | duration('2025-10-31T16:20:00Z') }}", "2 hours"),
            ("{{ at | duration('2025-10-31T14:06:59Z') }}", "1 minute"),
            ("{{ at | duration(at) }}", "less than a minute"),
            ("{{ text | quote_lines }}", "> first\n>\n> third"),
            ("{{ text | quote }}", "“first third”"),
            ("{{ '“a” b' | quote }}{{ none | quote }}", "“‘a’ b”“”"),
            ("{{ text | indent(2) }}", "first\n\n  third"),
            ("{{ text | indent(2, true) }}", "  first\n\n  third"),
            ("{{ text | replace('first', n) }}", "3\n\nthird"),
            ("{{ list | batch(3) | list }}", '[[1, "two", null], [true]]'),
            ("{{ list | slice(3) | list }}", '[[1, "two"], [null], [true]]'),
            ("{{ absent | default('d') }}", "d"),
            ("{{ context.absent is defined }}", "false"),
            ("{{ name.upper() }} {{ name | length }}", "CHECKOUT 8"),
            ("{{ 2 ** 10 + 3 * 4 % 5 }}", "1026"),
            ("{{ '<b>' }} & {{ name }}", "<b> & checkout"),
            ("{% set ns = namespace(a=0) %}{% for x in [1, 2] %}{% set ns.a = ns.a + x %}{% endfor %}{{ ns.a }}", "3"),
            ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(n) }}", "<3>"),
            ("a }} b %} c", "a }} b %} c"),
            ("{ {name} } {{ name }}", "{ {name} } checkout"),
            ("naïve 😀 {{ name }}", "naïve 😀 checkout"),
        ],
    )  # fmt: skip
    def test_a_template_shows(self, template: str, text: str) -> None:
        assert render(template, SCOPE) == text

    def test_text_without_tags_is_left_alone(self) -> None:
        assert render("a\r\nb { } {x} \r", {}) == "a\r\nb { } {x} \r"

    def test_half_a_surrogate_pair_never_reaches_a_file(self) -> None:
        assert render("{{ x }}é", {"x": "a\ud800"}) == "a\ufffdé"

    def test_templates_include_each_other_through_the_loader(self) -> None:
        loader = {"head.md": "# {{ name }}\n", "all.md": "{% include 'head.md' %}{{ n }}"}
        assert render("{% include 'all.md' %}!", SCOPE, loader=loader) == "# checkout\n3!"
        assert render("{% include 'gone.md' ignore missing %}!", SCOPE, loader=loader) == "!"

    def test_an_edited_template_of_the_same_name_is_read_anew(self) -> None:
        assert [render("{% include 'a' %}", {}, loader={"a": text}) for text in "xyx"] == ["x", "y", "x"]


class TestFailures:
    @pytest.mark.parametrize(
        ("template", "line", "says"),
        [
            ("{{ nam }}", 1, "'nam' is not known here; did you mean 'name'?"),
            ("a\nb\n{{ context.dep }}", 3, "'dep' is not there; did you mean 'deep'?"),
            ("\n{{ context.plan.steps() }}", 2, "'steps' is missing: what stands before it is empty"),
            ("{{ context.plan.steps.first + 3 }}", 1, "'first' is missing: what stands before it is empty"),
            ("{{ name.first }}", 1, "'first'"),
            ("{{ zzz }}", 1, "known here: at, context"),
            ("{% if yes %}\n{{ absent }}\n{% endif %}", 2, "'absent'"),
            ("{% for x in absent %}{% endfor %}", 1, "'absent' is not known here"),
            ("\n{% if yes %}", 2, "endif"),
            ("{{ name", 1, "“{{” is not closed"),
            ("{{ name | jsn }}", 1, "there is no filter 'jsn'; did you mean 'json'?"),
            ("{{ 1 / 0 }}", 1, "division by zero"),
            ("{{ 10 ** 5000 }}", 1, "a number grows too large"),
            ("{{ name | date }}", 1, "needs an ISO date"),
            ("{% include 'heed.md' %}", 1, "there is no template 'heed.md'; did you mean 'head.md'?"),
            ("x\n{% include 'bad.md' %}", 2, "line 2 of bad.md: 'oops' is not known here"),
            ("{% include 'self.md' %}", 1, "without end"),
        ],
    )
    def test_a_failure_names_the_line_and_the_nearest_name(self, template: str, line: int, says: str) -> None:
        loader = {"head.md": "x", "bad.md": "\n{{ oops }}", "self.md": "{% include 'self.md' %}"}
        with pytest.raises(TemplateError) as caught:
            render(template, SCOPE, loader=loader)
        assert says in caught.value.message
        assert caught.value.line == line

    @pytest.mark.parametrize(
        ("template", "line"),
        [
            ("{% if x %}", 1), ("a\n{% endif %}", 2), ("\n\n{{ a b }}", 3), ("{{ }}", 1), ("{% nope %}", 1),
            ("{{ a | nope }}", 1), ("{{ a is nope }}", 1), ("{{{ a }}}}", 1), ("{{ 'a' | format(1) }}", 1),
            ("{{ a | random }}", 1), ("\n{# a", 2),
        ],
    )  # fmt: skip
    def test_syntax_problems_are_found_at_load_with_their_line(self, template: str, line: int) -> None:
        problem = check(template)
        assert problem is not None
        assert problem[0] == line
        assert problem[1]

    @pytest.mark.parametrize("template", ["", "{{ a }}", "{{ a.b.c }}", "{% if a %}{{ b | json }}{% endif %}", "{ a }"])
    def test_good_templates_have_no_problem(self, template: str) -> None:
        assert check(template) is None


class TestSandbox:
    @pytest.mark.parametrize(
        "expression",
        [
            "''.__class__", "''['__class__']", "'' | attr('__class__')", "().__class__.__bases__", "name._x",
            "context._x", "context.__class__", "name.format", "'{0.__class__}'.format(n)", "'{}'.format_map(context)",
            "name['format'](1)",
            "name.encode()", "name.ljust(5)", "name.join(list)", "list.append(1)", "list.clear()", "context.update({})",
            "context.pop('plan')", "context.deep.setdefault('x', 1)", "range.__globals__", "namespace.__init__",
            "self.__init__", "self._TemplateReference__context", "n.__add__(1)", "n.real", "lipsum()",
            "cycler.__init__",
            "joiner.__init__.__globals__", "'%s' % n", "'%09999999999d' % 1", "(name | map)._x", "none.__class__",
            "loop", "get_flashed_messages", "request", "config", "open('x')", "[].__class__", "{}.__class__.mro()",
        ],
    )  # fmt: skip
    def test_nothing_but_data_is_in_reach(self, expression: str) -> None:
        with pytest.raises(TemplateError):
            render("{{ " + expression + " }}", SCOPE)
        with pytest.raises(TemplateError):
            render("{% if 1 %}{{ (" + expression + ") ~ '' }}{% endif %}", SCOPE)

    def test_private_keys_are_refused_by_the_short_way_too(self) -> None:
        with pytest.raises(TemplateError):
            render("{{ a._b }}", {"a": {"_b": 1}})

    def test_a_template_leaves_the_data_as_it_was(self) -> None:
        data: dict[str, object] = {"a": [1], "b": {}}
        with pytest.raises(TemplateError):
            render("{% set x = a.append(2) %}{{ x }}", data)
        assert data == {"a": [1], "b": {}}

    @pytest.mark.parametrize(
        "template",
        [
            "{{ 'x' * 10**9 }}",
            "{{ 10**9 * 'x' }}",
            "{{ ([1] * 10**9) | length }}",
            "{{ 9 ** (9 ** 9) }}",
            "{% for i in range(10**9) %}{% endfor %}",
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "{% for a in many %}{% for b in many %}{% for c in many %}{% endfor %}{% endfor %}{% endfor %}",
            "{% for i in range(99999) %}" + "x" * 100 + "{% endfor %}",
            "{% set b %}{% for i in range(99999) %}" + "x" * 1000 + "{% endfor %}{% endset %}",
            "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
            "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
            "{% set n = namespace(x='x') %}{% for i in range(99) %}{% set n.x %}{{ n.x * 2 }}{% endset %}{% endfor %}",
            "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
            "{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
            "{% macro d(n) %}{% if n %}{{ d(n - 1) }}{{ d(n - 1) }}{% endif %}{% endmacro %}{{ d(60) }}",
            "{% macro r() %}{{ r() }}{% endmacro %}{{ r() }}",
            "{{ 'x' | center(10**9) }}",
            "{{ 'x' | center(1000000000) }}",
            "{{ 'x\\n' | indent(10**9) }}",
            "{{ [1] | batch(10**9, 'x') | list }}",
            "{{ [1] | slice(10**9) | list }}",
            "{{ big | replace('x', big) }}",
            "{{ many | join(big) }}",
            "{{ big }}{{ big }}{{ big }}{{ big }}{{ big }}{{ big }}",
            "{% for i in many %}{{ big }}{% endfor %}",
        ],
    )
    def test_bombs_are_refused(self, template: str) -> None:
        scope: dict[str, object] = {"many": list(range(1000)), "big": "x" * 1_000_000}
        with pytest.raises(TemplateError):
            render(template, scope)
        assert render("{% if 1 %}{{ n }}{% endif %}", SCOPE) == "3"

    def test_there_is_no_chance_and_no_clock(self) -> None:
        for name in ("random", "now", "lipsum", "uuid"):
            assert check("{{ x | " + name + " }}") is not None
            with pytest.raises(TemplateError):
                render("{{ " + name + "() }}", {})


class TestNames:
    @pytest.mark.parametrize(
        ("template", "found"),
        [
            ("", ""),
            ("{{ a }}{{ b.c }}", "a b"),
            ("{% for x in xs %}{{ x.y }}{{ z }}{% endfor %}", "xs z"),
            ("{{ a | default(b) }}{{ range(n) }}", "a b n"),
            ("{% set a = b %}{{ a }}", "b"),
            ("{{ a", ""),
        ],
    )
    def test_the_names_a_template_uses(self, template: str, found: str) -> None:
        assert names(template) == set(found.split())

    def test_included_templates_are_looked_into(self) -> None:
        loader = {"a": "{{ x }}{% include 'b' %}", "b": "{{ y }}{% include 'a' %}", "c": "{{ z }}"}
        assert names("{{ w }}{% include 'a' %}", loader=loader) == {"w", "x", "y"}
        assert names("{% include pick %}", loader=loader) == {"pick", "x", "y", "z"}


_PIECES = st.sampled_from(
    ["{{ a }}", "{{b.c}}", "{{ b }}", "{{ d }}", "{{\n e\t}}", "{{ b.items }}", "{{ f.g.h }}", " ", "\n", "\r\n", "{",
     "}", "}}", "%}", "#}", "x", "é", "😀", "{ ", "{{ none }}", "{{ true }}", "{% if a %}", "{% endif %}", "{{", "\\"]
)  # fmt: skip
_VALUES: Mapping[str, object] = {
    "a": "A\r\n{{ a }}", "b": {"c": [1, {"x": None}], "items": 1}, "d": None, "e": 1.5, "f": {"g": {"h": False}},
}  # fmt: skip


@examples(200)
@given(st.lists(_PIECES, max_size=8).map("".join))
def test_both_ways_to_render_agree(template: str) -> None:
    if not any(mark in template for mark in ("{{", "{%", "{#")):
        assert render(template, _VALUES) == template
        return
    try:
        long_way = template_sandbox.render(template, _VALUES, {})
    except template_sandbox.Failure:
        with pytest.raises(TemplateError):
            render(template, _VALUES)
        assert templates.check(template) is not None or names(template) - _VALUES.keys()
        return
    assert render(template, _VALUES) == long_way


def test_plain_look_ups_do_not_import_jinja() -> None:
    code = (
        "import sys; from reconvene.language import templates as t;"
        "assert t.render('{{ a.b }} c', {'a': {'b': 1}}) == '1 c' and t.names('{{ a }}') == {'a'};"
        "assert t.check('{{ a }}') is None and 'jinja2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("Say {{ inputs.x y }}", "in “{{ inputs.x y }}” “}}”, an operator or a filter is expected, and there is “y”"),
        ("{{ x }} and {{ }}", "in “{{ }}” something is missing before “}}”"),
        ("{{ x | }}", "in “{{ x | }}” a name is expected, and there is “}}”"),
        ("{{ x[1 }}", "in “{{ x[1 }}” “]” is missing before “}”"),
        ("{{ x", "“{{” is not closed: “}}” is missing"),
        ("{% if x %}a", "in “{% if x %}” “{% if %}” is not closed: write “{% endif %}” after it"),
        ("{% fo x %}", "in “{% fo x %}” there is no tag “{% fo %}”; did you mean “{% for %}”?"),
        ("{% endif %}", "in “{% endif %}” “{% endif %}” closes nothing here"),
        ("{% if x }", "“}” closes nothing here"),
        ("{{ x $ }}", "in “{{ x $ }}” “$” means nothing here; text needs quotes"),
    ],
)
def test_what_is_wrong_with_a_template_is_said_in_our_words(template: str, said: str) -> None:
    assert check(template) == (1, said)
