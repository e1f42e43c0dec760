"""What a rendering costs, counted in steps and not in seconds, so that the same template always ends the same way.

One job: nothing in a template works without paying. Every body (of a loop, a macro, a block, an included template) pays
for its parts each time it runs; every filter, test, comparison, slice and call pays for the size of what it is given.
It must not know scopes, nor how text is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import Protocol, cast

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.idtracking import VAR_LOAD_PARAMETER
from jinja2.runtime import Context, LoopContext
from jinja2.utils import _PassArg, pass_context

from reconvene.language.as_text import CAP, NULL, TemplateLimit

STEPS = 3_000_000  # parts of a template that are run, and parts of values that are looked at
TEXT = 4 * CAP  # characters made on the way, whether they are shown in the end or not
_MOST_TAGS = 5_000
_LONGEST_TAGS = 50_000  # characters of all tags together
_TAG = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
_CALL = 10
# What has a body that may run more than once, and what it costs to begin it.
_BODIES = {nodes.Template: 200, nodes.Macro: 10, nodes.CallBlock: 10, nodes.Block: 20, nodes.For: 1}
_Body = nodes.Template | nodes.Macro | nodes.CallBlock | nodes.Block | nodes.For
_PER_STEP = 50  # characters that are looked at in one step
# Filters and tests that do not look into the items of a value, and how many steps ten of them cost.
_SHALLOW = {
    "filter": {"list": 1, "items": 1, "reverse": 1}
    | dict.fromkeys(("map", "select", "reject", "selectattr", "rejectattr"), 30),
    "test": dict.fromkeys(("string", "number", "mapping", "sequence", "iterable", "integer", "float", "callable"), 0),
}
# Those to which a text is a list of its characters.
_ITEMWISE = frozenset(("batch", "slice", "sort", "unique", "min", "max", "groupby", "join", "sum", "dictsort"))
# Those that do not even count them.
_INSTANT = frozenset(
    ("length", "count", "first", "last", "default", "d", "defined", "undefined", "none", "true", "false", "boolean")
    + ("sameas", "even", "odd", "divisibleby", "abs", "round")
)
# Those that look more than once, or slowly: how many times what looking once costs.
_SLOW = {"sort": 8, "unique": 8, "groupby": 8, "dictsort": 8, "min": 2, "max": 2, "striptags": 2, "json": 2}
_SLOW |= {"title": 20, "wordcount": 6, "wordwrap": 40, "slug": 8, "urlencode": 8, "present": 8, "join": 3, "tojson": 2}
_SCALARS = (nodes.Const, nodes.TemplateData)
_SHORT = 1_000  # characters


class Purse(Protocol):
    """The environment of one rendering."""

    steps: int
    text: int

    def spend(self, steps: int, text: int) -> None: ...


def purse(context: Context) -> Purse:
    return cast(Purse, context.environment)


def pay_for(spender: Purse, value: object, times: int = 1) -> None:
    """For looking at the whole of a value, also where it holds the same list a thousand times."""
    if isinstance(value, str):
        spender.spend(1 + times * len(value) // _PER_STEP, 0)
    elif isinstance(value, Mapping | list | tuple):
        spender.spend(times * weigh(value, (STEPS - spender.steps) // times), 0)


def weigh(value: object, most: int) -> int:
    """Parts of a value and every fifty characters; TemplateLimit beyond `most`, however it is put together."""
    weight = 0
    waiting = [iter((value,))]
    while waiting:
        for each in waiting[-1]:
            weight += 1
            if isinstance(each, str):
                weight += len(each) // _PER_STEP
            elif isinstance(each, Mapping):
                weight += len(each)
                waiting.append(iter(each.values()))
            elif isinstance(each, list | tuple):
                waiting.append(iter(each))
            else:
                continue
            if weight > most:
                raise TemplateLimit(f"the template takes more than {STEPS} steps")
            if not isinstance(each, str):
                break
        else:
            waiting.pop()
    return weight


# --- in the tree of a template ---


def too_large(source: str) -> str:
    """Why a template cannot be compiled in good time, as a sentence; "" where it can. Text costs nothing, tags do."""
    tags = _TAG.findall(source)
    if len(tags) > _MOST_TAGS:
        return f"the template has more than {_MOST_TAGS} tags"
    if sum(map(len, tags)) > _LONGEST_TAGS:
        return f"the tags of the template are longer than {_LONGEST_TAGS} characters together"
    return ""


def charge(tree: nodes.Template) -> nodes.Template:
    """The same template, in which everything pays."""
    _bodies(tree)
    for loop in list(tree.find_all(nodes.For)):
        steps, text = _cost(loop) if _pays_by_item(loop) else (_count(loop.test) if loop.test is not None else 0, 0)
        loop.iter = _filter(cast(nodes.Expr, loop.iter), "counted", 1 + steps, text)
    for compared in list(tree.find_all(nodes.Compare)):
        _compared(compared)
    for holder in list(tree.find_all(nodes.Node)):
        _slices(holder)
    return tree


def _bodies(tree: nodes.Template) -> None:
    found: list[nodes.Node] = [tree, *tree.find_all(tuple(_BODIES))]
    for body in cast(list[_Body], found):
        if not _pays_by_item(body):
            steps, text = _cost(body)
            paid = _filter(nodes.Const(steps, lineno=body.lineno), "spent", text)
            body.body = [nodes.ExprStmt(paid, lineno=body.lineno), *body.body]


def _pays_by_item(body: _Body) -> bool:
    """A plain loop: its body runs once for every item, and nothing else begins it."""
    return isinstance(body, nodes.For) and body.test is None and not body.recursive


def _cost(body: _Body) -> tuple[int, int]:
    """Steps and characters of a body that runs once."""
    parts = list(_own(body))
    fixed = sum(len(part.data) for part in parts if isinstance(part, nodes.TemplateData))
    return len(parts) + _BODIES[type(body)], fixed


def _own(body: nodes.Node) -> Iterator[nodes.Node]:
    """The nodes that run once whenever this body does: not those of the bodies inside."""
    waiting = list(body.iter_child_nodes(only=("body",)))
    while waiting:
        each = waiting.pop()
        yield each
        waiting += each.iter_child_nodes(exclude=("body",) if type(each) in _BODIES else None)


def _count(node: nodes.Node) -> int:
    return 1 + sum(_count(child) for child in node.iter_child_nodes())


def _compared(node: nodes.Compare) -> None:
    """Asking whether something equals a plain value is cheap; looking into a list or a text is not. What is put in an
    order may be null."""
    operands = [node.expr, *(operand.expr for operand in node.ops)]
    plain = [isinstance(each, _SCALARS) for each in operands]
    equated = all(operand.op in ("eq", "ne") for operand in node.ops)
    if any(plain) and equated and len(operands) == 2:
        return
    parts: list[nodes.Compare | nodes.Operand] = [node, *node.ops]
    for part in parts:
        if not isinstance(part.expr, _SCALARS):
            part.expr = _filter(part.expr, "looked_at")


def _slices(holder: nodes.Node) -> None:
    for name, value in holder.iter_fields():
        if _is_slice(value):
            setattr(holder, name, _filter(value, "looked_at"))
        elif isinstance(value, list):
            value[:] = [_filter(each, "looked_at") if _is_slice(each) else each for each in value]


def _is_slice(node: object) -> bool:
    return isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)


def _filter(node: nodes.Expr, name: str, *arguments: int) -> nodes.Filter:
    given: list[nodes.Expr] = [nodes.Const(argument, lineno=node.lineno) for argument in arguments]
    return nodes.Filter(node, name, given, [], None, None, lineno=node.lineno)


class Generator(CodeGenerator):
    """Writes Python of a template, as Jinja does, but for what our documents are made of.

    A row of text and values is yielded at once, not part by part, and a field of a loop's item is looked up without a
    call: documents repeat such rows by the thousand. Whatever is written is paid for (`environment.written`).
    """

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        if frame.buffer is not None or frame.require_output_check or len(node.nodes) == 1:
            return super().visit_Output(node, frame)
        self.writeline("yield concat((")
        self.indent()
        for child in node.nodes:
            if isinstance(child, nodes.TemplateData):
                self.writeline(f"{child.data!r},")
                continue
            self.newline(child)
            # A short text needs no look at what was made before: the whole row is counted.
            self.write("(made if type(made := ")
            self.visit(child, frame)
            self.write(f") is str and len(made) < {_SHORT} else environment.written(made)),")
        self.outdent()
        self.writeline("))")

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        """The same as always, but a field of a loop's item is looked up without a call where the item is a dict."""
        item = frame.symbols.find_ref(node.node.name) if isinstance(node.node, nodes.Name) else None
        load = frame.symbols.find_load(item) if item else None
        if load is None or load[0] != VAR_LOAD_PARAMETER or node.attr.startswith("_"):
            return super().visit_Getattr(node, frame)
        self.write(f"({item}[{node.attr!r}] if type({item}) is dict and {node.attr!r} in {item} else ")
        super().visit_Getattr(node, frame)
        self.write(")")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: object) -> None:
        self.write("environment.written(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: object) -> None:
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.concatenate((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


# --- while it runs ---


@pass_context
def counted(context: Context, items: Iterable[object] | None, steps: int, text: int) -> Iterator[object]:
    """What a loop runs over. A value that is not there yet (null) is an empty list; a missing name is an error."""
    spender = purse(context)
    for item in () if items is None else items:
        spender.steps += steps
        spender.text += text
        if spender.steps > STEPS or spender.text > TEXT:
            spender.spend(0, 0)  # which says so
        yield item


@pass_context
def spent(context: Context, steps: int, text: int) -> None:
    purse(context).spend(steps, text)


@pass_context
def looked_at(context: Context, value: object) -> object:
    if value is None:
        return NULL
    pay_for(purse(context), value)
    return value


OWN: dict[str, Callable[..., object]] = {"counted": counted, "spent": spent, "looked_at": looked_at}


def _settled(value: object) -> object:
    """What comes bit by bit (of `map`, `select`, `items()`) as a list: nobody is shown where it lies in memory."""
    lazy = isinstance(value, Iterable) and not isinstance(value, str | Mapping | list | tuple | range)
    return list(value) if lazy and type(value).__module__ == "builtins" else value  # type: ignore[call-overload]


def charged(kind: str, name: str, function: Callable[..., object]) -> Callable[..., object]:
    """A filter or a test that pays for what it is given."""
    wants = _PassArg.from_obj(function)
    times = _SLOW.get(name, 1)
    shallow, instant, itemwise = _SHALLOW[kind].get(name), name in _INSTANT, name in _ITEMWISE

    @pass_context
    def paying(context: Context, *given: object, **named: object) -> object:
        spender = purse(context)
        spender.spend(_CALL, 0)
        if kind == "filter":
            given = (_settled(given[0]), *given[1:])
        if shallow is not None:
            spender.spend(shallow * len(given[0]) // 10 if isinstance(given[0], Sized) else 0, 0)
        elif not instant:
            if itemwise and isinstance(given[0], str):
                spender.spend(times * len(given[0]), 0)
            for value in (*given, *named.values()):
                pay_for(spender, value, times)
        match wants:
            case _PassArg.context:
                return function(context, *given, **named)
            case _PassArg.eval_context:
                return function(context.eval_ctx, *given, **named)
            case _PassArg.environment:
                return function(context.environment, *given, **named)
        return function(*given, **named)

    return paying


def pay_for_call(spender: Purse, called: object, given: tuple[object, ...]) -> tuple[object, ...]:
    """What the called one gets: a loop that is called again for the items inside pays for those, too."""
    spender.spend(_CALL, 0)
    owner = getattr(called, "__self__", None)
    if isinstance(called, LoopContext):
        return tuple(_paying(spender, each) for each in given)
    if isinstance(owner, str | list | tuple | LoopContext):  # loop.changed compares
        for value in (owner, *given):
            pay_for(spender, value)
    return given


def _paying(spender: Purse, items: object) -> Iterator[object]:
    for item in cast(Iterable[object], items):
        spender.spend(_CALL, 0)
        yield item
