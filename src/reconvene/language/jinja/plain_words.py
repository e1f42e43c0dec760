"""What is wrong with a template, in plain words. Jinja's own words stand in brackets where nothing better is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from reconvene.language.closest import closest

_TAGS = ("if", "elif", "else", "endif", "for", "endfor", "set", "endset", "macro", "endmacro", "include", "import",
         "from", "with", "endwith", "filter", "endfilter", "raw", "endraw", "block", "endblock", "call", "endcall",
         "extends", "do")  # fmt: skip
_ENDS = {"end of print statement": "}}", "end of statement block": "%}"}
_Said = Callable[[re.Match[str]], str]


def plain_words(message: str) -> str:
    for pattern, said in _WORDS:
        if found := pattern.search(message):
            return said(found)
    return f"it cannot be read ({message.rstrip('.')})"


def _expected(found: re.Match[str]) -> str:
    wanted, got = (_sign(each) for each in found.groups())
    rest = ", an operator or a filter" if wanted == "“}}”" else ""
    return f"{wanted}{rest} is expected, and there is {got}"


def _sign(token: str) -> str:
    if token in _ENDS:
        return f"“{_ENDS[token]}”"
    return "a name" if token == "name" else f"“{token}”"


def _never_closed(found: re.Match[str]) -> str:
    return f"“{{% {found[1]} %}}” is not closed: write “{{% end{found[1]} %}}” after it"


def _unclosed(found: re.Match[str]) -> str:
    end = _ENDS[found[1]]
    return f"“{'{{' if end == '}}' else '{%'}” is not closed: “{end}” is missing"


def _unknown_tag(found: re.Match[str]) -> str:
    name = found[1]
    if name in _TAGS:
        return f"“{{% {name} %}}” {'closes nothing' if name.startswith('end') else 'belongs to nothing'} here"
    return f"there is no tag “{{% {name} %}}”{_meant(name, _TAGS)}"


def _meant(name: str, known: Iterable[str]) -> str:
    near = closest(name, known)
    return f"; did you mean “{{% {near[0]} %}}”?" if near else ""


def _nothing(found: re.Match[str]) -> str:
    got = found[1]
    if got in _ENDS:
        return f"something is missing before “{_ENDS[got]}”"
    return f"something is missing before “{got}”"


_WORDS: tuple[tuple[re.Pattern[str], _Said], ...] = (
    (re.compile(r"innermost block that needs to be closed is '(\w+)'"), _never_closed),
    (re.compile(r"Encountered unknown tag '(\w+)'"), _unknown_tag),
    (re.compile(r"unexpected end of template, expected '(end of [\w ]+)'"), _unclosed),
    (re.compile(r"expected token '([^']+)', got '([^']+)'"), _expected),
    (re.compile(r"Expected an expression, got '([^']+)'"), _nothing),
    (re.compile(r"unexpected '(.)', expected '(.)'"), lambda found: f"“{found[2]}” is missing before “{found[1]}”"),
    (re.compile(r"unexpected '(.)'"), lambda found: f"“{found[1]}” closes nothing here"),
    (re.compile(r"unexpected char '(.+?)' at"), lambda found: f"“{found[1]}” means nothing here; text needs quotes"),
    (re.compile(r"Missing end of (\w+) tag"), lambda found: f"a {found[1]} is not closed: “#}}” is missing"),
)
