"""Known command-line agents: how each works unattended, what it may do, and what it needs of the machine.

A workflow names one by its bare name, `command: claude`. With words of its own the command is run as written, and only
what the program needs of the machine is taken from here. Data and look-ups: nothing is started.

Tried with claude 2.1.197 and 2.1.325, codex 0.166.0, gemini 0.61.0, opencode 1.18.33 and llm 0.36.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

Reader = Literal["claude", "codex", "gemini", "opencode", "llm"]

# how a program reaches its provider from inside a company's network
_NETWORK = (
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
_MOST = 64 * 1024  # bytes of a script that are read
_FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
_ANY_PROVIDER = (
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY",
)  # fmt: skip


class Preset(NamedTuple):
    """One program. Folders begin with `~`; names of variables may end in `*`."""

    program: str
    read: tuple[str, ...]  # the command line that lets it read its folder, and change nothing
    write: tuple[str, ...]  # the one that lets it change the files of its folder; () = it cannot
    reader: Reader  # how its output becomes an answer
    env: tuple[str, ...]  # variables that it may see, besides those of every command
    folders: tuple[str, ...]  # outside its own folder: what it reads and writes
    steering: tuple[str, ...]  # files in its folder that could start programs; it is given no copy of them
    key: str  # where its key comes from
    login: str  # what a person does who is not logged in
    no_login: re.Pattern[str]  # what it says then
    read_env: tuple[tuple[str, str], ...] = ()  # variables that are set for `read`
    write_env: tuple[tuple[str, str], ...] = ()  # and for `write`
    moved: tuple[tuple[str, str], ...] = ()  # variables that put one of its folders elsewhere, each with that folder
    lent: tuple[tuple[str, str], ...] = ()  # variables that, where they are set, give it a folder of another program
    own_sandbox: tuple[str, str] = ("", "")  # the word before what it may do, and what turns its own sandbox off
    file_flag: str = ""  # stands before each file that it is given, where it does not look into its folder itself

    def command(self, *, writes: bool, files: Iterable[str] = ()) -> tuple[str, ...]:
        """The whole command line; the prompt is its standard input."""
        given = [word for file in files for word in (self.file_flag, f"./{file}")] if self.file_flag else []
        return (*(self.write if writes and self.write else self.read), *given)

    def alone(self, argv: Sequence[str]) -> tuple[str, ...]:
        """This command line without a sandbox of its own: it is in another that allows none."""
        before, off = self.own_sandbox
        pairs = zip(("", *argv), argv, strict=False)
        return tuple(off if before and last == before else word for last, word in pairs)

    def variables(self, *, writes: bool) -> dict[str, str]:
        """What is set for it."""
        return dict(self.write_env if writes and self.write else self.read_env)


def _said(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


_CLAUDE = ("claude", "-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config")
_CODEX = ("codex", "exec", "--skip-git-repo-check", "--ephemeral", "--color", "never", "--json")
_GEMINI = ("gemini", "--skip-trust", "--output-format", "json")
_OPENCODE = ("opencode", "run", "--format", "json")
_LLM = ("llm", "prompt", "--no-log", "--usage")

PRESETS: Mapping[str, Preset] = {
    preset.program: preset
    for preset in (
        Preset(
            program="claude",
            # settings of the folder can hold hooks, and with -p nobody is asked whether to trust them
            read=(*_CLAUDE, "--setting-sources", "user", "--permission-mode", "dontAsk", "--tools", "Read,Grep,Glob"),
            write=(*_CLAUDE, "--setting-sources", "user", "--permission-mode", "acceptEdits"),
            reader="claude",
            env=("ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUD_ML_REGION",
                 "API_TIMEOUT_MS", "DISABLE_*"),
            folders=("~/.claude", "~/.claude.json"),
            steering=(".claude/*", ".mcp.json"),
            key="its login in ~/.claude, ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN",
            login="start `claude` in a terminal and type /login; or set ANTHROPIC_API_KEY",
            no_login=_said("not logged in", "please run /login", "invalid api key", "oauth token has expired"),
            moved=(("CLAUDE_CONFIG_DIR", "~/.claude"),),
            lent=(("CLAUDE_CODE_USE_BEDROCK", "~/.aws"), ("CLAUDE_CODE_USE_VERTEX", "~/.config/gcloud")),
        ),
        Preset(
            program="codex",
            read=(*_CODEX, "--sandbox", "read-only", "-"),
            write=(*_CODEX, "--sandbox", "workspace-write", "-"),
            reader="codex",
            env=("OPENAI_*", "CODEX_*", "AZURE_OPENAI_*"),
            folders=("~/.codex",),
            steering=(".codex/*",),
            key="its login in ~/.codex, or CODEX_API_KEY",
            login="type `codex login`; or set CODEX_API_KEY",
            no_login=_said("401 unauthorized", "not logged in", "codex login", "missing bearer", "token.*expired"),
            moved=(("CODEX_HOME", "~/.codex"),),
            own_sandbox=("--sandbox", "danger-full-access"),
        ),
        Preset(
            program="gemini",
            # in this mode tools that would have to be allowed by a person are left out
            read=(*_GEMINI, "--approval-mode", "default"),
            write=(*_GEMINI, "--approval-mode", "auto_edit"),
            reader="gemini",
            env=("GEMINI_*", "GOOGLE_*"),
            folders=("~/.gemini",),
            steering=(".gemini/*", ".env"),
            key="its login in ~/.gemini, or GEMINI_API_KEY",
            login="start `gemini` in a terminal and log in; or set GEMINI_API_KEY",
            no_login=_said("set an auth method", "invalid auth method", "api key not valid", "unauthenticated",
                           r"you must specify the \w+ environment variable"),
            lent=(("GOOGLE_GENAI_USE_VERTEXAI", "~/.config/gcloud"),),
        ),
        Preset(
            program="opencode",
            read=_OPENCODE,
            write=_OPENCODE,
            reader="opencode",
            env=(*_ANY_PROVIDER, *_FOLDERS, "OPENCODE_*", "AWS_*"),
            folders=("~/.config/opencode", "~/.local/share/opencode", "~/.local/state/opencode", "~/.cache/opencode"),
            steering=(".opencode/*", "opencode.json", "opencode.jsonc"),
            key="its login in ~/.local/share/opencode, or the key of the provider that its model belongs to",
            login="type `opencode auth login`; or set the key of its provider, such as ANTHROPIC_API_KEY",
            no_login=_said('"statusCode":401', "api key is missing", "invalid.{0,3}api.?key", "opencode auth login"),
            moved=(
                ("XDG_CONFIG_HOME", "~/.config"), ("XDG_DATA_HOME", "~/.local/share"),
                ("XDG_STATE_HOME", "~/.local/state"), ("XDG_CACHE_HOME", "~/.cache"),
            ),
            lent=(("AWS_PROFILE", "~/.aws"),),
            # what it would otherwise be allowed without asking
            read_env=(
                ("OPENCODE_PERMISSION", '{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}'),
            ),
            write_env=(
                ("OPENCODE_PERMISSION", '{"bash":"deny","webfetch":"deny","external_directory":"deny"}'),
            ),
        ),
        Preset(
            program="llm",
            read=_LLM,
            write=(),
            reader="llm",
            env=(*_ANY_PROVIDER, "XDG_CONFIG_HOME", "LLM_*"),
            folders=("~/.config/io.datasette.llm", "~/Library/Application Support/io.datasette.llm"),
            steering=(),
            key="`llm keys set`, or the key of the provider that its model belongs to, such as OPENAI_API_KEY",
            login="type `llm keys set openai` (or the provider of your model); or set OPENAI_API_KEY",
            no_login=_said("no key found", "llm keys set", "incorrect api key"),
            moved=(("LLM_USER_PATH", "~/.config/io.datasette.llm"), ("XDG_CONFIG_HOME", "~/.config")),
            file_flag="-f",
        ),
    )
}  # fmt: skip


def preset(command: Sequence[str]) -> Preset | None:
    """The preset that a command names: a program's bare name, and nothing else."""
    words = _words(command)
    return PRESETS.get(words[0]) if len(words) == 1 else None


def program(command: Sequence[str]) -> Preset | None:
    """What is known of the program that this command starts, whatever its other words are."""
    words = _words(command)
    return PRESETS.get(os.path.basename(words[0])) if words else None


def allowed(known: Preset, names: Iterable[str]) -> set[str]:
    """Of these variables, the ones that the program may see."""
    wanted = (*known.env, *_NETWORK)
    return {name for name in names if _named(name, wanted)}


def without_steering(known: Preset, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files without those that could make the program start others."""
    return {path: data for path, data in files.items() if not _steers(known, path)}


def steers_any(path: str) -> bool:
    """Whether a file of this name could make a known program start others."""
    return any(_steers(known, path) for known in PRESETS.values())


def _steers(known: Preset, path: str) -> bool:
    # in a subfolder as well: programs read settings of the folders that they come to
    parts = path.split("/")
    tails = ("/".join(parts[at:]) for at in range(len(parts)))
    return any(_named(tail.casefold(), known.steering) for tail in tails)


def all_folders(environ: Mapping[str, str]) -> list[str]:
    """What programs keep of their own, logins above all: only a private copy of it is for who is started."""
    return [path for known in PRESETS.values() for path in _kept(known, environ).values()]


def copies(argv: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """path below the person's own folder → whose copy it gets, for every known program that the command line names, or
    that a script on it names."""
    text = "\n".join([*argv, *map(_script, argv[:4])])
    named = [known for known in PRESETS.values() if re.search(rf"(?<![\w-]){known.program}(?![\w-])", text)]
    found: dict[str, str] = {}
    for known in named:
        found |= _kept(known, environ)
        found |= {folder: _full(folder, environ) for variable, folder in known.lent if environ.get(variable)}
    return {folder.removeprefix("~/"): path for folder, path in found.items()}


# files in their folders that hold a login which may run out
LOGINS = (".credentials.json", "auth.json")
# variables that say where programs keep what they are given a copy of, each with where the copy is
MOVED = {variable: folder.removeprefix("~/") for known in PRESETS.values() for variable, folder in known.moved}


def _kept(known: Preset, environ: Mapping[str, str]) -> dict[str, str]:
    """`~/.claude` → where that really is."""
    found = {}
    for folder in known.folders:
        path = _full(folder, environ)
        for variable, usual in known.moved:
            if os.path.isabs(environ.get(variable, "")) and f"{folder}/".startswith(f"{usual}/"):
                path = environ[variable] + folder.removeprefix(usual)
                break
        found[folder] = path
    return found


def _full(folder: str, environ: Mapping[str, str]) -> str:
    return os.path.join(environ.get("HOME") or "/nonexistent", folder.removeprefix("~/"))


def _script(word: str) -> str:
    """The beginning of a script that a command line names."""
    if not os.path.isabs(word):
        return ""
    try:
        with open(word, "rb") as file:
            data = file.read(_MOST)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def _named(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _words(command: Sequence[str]) -> list[str]:
    """A line for the shell is looked into only where it is plain words: no other program can be in it."""
    words = list(command)
    if len(words) == 3 and words[:2] == ["sh", "-c"]:
        if not re.fullmatch(r"[\w\s./:,=@%+'\"-]*", words[2]):
            return []
        try:
            return shlex.split(words[2])
        except ValueError:
            return []
    return words
