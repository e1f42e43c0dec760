"""What the environment says of where state lives, who is speaking and which models help, read in one place.

Knows environment variables and defaults; opens and creates nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from reconvene.errors import UserError

HOME_VARIABLE = "RECONVENE_HOME"
PERSON_VARIABLE = "RECONVENE_BY"
FEEDBACK_MODEL_VARIABLE = "RECONVENE_FEEDBACK_MODEL"
GATE_MODEL_VARIABLE = "RECONVENE_GATE_MODEL"
SEARCH_MODEL_VARIABLE = "RECONVENE_SEARCH_MODEL"
MCP_TOKEN_VARIABLE = "RECONVENE_MCP_TOKEN"
TOKEN_VARIABLE = "RECONVENE_TOKEN"
COMPANION_MODEL_VARIABLE = "RECONVENE_COMPANION_MODEL"
PROVIDER_WAIT_VARIABLE = "RECONVENE_PROVIDER_WAIT"
STORE_WAIT_VARIABLE = "RECONVENE_STORE_WAIT"
MAX_FILE_VARIABLE = "RECONVENE_MAX_FILE_MB"
MAX_FILES_VARIABLE = "RECONVENE_MAX_FILES"
MAX_EDIT_VARIABLE = "RECONVENE_MAX_EDIT_MB"
DEBUG_VARIABLE = "RECONVENE_DEBUG"
URL_VARIABLE = "RECONVENE_URL"
CONFIG_VARIABLE = "XDG_CONFIG_HOME"
STATE_VARIABLE = "XDG_STATE_HOME"
SANDBOX_VARIABLE = "RECONVENE_SANDBOX"
SETTINGS_FILE = "reconvene.toml"


class Limit(NamedTuple):
    """A number that the environment sets, else a settings file in its table [limits]."""

    variable: str
    usual: int
    least: int
    most: int
    what: str = "whole number"


_DAY = 86_400
LIMITS = {  # by their names in a settings file
    "provider_wait": Limit(PROVIDER_WAIT_VARIABLE, 120, 0, _DAY, "number of seconds"),
    "store_wait": Limit(STORE_WAIT_VARIABLE, 3600, 0, _DAY, "number of seconds"),
    "max_file_mb": Limit(MAX_FILE_VARIABLE, 10, 1, 1000),  # the store takes contents of up to 1 GB
    "max_files": Limit(MAX_FILES_VARIABLE, 1000, 1, 1_000_000),
    "max_edit_mb": Limit(MAX_EDIT_VARIABLE, 100, 1, 1000),
}
FromFiles = Callable[[str], int | None]  # the name of a limit → what settings files say


def claimed(given: str = "", otherwise: Callable[[], str] = str) -> str:
    """Who a person says that they are: `--by`, else RECONVENE_BY, else their settings file (`otherwise`); or ""."""
    return given.strip() or os.environ.get(PERSON_VARIABLE, "").strip() or otherwise()


def person(given: str = "", otherwise: Callable[[], str] = str) -> str:
    """The name that decisions and remarks carry: the one that is claimed, else the account's."""
    if named := claimed(given, otherwise):
        return named
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as in some containers
        return "someone"


def system_user() -> str:
    """The account that this process has, whatever the environment says."""
    import pwd

    number = os.geteuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def own_folder() -> str:
    """The person's own configuration, the same for all projects; it may not be there yet."""
    above = os.environ.get(CONFIG_VARIABLE, "")
    return os.path.join(above if os.path.isabs(above) else os.path.expanduser("~/.config"), "reconvene")


def state_folder() -> str:
    """Where the engine keeps what is no part of a home: folders of attempts, worktrees."""
    above = os.environ.get(STATE_VARIABLE, "")
    return os.path.join(above if os.path.isabs(above) else os.path.expanduser("~/.local/state"), "reconvene")


def usual_sandbox() -> str:
    """What `sandbox: auto` means on this machine: auto, strict or off."""
    given = os.environ.get(SANDBOX_VARIABLE, "").strip() or "auto"
    if given in ("auto", "strict", "off"):
        return given
    raise UserError(f"{SANDBOX_VARIABLE}={given!r} is none of auto, strict and off", hint=f"unset {SANDBOX_VARIABLE}")


def feedback_model() -> str:
    """The model that reads feedback beside the rules, as provider:name; "" = rules alone."""
    return os.environ.get(FEEDBACK_MODEL_VARIABLE, "").strip()


def gate_model() -> str:
    """The model that answers what gates `ask`, as provider:name; "" = they pass, and it is said."""
    return os.environ.get(GATE_MODEL_VARIABLE, "").strip()


def search_model() -> str:
    """Who turns texts into vectors for searches: provider:name, minilm, wordllama or none; "" = what is installed."""
    return os.environ.get(SEARCH_MODEL_VARIABLE, "").strip()


def mcp_token() -> str:
    """Whoever asks the MCP server over HTTP must know it; "" = one is made up."""
    return os.environ.get(MCP_TOKEN_VARIABLE, "").strip()


def person_token() -> str:
    """What proves who somebody is, where people are set up; "" = their account does."""
    return os.environ.get(TOKEN_VARIABLE, "").strip()


def companion_model() -> str:
    """The model that the companion asks, as provider:name; "" = the record answers."""
    return os.environ.get(COMPANION_MODEL_VARIABLE, "").strip()


def pages_url() -> str:
    """Where people reach the pages of the service, for links in messages; "" = there are none."""
    return os.environ.get(URL_VARIABLE, "").strip()


def provider_wait(files: FromFiles = lambda _: None) -> int:
    """How many seconds a process waits for a provider that fails before the run parks; 0 = it parks at once."""
    return _limit("provider_wait", files)


def store_wait(files: FromFiles = lambda _: None) -> int:
    """How many seconds a process offers what agents finished to a store that is locked or full, before it ends."""
    return _limit("store_wait", files)


def taken_of_agents(files: FromFiles = lambda _: None) -> tuple[int, int]:
    """Of what an agent leaves in its folder: the largest file, in bytes, and how many."""
    return _limit("max_file_mb", files) * 1024 * 1024, _limit("max_files", files)


def largest_edit(files: FromFiles = lambda _: None) -> int:
    """The largest file, in bytes, that is taken of what a person changes in the folder of a run."""
    return _limit("max_edit_mb", files) * 1024 * 1024


def _limit(name: str, files: FromFiles) -> int:
    limit = LIMITS[name]
    given = os.environ.get(limit.variable, "").strip()
    if not given:
        found = files(name)
        return limit.usual if found is None else found
    if given.isdecimal() and len(given) < 10 and limit.least <= int(given) <= limit.most:
        return int(given)
    raise UserError(
        f"{limit.variable}={given!r} is not a {limit.what} from {limit.least} to {limit.most}",
        hint=f"export {limit.variable}={limit.usual}, or leave it out",
    )


def debugging() -> bool:
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
