"""Writes Python of a template, as Jinja does, but for what our documents are made of.

A row of text and values is yielded at once, not part by part, and a field of a loop's item is looked up without a call:
documents repeat such rows by the thousand. Whatever is written is paid for (`environment.written`).
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.idtracking import VAR_LOAD_PARAMETER

_SHORT = 1_000  # characters


class Generator(CodeGenerator):
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
            # A short text needs no look at what was made before: `sandbox` counts the whole row.
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
