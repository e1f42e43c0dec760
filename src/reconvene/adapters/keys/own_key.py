"""A signer, as `app/signing.py` wants one: an Ed25519 key in the person's own configuration folder, made at first use
and readable by nobody else.

A person whose folder cannot be written still acts: without a signature, and that is said. Knows no run. The library
(libsodium, through PyNaCl) is loaded where something is signed or checked, and not before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from shlex import quote

FILE = "key"
KIND = "ed25519"


class OwnKey:
    """`folder`: the person's own configuration. `user`: the system's name for who runs this process."""

    def __init__(self, folder: str, user: str, say: Callable[[str], None] | None = None) -> None:
        self.user = user
        self._folder = folder
        self._say = say
        self._told: set[str] = set()
        self._ready: tuple[str, str] | None = None
        self._secret = b""

    def ready(self) -> tuple[str, str]:
        if self._ready is None:
            try:
                self._ready = self._load(make=True), ""
            except _Unusable as error:
                self._ready = "", str(error)
        return self._ready

    def own(self) -> str:
        with suppress(_Unusable):
            return self._load(make=False)
        return ""

    def sign(self, data: bytes) -> str:
        from reconvene.adapters.keys import sodium

        return sodium.signature(data, self._secret).hex()

    def valid(self, key: str, data: bytes, signature: str) -> bool:
        from reconvene.adapters.keys import sodium

        kind, _, public = key.partition(":")
        try:
            signed, known = bytes.fromhex(signature), bytes.fromhex(public)
        except ValueError:
            return False
        if (kind, len(signed), len(known)) != (KIND, sodium.SIGNATURE, sodium.PUBLIC):
            return False
        if (signed.hex(), known.hex()) != (signature, public):  # the same digits in capitals were not written here
            return False
        return sodium.fits(signed, data, known)

    def tell(self, text: str) -> None:
        if self._say is not None and text not in self._told:
            self._told.add(text)
            self._say(text)

    def _load(self, *, make: bool) -> str:
        """The public key; the other one stays here."""
        try:
            from reconvene.adapters.keys import sodium
        except ImportError as error:
            raise _Unusable(f"the library that signs cannot be loaded ({error})") from error
        path = os.path.join(self._folder, FILE)
        try:
            seed = _read(path)
            if seed is None:
                if not make:
                    return ""
                _make(path, sodium.SEED)
                seed = _read(path)
        except OSError as error:
            raise _Unusable(f"the key {path} cannot be used: {(error.strerror or str(error)).lower()}") from error
        if seed is None or len(seed) != sodium.SEED:
            raise _Unusable(f"{path} holds no key; move it away, and a new one is made: mv {quote(path)} {path}-old")
        public, self._secret = sodium.pair(seed)
        return f"{KIND}:{public.hex()}"


class _Unusable(Exception):
    """There is no key to sign with. The message says why."""


def _read(path: str) -> bytes | None:
    """None where there is none, b"" where it is something else."""
    try:
        with open(path, encoding="ascii") as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                os.fchmod(file.fileno(), 0o600)
            kind, _, digits = file.read(200).strip().partition(" ")
        return bytes.fromhex(digits) if kind == KIND else b""
    except FileNotFoundError:
        return None
    except ValueError:  # no text, or no digits
        return b""


def _make(path: str, length: int) -> None:
    """Whole from its first moment. Of two processes that make one at the same time, both use the first."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    new = f"{path}.{os.urandom(6).hex()}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "w", encoding="ascii") as file:
            file.write(f"{KIND} {os.urandom(length).hex()}\n")
            file.flush()
            os.fsync(handle)
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        os.unlink(new)
