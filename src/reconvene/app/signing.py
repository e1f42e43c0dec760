"""What a person does is signed: which events of an append that concerns, and the seal that is kept with them.

Without a key nothing is lost: the append is kept, and says why nobody signed it. It must not know where keys are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from reconvene.core.facts.actors import Actor
from reconvene.core.facts.events import ACTS, Act, AnyEvent, KeyIntroduced
from reconvene.core.facts.evolve import evolve
from reconvene.core.facts.state import RunState
from reconvene.wire.seals import Seal, encode_seal, signed_bytes

_SHOWN = 16  # digits of a key that people compare


class Signer(Protocol):
    """A port: signs what a person does through this process."""

    user: str  # the account of this process, for which the system vouches

    def ready(self) -> tuple[str, str]:
        """The public key, or "" and why there is none. One is made where there is none yet."""

    def own(self) -> str:
        """The public key, "" where there is none; none is made."""

    def sign(self, data: bytes) -> str:
        """Once `ready` gave a key. Hexadecimal digits."""

    def valid(self, key: str, data: bytes, signature: str) -> bool:
        """Whether this key, anybody's, made this signature."""

    def tell(self, text: str) -> None:
        """What the person should know, once."""


class ToSign(NamedTuple):
    """An append, with a key's introduction where it signs for the first time."""

    state: RunState
    events: Sequence[AnyEvent]
    seal: Callable[[bytes], bytes] | None = None


def to_sign(
    signer: Signer | None, actor: Actor, before: RunState, state: RunState, events: Sequence[AnyEvent]
) -> ToSign:
    """`before`: the state that the events follow; `state`: the one they lead to."""
    if signer is None or ACTS.isdisjoint(map(type, events)):  # most appends are the agents'
        return ToSign(state, events)
    acts = [event for event in events if isinstance(event, Act) and event.user]
    if not acts:
        return ToSign(state, events)
    key, seal = sealing(signer, actor)
    if key and key not in state.record.keys:
        first = acts[0]
        by, user = (signer.user, signer.user) if actor.served else (first.by, first.user)
        introduced = KeyIntroduced(at=events[-1].at, by=by, user=user, door=first.door, key=key)
        known = [one for one in before.record.keys.values() if one.user == user]
        if known:
            signer.tell(f"a new key signs for {user} in this run: {shown(key)}; until now it was"
                        f" {', '.join(shown(one.key) for one in known)}")  # fmt: skip
        state, events = evolve(state, introduced), [*events, introduced]
    return ToSign(state, events, seal)


def sealing(signer: Signer, actor: Actor) -> tuple[str, Callable[[bytes], bytes]]:
    """The key that signs, "" where there is none, and what makes a seal of a link. Whoever is served did not sign: the
    process did that admitted them, on their behalf."""
    key, why = signer.ready()
    whom = actor.user if actor.served else ""
    if key:
        return key, lambda link: _signed(signer, key, link, whom)
    signer.tell(f"what you did is recorded without a signature: {why}")
    unsigned = encode_seal(Seal(on_behalf_of=whom, unsigned=why))
    return "", lambda link: unsigned


def _signed(signer: Signer, key: str, link: bytes, whom: str) -> bytes:
    return encode_seal(Seal(key, signer.sign(signed_bytes(link, whom)), whom))


def shown(key: str) -> str:
    """As people compare it."""
    kind, _, digits = key.partition(":")
    return f"{kind}:{digits[:_SHOWN]}"
