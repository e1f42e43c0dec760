"""What an agent of another framework stumbled over: its provider, or itself. Read off what its exceptions carry.

The libraries are not imported: a status, headers and the names of classes say enough.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

from reconvene.adapters.agents import retry_after
from reconvene.errors import AgentError, Outcome

_BY_STATUS: dict[int, Outcome] = {401: "authentication", 402: "quota", 403: "authentication", 404: "not_found"}
# Of httpx, requests, aiohttp, urllib3 and the SDKs of providers: the way to a server failed.
_ON_THE_WAY = frozenset(
    "APIConnectionError APITimeoutError ClientConnectionError ConnectError ConnectTimeout ConnectionError "
    "ModelConnectionError ModelTimeoutError ModelUnavailableError NetworkError PoolTimeout ProtocolError ReadError "
    "ReadTimeout RemoteProtocolError ServerDisconnectedError TransportError URLError WriteError".split()
)
_HINT = "It usually passes. If it stays so, look at the provider's status page, or choose another model."


def failed(who: str, error: BaseException) -> AgentError:
    """`who`: as a person named the agent's function."""
    said = " ".join(str(error).split())[:500]
    message = f"{who} raised {type(error).__name__}" + (f": {said}" if said else ".")
    outcome, wait = _outcome(error)
    if outcome != "transport":
        return AgentError(message, outcome=outcome)
    return AgentError(message, hint=_HINT, outcome=outcome, retry_after=wait, for_agents="The provider failed.")


def _outcome(error: BaseException) -> tuple[Outcome, float]:
    for cause in _causes(error):
        status = _status(cause)
        if status in retry_after.PASSING or status >= 500:
            wait = retry_after.asked(
                _headers(cause), str(getattr(cause, "body", "") or ""), datetime.now(UTC), limited=status == 429
            )
            return "transport", wait.seconds
        if status in _BY_STATUS:
            return _BY_STATUS[status], 0.0
        names = {kind.__name__ for kind in type(cause).__mro__}
        if isinstance(cause, ConnectionError | socket.gaierror | ssl.SSLError) or names & _ON_THE_WAY:
            return "transport", 0.0
    return "other", 0.0


def _causes(error: BaseException) -> Iterator[BaseException]:
    """From the outermost to the innermost, each once."""
    seen: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and all(found is not one for one in seen):
        seen.append(found)
        yield found
        inner = getattr(found, "reason", None)  # of urllib
        found = found.__cause__ or (inner if isinstance(inner, BaseException) else found.__context__)


def _status(error: BaseException) -> int:
    """Of an HTTP answer, 0 where there is none."""
    response = getattr(error, "response", None)
    places = ((error, "status_code"), (response, "status_code"), (error, "status"), (error, "code"))
    for place, name in places:
        value = getattr(place, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return 0


def _headers(error: BaseException) -> dict[str, str]:
    found: object = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    every = getattr(found, "items", None)  # urllib's are no Mapping
    return {str(name): str(value) for name, value in every()} if callable(every) else {}
