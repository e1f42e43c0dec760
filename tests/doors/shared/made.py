"""Structs of the read model, of which a test says only what it is about."""

from __future__ import annotations

from reconvene.app.views.read_model import Checkpoint, Field, Option, Remark


def field(id: str, type: str = "text", prompt: str = "", **more: object) -> Field:
    return Field(id, type, prompt or id, **more)  # type: ignore[arg-type]


def option(label: str, available: bool = True, **more: object) -> Option:
    return Option(label, available, **more)  # type: ignore[arg-type]


def checkpoint(*options: Option | str, prompt: str = "Good enough?", **more: object) -> Checkpoint:
    offered = tuple(option(one) if isinstance(one, str) else one for one in options)
    return Checkpoint("C1", prompt, offered, (), "d1", "waiting", False, "2026-03-02T09:00:00.000Z", **more)  # type: ignore[arg-type]


def remark(id: str, text: str, kind: str = "comment", **more: str) -> Remark:
    nothing = dict.fromkeys(Remark.__struct_fields__, "")
    return Remark(**{**nothing, "id": id, "text": text, "kind": kind, **more})
