"""Words that agents and people wrote, as HTML that can do nothing: Markdown, code, and what differs by words.

Two walls stand behind each other. What makes HTML knows no HTML of the text's own, no picture and no address but those
of web and mail; what it made is then read again, and only what is on a list is kept. Everything has a bound: what is
cut is said, with how much it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape
from msgspec import Struct

from reconvene.doors.shared.harmless import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

LONGEST = 60_000  # characters of a text that are rendered
_LINE = 4_000  # and of one line: longer ones are no prose
_DEEP = 2  # levels that headings are put down by: the page has its own first two
_ANCHOR = "part"  # begins the id of a heading
_SCHEMES = ("http://", "https://", "mailto:")
_WORDS = re.compile(r"\s+|\w+(?:[.,:]\d\w*)*|[^\w\s]")
_MOST_WORDS = 600  # of a passage that is compared word by word
_COLOURED = 20_000  # characters of code that are coloured: what finds the words is not made for hostile text
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES: dict[str, set[str]] = {
    "*": {"data-line"}, "a": {"href", "title"}, "span": {"class", "data-at"}, "ol": {"start"},
    **{f"h{level}": {"id"} for level in range(3, 7)},
}  # fmt: skip


# Characters without any width. Those that join letters stay: scripts and signs need them.
_NO_WIDTH = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def _seen(text: str) -> str:
    """What is there can be seen."""
    return _NO_WIDTH.sub("", clean(text))


class Heading(Struct, frozen=True):
    level: int  # 1 is the highest
    text: str
    id: str


class Document(Struct, frozen=True):
    html: Markup
    outline: tuple[Heading, ...] = ()
    cut: int = 0  # characters that are not rendered


def markdown(text: str, prefix: str = "") -> Markup:
    return document(text, prefix).html


def document(text: str, prefix: str = "") -> Document:
    """`prefix` keeps the ids of several texts on a page apart. Every block says with `data-line` where it stands in the
    text: `3-5`, the first line is 1."""
    short, cut = _bounded(text)
    html, outline = _made(short, prefix)
    return Document(html, outline, cut)


@lru_cache(64)
def _made(short: str, prefix: str) -> tuple[Markup, tuple[Heading, ...]]:
    """What was drawn once is looked at again and again."""
    import nh3

    made = _maker()
    tokens = made.parse(short)
    outline = tuple(_marked(tokens, prefix))
    html = made.renderer.render(tokens, made.options, {})
    kept = nh3.clean(
        html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"},
        link_rel="noopener nofollow noreferrer", strip_comments=True,
    )  # fmt: skip
    return Markup(_seen(kept)), outline  # once more: a text may name a character by its number


def _bounded(text: str) -> tuple[str, int]:
    """Nothing longer than is good for anybody: the text's beginning, with lines that break."""
    short = _seen(text[:LONGEST])
    if any(len(line) > _LINE for line in short.split("\n")):
        short = "\n".join(line[at : at + _LINE] for line in short.split("\n") for at in range(0, len(line) or 1, _LINE))
    return short, max(len(text) - LONGEST, 0)


@cache
def _maker() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20})
    made.enable(["table", "strikethrough"])
    made.validateLink = _is_known  # type: ignore[method-assign]
    made.options["highlight"] = _highlight
    made.add_render_rule("image", _image)
    made.add_render_rule("fence", _fence)
    made.add_render_rule("softbreak", _break)
    made.add_render_rule("hardbreak", _break)
    return made


def _is_known(url: str) -> bool:
    """Web and mail only. Whatever else an address may be, nobody needs it to read what was written."""
    return url.strip().casefold().startswith(_SCHEMES)


def _image(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:  # what is shown must not call anybody
    return f'<span class="image">image: {escape(tokens[index].content or "without a name")}</span>'


def _break(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    mark = f'<span data-at="{token.attrs["data-at"]}"></span>' if "data-at" in token.attrs else ""
    return f"{'<br>' if token.type == 'hardbreak' else ''}{mark}\n"


def _fence(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    language = token.info.split()[0] if token.info.strip() else ""
    where = f' data-line="{token.attrs["data-line"]}"' if "data-line" in token.attrs else ""
    return f"<pre{where}><code>{_highlight(token.content, language, '')}</code></pre>\n"


def _highlight(content: str, language: str, attributes: str) -> str:
    return code(content, language)


def code(content: str, language: str = "", name: str = "") -> Markup:
    """Coloured where the language is known, by its name or that of the file. Without the element around it."""
    short, _ = _bounded(content)
    lexer = _lexer(language, name)
    if lexer is None or len(short) > _COLOURED:
        return escape(short)
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    return Markup(highlight(short, lexer, HtmlFormatter(nowrap=True, classprefix="hl-")))  # it escapes what it colours


@lru_cache(64)
def _lexer(language: str, name: str) -> object | None:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        found: object = get_lexer_by_name(language) if language else get_lexer_for_filename(name) if name else None
    except ClassNotFound:
        return None
    return found


def _marked(tokens: list[Token], prefix: str) -> Iterator[Heading]:
    """Blocks get their lines, headings an id and a level below the page's own, without a gap; what there is to find is
    told. A cell at the head of a table that says nothing is no heading."""
    count, above = 0, 0
    for at, token in enumerate(tokens):
        if token.map is not None and token.nesting >= 0:
            first, last = token.map[0] + 1, max(token.map[1], token.map[0] + 1)
            token.attrSet("data-line", f"{first}-{last}" if last > first else str(first))
        if token.type == "inline" and token.map is not None:
            _mark_breaks(token, token.map[0] + 1)
        if token.type == "th_open" and not tokens[at + 1].content.strip():
            token.tag = tokens[at + 2].tag = "td"
        if token.type == "heading_open":
            count, above = count + 1, min(int(token.tag[1]), above + 1)
            id = f"{prefix}{_ANCHOR}-{count}"
            token.attrSet("id", id)
            token.tag = tokens[at + 2].tag = f"h{min(above + _DEEP, 6)}"
            yield Heading(above, _plain(tokens[at + 1]), id)


def _mark_breaks(inline: Token, line: int) -> None:
    """Each break within a paragraph says which line begins after it."""
    for one in inline.children or ():
        if one.type in ("softbreak", "hardbreak"):
            line += 1
            one.attrSet("data-at", str(line))


def _plain(inline: Token) -> str:
    return "".join(one.content for one in inline.children or () if one.type in ("text", "code_inline"))


# --- what differs -----------------------------------------------------------------------------------------------------


class Pair(Struct, frozen=True):
    was: Markup
    now: Markup


def by_words(was: str, now: str) -> Pair:
    """Both, with the words marked that the other does not have."""
    old, new = _words(was), _words(now)
    if not old or not new or max(len(old), len(new)) > _MOST_WORDS:
        return Pair(_tagged("del", _seen(was)), _tagged("ins", _seen(now)))
    left, right = list[Markup](), list[Markup]()
    for kind, a, b, c, d in _joined(old, new):
        if kind == "equal":
            left.append(escape("".join(old[a:b])))
            right.append(escape("".join(new[c:d])))
        else:
            left.append(_tagged("del", "".join(old[a:b])))
            right.append(_tagged("ins", "".join(new[c:d])))
    return Pair(Markup("").join(left), Markup("").join(right))


_Same = tuple[str, int, int, int, int]


def _joined(old: list[str], new: list[str]) -> list[_Same]:
    """The differences; those with nothing but a blank between them are one."""
    found: list[_Same] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        blank = kind == "equal" and not "".join(old[a:b]).strip()
        if found and found[-1][0] != "equal" and (kind != "equal" or blank) and not (blank and b == len(old)):
            found[-1] = ("replace", found[-1][1], b, found[-1][3], d)
        else:
            found.append((kind, a, b, c, d))
    return found


def _words(text: str) -> list[str]:
    return _WORDS.findall(_seen(text))


def _tagged(tag: str, text: str) -> Markup:
    return Markup(f"<{tag}>{{}}</{tag}>").format(text) if text.strip() else escape(text)


class Row(Struct, frozen=True):
    """A line of both texts side by side; of the same lines that are left out, only how many."""

    was_line: int = 0
    was: Markup = Markup("")
    line: int = 0
    now: Markup = Markup("")
    same: bool = False
    skipped: int = 0


_AROUND = 1  # same lines that stay beside one that differs
_MOST_LINES = 4_000


def by_lines(was: str, now: str, most: int = 200) -> tuple[list[Row], int]:
    """Two texts line by line, and how many rows more there are than are shown."""
    old, new = (_seen(text[:LONGEST]).split("\n")[:_MOST_LINES] for text in (was, now))
    rows = list(_rows(old, new))
    return rows[:most], max(len(rows) - most, 0)


def lines(text: str) -> list[str]:
    """As they are written."""
    return [line[:_LINE] for line in _seen(text[:LONGEST]).split("\n")]


def _rows(old: list[str], new: list[str]) -> Iterator[Row]:
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from _same(old, new, (a, b, c))
            continue
        for at in range(max(b - a, d - c)):
            one, other = a + at < b, c + at < d
            pair = by_words(old[a + at] if one else "", new[c + at] if other else "")
            yield Row(a + at + 1 if one else 0, pair.was, c + at + 1 if other else 0, pair.now)


def _same(old: list[str], new: list[str], at: tuple[int, int, int]) -> Iterator[Row]:
    a, b, c = at
    before = _AROUND if a else 0
    after = _AROUND if b < len(old) or c + b - a < len(new) else 0
    hidden = range(a + before, b - after)
    for line in range(a, b):
        if line not in hidden or len(hidden) < 2:
            yield Row(line + 1, escape(old[line]), c + line - a + 1, escape(new[c + line - a]), same=True)
        elif line == hidden[0]:
            yield Row(skipped=len(hidden))
