from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.core.definition.workflow import Input, Setting, Workflow
from reconvene.doors.cli.typed_values import missing_inputs, read_inputs, read_settings
from reconvene.errors import UserError

WORKFLOW = Workflow(
    "w",
    (),
    inputs={
        "question": Input("text", required=True),
        "count": Input("number"),
        "fast": Input("bool"),
        "shape": Input("json"),
        "company": Input("file"),
        "documents": Input("files"),
        "resources": Input("folder"),
    },
    settings={"depth": Setting("number", default=1), "auto": Setting("bool", default=False)},
)


def test_inputs_take_the_types_of_the_workflow() -> None:
    assert read_inputs(WORKFLOW, ["question=a=b", "count=2.5", "fast=on", 'shape={"a": [1]}']) == {
        "question": "a=b",
        "count": 2.5,
        "fast": True,
        "shape": {"a": [1]},
    }


def test_a_file_gives_its_content_with_or_without_the_at_sign(tmp_path: Path) -> None:
    file = tmp_path / "company.md"
    file.write_text("# We\nmake things\n", encoding="utf-8")
    for typed in (f"company=@{file}", f"company={file}", f"question=@{file}"):
        assert list(read_inputs(WORKFLOW, [typed]).values()) == ["# We\nmake things\n"]


def test_files_add_up_and_a_folder_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.md").write_text("A", encoding="utf-8")
    (tmp_path / "in" / "b.md").write_text("B", encoding="utf-8")
    (tmp_path / ".hidden").write_text("H", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "a.md")
    given = [f"documents=@{tmp_path / 'a.md'}", f"documents=@{tmp_path / 'in' / 'b.md'}", f"resources={tmp_path}"]
    assert read_inputs(WORKFLOW, given) == {
        "documents": [{"name": "a.md", "text": "A"}, {"name": "b.md", "text": "B"}],
        "resources": [{"name": "a.md", "text": "A"}, {"name": "in/b.md", "text": "B"}],
    }


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["questoin=x"], "did you mean question?"),
        (["question"], "is not name=value"),
        (["=x"], "is not name=value"),
        (["count=many"], "must be a number"),
        (["count=nan"], "finite"),
        (["fast=perhaps"], "true or false"),
        (["shape={"], "not valid JSON"),
        (["company=@/no/such/file"], "there is no such file"),
        (["company=/"], "is a folder"),
        (["company=\0"], "company"),
        (["resources=/no/such/folder"], "is not a folder"),
        (["count=1", "count=2"], "given twice"),
    ],
)
def test_a_bad_input_is_refused_in_one_clear_message(typed: list[str], said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_inputs(WORKFLOW, typed)
    assert said in refused.value.message + refused.value.hint


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not UTF-8 text"):
        read_inputs(WORKFLOW, [f"company=@{tmp_path / 'x.bin'}"])


def test_missing_required_inputs_are_named() -> None:
    assert missing_inputs(WORKFLOW, {}) == ["question"]
    assert missing_inputs(WORKFLOW, {"question": " "}) == ["question"]
    assert missing_inputs(WORKFLOW, {"question": "why"}) == []


def test_settings_take_their_types_and_unknown_ones_are_refused() -> None:
    assert read_settings(WORKFLOW, ["depth=3", "auto=true"]) == {"depth": 3, "auto": True}
    with pytest.raises(UserError) as refused:
        read_settings(WORKFLOW, ["deptj=3"])
    assert refused.value.hint == "did you mean depth?"


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    typed = ["count=many", "company=@nowhere.md", "quest=why?", "fast", "question=fine", "question=twice"]
    with pytest.raises(UserError) as caught:
        read_inputs(WORKFLOW, typed)
    first, *rest = caught.value.message.split("\n")
    assert first == "5 of the inputs are wrong:"
    for part, line in zip(("'count'", "nowhere.md", "'quest'", "'fast'", "given twice"), rest, strict=True):
        assert part in line
    assert "(did you mean question?)" in rest[2]
    with pytest.raises(UserError, match="2 of the settings are wrong"):
        read_settings(WORKFLOW, ["depth=deep", "autos=true"])
