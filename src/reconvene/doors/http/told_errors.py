"""Errors as answers: what scripts get of RFC 9457, with the words and the hint that the terminal would print."""

from __future__ import annotations

from starlette.responses import Response

from reconvene.app.views.encoding import encoded
from reconvene.doors.http.refusals import Missing, TooLarge, Unreadable, WhichVersion, WrongMedia
from reconvene.errors import Busy, Forbidden, ReconveneError, Refused, Repeated, StaleDecision, StoreError, UserError

TYPE = "application/problem+json"
_TITLES = {
    400: "The request cannot be read", 401: "Nobody is known", 403: "Not allowed", 404: "Not found",
    405: "Not so", 409: "Not as it was", 413: "Too large", 415: "Another media type", 421: "Another name",
    422: "Does not fit",
    428: "Which version?", 500: "Something broke", 503: "Not now",
}  # fmt: skip


def problem(status: int, detail: str, hint: str = "", **more: object) -> Response:
    """`more`: further members, such as `field` or `changes`; a `title` in place of that of the status."""
    said = {"type": "about:blank", "title": _TITLES.get(status, "Not done"), "status": status, "detail": detail}
    body = encoded({**said, **({"hint": hint} if hint else {}), **more})
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return Response(body, status, headers, TYPE)


_STATUSES: tuple[tuple[type[ReconveneError], int], ...] = (  # the first that fits
    (StaleDecision, 409),
    (Repeated, 409),
    (Busy, 409),
    (Forbidden, 403),
    (Missing, 404),
    (TooLarge, 413),
    (Unreadable, 400),
    (WrongMedia, 415),
    (WhichVersion, 428),
    (Refused, 422),
    (UserError, 422),
    (StoreError, 503),
)


def status_of(error: ReconveneError) -> int:
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def told(error: ReconveneError) -> Response:
    """What was sent and does not fit is named where the error says it. Else nothing of it is at fault, but the run as
    it stands."""
    more: dict[str, object] = {}
    if isinstance(error, Busy):
        more["title"] = "Busy"
    if isinstance(error, StaleDecision):
        more = {"changes": error.changes, "version": error.now}
    if isinstance(error, Refused) and error.field:
        more["field"] = error.field
    return problem(status_of(error), error.message, _hint(error), **more)


def _hint(error: ReconveneError) -> str:
    """What a program does next. Hints that name options of the command line are for others."""
    if isinstance(error, StaleDecision) and error.now and not error.anyway:
        return f'Another thing is open now: look at it, and decide on its version, "{error.now}".'
    if isinstance(error, StaleDecision) and error.now:
        return f'Look at the changes; then send it again with this version, or with "anyway": "{error.now}".'
    if " --" not in f" {error.hint}":
        return error.hint
    if isinstance(error, Refused) and error.field == "remarks":
        return 'Add "remarks": [{"text": "…"}].'
    return f'Add "fields": {{"{error.field}": …}}.' if isinstance(error, Refused) and error.field else ""
