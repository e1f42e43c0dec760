"""HTML, block by block. Nothing of it is run or fetched. What its styles hide stands in parts of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from reconvene.adapters.documents.gathering import Gathering, Request, Unreadable
from reconvene.adapters.documents.text_files import decoded

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_SKIPPED = frozenset(
    ("script", "style", "template", "noscript", "head", "iframe", "object", "svg", "-comment", "-doctype")
)
_BLOCKS = frozenset(
    ("p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "h1", "h2", "h3", "h4", "h5", "h6",
     "li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "blockquote", "pre", "figure", "figcaption", "form", "address",
     "hr", "body", "html", "details", "summary", "caption", "thead", "tbody", "tfoot", "fieldset")
)  # fmt: skip
_HIDDEN = "Text that the page hides from its readers is in {}; it stands in parts of its own."
_HIDES = (
    re.compile(r"display\s*:\s*none"),
    re.compile(r"visibility\s*:\s*(hidden|collapse)"),
    re.compile(r"font-size\s*:\s*0(?![.\d]*[1-9])"),
    re.compile(r"opacity\s*:\s*0(?![.\d]*[1-9])"),
    re.compile(r"text-indent\s*:\s*-\d{3,}"),
    re.compile(r"(left|top)\s*:\s*-\d{4,}"),
    re.compile(r"clip\s*:\s*rect\(\s*0"),
)
_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*([^;!]+)")
_GROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]+)")
_WHITE = frozenset(("white", "#fff", "#ffffff", "rgb(255,255,255)", "transparent"))
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})", re.I)
_CODE = re.compile(rb"(utf-?(8|16)|iso-?8859|windows-?(125|874)|latin|koi8|gb|big5|shift|euc|us-ascii|macint)", re.I)
_MOST_RULES = 500
_DEEPEST = 20_000  # the parser takes time by the square of it
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_ENDLESS = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "p", "li",
     "dt", "dd", "tr", "td", "th", "option", "optgroup", "thead", "tbody", "tfoot", "colgroup", "rp", "rt")
)  # fmt: skip


def read(file: BinaryIO, request: Request, gathering: Gathering) -> None:
    from selectolax.lexbor import LexborHTMLParser

    text = _text(file.read(), gathering)
    if _depth(text) > _DEEPEST:
        raise Unreadable("suspicious", "is nested too deeply to be read", "Give its text.")
    tree = LexborHTMLParser(text)
    title = tree.css_first("title")
    if title is not None and title.text(deep=True).strip():
        gathering.add("title", " ".join(title.text(deep=True).split()))
    if tree.root is not None:
        _Walk(gathering, _hidden_by_rules(tree)).through(tree.root)


def _depth(text: str) -> int:
    """At most so many elements are open at once. What needs no end is not counted, so it is an estimate."""
    depth = deepest = 0
    for tag in _TAG.finditer(text):
        if tag[2].lower() in _ENDLESS:
            continue
        depth = max(0, depth - 1) if tag[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _text(data: bytes, gathering: Gathering) -> str:
    said = _CHARSET.search(data[:4_096])
    if said and _CODE.match(said[1]):
        try:
            return data.decode(said[1].decode("ascii"))
        except (LookupError, UnicodeError):
            pass
    return decoded(data, gathering)


def _hidden_by_rules(tree: LexborHTMLParser) -> frozenset[int]:
    """The elements that a style sheet of the page itself hides."""
    found: set[int] = set()
    sheets = "\n".join(node.text(deep=True) for node in tree.css("style"))
    for rule in list(_RULE.finditer(re.sub(r"/\*.*?\*/", "", sheets, flags=re.S)))[:_MOST_RULES]:
        if hides(rule[2]):
            try:
                found |= {node.mem_id for node in tree.css(rule[1].rpartition("}")[2].strip())}
            except Exception:  # a selector that the library does not know
                continue
    return frozenset(found)


def hides(style: str) -> bool:
    style = style.lower()
    if any(pattern.search(style) for pattern in _HIDES):
        return True
    colour, ground = _COLOUR.search(style), _GROUND.search(style)
    if colour is None:
        return False
    colour_is = colour[1].replace(" ", "").strip()
    return colour_is == ground[1].replace(" ", "").strip() if ground else colour_is in _WHITE


class _Walk:
    """Through all nodes, without recursion: pages may be nested as deep as they like."""

    def __init__(self, gathering: Gathering, hidden: frozenset[int]) -> None:
        self._gathering = gathering
        self._hidden = hidden
        self._number = 0
        self._shown: list[str] = []
        self._unseen: list[str] = []

    def through(self, root: LexborNode) -> None:
        waiting: list[tuple[LexborNode | None, bool, bool]] = [(root, False, False)]
        while waiting and not self._gathering.full:
            node, hidden, done = waiting.pop()
            if node is None:
                continue
            tag = node.tag or ""
            if done:
                self._close(tag)
                continue
            waiting.append((node.next if node is not root else None, hidden, False))
            if tag in _SKIPPED:
                continue
            inner = hidden or self._is_hidden(node)
            if tag == "-text":
                (self._unseen if hidden else self._shown).append((node.text_content or "").replace("\n", " "))
                continue
            self._open(tag)
            waiting.append((node, hidden, True))
            waiting.append((node.child, inner, False))
        self._flush()

    def _is_hidden(self, node: LexborNode) -> bool:
        if (node.tag or "-").startswith("-"):
            return False
        attributes = node.attributes
        return "hidden" in attributes or node.mem_id in self._hidden or hides(attributes.get("style") or "")

    def _open(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._flush()
            if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
                self._shown.append("#" * int(tag[1]) + " ")
            elif tag == "li":
                self._shown.append("- ")
        elif tag == "br":
            self._shown.append("\n")

    def _close(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._shown.append(" | ")
        elif tag in _BLOCKS:
            self._flush()

    def _flush(self) -> None:
        shown, unseen = _joined(self._shown), _joined(self._unseen)
        self._shown, self._unseen = [], []
        if not shown.strip("#- |") and not unseen:
            return
        self._number += 1
        place = f"block {self._number}"
        if unseen:
            self._gathering.found(_HIDDEN, place)
            self._gathering.add(f"{place} (hidden)", unseen)
        if shown.strip("#- |"):
            self._gathering.add(place, shown)


def _joined(pieces: list[str]) -> str:
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return re.sub(r"( \|)+$", "", "\n".join(line for line in lines if line).strip()).strip()
