"""The door to workflow files: load one, parse one, pin one with a run.

Whoever only resumes a run pays for neither YAML nor the checks: they are imported where a file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from reconvene.core.workflow import Workflow
from reconvene.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

_PINNED = msgspec.json.Decoder(Workflow)


def load_workflow(path: str | Path) -> Workflow:
    """The workflow in this file, or in `workflow.yaml` of this folder. WorkflowError with all its problems if bad."""
    from pathlib import Path

    from reconvene.wire import loading

    return loading.load(Path(path))


def parse_workflow(text: str, file: str = "workflow.yaml", resources: Mapping[str, str] | None = None) -> Workflow:
    """The workflow in this text. `resources`: relative path → text of the files beside it. WorkflowError if bad."""
    from reconvene.wire import loading

    return loading.parse(text, file, resources or {})


def pin(workflow: Workflow) -> bytes:
    """The form in which a workflow is stored with its runs."""
    return msgspec.json.encode(workflow)


def unpin(data: bytes) -> Workflow:
    try:
        return _PINNED.decode(data)
    except msgspec.DecodeError as error:  # also the base of msgspec's validation errors
        raise StoreError(f"the workflow stored with this run cannot be read: {error}") from error
