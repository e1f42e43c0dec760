"""A link that is put in the place of a parked run's folder is not followed, and the run goes on once it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command

FLOW = """\
name: flow
{workspace}
agents: {{writer: {{command: [sh, -c, 'cat >/dev/null; date > draft.md']}}}}
phases:
- {{id: draft, agents: [writer], checkpoint: {{approval_required: true}}}}
- {{id: more, agents: [writer]}}
"""
CASES = {
    "a folder above the workspace that the workflow chose": ('workspace: "reports/{{ run }}"', "reports"),
    "the workspace that the workflow chose": ('workspace: "reports/{{ run }}"', "reports/flow-1"),
    "the folder below the home": ("", ".reconvene/runs/flow-1"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("words", [("decide", "flow-1", "--option", "Continue"), ("rollback", "flow-1")])
def test_nothing_is_written_behind_the_link_and_the_decision_is_possible_without_it(
    case: str, words: tuple[str, ...], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, reconvene: Command
) -> None:
    workspace, name = CASES[case]
    (tmp_path / "flow.yaml").write_text(FLOW.format(workspace=workspace), encoding="utf-8")
    assert reconvene("run", "flow.yaml").code == 3
    outside, place = tmp_path_factory.mktemp("outside"), tmp_path / name
    (outside / "secret.md").write_text("secret")
    place.rename(tmp_path / "kept")
    place.symlink_to(outside)

    done = reconvene(*words)
    assert done.code == 1
    assert f"{place} is a link and leads to {outside}" in done.err
    assert "reconvene resume" in done.err
    assert [path.name for path in outside.iterdir()] == ["secret.md"]
    assert "secret" not in reconvene("log", "flow-1").out
    assert reconvene("show", "flow-1", "--json").object["phase"] == "draft"

    place.unlink()
    assert reconvene(*words).code == (0 if words[0] == "decide" else 3)
    assert list(tmp_path.glob(f"{name}/**/draft.md"))


def test_a_link_put_there_while_agents_work_stops_the_run_until_it_is_gone(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, reconvene: Command
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    link = f"ln -s {outside} {tmp_path}/.reconvene/runs/flow-1"
    swap = f"cat >/dev/null; mkdir {tmp_path}/once && {link}; echo hello > draft.md"
    (tmp_path / "flow.yaml").write_text(
        f"name: flow\nagents: {{writer: {{command: [sh, -c, '{swap}']}}}}\nphases:\n- {{id: draft, agents: [writer]}}\n"
    )
    (tmp_path / ".reconvene" / "runs").mkdir(parents=True)
    assert "is a link" in reconvene("run", "flow.yaml").err
    assert list(outside.iterdir()) == []
    (tmp_path / ".reconvene" / "runs" / "flow-1").unlink()
    assert reconvene("resume", "flow-1").code == 0
    assert (tmp_path / ".reconvene" / "runs" / "flow-1" / "draft.md").read_text() == "hello\n"
