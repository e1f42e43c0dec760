"""Which values of an environment count as secrets, and in which spellings they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.secrets import Secrets

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
