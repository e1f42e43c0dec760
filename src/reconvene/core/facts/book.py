"""A workflow opened for use: its phases by id, and contents by digest.

Reading by digest is referentially transparent (the same digest always names the same bytes), so the core may do it and
stay pure; where the bytes come from is the caller's business.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

import msgspec

from reconvene.core.definition.workflow import Phase, Workflow
from reconvene.core.facts.events import Ref, RemarkAdded
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import Record
from reconvene.language import templates

_CACHED = 2048  # entries
_CACHED_BYTES = 64 * 1024 * 1024

T = TypeVar("T")


class Node(msgspec.Struct, frozen=True):
    """A phase and where it stands. parent "" = the run."""

    phase: Phase
    parent: str
    position: int


class Book:
    def __init__(
        self,
        workflow: Workflow,
        read: Callable[[str], bytes],
        validate: Callable[[object, object], list[str]] = lambda schema, value: [],
        names: dict[str, set[str]] | None = None,
    ) -> None:
        self.workflow = workflow
        self.validate = validate  # (JSON Schema, value) → problems in plain words
        self.nodes: dict[str, Node] = {}
        self._read = read
        self._bytes: OrderedDict[str, bytes] = OrderedDict()
        self._held = 0
        self._names: dict[str, set[str]] = {} if names is None else names  # shared by the books of one workflow
        self._parsed: OrderedDict[str, object] = OrderedDict()
        self._shared: tuple[object, dict[Hashable, object]] = (None, {})
        self._made_of: dict[str, tuple[object, object]] = {}
        self._told: dict[str, tuple[object, list[RemarkAdded], list[object]]] = {}  # by form
        self._index(workflow.phases, "")
        self.groups_of: dict[str, tuple[str, ...]] = {
            agent: tuple(name for name, members in workflow.groups.items() if agent in members)
            for agent in workflow.agents
        }

    def under(self, workflow: Workflow) -> Book:
        """The same contents, with another workflow."""
        return Book(workflow, self.read, self.validate)

    def _index(self, phases: tuple[Phase, ...], parent: str) -> None:
        for index, phase in enumerate(phases):
            self.nodes[phase.id] = Node(phase, parent, index)
            self._index(phase.phases, phase.id)

    def names_in(self, template: str) -> set[str]:
        """The top-level names a template uses, its includes counted; worked out once."""
        found = self._names.get(template)
        if found is None:
            found = self._names[template] = templates.names(template, loader=self.workflow.templates)
        return found

    def phase(self, phase_id: str) -> Phase:
        return self.nodes[phase_id].phase

    def children(self, phase_id: str) -> tuple[Phase, ...]:
        return self.nodes[phase_id].phase.phases if phase_id else self.workflow.phases

    def keep(self, data: bytes) -> str:
        """Make bytes readable by their digest before they are stored."""
        digest = digest_of(data)
        self.remember(digest, data)
        return digest

    def remember(self, digest: str, data: bytes) -> None:
        if digest in self._bytes:
            return
        self._bytes[digest] = data
        self._held += len(data)
        while len(self._bytes) > _CACHED or (self._held > _CACHED_BYTES and len(self._bytes) > 1):
            self._held -= len(self._bytes.popitem(last=False)[1])

    def read(self, digest: str) -> bytes:
        data = self._bytes.get(digest)
        if data is None:
            data = self._read(digest)
            self.remember(digest, data)
        return data

    def text(self, digest: str) -> str:
        return self.read(digest).decode("utf-8", errors="replace")

    def load(self, ref: Ref) -> object:
        """The content as expressions see it: parsed JSON, or the text itself."""
        key = ref.kind + ref.digest
        if key in self._parsed:
            return self._parsed[key]
        parsed: object = msgspec.json.decode(self.read(ref.digest)) if ref.kind == "json" else self.text(ref.digest)
        self._parsed[key] = parsed
        if len(self._parsed) > _CACHED:
            self._parsed.popitem(last=False)
        return parsed

    def told(self, record: Record, form: str, tell: Callable[[RemarkAdded], T]) -> list[T]:
        """`tell` of every remark, in order, each once: all are shown again and again, and there are only ever more.

        That no remark was read again, and the last one known is still the same object, says so of all before it.
        """
        remarks = record.remarks
        readings, known, told = self._told.get(form, (record.readings, [], []))
        both = min(len(known), len(remarks))
        if readings is not record.readings or (both and known[both - 1] is not remarks[both]):
            known, told = [], []  # another run's, or the same log read anew
        fresh = [remarks[number] for number in range(len(known) + 1, len(remarks) + 1)]
        if fresh or readings is not record.readings:
            self._told[form] = (record.readings, known + fresh, told + [tell(remark) for remark in fresh])
        return cast(list[T], self._told[form][2][: len(remarks)] if form in self._told else [])

    def made_of(self, what: str, values: object, make: Callable[[], T]) -> T:
        """What `make` gives of these values; what it gave the last time where they are the same as then."""
        known = self._made_of.get(what)
        if known is None or not same(known[0], values):
            known = self._made_of[what] = (values, make())
        return cast(T, known[1])

    def shared(self, of: object, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, once for this very object and key: the agents of a step are told much the same."""
        if self._shared[0] is not of:
            self._shared = (of, {})
        made = self._shared[1]
        if key not in made:
            made[key] = make()
        return cast(T, made[key])

    def object(self, digest: str) -> dict[str, object]:
        """A JSON object by digest; "" is the empty one."""
        if not digest:
            return {}
        loaded = self.load(Ref(digest, "json"))
        return loaded if isinstance(loaded, dict) else {}


def same(one: object, other: object) -> bool:
    """Equal, and nothing that makes of them a text could tell them apart: 1, 1.0 and true are three things."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other) if isinstance(one, float) else one == other


def to_json(value: object) -> bytes:
    """Canonical JSON: the same value always has the same digest."""
    return msgspec.json.encode(value, order="sorted")
