"""What a commit says: subject, body, trailers, people and times, to git's text and back.

Whatever is put in, a message stays well-formed, and only its very last line counts as the seq: a remark that looks like
a trailer is prose. Knows no repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from reconvene.core.facts.ids import digest_of
from reconvene.errors import Bug
from reconvene.language.late_patterns import late
from reconvene.ports import Commit

RUN, SEQ = "Reconvene-Run", "Reconvene-Seq"
REF = "Reconvene-Ref"  # a name below refs/reconvene/<run>/ under which the commit can be found
_OURS = tuple(name.lower() for name in (RUN, SEQ, REF))
_HOST = "reconvene.invalid"  # a reserved domain: nobody's address
_SEQ_LINE = late(rf"{SEQ}: ([0-9]{{1,18}})")
_TRAILER = late(r"([A-Za-z0-9-]+): (.*)")
_ADDRESSED = late(r"([^<>]+?) ?<([^<>\s@]+@[^<>\s@]+)>")
_CRUD = " .,:;<>\"\\'"  # git drops these from the ends of a name and of an address


class Person(Struct, frozen=True):
    name: str
    email: str


ENGINE = Person("Reconvene", f"engine@{_HOST}")


def compose(run: str, commit: Commit, refs: Sequence[str] = ()) -> str:
    given = [(_key(key), _line(value)) for key, value in commit.trailers]
    trailers = [f"{key}: {value}" for key, value in given if key and key.lower() not in _OURS]
    trailers += [f"{REF}: {name}" for name in refs]
    trailers += [f"{RUN}: {_line(run)}", f"{SEQ}: {commit.seq}"]
    parts = [_line(commit.subject) or "No subject", _block(commit.body), "\n".join(trailers)]
    return "\n\n".join(part for part in parts if part) + "\n"


def seq_of(message: str) -> int | None:
    """None = not one of our commits."""
    match = _SEQ_LINE.fullmatch(message.rstrip("\n").rpartition("\n")[2])
    return int(match[1]) if match else None


def run_of(message: str) -> str:
    """The run that one of our commits names; "" where it names none."""
    line = message.rstrip("\n").split("\n")[-2:-1]
    return line[0].removeprefix(f"{RUN}: ") if line and line[0].startswith(f"{RUN}: ") else ""


def refs_of(message: str) -> list[str]:
    """The names under which one of our commits says that it can be found."""
    lines = message.rstrip("\n").rpartition("\n\n")[2].split("\n")
    return [line.removeprefix(f"{REF}: ") for line in lines if line.startswith(f"{REF}: ")]


def commit_of(message: str, author: Person, seconds: int) -> Commit:
    """The commit again, files left empty. Times are whole seconds: git keeps no more."""
    parts = message.rstrip("\n").split("\n\n")
    trailers = [_TRAILER.fullmatch(line) for line in parts[-1].split("\n")]
    at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return Commit(
        seq=seq_of(message) or 0,
        files={},
        subject=parts[0],
        body="\n\n".join(parts[1:-1]),
        trailers=tuple((trailer[1], trailer[2]) for trailer in trailers if trailer),
        author=author.name if author == person_of(author.name) else f"{author.name} <{author.email}>",
        at=at,
    )


def person_of(author: str) -> Person:
    """ "Ada" or "Ada <ada@example.org>"; without an address one is made up that leads nowhere."""
    author = _line(author)
    match = _ADDRESSED.fullmatch(author)
    name = (match[1] if match else re.sub(r"[<>]", "", author)).strip(_CRUD)
    if not name:
        return ENGINE
    if match:
        return Person(name, match[2].strip(_CRUD))
    slug = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:60] or digest_of(name.encode())[:8]
    return Person(name, f"{slug}@{_HOST}")


def seconds_of(at: str) -> int:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise Bug(f"The log holds a time that cannot be read: {at!r}.") from error
    return max(0, int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()))


def _key(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", key).strip("-")


def _line(text: str) -> str:
    """One line without control characters."""
    return " ".join(_clean(text).split())


def _block(text: str) -> str:
    """Lines as written, without control characters, trailing blanks, or more than one empty line in a row."""
    lines = [line.rstrip() for line in _clean(text.replace("\r\n", "\n")).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _clean(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return "".join(char if char.isprintable() or char in "\n\t" else " " for char in text)
