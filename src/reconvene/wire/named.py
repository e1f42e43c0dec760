"""Parts of a workflow that stand under a name of their own, to be used by it: checkpoints, gates, sets of fields."""

from __future__ import annotations

from reconvene.wire.problems import shown
from reconvene.wire.reading import Reading
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, Sequence


class Named:
    def __init__(self, reading: Reading, root: Mapping, key: str, what: str, usage: tuple[str, str]) -> None:
        """`what` is under `key`; `usage`: who may use it, and with which key."""
        self._reading = reading
        node = root.get(key)
        self._parts = node if isinstance(node, Mapping) else Mapping({}, root.line)
        self._key = key
        self._what = what
        self._usage = usage
        self._used: set[str] = set()

    def find(self, name: str, line: int) -> Node | None:
        """The part of that name; None with a problem noted, or where its own problem is."""
        self._used.add(name)
        found = self._parts.get(name)
        if found is None and not self._parts.wrote(name):
            message = f"there is no {self._what} '{shown(name)}' under '{self._key}'"
            self._reading.add_unknown(line, message, name, self._parts.entries)
        return found

    def spread(self, node: Node | None) -> tuple[Mapping, ...]:
        """A list of mappings and names, or one of them: all the mappings, in their order."""
        match node:
            case Mapping():
                return (node,)
            case Scalar(value=str() as name):
                return _mappings(self.find(name, node.line))
            case Sequence(items=items):
                return tuple(each for item in items for each in self.spread(item))
            case _:
                return ()

    def check_all_used(self) -> None:
        for name in self._parts.entries:
            line = self._parts.line_of(name)
            self._reading.name(name, line, f"a {self._what}")
            if name not in self._used:
                user, key = self._usage
                message = f"no {user} uses the {self._what} '{shown(name)}'"
                self._reading.add(line, message, f"write {key}: {name} in one, or remove it")


def _mappings(node: Node | None) -> tuple[Mapping, ...]:
    found = node.items if isinstance(node, Sequence) else (node,)
    return tuple(each for each in found if isinstance(each, Mapping))
