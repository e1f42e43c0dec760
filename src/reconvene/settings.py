"""What the environment says of where state lives, who is speaking and which models help, read in one place.

Knows environment variables and defaults; opens and creates nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable

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

PROVIDER_WAIT = 120  # seconds
STORE_WAIT = 3600  # seconds
MAX_FILE, MAX_EDIT = 10, 100  # MB: a file that an agent wrote; one that a person put into the folder of a run
MAX_FILES = 1000
_MOST_MB, _MOST_FILES = 1000, 1_000_000  # the store takes contents of up to 1 GB
_LONGEST_WAIT = 86_400


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


def provider_wait() -> float:
    """How many seconds a process waits for a provider that fails before the run parks; 0 = it parks at once."""
    return _seconds(PROVIDER_WAIT_VARIABLE, os.environ.get(PROVIDER_WAIT_VARIABLE, ""), PROVIDER_WAIT)


def store_wait() -> float:
    """How many seconds a process offers what agents finished to a store that is locked or full, before it ends."""
    return _seconds(STORE_WAIT_VARIABLE, os.environ.get(STORE_WAIT_VARIABLE, ""), STORE_WAIT)


def taken_of_agents() -> tuple[int, int]:
    """Of what an agent leaves in its folder: the largest file, in bytes, and how many."""
    largest = _whole(MAX_FILE_VARIABLE, os.environ.get(MAX_FILE_VARIABLE, ""), MAX_FILE, _MOST_MB)
    most = _whole(MAX_FILES_VARIABLE, os.environ.get(MAX_FILES_VARIABLE, ""), MAX_FILES, _MOST_FILES)
    return largest * 1024 * 1024, most


def largest_edit() -> int:
    """The largest file, in bytes, that is taken of what a person changes in the folder of a run."""
    return _whole(MAX_EDIT_VARIABLE, os.environ.get(MAX_EDIT_VARIABLE, ""), MAX_EDIT, _MOST_MB) * 1024 * 1024


def _whole(variable: str, given: str, usual: int, most: int) -> int:
    given = given.strip()
    number = int(given) if given.isdecimal() and len(given) < 10 else usual if not given else 0
    if 1 <= number <= most:
        return number
    raise UserError(
        f"{variable}={given!r} is not a whole number from 1 to {most}",
        hint=f"export {variable}={usual}, or leave it out",
    )


def _seconds(variable: str, given: str, usual: int) -> float:
    try:
        seconds = float(given.strip() or usual)
    except ValueError:
        seconds = -1.0
    if 0 <= seconds <= _LONGEST_WAIT:
        return seconds
    raise UserError(
        f"{variable}={given!r} is not a number of seconds from 0 to {_LONGEST_WAIT}",
        hint=f"export {variable}={usual}, or leave it out",
    )


def debugging() -> bool:
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
