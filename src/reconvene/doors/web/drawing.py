"""Templates of pages: everything that is put into one is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import HTTPConnection

FOLDER = Path(__file__).parent


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        autoescape=True, loader=FileSystemLoader(FOLDER / "templates"), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def page(asks: HTTPConnection, name: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """`caller`, who asks, and `path` are known to every template."""
    own = {"caller": asks.scope.get("caller"), "path": asks.scope["path"]}
    return HTMLResponse(_templates().get_template(name).render(**own, **values), status)
