"""The read model of a checkpoint: what is asked, what may be decided, who has chosen. A part of `read_model`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from reconvene.app.views.comment_rows import Comment
from reconvene.core.facts.commands import Answers
from reconvene.core.facts.events import Filled


class Shown(Struct, frozen=True, omit_defaults=True):
    """One thing that doors show."""


class Field(Shown, frozen=True):
    """A question with a typed answer."""

    id: str
    type: str  # one of core/definition/field_types.py
    prompt: str
    options: tuple[str, ...] = ()
    required: bool = False
    blank: object = None
    default: object = None
    titles: tuple[str, ...] = ()  # what people read instead of each option, where that differs
    recommend: str = ""  # the option that an agent recommends
    note: str = ""  # what became of an earlier answer
    other: bool = False  # of a choice: other words than the options are an answer too
    follows: str = ""  # the field that it belongs to: it is asked for some of that one's answers
    starts: Mapping[str, str] = field(default_factory=dict)  # those, with what stands in the line at first


class Takes(Shown, frozen=True):
    """What an option takes until the run stops again, by this run's own measurements. None = not known."""

    agents: tuple[str, ...] = ()  # who works, in this order
    calls: int = 0
    minutes: float | None = None
    tokens: int | None = None
    cost: float | None = None
    line: str = ""  # the same in words
    stop: str = ""  # where it stops again


class Option(Shown, frozen=True):
    """Something that may be decided. `offered` False: it has no place here, and people are not shown it."""

    label: str
    available: bool
    why_not: str = ""
    offered: bool = True
    recommend: bool = False
    remark: str = "none"  # none, optional, required
    fields: tuple[Field, ...] = ()
    leads: str = ""  # what follows from it, in words; "" where it was not looked up
    ends: bool = False  # it ends the run otherwise than by its last phase
    acts: tuple[str, ...] = ()  # agents with effects that act again with it
    takes: Takes | None = None  # these seven: where they were looked up
    because: str = ""  # why it is recommended
    against: str = ""  # the best reason on record not to choose it
    against_words: str = ""  # what whoever objects said, where `against` names them
    same_as: str = ""  # another option after which exactly the same happens
    final: str = ""  # why it cannot be taken back; "" = it can
    undo: str = ""  # how it can be taken back; "" = it cannot
    needs: int = 1  # so many different people must choose it


class Approval(Shown, frozen=True):
    """What one of several people chose, where an option needs more than one. `counts`: nothing was changed since, and
    they may still decide."""

    user: str
    by: str
    option: str
    choice: str  # the same where option and answers are the same
    at: str
    version: str  # of the checkpoint: what was shown
    counts: bool = False
    remarks: tuple[str, ...] = ()  # their ids
    answers: Answers = field(default_factory=dict)  # by field; where they were looked up, and so is the next one
    barred: bool = False  # they may not decide any more


class Change(Struct, frozen=True):
    """What another round changed in what an agent says. `was`, `now`: "" where nothing like it was, or is, said."""

    agent: str
    was: str = ""
    now: str = field(default="", name="is")
    also: tuple[str, ...] = ()  # what else differs and is no sentence: a table, code, the order
    because: tuple[str, ...] = ()  # the remarks that the new text proves, or that it names


class Written(Shown, frozen=True):
    """What an agent wrote in the round that a checkpoint is about, by its first lines of substance."""

    agent: str
    lines: tuple[str, ...]
    characters: int
    step: int = 0  # the first is 0
    not_taken: tuple[str, ...] = ()  # files that it wrote and that were not taken, each with the reason


class Checkpoint(Shown, frozen=True):
    id: str
    prompt: str
    options: tuple[Option, ...]
    show_files: tuple[str, ...]
    digest: str  # of what is shown; a decision carries it
    status: str
    attention: bool  # something went wrong that only a person can settle
    opened: str
    feedback: str = ""  # the question for remarks
    fields: tuple[Field, ...] = ()
    answers: Answers | None = None  # so far, by field; None where they were not looked up
    changed: tuple[Change, ...] = ()  # since the round before, what matters first
    unmoved: tuple[str, ...] = ()  # remarks that the agents of the round were shown and that changed nothing of theirs
    since_try: bool = False  # instead: since a try that the person took back
    question: str = ""  # what is to be decided, in one sentence
    filled: Filled | None = None  # which lines may hold words of agents; None = any of them
    outputs: tuple[Written, ...] = ()  # what the agents of the round wrote
    missing: tuple[str, ...] = ()  # agents of the round that gave nothing
    not_taken: tuple[str, ...] = ()  # what lies in the folder of the run and is not taken, each with the reason
    comments: tuple[Comment, ...] = ()  # those that are open
    who: tuple[str, ...] = ()  # names, and teams as team:NAME, who may decide now; () = whoever may decide anything
    assigned: bool = False  # it was handed over to them
    approvals: tuple[Approval, ...] = ()
    deadline: str = ""
    reminder: str = ""  # when people are reminded of it
    reminded: bool = False
    late: bool = False  # the deadline has passed
    late_who: tuple[str, ...] = ()  # who may decide as well from the deadline on
    late_option: str = ""  # or what is taken then
