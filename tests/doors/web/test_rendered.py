"""Text of agents as HTML: it can be read, and does nothing."""

from __future__ import annotations

import re

import pytest

from reconvene.doors.web.rendered import LONGEST, by_lines, by_words, code, document, lines, markdown

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "![a](https://example.org/pixel.png)",
    "<svg onload=alert(1)>",
    "<iframe src=//example.org></iframe>",
    "[a](//example.org)",
    "<a href='x' onclick='y'>z</a>",
    "[a][1]\n\n[1]: vbscript:x",
    "<style>*{background:url(//example.org)}</style>",
    "<form action=//example.org><input name=a>",
    "<base href=//example.org>",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "`</code><script>x</script>`",
    "&lt;script&gt;&#60;script&#62;",
    '<https://example.org/"onmouseover=alert(1)>',
    "|a|\n|-|\n|<img src=x>|",
    "# <script>x</script>",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_nothing_that_acts(text: str) -> None:
    html = str(markdown(text))
    tags = re.findall(r"<(/?[a-z0-9]+)([^>]*)>", html)
    assert not {name.strip("/") for name, _ in tags} & {
        "script",
        "img",
        "svg",
        "iframe",
        "style",
        "form",
        "input",
        "base",
    }
    for _, attributes in tags:
        named = re.findall(r'([a-z-]+)="([^"]*)"', attributes)
        assert {name for name, _ in named} <= {"href", "title", "rel", "class", "data-line", "id", "start"}
        assert all(value.startswith(("http://", "https://", "mailto:")) for name, value in named if name == "href")


def test_links_lead_out_without_a_trace() -> None:
    assert 'rel="noopener nofollow noreferrer"' in markdown("[a](https://example.org)")


def test_headings_stand_below_those_of_the_page_and_are_an_outline() -> None:
    found = document("# Plan\n\n## First `step`\n\ntext\n", "plan-")
    assert [(one.level, one.text, one.id) for one in found.outline] == [
        (1, "Plan", "plan-part-1"), (2, "First step", "plan-part-2"),
    ]  # fmt: skip
    assert '<h3 data-line="1" id="plan-part-1">Plan</h3>' in found.html
    assert '<p data-line="5">text</p>' in found.html


def test_what_changes_the_direction_of_text_is_taken_out() -> None:
    assert "\u202e" not in markdown("safe \u202etxt.exe")
    assert "\u202e" not in code("x = '\u202e'", "python")


def test_five_megabytes_of_one_line_are_cut_and_that_is_told() -> None:
    found = document("a" * 5_000_000)
    assert found.cut == 5_000_000 - LONGEST
    assert len(found.html) < 2 * LONGEST


def test_words_that_differ_are_marked_and_figures_stay_whole() -> None:
    pair = by_words("it fits inside the covenant, at 3.10x <b>", "it breaks the covenant, at 3.89x <b>")
    assert pair.was == "it <del>fits inside</del> the covenant, at <del>3.10x</del> &lt;b&gt;"
    assert pair.now == "it <ins>breaks</ins> the covenant, at <ins>3.89x</ins> &lt;b&gt;"


def test_lines_that_are_the_same_are_counted() -> None:
    rows, more = by_lines("a\nb\nc\nd\ne", "a\nb\nc\nd\nE")
    assert [row.skipped for row in rows] == [3, 0, 0]
    assert (rows[-1].was_line, rows[-1].was, rows[-1].line, rows[-1].now) == (5, "<del>e</del>", 5, "<ins>E</ins>")
    assert more == 0
    assert by_lines("", "\n".join(map(str, range(500))), most=10)[1] == 490


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u3164", "\U000e0041", "\u202e"])
def test_nothing_is_there_that_cannot_be_seen(hidden: str) -> None:
    text = f"Pay a{hidden}da, `co{hidden}de` and &#{ord(hidden)};more.\n\n```python\nx = 'a{hidden}'\n```\n"
    assert hidden not in str(markdown(text))
    assert hidden not in str(code(text, "python"))
    sides = by_words(f"a{hidden} b", f"a{hidden} c")
    assert hidden not in str(sides.was) + str(sides.now)
    assert not any(hidden in line for line in lines(text))


def test_what_joins_letters_and_signs_stays() -> None:
    assert "\u200d" in str(markdown("👩\u200d🚒"))
    assert "\u200c" in str(markdown("می\u200cخواهم"))


def test_a_paragraph_of_several_lines_says_where_each_begins() -> None:
    html = str(markdown("# T\n\nOne *two\nthree* four  \nfive.\n"))
    assert (
        '<p data-line="3-5">One <em>two<span data-at="4"></span>\nthree</em> four<br><span data-at="5"></span>' in html
    )
