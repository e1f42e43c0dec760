"""The process that sends: reads one order from standard input, prints for each message whether it went out.

`{"url", "secret", "seconds", "letters": [{"id", "kind", "title", "text", "data"}]}`, and for each letter a line with
`{"error": ""}` or why it failed. It stops at the first that fails. Addresses come in this way and no other: they are in
no command line, and in no text that goes out.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from io import StringIO
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit

_Letter = Mapping[str, str]
_MOST = 300  # characters of a reason
_LEAST = 4  # shorter parts of an address would blank ordinary words


def main() -> None:
    order = json.load(sys.stdin)
    url, secret = str(order["url"]), str(order["secret"])
    out = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer
    send: Callable[[_Letter], str]
    send = _Webhook(url, secret, float(order["seconds"])) if secret else _Apprise(url, float(order["seconds"]))
    for letter in order["letters"]:
        error = without_address(send(letter), url, secret)
        out.write(json.dumps({"error": error}) + "\n")
        out.flush()
        if error:
            return


def without_address(text: str, url: str, secret: str = "") -> str:
    """A reason that names no part of the address but its host."""
    parts = urlsplit(url)
    pieces = {url, secret, parts.path, parts.query, parts.fragment, parts.username or "", parts.password or ""}
    pieces |= set(re.split(r"[/?&=:;,@+#]", f"{parts.path}?{parts.query}#{parts.fragment}"))
    pieces |= {unquote(piece) for piece in pieces}
    for piece in sorted(pieces - {parts.hostname}, key=len, reverse=True):
        if len(piece) >= _LEAST:  # whole words only: the path /redir says nothing of a redirect
            text = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "[…]", text)
    if secret:
        text = text.replace(secret, "[…]")
    return " ".join(text.split())[:_MOST]


class _Webhook:
    def __init__(self, url: str, secret: str, seconds: float) -> None:
        from urllib.request import HTTPRedirectHandler, build_opener

        class Stays(HTTPRedirectHandler):
            def redirect_request(self, *_: object) -> None:
                return None

        self._url, self._secret, self._seconds = url, secret, seconds
        self._open = build_opener(Stays()).open

    def __call__(self, letter: _Letter) -> str:
        from urllib.request import Request

        from reconvene.adapters.notify.webhook_signing import headers

        if urlsplit(self._url).scheme not in ("http", "https"):
            return "a webhook has an address with http:// or https://"
        body = letter["data"].encode()
        signed = headers(self._secret, letter["id"], int(time.time()), body)
        told = {"Content-Type": "application/json", "User-Agent": "Reconvene", **signed}
        try:
            with self._open(Request(self._url, body, told, method="POST"), timeout=self._seconds):
                return ""
        except HTTPError as error:
            if 300 <= error.code < 400:
                return f"it answers {error.code}, a redirect, which is not followed"
            return f"it answers {error.code}"
        except (URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            late = isinstance(reason, TimeoutError) or "timed out" in str(reason)
            return f"no answer within {self._seconds:g} s" if late else f"it cannot be reached: {reason}"


class _Apprise:
    def __init__(self, url: str, seconds: float) -> None:
        import apprise

        # Nothing is kept on disk, no redirect is followed, and no plugin is looked for beside Apprise's own.
        asset = apprise.AppriseAsset(
            app_id="Reconvene", app_desc="Reconvene", app_url="", async_mode=False, secure_logging=True
        )
        asset.http_redirects = False
        self._apprise = apprise
        self._known = apprise.Apprise(asset=asset)
        self._problem = "" if self._known.add(url) else "Apprise does not know this address; a webhook has a secret"

    def __call__(self, letter: _Letter) -> str:
        if self._problem:
            return self._problem
        kinds = {"failed": "failure", "attention": "warning", "deadline": "warning", "ended": "success"}
        capture: Callable[..., AbstractContextManager[StringIO]] = self._apprise.LogCapture
        with capture(level=self._apprise.logging.WARNING, fmt="%(message)s") as said:
            sent = self._known.notify(
                body=letter["text"],
                title=letter["title"],
                notify_type=kinds.get(letter["kind"], "info"),
                body_format="text",
                interpret_escapes=False,
            )
            return "" if sent else said.getvalue().strip() or "it was not accepted"


if __name__ == "__main__":
    main()
