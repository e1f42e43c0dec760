"""Which paths a workspace may hold."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.core.paths import MAX_DEPTH, is_safe, safe_path
from reconvene.errors import UserError

HOSTILE = [
    "", ".", "./", "//", "..", "../x", "a/../b", "a/..", "/etc/passwd", "//host/share", "C:/x", "c:x", "./C:/x", "a\\b",
    "\\\\host\\x", ".git", ".git/hooks/pre-commit", "a/.git/config", ".GIT/config", ".Git", ".git ", ".git.",
    ".git . .", "git~1", "GIT~1/config", "git~2", "gitmod~1", "gi7eba~1", ".g\u200cit/x", "\ufeff.git", ".gi\u200dt",
    "．git/x", ".git::$INDEX_ALLOCATION/x", ".git:stream", ".gitattributes", "a/.GitAttributes", ".gitmodules",
    ".reconvene/log.db", ".Reconvene", "reconv~1", "a\0b", "a\nb", "a\rb", "a\x1b[31m", "a\x7f", "a\x85b",
    "a\u2028b", "a\ud800b", "...", " ", "\u200b", "x" * 256, "é" * 128, "/".join(["ab"] * (MAX_DEPTH + 1)),
    "/".join(["x" * 200] * 3),
]  # fmt: skip

HARMLESS = [
    "a", "draft.md", "scenarios/active/SCENARIO-2026-001/status.md", ".gitignore", "git", "a.git", "a b/c d.txt",
    "naïve/日本.md", "👩‍🔬.md", "..a", "a..b", "ab:c", "-rf", "x" * 255, "é" * 127, "/".join(["ab"] * MAX_DEPTH),
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE, ids=ascii)
def test_a_hostile_name_is_refused_in_printable_words(path: str) -> None:
    with pytest.raises(UserError) as refused:
        safe_path(path)
    assert refused.value.message.isprintable()
    assert refused.value.hint
    assert not is_safe(path)


@pytest.mark.parametrize("path", HARMLESS, ids=ascii)
def test_a_harmless_name_is_kept_as_it_is(path: str) -> None:
    assert safe_path(path) == path
    assert is_safe(path)


@pytest.mark.parametrize("path", ["./a/b", "a//b", "a/./b", "a/b/", "././/a///b"])
def test_a_path_has_one_spelling(path: str) -> None:
    assert safe_path(path) == "a/b"
    assert not is_safe(path)


PIECES = st.sampled_from(
    [".", "..", "/", "\\", "a", "b.md", ".git", "~", "C:", " ", "\0", "\n", "git~1", "\u200c", "é"]
)


@given(st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join)))
def test_no_accepted_path_leaves_the_root_and_accepting_is_stable(path: str) -> None:
    try:
        clean = safe_path(path)
    except UserError:
        return
    root = os.path.realpath("/srv/none/such")
    assert os.path.realpath(os.path.join(root, clean)) == os.path.join(root, clean)
    assert safe_path(clean) == clean
    assert not {part.casefold() for part in clean.split("/")} & {".git", "..", ".", "", ".reconvene", ".gitattributes"}
