"""What is asked of a desk: what a service keeps for a person beside the logs. Structs and Protocols; nothing here acts.

A draft of a decision, which files they have looked at, how far they have read, what they put off, which requests were
answered, who is signed in, what they uploaded. None of it is a fact of a run: whoever loses a desk loses no fact.
People are known by name, runs by id. Times are ISO 8601 UTC as a `Clock` gives them; whoever asks says what time it is.
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple, Protocol

MOST_DRAFT = 1_000_000  # characters
MOST_TICKS = 5_000  # files of one run that one person ticked
MOST_KEY = 255  # characters of a request's key
MOST_UPLOAD = 64 * 1024 * 1024  # bytes of one file; more is not read as a document either
MOST_UPLOADS = 1024 * 1024 * 1024  # bytes of all that one person has uploaded and not used
KEPT_HOURS = 24  # answers to requests
KEPT_DAYS = 7  # uploads that nobody used


class Draft(NamedTuple):
    """A decision that is being prepared. `doc` is the page's own affair, "" = there is none. The revision grows with
    every change, also with the one that takes the draft away."""

    revision: int = 0
    doc: str = ""
    at: str = ""


class Drafts(Protocol):
    def draft(self, person: str, run: str, checkpoint: str) -> Draft: ...

    def drafts(self, person: str, run: str) -> dict[str, Draft]:
        """By checkpoint, those of a run that there are, oldest first."""

    def keep_draft(self, person: str, run: str, checkpoint: str, doc: str, revision: int, now: str) -> Draft:
        """In place of the revision that was read; Conflict where another page has changed it since. UserError where it
        is too long."""

    def drop_draft(self, person: str, run: str, checkpoint: str, now: str) -> None:
        """It was sent, or thrown away. A page that still has it open gets a Conflict."""


class Mark(NamedTuple):
    """How far a person is with a run: up to which event they marked it as read, the last one that they were shown, and
    when each was. 0 and "" = never."""

    read: int = 0
    read_at: str = ""
    seen: int = 0
    seen_at: str = ""


class Snooze(NamedTuple):
    """A run that is hidden from the inbox: until this time ("" = no time ends it), and with `seq`, until the log has
    more than these events (0 = no event ends it)."""

    until: str
    seq: int = 0

    def holds(self, now: str, head: int) -> bool:
        return (not self.until or now < self.until) and (not self.seq or head <= self.seq)


class Marks(Protocol):
    def tick(self, person: str, run: str, path: str, digest: str, now: str) -> None:
        """They have looked at the file as it is with this digest; "" takes the tick away."""

    def ticked(self, person: str, run: str) -> dict[str, str]:
        """path → the digest that they looked at. A tick counts while the file still has it."""

    def mark_read(self, person: str, run: str, seq: int, now: str) -> None: ...

    def mark_seen(self, person: str, run: str, seq: int, now: str) -> None:
        """Neither ever goes back to an earlier event."""

    def mark(self, person: str, run: str) -> Mark: ...

    def last_here(self, person: str) -> str:
        """When they were last shown any run, "" = never."""

    def snooze(self, person: str, run: str, snooze: Snooze) -> None:
        """UserError where nothing would end it."""

    def wake(self, person: str, run: str) -> None: ...

    def snoozed(self, person: str, now: str) -> dict[str, Snooze]:
        """By run, those that no time has ended. Whether an event has, `Snooze.holds` says."""


class Reply(NamedTuple):
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Kept(NamedTuple):
    """A request with a key. `since`: when the first with this key was begun. `again`: it was begun before. `other`:
    that one asked for something else. `reply`: what was answered; None = nobody has answered it, and whoever began it
    may be at it or gone. Whether it had its effect, the log says."""

    since: str
    again: bool = False
    other: bool = False
    reply: Reply | None = None


class Requests(Protocol):
    """So that a request which is sent twice is answered the same. Kept for `KEPT_HOURS`."""

    def claim(self, person: str, key: str, fingerprint: str, *, now: str) -> Kept:
        """Begin it, or find what was begun. Without a reply it is to be carried out, unless the log says that it was.
        UserError where the key is too long."""

    def answer(self, person: str, key: str, reply: Reply, now: str) -> None:
        """What the request that was claimed is answered, now and to all who repeat it."""

    def let_go(self, person: str, key: str) -> None:
        """It was claimed and had no effect: whoever repeats it carries it out. One that was answered stays."""


class WebSession(NamedTuple):
    person: str
    made: str
    used: str
    expires: str


class WebSessions(Protocol):
    """Who is signed in. The secret is what the browser holds; only its hash is kept."""

    def begin_session(self, secret: str, person: str, now: str, expires: str) -> None: ...

    def session(self, secret: str, now: str) -> WebSession | None:
        """None where it is unknown, was ended, or has expired. That it was used is noted, to the minute."""

    def sessions(self, person: str, now: str) -> list[WebSession]:
        """Those that hold, oldest first."""

    def end_session(self, secret: str) -> None: ...

    def end_sessions(self, person: str) -> int:
        """All of this person; how many there were."""


class Upload(NamedTuple):
    """A file that a person sent: known by its digest, among those of the person."""

    digest: str
    name: str
    size: int
    person: str
    at: str
    run: str = ""  # that was given it; "" = none yet


class Uploads(Protocol):
    def keep_upload(self, person: str, name: str, file: BinaryIO, now: str) -> Upload:
        """Read to its end. The same bytes again are the same upload, with the newest name. UserError where it is too
        large, or they have too much lying there."""

    def upload(self, person: str, digest: str) -> Upload | None:
        """None where this person has no such one, or its bytes are gone."""

    def uploads(self, person: str) -> list[Upload]:
        """Oldest first."""

    def upload_path(self, upload: Upload) -> str:
        """A file with these bytes, under the upload's own name. Not to be changed."""

    def use_upload(self, person: str, digest: str, run: str) -> None:
        """A run was given it: it stays as long as the run does."""

    def drop_upload(self, person: str, digest: str) -> None: ...


class Desk(Drafts, Marks, Requests, WebSessions, Uploads, Protocol):
    """All of it. Safe to share between threads; any number of processes may have one open."""

    def drop_run(self, run: str) -> None:
        """The run was deleted: nothing of it stays here."""

    def drop_person(self, person: str) -> None:
        """Nothing of theirs stays here."""

    def sweep(self, now: str) -> None:
        """Take away what nobody will ask for any more. Whoever serves does this now and then."""

    def close(self) -> None: ...
