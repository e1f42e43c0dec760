"""The door to workflow files: load one, parse one. YAML and the checks are imported where a file is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reconvene.core.definition.workflow import Workflow

if TYPE_CHECKING:
    from pathlib import Path

    from reconvene.errors import Problem


def load_workflow(path: str | Path) -> Workflow:
    """The workflow in this file, or in `workflow.yaml` of this folder. WorkflowError with all its problems if bad."""
    from pathlib import Path

    from reconvene.wire import loading

    return loading.load(Path(path))


def workflow_warnings(path: str | Path) -> list[Problem]:
    """What is not wrong in this workflow, and yet hardly meant."""
    from pathlib import Path

    from reconvene.wire import loading

    return loading.warnings(Path(path))


def parse_workflow(text: str, file: str = "workflow.yaml", resources: Mapping[str, str] | None = None) -> Workflow:
    """The workflow in this text. `resources`: relative path → text of the files beside it. WorkflowError if bad."""
    from reconvene.wire import loading

    return loading.parse(text, file, resources or {})
