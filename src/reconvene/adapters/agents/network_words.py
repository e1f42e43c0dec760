"""What went wrong on the way to a server, in plain words, from the exception that says it. Knows no provider.

The library that a request goes through wraps the real reason several times; here it is dug out.
"""

from __future__ import annotations

import errno
import socket
import ssl
from typing import NamedTuple

import httpx2

_CERTIFICATE = {  # by OpenSSL's number
    10: "its certificate has expired",
    9: "its certificate is not valid yet",
    62: "its certificate is for another name",
    64: "its certificate is for another address",
}
_UNREACHABLE = {
    errno.ENETUNREACH: "the network is not reachable",
    errno.EHOSTUNREACH: "the machine is not reachable",
    errno.ENETDOWN: "the network is down",
    errno.ETIMEDOUT: "the machine does not answer",
}
_CHECK_NETWORK = "Check the network, and HTTPS_PROXY if this machine needs a proxy."


class Trouble(NamedTuple):
    what: str
    hint: str = ""
    login: bool = False  # a proxy wants to know who is there: waiting does not help


PROXY_LOGIN = Trouble(
    "the proxy wants a name and a password",
    "Write them into HTTPS_PROXY or HTTP_PROXY: http://name:password@host:port.",
    login=True,
)


def trouble(error: BaseException, url: str = "", start: str = "") -> Trouble:
    """`url`: the base_url, "" for the provider's own address. `start`: how such a server is started, where known."""
    reach = start or ("Is the server running, and is base_url right?" if url else _CHECK_NETWORK)
    for cause in _causes(error):
        found = _named(cause, url, reach)
        if found is not None:
            return found
    innermost = _causes(error)[-1]
    return Trouble(_short(str(innermost) or type(innermost).__name__))


def _named(error: BaseException, url: str, reach: str) -> Trouble | None:
    match error:
        case ssl.SSLCertVerificationError():
            return _certificate(error)
        case ssl.SSLError():
            return _tls(error, url)
        case socket.gaierror():
            return _name(error, url)
        case ConnectionRefusedError():
            return Trouble("connection refused", reach)
        case ConnectionResetError() | BrokenPipeError() | ConnectionAbortedError():
            return Trouble("the connection was reset")
        case OSError(errno=int(number)) if number in _UNREACHABLE:
            return Trouble(_UNREACHABLE[number], _CHECK_NETWORK)
        case httpx2.ProxyError():
            return _proxy(error)
        case httpx2.DecodingError():
            return Trouble("it sent compressed data that cannot be read", "A proxy in between may be at fault.")
        case httpx2.ConnectTimeout():
            return Trouble("no connection in time", reach)
        case httpx2.RemoteProtocolError():
            return Trouble(_protocol(str(error)))
        case _:
            return None


def _certificate(error: ssl.SSLCertVerificationError) -> Trouble:
    what = _CERTIFICATE.get(error.verify_code, f"its certificate is not trusted ({error.verify_message or 'unknown'})")
    hint = "If your network or server has its own certificate authority, name its file in SSL_CERT_FILE."
    if error.verify_code in _CERTIFICATE:
        hint = "Check base_url and this machine's clock; otherwise the server needs a new certificate."
    return Trouble(what, hint)


def _tls(error: ssl.SSLError, url: str) -> Trouble:
    if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        hint = "Write http:// instead of https:// in base_url." if url.startswith("https:") else _CHECK_NETWORK
        return Trouble("it does not speak TLS (https)", hint)
    return Trouble(f"no secure connection (TLS): {_short(error.reason or str(error)).lower().replace('_', ' ')}")


def _name(error: socket.gaierror, url: str) -> Trouble:
    if error.errno == socket.EAI_AGAIN:
        return Trouble("no name server answers", _CHECK_NETWORK)
    return Trouble("name not found", "Check the name in base_url." if url else _CHECK_NETWORK)


def _proxy(error: httpx2.ProxyError) -> Trouble:
    said = _short(str(error))
    if "407" in said:
        return PROXY_LOGIN
    return Trouble(f"the proxy does not let it through ({said})", "Check HTTPS_PROXY and NO_PROXY.")


def _protocol(said: str) -> str:
    if "without sending a response" in said:
        return "it closed the connection without an answer"
    if "incomplete" in said or "closed connection" in said:
        return "it closed the connection in the middle"
    return f"it does not speak HTTP as it should ({_short(said)})"


def _causes(error: BaseException) -> list[BaseException]:
    """The error and everything it came from, the outermost first, one of a group for all of it."""
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and len(found) < 20 and following not in found:
        found.append(following)
        if isinstance(following, BaseExceptionGroup):
            following = following.exceptions[0]
        else:
            following = following.__cause__ or following.__context__
    # an OSError of the machine says more than what the libraries make of it
    return sorted(found, key=lambda one: not isinstance(one, OSError))


def _short(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 300 else text[:299] + "…"
