"""What people did, beside its signatures: each must be by a key that is on record, over exactly this append."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconvene.app.misfits import misfit
from reconvene.app.signing import Signer, shown
from reconvene.app.views.soundness import Key, Unsigned
from reconvene.app.views.who import is_proved
from reconvene.chain_ports import Stored
from reconvene.core.facts.events import OF_PEOPLE, Act, AnyEvent, DecisionRecorded, Forked, KeyIntroduced, RunStarted
from reconvene.core.facts.state import RunState
from reconvene.errors import StoreError
from reconvene.wire.seals import Seal, decode_seal, signed_bytes


class Seals:
    """Of one run: takes its appends in order."""

    def __init__(self, run: str, unchained: int, signer: Signer | None) -> None:
        self._run = run
        self._unchained = unchained
        self._signer = signer
        self._introduced: dict[str, int] = {}  # key → the event
        self.signed = 0
        self.unsigned: list[Unsigned] = []
        self._bare: list[Unsigned] = []  # without even a reason
        self._claimed: dict[tuple[str, str], int] = {}  # name, account → acts
        self._served: dict[tuple[str, str], int] = {}  # whom a process acted for, its key → acts
        self._copied: list[Forked] = []

    def take(self, row: Stored, link: bytes, events: Sequence[AnyEvent], state: RunState) -> None:
        """`state`: after these events."""
        first = row.seq - len(events) + 1
        for seq, event in enumerate(events, first):
            if isinstance(event, KeyIntroduced):
                self._introduced.setdefault(event.key, seq)
            elif isinstance(event, Forked):
                self._copied.append(event)
        for _, act in _acts(first, events):
            if act.user and not is_proved(act.by, act.user):
                self._claimed[act.by, act.user] = self._claimed.get((act.by, act.user), 0) + 1
        acts = [Unsigned(seq, type(act).__name__, act.by, "") for seq, act in _acts(first, events)]
        if not row.seal:
            self._bare += acts if row.seq > self._unchained else []
            return
        seq = acts[0].seq if acts else first
        try:
            seal = decode_seal(row.seal)
        except StoreError as error:
            raise misfit(self._run, seq, f"the seal of event {seq}", "one that can be read", error) from error
        if not seal.signed_by:
            why = seal.unsigned or "no reason is given"
            self.unsigned += [Unsigned(one.seq, one.what, one.by, why) for one in acts]
        elif self._signer is not None:
            self._check(self._signer, seal, seq, link, state)
        if seal.on_behalf_of:
            self._check_served(seal, [(seq, act) for seq, act in _acts(first, events) if act.user])

    def _check(self, signer: Signer, seal: Seal, seq: int, link: bytes, state: RunState) -> None:
        where = f"the signature of event {seq}"
        if seal.signed_by not in state.record.keys:
            known = ", ".join(map(shown, state.record.keys)) or "none"
            raise misfit(self._run, seq, where, f"a key that is on record: {known}", shown(seal.signed_by))
        if not signer.valid(seal.signed_by, signed_bytes(link, seal.on_behalf_of), seal.signature):
            expected = f"one that {shown(seal.signed_by)} made over these events and all before them"
            raise misfit(self._run, seq, where, expected, "another")
        self.signed += 1

    def _check_served(self, seal: Seal, acts: list[tuple[int, Act]]) -> None:
        """A process that signs for one person records no act of another."""
        whom = seal.on_behalf_of
        for seq, act in acts:
            if not isinstance(act, KeyIntroduced):
                if act.user != whom:
                    raise misfit(self._run, seq, f"who did event {seq}", f"{whom}, for whom it was signed", act.user)
                key = (whom, seal.signed_by)
                self._served[key] = self._served.get(key, 0) + 1

    def close(self) -> None:
        """Where people's acts are sealed, one without a seal was put there by somebody else."""
        if self._bare and (self.signed or self.unsigned):
            bare = self._bare[0]
            expected = "a signature, or why there is none: other acts of this run have that"
            where = f"{bare.what} by {bare.by or 'nobody'}, event {bare.seq}"
            raise misfit(self._run, bare.seq, where, expected, "nothing")

    def keys(self, state: RunState) -> tuple[Key, ...]:
        own = self._signer.own() if self._signer is not None else ""
        found = [(self._introduced[one.key], one) for one in state.record.keys.values()]
        return tuple(
            Key(one.key, one.user, one.by, seq, one.at, one.key == own, seq <= state.imported and one.key != own)
            for seq, one in sorted(found, key=lambda pair: pair[0])
        )

    def notes(self, keys: Sequence[Key]) -> Iterator[str]:
        seen: dict[str, str] = {}
        for key in keys:
            of = " (yours)" if key.own else " (from elsewhere)" if key.foreign else ""
            if key.user in seen:
                yield f"a new key signs for {key.user} from event {key.seq} on: {shown(key.key)}{of}"
            else:
                yield f"signed by {key.user} with {shown(key.key)}{of}"
            seen[key.user] = key.key
        for (by, user), count in self._claimed.items():
            yield f"not proved, only claimed by {user}: the name {by!r} ({count} event{'s' * (count != 1)})"
        for (whom, signed_by), count in self._served.items():
            by = f"with {shown(signed_by)} " if signed_by else ""
            yield f"on behalf of {whom}, {by}of a process that admitted them: {count} event{'s' * (count != 1)}"
        for fork in self._copied:
            where = f"{fork.source}{f' (chain {fork.source_chain})' if fork.source_chain else ''}"
            yield f"copied from {where}: up to event {fork.source_seq}; who signed that, only its own log shows"
        for one in self.unsigned:
            yield f"not signed: {one.what} by {one.by or 'nobody'}, event {one.seq}: {one.why}"
        if self._bare:
            yield f"nobody signed what people did in this run ({len(self._bare)} events)"


def _acts(first: int, events: Sequence[AnyEvent]) -> Iterator[tuple[int, Act]]:
    """What people did in this append. Not what a fork copied, nor what a child takes over from the run that made it."""
    start = events[0]
    if isinstance(start, RunStarted) and start.parent and not any(isinstance(one, Forked) for one in events):
        return
    own = max((number for number, event in enumerate(events) if isinstance(event, Forked)), default=0)
    for number, event in enumerate(events[own:], own):
        if isinstance(event, DecisionRecorded) and event.late:
            continue  # nobody's: the state says whether its deadline had come
        if isinstance(event, Act) and (event.by or type(event) in OF_PEOPLE):
            yield first + number, event
