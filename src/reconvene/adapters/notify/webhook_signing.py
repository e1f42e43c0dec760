"""How a webhook is signed: as the Standard Webhooks specification says, so that libraries for it verify ours.

HMAC-SHA256 with the secret over id, timestamp and body, joined by dots. Pure.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

_PREFIX = "whsec_"  # what follows is base64


def key_of(secret: str) -> bytes:
    if secret.startswith(_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            pass
    return secret.encode()


def headers(secret: str, id: str, timestamp: int, body: bytes) -> dict[str, str]:
    made = hmac.new(key_of(secret), f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(made).decode()}"
    return {"webhook-id": id, "webhook-timestamp": str(timestamp), "webhook-signature": signature}
