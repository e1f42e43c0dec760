"""Which values of an environment count as secrets, and in which spellings they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.ports import Progress
from reconvene.secrets import Secrets, too_short

PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END KEY-----\n"


@pytest.mark.parametrize(
    ("name", "value", "text", "shown"),
    [
        ("OPENAI_API_KEY", "sk-1234567", "a sk-1234567 b", "a [redacted] b"),
        ("apikey", "sk-1234567", "sk-1234567", "[redacted]"),
        ("GH_TOKEN", "ghp_abcdef", "ghp_abcdefg", "[redacted]g"),
        ("DB_PASSWORD", 'a"b\\c/défg', r"""{"p": "a\"b\\c/défg"}""", '{"p": "[redacted]"}'),
        ("DB_PASSWORD", "a/b c&défg", "x=a%2Fb%20c%26d%C3%A9fg;", "x=[redacted];"),
        ("DATABASE_URL", "pg://u:longpassword@h/x", "it is longpassword, at h/x", "it is [redacted], at h/x"),
        ("SSH_KEY", PEM, "  MIIEvQIBADANBgkqhkiG\n  and more", "  [redacted]\n  and more"),
        ("SSH_KEY", PEM, "-----BEGIN KEY-----", "-----BEGIN KEY-----"),
        ("SHORT_KEY", "abc", "abc", "abc"),
        ("MONKEY_HOUSE", "banana-split", "banana-split", "banana-split"),
        ("EDITOR", "vim-in-a-terminal", "vim-in-a-terminal", "vim-in-a-terminal"),
    ],
)
def test_by_name(name: str, value: str, text: str, shown: str) -> None:
    assert Secrets({name: value}).blank_text(text) == shown


@pytest.mark.parametrize(
    ("value", "counts"), [("user:pass1234", True), ("production", False), ("127.0.0.1:8080", False), ("x" * 7, False)]
)
def test_a_variable_that_an_agent_is_given_counts_unless_its_value_is_plain(value: str, counts: bool) -> None:
    assert (Secrets({"SERVICE": value}, ["SERVICE"]).blank_text(f"<{value}>") == "<[redacted]>") is counts
    assert Secrets({"SERVICE": value}).blank_text(f"<{value}>") == f"<{value}>"


def test_a_path_that_exists_is_no_secret(tmp_path: Path) -> None:
    environ = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path), "PROJECT": str(tmp_path)}
    assert Secrets(environ, ["PROJECT"]).blank_text(str(tmp_path)) == str(tmp_path)


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    secrets = Secrets({"A_KEY": "sk-1234567"})
    assert secrets.blank(b"\xff\x00sk-1234567\xfe") == b"\xff\x00[redacted]\xfe"
    assert secrets.blank_text("a\udcff sk-1234567") == "a\udcff [redacted]"
    assert secrets.names_in(b"sk-1234567") == ("A_KEY",)


@pytest.mark.parametrize(
    ("name", "value", "blanked"),
    [
        ("DB_PASSWORD", "hunter2", True),
        ("DB_PASS", "a1-b2c", True),
        ("MYSQL_PWD", "x9x9x9", True),
        ("DB_PASSWORD", "a1b2c", False),  # five
        ("DB_PASSWORD", "secret", False),  # a word
        ("DB_PASSWORD", "123456", False),  # a number
        ("DB_PASSWORD", "longword", True),
        ("MODE", "abc-123", False),  # nothing says that it is one
    ],
)
def test_how_short_a_secret_may_be_depends_on_what_says_that_it_is_one(name: str, value: str, *, blanked: bool) -> None:
    assert (Secrets({name: value}, [name]).blank_text(value) == "[redacted]") == blanked
    assert too_short({name: value}, [name]) == ([name] if name != "MODE" and not blanked else [])
    assert Secrets({"URL": f"db://ann:{value}@host"}).blank_text(value) == (
        "[redacted]" if blanked or name == "MODE" else value
    )


def heard(*pieces: str, secrets: Secrets) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    blanking = secrets.of_listener(lambda progress: told.append((progress.what, progress.detail)))
    for piece in pieces:
        blanking(Progress("r", "t", "a", "output", piece.strip().splitlines()[-1]))
        blanking(Progress("r", "t", "a", "text", piece))
    blanking.end()
    return told


@pytest.mark.parametrize("at", range(len("skLIVE-12345-äbc")))
def test_a_secret_that_comes_in_pieces_is_never_told(at: int) -> None:
    value = "skLIVE-12345-äbc"
    secrets = Secrets({"MY_API_KEY": value})
    told = heard(f"start {value[:at]}", f"{value[at:]} end\n", "s", "k whole\n", secrets=secrets)
    assert "".join(text for what, text in told if what == "text") == "start [redacted] end\nsk whole\n"
    assert not any("skL" in text or "äbc" in text for _, text in told)


def test_sign_by_sign_as_well_and_what_only_begins_like_one_is_told_at_the_end() -> None:
    secrets = Secrets({"MY_API_KEY": "skLIVE-12345-abc", "OTHER_TOKEN": "LIVE-1x9-other"})
    assert "".join(text for what, text in heard(*"skLIVE-12345-abc", secrets=secrets) if what == "text") == "[redacted]"
    assert heard("say sk", "LIVE-1", secrets=secrets) == [
        ("output", "say"), ("text", "say "), ("output", "skLIVE-1"), ("text", "skLIVE-1"),
    ]  # fmt: skip


def test_a_secret_whose_end_begins_another_is_not_cut_in_two() -> None:
    secrets = Secrets({"MY_API_KEY": "abc-1234-xyz9", "OTHER_TOKEN": "yz9-0000-1111"})
    for pieces in (("abc-1234-xyz9", " end"), ("abc-1234-x", "yz9", " end")):
        assert "".join(text for what, text in heard(*pieces, secrets=secrets) if what == "text") == "[redacted] end"


def test_a_line_that_is_told_without_a_text_is_told() -> None:
    told: list[str] = []
    blanking = Secrets({"MY_API_KEY": "skLIVE-12345-abc"}).of_listener(lambda progress: told.append(progress.detail))
    blanking(Progress("r", "t", "a", "output", "with skLIVE-12345-abc"))
    blanking(Progress("r", "t", "a", "done"))
    assert told == ["with [redacted]", ""]
