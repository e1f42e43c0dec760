"""An index of passages in a SQLite file: full text (FTS5), and vectors as blobs.

Contents are kept once, by how they are cut and their digest, for all runs; what a run may see of them is a table of its
own, and every search goes through it. Vectors are made when somebody first compares meanings: bringing the words up to
date takes milliseconds, and needs no library.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from reconvene.adapters.search import index_file
from reconvene.adapters.search.fusion import FIRST, fused
from reconvene.adapters.search.query_words import spaced, telling
from reconvene.errors import StoreError
from reconvene.search_ports import Content, Cut, Embedder, Hit, Kind, Unembedded

_KINDS: tuple[Kind, ...] = ("file", "document", "output", "talk", "audit")  # of the same text, the first is told
_RANKED = 50  # passages of a ranking that count
_READ = 4  # times as many are looked at: the same text may stand in several
_SECONDS = 30.0  # that making vectors may take in one search; what is left is done in the next
_QUESTION = 2_000  # characters of a query that are compared by meaning


class PassageIndex:
    """`embedder`: who turns texts into vectors; None = nobody does, because of `without`."""

    def __init__(self, path: str, embedder: Embedder | None = None, without: str = "") -> None:
        self.model = embedder.name if embedder is not None else ""
        self.left_out = ""
        self._path = path
        self._embedder = embedder
        self._without = without
        self._db = index_file.opened(path)

    # --- keeping it up ---

    def mark(self, run: str) -> str:
        with self._whole():
            found = self._db.execute("SELECT mark FROM runs WHERE run = ?", (run,)).fetchone()
        return str(found[0]) if found else ""

    def refresh(
        self, run: str, mark: str, contents: Sequence[Content], cut: Callable[[Content], Sequence[Cut]]
    ) -> None:
        with self._whole():
            known = set(self._db.execute("SELECT cut, digest FROM contents"))
        fresh = {(one.cut, one.digest): one for one in contents if (one.cut, one.digest) not in known}
        cuts = {key: list(cut(one)) for key, one in fresh.items()}
        with self._whole(), self._transaction():
            for key, parts in cuts.items():
                self._add(key, parts)
            ids = {(one[1], one[2]): one[0] for one in self._db.execute("SELECT id, cut, digest FROM contents")}
            if any((one.cut, one.digest) not in ids for one in contents):
                return  # another process forgot some of them meanwhile: the mark stays behind, and the next one does it
            self._db.execute("DELETE FROM visible WHERE run = ?", (run,))
            rows = [(run, one.kind, one.cite, one.name, ids[one.cut, one.digest]) for one in contents]
            self._db.executemany("INSERT OR REPLACE INTO visible VALUES (?, ?, ?, ?, ?)", rows)
            self._db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (run, mark))
            self._drop_unseen()

    def _add(self, key: tuple[str, str], parts: Iterable[Cut]) -> None:
        added = self._db.execute("INSERT OR IGNORE INTO contents (cut, digest) VALUES (?, ?)", key)
        if not added.rowcount:
            return  # another process did
        content = added.lastrowid
        for part in parts:
            row = self._db.execute(
                "INSERT INTO passages (content, place, heading, text) VALUES (?, ?, ?, ?)",
                (content, _storable(part.place), _storable(part.heading), _storable(part.text)),
            )
            words = (row.lastrowid, spaced(_storable(part.heading)), spaced(_storable(part.text)))
            self._db.execute("INSERT INTO words (rowid, heading, text) VALUES (?, ?, ?)", words)

    def _drop_unseen(self) -> None:
        """What no run may see any more."""
        gone = self._db.execute("SELECT id FROM contents WHERE id NOT IN (SELECT content FROM visible)").fetchall()
        if not gone:
            return
        of_gone = "(SELECT id FROM passages WHERE content = ?)"
        self._db.executemany(f"DELETE FROM words WHERE rowid IN {of_gone}", gone)
        self._db.executemany(f"DELETE FROM vectors WHERE passage IN {of_gone}", gone)
        self._db.executemany("DELETE FROM passages WHERE content = ?", gone)
        self._db.executemany("DELETE FROM contents WHERE id = ?", gone)

    def forget(self, run: str) -> None:
        with self._whole(), self._transaction():
            self._db.execute("DELETE FROM visible WHERE run = ?", (run,))
            self._db.execute("DELETE FROM runs WHERE run = ?", (run,))
            self._drop_unseen()
            # Deleted words stay in the segments of the full text until these are merged.
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")

    def close(self) -> None:
        self._db.close()

    # --- searching ---

    def find(self, run: str, query: str, kinds: Collection[Kind], limit: int, meaning: bool) -> list[Hit]:
        self.left_out = ""
        with self._whole():
            asked = telling(query)
            words = self._by_words(run, asked, kinds)
            alike = self._by_meaning(run, query, kinds) if meaning else []
            ranked = fused(words, alike, self._sure(words[:FIRST], asked) if alike else ())[: max(0, limit)]
            return [hit for one, score in ranked if (hit := self._hit(run, one, kinds, score)) is not None]

    def _by_words(self, run: str, asked: Sequence[str], kinds: Collection[Kind]) -> list[int]:
        if not asked:
            return []
        seen, values = _seen(run, kinds)
        rows = self._db.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({seen}) ORDER BY rank, rowid LIMIT ?",
            (" OR ".join(asked), *values, _RANKED * _READ),
        )
        return self._once([row[0] for row in rows])

    def _sure(self, passages: Sequence[int], asked: Sequence[str]) -> set[int]:
        """Those that hold at least half of the words."""
        query = f"SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({_marks(passages)})"
        held = Counter(row[0] for word in asked for row in self._db.execute(query, (word, *passages)))
        return {one for one, count in held.items() if 2 * count >= len(asked)}

    def _by_meaning(self, run: str, query: str, kinds: Collection[Kind]) -> list[int]:
        if self._embedder is None:
            self.left_out = self._without
            return []
        try:
            (asked,) = self._embedder.embed([query[:_QUESTION]], query=True) if query.strip() else (b"",)
            if not asked:
                return []
            self._embed(run, self._embedder)
        except Unembedded as error:
            self.left_out = str(error)
            return []
        from reconvene.adapters.search.vectors import nearest

        seen, values = _seen(run, kinds)
        rows = self._db.execute(
            f"SELECT passage, vector FROM vectors WHERE model = ? AND passage IN ({seen}) ORDER BY passage",
            (self.model, *values),
        )
        return self._once(nearest(asked, rows.fetchall(), _RANKED * _READ))

    def _embed(self, run: str, embedder: Embedder) -> None:
        """Vectors for what has none of this model, as long as there is time."""
        seen, values = _seen(run, ())
        lacking = self._db.execute(
            f"SELECT id, heading, text FROM passages WHERE id IN ({seen})"
            " AND id NOT IN (SELECT passage FROM vectors WHERE model = ?) ORDER BY id",
            (*values, embedder.name),
        ).fetchall()
        until = time.monotonic() + _SECONDS
        for at in range(0, len(lacking), embedder.batch):
            if time.monotonic() > until:
                self.left_out = (
                    f"{len(lacking) - at} passages have no vectors of {embedder.name} yet, and are compared by words; "
                    "search again to go on"
                )
                return
            some = lacking[at : at + embedder.batch]
            made = embedder.embed([f"{heading}\n{text}" if heading else text for _, heading, text in some])
            rows = [(row[0], embedder.name, vector) for row, vector in zip(some, made, strict=True)]
            with self._transaction():
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _once(self, ranked: Sequence[int]) -> list[int]:
        """Of passages with the same text, headings apart, the first."""
        rows = self._db.execute(f"SELECT id, text FROM passages WHERE id IN ({_marks(ranked)})", ranked)
        texts: dict[int, str] = dict(rows.fetchall())
        first: dict[str, int] = {}
        for one in ranked:
            told = " ".join(line for line in texts.get(one, "").split("\n") if not line.startswith("#")).split()
            first.setdefault(" ".join(told) or texts.get(one, ""), one)
        return list(first.values())[:_RANKED]

    def _hit(self, run: str, passage: int, kinds: Collection[Kind], score: float) -> Hit | None:
        """As what the run sees it, and of several the first kind."""
        row = self._db.execute(
            "SELECT content, place, heading, text, cut, digest FROM passages JOIN contents ON contents.id = content"
            " WHERE passages.id = ?",
            (passage,),
        ).fetchone()
        if row is None:
            return None  # another process forgot it a moment ago
        seen = self._db.execute("SELECT kind, name, cite FROM visible WHERE run = ? AND content = ?", (run, row[0]))
        fitting = [one for one in seen if not kinds or one[0] in kinds]
        if not fitting:
            return None
        kind, name, cite = min(fitting, key=lambda one: (_KINDS.index(one[0]), one[2]))
        return Hit(Content(kind, name, row[5], cite, row[4]), Cut(row[1], row[3], row[2]), score)

    # --- the file ---

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """What SQLite complains of, in words. A damaged file is not used any more: the next search makes a new one."""
        try:
            yield
        except sqlite3.OperationalError as error:
            hint = "The index is made from the log: try again, or delete the file, and it is made anew."
            raise StoreError(f"The search index {self._path} cannot be used ({error}).", hint=hint) from error
        except sqlite3.DatabaseError as error:
            self._db.close()
            index_file.discard(self._path)
            self._db = index_file.opened(self._path)
            hint = "It was made from the log, and is made again with the next search: type the same command again."
            raise StoreError(f"The search index {self._path} was damaged ({error}).", hint=hint) from error


def _seen(run: str, kinds: Collection[Kind]) -> tuple[str, tuple[str, ...]]:
    """The passages that a run may see, as SQL and its values."""
    of_kinds = f" AND kind IN ({_marks(kinds)})" if kinds else ""
    inner = f"SELECT content FROM visible WHERE run = ?{of_kinds}"
    return f"SELECT id FROM passages WHERE content IN ({inner})", (run, *kinds)


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


def _storable(text: str) -> str:
    """Without what no database takes: halves of characters, and zero bytes, at which full text ends."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
