"""The part of `in_templates` that needs Jinja: its tree, walked with kinds instead of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from jinja2 import TemplateSyntaxError, nodes

from reconvene.language.jinja import environment as sandbox
from reconvene.wire.names.jinja_values import Frame, Macro, TooMuch, Values, spelt, turn
from reconvene.wire.names.kinds import ANYTHING, TEXT, Kind, Miss, Missing, Record, Taken, element, has_words

_DEEPEST = 20  # templates and macros within each other
_LOOP = Record(dict.fromkeys(
    ("index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem", "nextitem",
     "cycle", "changed"), ANYTHING
))  # fmt: skip


def walked(text: str, scope: Mapping[str, Kind], beside: Mapping[str, str]) -> list[Miss]:
    return _through(_Walk(beside), text, scope).found


def taken_in(text: str, scope: Mapping[str, Kind], beside: Mapping[str, str]) -> list[Taken]:
    """What the text would hold that agents wrote, as they wrote it."""
    return _through(_Taking(beside), text, scope).taken


def _through(walk: _W, text: str, scope: Mapping[str, Kind]) -> _W:
    # What cannot be read is reported elsewhere; what is too large to be followed is not: what was found so far stands.
    with suppress(TemplateSyntaxError, RecursionError, TooMuch):
        walk.template(text, "", Frame(scope))
    return walk


class _Walk(Values):
    def __init__(self, beside: Mapping[str, str]) -> None:
        super().__init__()
        self._beside = beside
        self._deep = 0

    def template(self, text: str, file: str, frame: Frame) -> None:
        self.file, before = file, self.file
        self._deep += 1
        if self._deep <= _DEEPEST:
            self._all(sandbox.parse(text).body, frame)
        self._deep -= 1
        self.file = before

    # --- statements ---------------------------------------------------------------------------------------------------

    def _all(self, body: Sequence[nodes.Node], frame: Frame) -> None:
        for node in body:
            self._statement(node, frame)

    def _statement(self, node: nodes.Node, frame: Frame) -> None:
        match node:
            case nodes.Output(nodes=parts):
                for each in parts:
                    self.printed(each, self.kind(each, frame))
            case nodes.For():
                self._for(node, frame)
            case nodes.If():
                self._if(node, frame)
            case nodes.Assign(target=target, node=value):
                self._bind(target, self.kind(value, frame), frame)
            case nodes.AssignBlock(target=target, body=body):
                self._all(body, frame.inner())
                self._bind(target, TEXT, frame)
            case nodes.With(targets=targets, values=values, body=body):
                inside = frame.inner()
                for target, value in zip(targets, values):
                    self._bind(target, self.kind(value, frame), inside)
                self._all(body, inside)
            case nodes.Macro():
                frame.own[node.name] = macro = Macro(node, frame, self.file)
                self.run(macro, [], {})
            case nodes.CallBlock(call=call, body=body, args=arguments):
                self.kind(call, frame)
                inside = frame.inner()
                for each in arguments:
                    inside.own[each.name] = ANYTHING
                self._all(body, inside)
            case nodes.Include() | nodes.Extends():
                self._include(node, frame)
            case nodes.Import(template=template, target=name, with_context=with_context):
                frame.own[name] = self._imported(template, frame, with_context=bool(with_context))
            case nodes.FromImport():
                self._from_import(node, frame)
            case nodes.Block(body=body):
                self._all(body, frame.inner())
            case nodes.Expr():
                self.kind(node, frame)
            case _:
                for child in node.iter_child_nodes():
                    self._statement(child, frame)

    def printed(self, node: nodes.Expr, kind: Kind) -> None:
        """What stands in the text."""

    def _for(self, node: nodes.For, frame: Frame) -> None:
        inside = frame.inner(perhaps=False)
        self._bind(node.target, turn(self.kind(node.iter, frame)), inside)
        inside.own["loop"] = _LOOP
        if node.test is not None:
            self.kind(node.test, inside)
        self._all(node.body, inside)
        self._all(node.else_, frame.inner())

    def _if(self, node: nodes.If, frame: Frame) -> None:
        self.kind(node.test, frame)
        before, frame.perhaps = frame.perhaps, True
        self._all(node.body, frame)
        self._all(node.elif_, frame)
        self._all(node.else_, frame)
        frame.perhaps = before

    def _bind(self, target: nodes.Node, kind: Kind, frame: Frame) -> None:
        match target:
            case nodes.Name(name=name):
                frame.bind(name, kind)
            case nodes.Tuple(items=items):
                for each in items:
                    self._bind(each, element(kind), frame)
            case _:
                pass  # a part of a namespace, which may hold anything

    def _include(self, node: nodes.Include | nodes.Extends, frame: Frame) -> None:
        self.kind(node.template, frame)
        if not getattr(node, "ignore_missing", False):
            self._must_be_there(node.template)
        seen = frame if getattr(node, "with_context", True) else Frame({})
        for name in _literal_names(node.template):
            if name in self._beside:
                self.template(self._beside[name], name, seen.inner(perhaps=False))

    def _must_be_there(self, template: nodes.Expr) -> None:
        """A template by its name, or one of several."""
        names = _literal_names(template)
        if names and not any(name in self._beside for name in names):
            self.miss(template, names[0], names[0], Missing(tuple(self._beside), "template"))

    def _from_import(self, node: nodes.FromImport, frame: Frame) -> None:
        module = self._imported(node.template, frame, with_context=bool(node.with_context))
        for each in node.names:
            name, alias = each if isinstance(each, tuple) else (each, each)
            frame.own[alias] = module.own.get(name, ANYTHING)

    def _imported(self, template: nodes.Expr, frame: Frame, *, with_context: bool) -> Frame:
        """What a template binds at its top. Without context it sees nothing of this one."""
        self.kind(template, frame)
        self._must_be_there(template)
        module = Frame(frame.roots if with_context else {})
        for name in _literal_names(template):
            if name in self._beside:
                self.template(self._beside[name], name, module)
        return module

    def run(self, macro: Macro, given: list[Kind], named: dict[str, Kind]) -> None:
        """The body of a macro, as it is when it is called with these."""
        if self._deep > _DEEPEST:
            return
        inside = macro.frame.inner(perhaps=False)
        for at, each in enumerate(macro.node.args):
            inside.own[each.name] = named.get(each.name, given[at] if at < len(given) else ANYTHING)
        before, self.file = self.file, macro.file
        self._deep += 1
        for default in macro.node.defaults:
            self.kind(default, macro.frame)
        self._all(macro.node.body, inside)
        self._deep -= 1
        self.file = before


class _Taking(_Walk):
    def __init__(self, beside: Mapping[str, str]) -> None:
        super().__init__(beside)
        self.taken: list[Taken] = []

    def printed(self, node: nodes.Expr, kind: Kind) -> None:
        if has_words(kind):
            one = Taken(spelt(node), node.lineno or 1, self.file)
            self.taken += [one] if one not in self.taken else []


_W = TypeVar("_W", bound=_Walk)


def _literal_names(template: nodes.Node) -> list[str]:
    match template:
        case nodes.Const(value=str() as name):
            return [name]
        case nodes.Const(value=tuple() | list() as names):
            return [str(name) for name in names]
        case nodes.Tuple(items=items) | nodes.List(items=items):
            return [each.value for each in items if isinstance(each, nodes.Const)]
        case _:
            return []
