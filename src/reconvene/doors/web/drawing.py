"""Templates of pages: everything that is put into one is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup
from starlette.responses import HTMLResponse

from reconvene.doors.shared.harmless import clean
from reconvene.doors.web.worded import FILTERS

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import HTTPConnection

FOLDER = Path(__file__).parent
THEME = "theme"  # the cookie that keeps whether pages are light or dark; without it, as the system is
THEMES = ("light", "dark")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        autoescape=True, loader=FileSystemLoader(FOLDER / "templates"), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_harmless,
    )  # fmt: skip
    made.filters.update(FILTERS)
    return made


def _harmless(value: object) -> object:
    """Words of others hide nothing: no control character, no change of direction."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else clean(value)


def page(asks: HTTPConnection, name: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """`caller`, who asks, `path` and `theme` are known to every template."""
    theme = asks.cookies.get(THEME, "")
    own = {"caller": asks.scope.get("caller"), "path": asks.scope["path"], "theme": theme if theme in THEMES else ""}
    return HTMLResponse(_templates().get_template(name).render(**own, **values), status)


def drawn_text(name: str, **values: object) -> str:
    """A part of a page, for a page that is there."""
    return _templates().get_template(name).render(**values)
