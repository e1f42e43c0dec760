"""A package put into a folder as an installer would: its modules, and a .dist-info with its entry points.

By hand, because a fresh environment has neither pip nor a network.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path


def install(package: Path, target: Path) -> None:
    """`package`: a folder with a pyproject.toml and src/."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(package / "src", target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    name, version = project["name"].replace("-", "_"), project["version"]
    info = target / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n")
    lines: list[str] = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in points.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))
