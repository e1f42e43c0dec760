"""What the environment says of where state lives, who is speaking and which models help, read in one place.

Knows environment variables and defaults; opens and creates nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable

HOME_VARIABLE = "RECONVENE_HOME"
PERSON_VARIABLE = "RECONVENE_BY"
FEEDBACK_MODEL_VARIABLE = "RECONVENE_FEEDBACK_MODEL"
GATE_MODEL_VARIABLE = "RECONVENE_GATE_MODEL"
DEBUG_VARIABLE = "RECONVENE_DEBUG"
CONFIG_VARIABLE = "XDG_CONFIG_HOME"
SETTINGS_FILE = "reconvene.toml"


def person(given: str = "", otherwise: Callable[[], str] = str) -> str:
    """The name that decisions and remarks carry: `--by`, else RECONVENE_BY, else the person's settings file
    (`otherwise`), else the account's name."""
    named = given.strip() or os.environ.get(PERSON_VARIABLE, "").strip() or otherwise()
    if named:
        return named
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as in some containers
        return "someone"


def own_folder() -> str:
    """The person's own configuration, the same for all projects; it may not be there yet."""
    above = os.environ.get(CONFIG_VARIABLE, "")
    return os.path.join(above if os.path.isabs(above) else os.path.expanduser("~/.config"), "reconvene")


def feedback_model() -> str:
    """The model that reads feedback beside the rules, as provider:name; "" = rules alone."""
    return os.environ.get(FEEDBACK_MODEL_VARIABLE, "").strip()


def gate_model() -> str:
    """The model that answers what gates `ask`, as provider:name; "" = they pass."""
    return os.environ.get(GATE_MODEL_VARIABLE, "").strip()


def debugging() -> bool:
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
