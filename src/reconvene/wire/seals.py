"""The seal on an append in which a person did something: whose key signed it, or why none did. Read for ever.

What is signed is the append's link in the chain (`wire/chain.py`): it stands for the run, the number of the event, the
bytes of the append and everything before it. Where a server takes a decision, its key signs, and `for` names the person
whom it admitted; what is signed covers that name too. It must not know how signatures are made.
"""

from __future__ import annotations

from msgspec import DecodeError, Struct, ValidationError, field
from msgspec.json import Decoder, Encoder

from reconvene.errors import StoreError
from reconvene.wire.versions import RESTORE, Opening, refuse_unless_known

VERSION = 1
_MARK = b"reconvene act 1\n"


class Seal(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    signed_by: str = ""  # the public key, such as ed25519:1f0c…; "" = nobody signed
    signature: str = ""  # in hexadecimal digits
    on_behalf_of: str = field(name="for", default="")  # set by a server: the person whom it admitted
    unsigned: str = ""  # why nobody signed


_OPENING = Opening(b"{")
_encode = Encoder().encode
_decode = Decoder(Seal).decode


def encode_seal(seal: Seal) -> bytes:
    return _OPENING.put_on(_encode(seal), VERSION)


def decode_seal(data: bytes) -> Seal:
    version, body = _OPENING.take_off(data)
    try:
        refuse_unless_known(version, VERSION, "The seal of an append")
        return _decode(body)
    except (ValidationError, DecodeError) as error:
        raise StoreError(f"The seal of an append cannot be read ({error}).", hint=RESTORE) from error


def signed_bytes(link: bytes, on_behalf_of: str) -> bytes:
    """What the signature is over."""
    return _MARK + link + on_behalf_of.encode("utf-8", "surrogatepass")
