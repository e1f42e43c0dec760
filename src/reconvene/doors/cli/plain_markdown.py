"""Markdown for a terminal in which identifiers and paths are shown as they were written.

rich draws it. What differs is what counts as markup: a star or an underscore inside a word, a path or a formula does
not, nor does a tag or a backslash.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from rich.markdown import Markdown

from reconvene.language.emphasis import closes, name_at, opens


class AsWritten(Markdown):
    def __init__(self, text: str) -> None:
        super().__init__(text, hyperlinks=False)
        self.parsed = _parser().parse(text)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
    parser.disable(["escape", "entity"])
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser


def _emphasis(state: StateInline, silent: bool) -> bool:
    """As the library's own rule, but for marks that belong to what is said."""
    start, text = state.pos, state.src
    mark = text[start]
    if silent or mark not in "*_":
        return False
    before = text[start - 1] if start else ""
    if mark == "_" and opens(before) and (name := name_at(text, start)):
        state.push("text", "", 0).content = name
        state.pos += len(name)
        return True
    found = state.scanDelims(start, mark == "*")
    after = text[start + found.length : start + found.length + 2]
    can_open, can_close = found.can_open and opens(before), found.can_close and closes(before, after)
    for _ in range(found.length):
        token = state.push("text", "", 0)
        token.content = mark
        state.delimiters.append(
            Delimiter(
                marker=ord(mark),
                length=found.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=can_open,
                close=can_close,
            )
        )
    state.pos += found.length
    return True
