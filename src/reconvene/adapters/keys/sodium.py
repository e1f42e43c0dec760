"""Ed25519 by libsodium, as PyNaCl ships it.

PyNaCl's own functions stand in a package that loads all of its library, at four times the cost; every decision would
pay for it. What is called here is the part below them.
"""

from __future__ import annotations

from nacl._sodium import ffi, lib

SEED, PUBLIC, SIGNATURE = 32, 32, 64  # bytes
_SECRET = SEED + PUBLIC

if lib.sodium_init() < 0:  # 1 = it was ready before
    raise ImportError("libsodium cannot be made ready")


def pair(seed: bytes) -> tuple[bytes, bytes]:
    """The public key and the secret one."""
    _require(seed, SEED)
    public, secret = ffi.new("unsigned char[]", PUBLIC), ffi.new("unsigned char[]", _SECRET)
    _done(lib.crypto_sign_seed_keypair(public, secret, seed))
    return ffi.buffer(public, PUBLIC)[:], ffi.buffer(secret, _SECRET)[:]


def signature(data: bytes, secret: bytes) -> bytes:
    _require(secret, _SECRET)
    signed, length = ffi.new("unsigned char[]", len(data) + SIGNATURE), ffi.new("unsigned long long *")
    _done(lib.crypto_sign(signed, length, data, len(data), secret))
    return bytes(ffi.buffer(signed, SIGNATURE)[:])


def fits(signed: bytes, data: bytes, public: bytes) -> bool:
    """Whether `signed` is the signature of this key on these bytes."""
    _require(public, PUBLIC)
    _require(signed, SIGNATURE)
    whole = signed + data
    message, length = ffi.new("unsigned char[]", len(whole)), ffi.new("unsigned long long *")
    return bool(lib.crypto_sign_open(message, length, whole, len(whole), public) == 0)


def _require(given: bytes, length: int) -> None:
    """C reads as many bytes as it expects."""
    if len(given) != length:
        raise ValueError(f"expected {length} bytes, got {len(given)}")


def _done(code: int) -> None:
    if code != 0:
        raise RuntimeError("libsodium failed")
