"""A sample project for the demo: the files that come with a workflow, written out as a git repository with one commit.

Knows git only as a program, and gives it no configuration, hook or name of the person's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from reconvene.errors import UserError

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Reconvene demo",
    "GIT_AUTHOR_EMAIL": "demo@localhost",
    "GIT_COMMITTER_NAME": "Reconvene demo",
    "GIT_COMMITTER_EMAIL": "demo@localhost",
}


def write_sample(below: Path, name: str, files: Mapping[str, str]) -> Path:
    """The folder of a new repository `name`-N with these files in it."""
    git = shutil.which("git")
    if git is None:
        raise UserError("this demo changes a project on a branch, and needs git", hint="install git, then try again")
    number = 1
    while (below / f"{name}-{number}").exists():
        number += 1
    root = below / f"{name}-{number}"
    root.mkdir(parents=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "A pantry"]):
        subprocess.run([git, *words], cwd=root, env={**_plain(os.environ), **_ENVIRONMENT}, check=True)
    return root.resolve()


def _plain(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what would point git at another repository."""
    return {name: value for name, value in environ.items() if not name.startswith("GIT_")}
