"""All addresses of pages about runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.doors.web import (
    companion_pages,
    compare_pages,
    figures_pages,
    file_pages,
    new_run_pages,
    record_pages,
    run_pages,
    work_pages,
)

if TYPE_CHECKING:
    from starlette.routing import Route

    from reconvene.doors.http.service import Service

_MODULES = (
    run_pages,
    file_pages,
    work_pages,
    record_pages,
    companion_pages,
    new_run_pages,
    figures_pages,
    compare_pages,
)


def routes(service: Service) -> list[Route]:
    return [route for module in _MODULES for route in module.routes(service)]
