"""A PostgreSQL database as a source. Its address may hold a password: it leaves this object only towards the box."""

from __future__ import annotations

from typing import Literal

from reconvene.adapters.sources import addresses
from reconvene.adapters.sources.questions import Asking, Question, Reply, checked
from reconvene.material_ports import Box, Description, QueryLimits, Rows, Sight, SourceError


class PostgresSource:
    """material_ports.Source."""

    kind: Literal["postgresql"] = "postgresql"

    def __init__(self, url: str, box: Box, limits: QueryLimits | None = None) -> None:
        self._address = addresses.read(url)
        self._url = url
        self._limits = limits or QueryLimits()
        self._asking = Asking(box, "postgres_child", self._address.shown)

    def __repr__(self) -> str:
        return f"PostgresSource({self._address.shown!r})"

    def describe(self) -> Description:
        found = self._asked(Question("describe", self._url, self._limits)).description
        assert found is not None
        return found

    def query(self, text: str, limit: int = 0) -> Rows:
        most = checked(text, self._limits, limit)
        found = self._asked(Question("query", self._url, self._limits, text, most)).rows
        assert found is not None
        return found

    def _asked(self, question: Question) -> Reply:
        sight = Sight(self._address.readable, self._address.sockets, network=True)
        try:
            return self._asking.put(question, sight)
        except SourceError as error:
            told = addresses.redacted(error.message, self._url, self._address.secrets)
            raise SourceError(told, fault=error.fault, hint=error.hint) from None
