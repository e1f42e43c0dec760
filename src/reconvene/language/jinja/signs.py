"""What a template fills in, told apart from its own words: it stands between two signs, which are taken out again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jinja2 import Environment, nodes
from jinja2.utils import pass_environment

from reconvene.language.as_text import shown

NAME = "signed"
_BEGIN, _END = "\ue0f0", "\ue0f1"  # of Unicode's private area


def put_in(tree: nodes.Template) -> nodes.Template:
    """The same template, in which everything that is written out gets its signs."""
    for output in tree.find_all(nodes.Output):
        output.nodes = [
            each
            if isinstance(each, nodes.TemplateData | nodes.Const)
            else nodes.Filter(each, NAME, [], [], None, None, lineno=each.lineno)
            for each in output.nodes
        ]
    return tree


@pass_environment
def signed(environment: Environment, value: object) -> object:
    """Texts, lists and maps. Numbers and truths are nobody's words."""
    if not isinstance(value, str | list | tuple | Mapping):
        return value
    if isinstance(value, str) and value in getattr(environment, "own", ()):
        return value
    return f"{_BEGIN}{_without(shown(value))}{_END}"


def read(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text with signs, each with whether it was filled in."""
    first, *others = text.split(_BEGIN)
    yield first, False
    for piece in others:
        inside, _, after = piece.partition(_END)
        yield inside, True
        yield after, False


def _without(text: str) -> str:
    return text.replace(_BEGIN, "").replace(_END, "")
