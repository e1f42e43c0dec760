"""A map that fills up while the run goes on: what is not in it yet is null in templates.

One job: to mark such a map. Of every other map a name that is missing is an error; the names of these were checked when
the workflow was loaded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


class Growing(dict[str, object]):
    """`coming`: the names that may come; None = any."""

    def __init__(self, values: Mapping[str, object] | None = None, coming: Collection[str] | None = None) -> None:
        super().__init__(values or {})
        self.coming = coming

    def is_to_come(self, name: object) -> bool:
        return name not in self and (self.coming is None or str(name) in self.coming)
