"""Signatures by libsodium, against the ones that PyNaCl's own functions make and check."""

from __future__ import annotations

import os

import pytest
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from reconvene.adapters.keys import sodium


@pytest.mark.parametrize("length", [0, 1, 32, 4096])
def test_signatures_are_the_ones_of_pynacl(length: int) -> None:
    seed, data = os.urandom(sodium.SEED), os.urandom(length)
    public, secret = sodium.pair(seed)
    theirs = SigningKey(seed)
    assert public == theirs.verify_key.encode()
    signed = sodium.signature(data, secret)
    assert signed == theirs.sign(data).signature
    assert sodium.fits(signed, data, public)
    VerifyKey(public).verify(data, signed)


def test_one_changed_bit_anywhere_does_not_fit() -> None:
    public, secret = sodium.pair(bytes(range(sodium.SEED)))
    data = b"Approve"
    signed = sodium.signature(data, secret)
    for n in range(8 * (len(signed) + len(data))):
        whole = bytearray(signed + data)
        whole[n // 8] ^= 1 << n % 8
        changed, other = bytes(whole[: sodium.SIGNATURE]), bytes(whole[sodium.SIGNATURE :])
        assert not sodium.fits(changed, other, public)
        with pytest.raises(BadSignatureError):
            VerifyKey(public).verify(other, changed)


def test_bytes_of_another_length_never_reach_the_library() -> None:
    public, secret = sodium.pair(bytes(sodium.SEED))
    signed = sodium.signature(b"", secret)
    for call in (
        lambda: sodium.pair(b"short"),
        lambda: sodium.signature(b"", secret[:-1]),
        lambda: sodium.fits(signed[:-1], b"", public),
        lambda: sodium.fits(signed, b"", public + b"!"),
    ):
        with pytest.raises(ValueError, match="expected"):
            call()
