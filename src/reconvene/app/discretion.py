"""What may not get into a log: values of secrets that agents or people wrote down. See `reconvene.secrets`.

Texts are blanked. A file that an agent wrote is taken whole or not at all: one that holds a secret is kept aside, in
the home and outside of the log, until a person says that it is to be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeVar

from reconvene.core.definition.bindings import Binding
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.commands import (
    Abort,
    AddRemark,
    AnswerCheckpoint,
    Command,
    ReadRemark,
    Reopen,
    Replan,
    Rollback,
    SaveDraft,
)
from reconvene.errors import UserError
from reconvene.ports import Answer
from reconvene.secrets import Secrets
from reconvene.shelf_ports import Aside

_SPOKEN = (AnswerCheckpoint, AddRemark, ReadRemark, SaveDraft, Rollback, Replan, Abort, Reopen)  # what people say
_C = TypeVar("_C", bound=Command)


class Discretion:
    def __init__(
        self, environ: Mapping[str, str] | None = None, aside_for: Callable[[], Aside | None] = lambda: None
    ) -> None:
        self._environ = environ or {}
        self._aside_for = aside_for
        self._known: dict[frozenset[str], Secrets] = {}

    @cached_property
    def aside(self) -> Aside | None:
        """Loaded when it is first needed, which is seldom."""
        return self._aside_for()

    def of(self, workflow: Workflow) -> Secrets:
        """Those of the environment, and of the variables that its agents are given."""
        named = frozenset(name for agent in workflow.agents.values() for name in agent.env)
        if named not in self._known:
            self._known[named] = Secrets(self._environ, named)
        return self._known[named]

    def said(self, workflow: Workflow, command: _C) -> _C:
        return self.of(workflow).blank_in(command) if isinstance(command, _SPOKEN) else command

    def refuse(self, workflow: Workflow, pinned: bytes, bindings: tuple[Binding, ...]) -> None:
        """UserError where a secret stands in what agents are started with: blanked, it would not work."""
        secrets = self.of(workflow)
        if names := secrets.names_in(pinned, plain=False):
            where, advice = f"The workflow {workflow.name}", "Let the command read the variable, and name it in `env:`."
        elif names := secrets.names_in(repr(bindings).encode(), plain=False):
            where, advice = "The command line", "Let the command read the variable instead: it is given to no log."
        else:
            return
        raise UserError(f"{where} holds the value of {names[0]}, and would be stored with the run.", hint=advice)

    def hold_back(self, run: str, secrets: Secrets, answer: Answer) -> Answer:
        """The answer without secrets, and without the files that hold one: those are kept aside, and named."""
        if not secrets and not answer.held:
            return answer
        found = {path: secrets.names_in(data) for path, data in answer.files.items()}
        held = {**answer.held, **{path: answer.files[path] for path, names in found.items() if names}}
        taken = {path: data for path, data in answer.files.items() if path not in held}
        how = f"reconvene take {run} " if answer.project is None else f"reconvene take {run} --to FILE "
        why = tuple(self._keep(run, path, held[path], secrets.names_in(held[path]), how) for path in sorted(held))
        return secrets.of_answer(answer._replace(files=taken, ignored=(*why, *answer.ignored), held={}))

    def _keep(self, run: str, path: str, data: bytes, names: tuple[str, ...], how: str) -> str:
        why = f"it holds the value of {' and '.join(names)}" if names else "it makes programs run things"
        if self.aside is None:
            return f"{path}: {why}"
        try:
            self.aside.keep(run, path, data)
        except OSError as error:
            return f"{path}: {why}, and could not be kept aside: {error.strerror or error}"
        return f"{path}: {why}. It is kept aside: {how}{path}"
