"""What is asked for and given of runs as a whole, and of the people of the home."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from reconvene.app.views.read_model import Run
from reconvene.app.views.workflow_changes import Changed
from reconvene.doors.rest.bodies import Short
from reconvene.doors.rest.operations import Body, Query

Role = Literal["viewer", "reviewer", "decider", "admin"]
Word = Annotated[str, Meta(min_length=1, max_length=64)]


class Search(Query, frozen=True):
    query: Annotated[str, Meta(max_length=2_000, description="What to look for.")] = ""
    kinds: Annotated[str, Meta(max_length=100, description="Only in some of files,documents,outputs,talk,audit.")] = ""
    text_only: Annotated[bool, Meta(description="Compare words alone, not what texts mean.")] = False
    limit: Annotated[int, Meta(ge=1, le=100)] = 8


class Cited(Query, frozen=True):
    what: Annotated[str, Meta(max_length=2_000, description="As a search cites it: plan.md:10-24, event 41.")] = ""


class ImportAs(Query, frozen=True):
    name: Annotated[str, Meta(max_length=200, description="Another id, where there is another run of the same.")] = ""


class UpgradeBody(Body, frozen=True):
    """`workflow`: one that may be started here. `inputs`: those that the run does not have yet, as at a start. `drop`:
    values on record that the workflow need not have any more."""

    workflow: Annotated[str, Meta(min_length=1, max_length=200)]
    inputs: Annotated[dict[str, Any], Meta(max_length=100)] = field(default_factory=dict)
    drop: Annotated[tuple[Short, ...], Meta(max_length=100)] = ()
    dry_run: bool = False


class PersonBody(Body, frozen=True):
    name: Word
    role: Role
    teams: Annotated[tuple[Word, ...], Meta(max_length=50)] = ()
    account: Annotated[str, Meta(max_length=64)] = ""


class PersonChanged(Body, frozen=True):
    """What is left out stays."""

    role: Role | None = None
    teams: Annotated[tuple[Word, ...], Meta(max_length=50)] | None = None
    account: Annotated[str, Meta(max_length=64)] | None = None


class TokenBody(Body, frozen=True):
    expires: Annotated[str, Meta(min_length=1, max_length=40, description="After how long: 12h, 30d, 8w.")] = "90d"
    label: Annotated[str, Meta(max_length=200)] = ""


# --- what is given ---
class FoundPassage(Struct, frozen=True):
    cite: str
    kind: str
    name: str
    place: str
    heading: str
    text: str
    score: float


class FoundPassages(Struct, frozen=True):
    """`model`: what compared meanings, "" = words alone were. `left_out`: what could not be looked through."""

    run: str
    query: str
    model: str
    left_out: str
    found: tuple[FoundPassage, ...]


class Imported(Struct, frozen=True):
    run: str
    head: int
    chain: str
    already: bool
    left_out: int


class Upgraded(Struct, frozen=True):
    """`passed`: new phases that the run is past. `unbound`: agents whose binding holds no more."""

    run: Run
    before: str
    workflow: str
    changes: tuple[Changed, ...]
    passed: tuple[str, ...]
    unbound: tuple[str, ...]
    dropped: tuple[str, ...]
    dry_run: bool


class TokenShown(Struct, frozen=True):
    id: str
    person: str
    label: str
    made: str
    expires: str
    revoked: str = ""
    token: str = ""  # itself: told once, when it is made


class PersonShown(Struct, frozen=True):
    name: str
    role: Role
    teams: tuple[str, ...] = ()
    account: str = ""
    tokens: tuple[TokenShown, ...] = ()


class Everyone(Struct, frozen=True):
    people: tuple[PersonShown, ...]
