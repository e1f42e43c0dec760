"""What a workspace path and a run may be called.

Pure text: it must not know a disk, a store or git. Whoever touches a disk or builds a tree runs `safe_path` first, and
still never follows a link: a harmless name can lie behind a hostile folder.
"""

from __future__ import annotations

import unicodedata
from fnmatch import fnmatchcase

from reconvene.errors import UserError
from reconvene.language.late_patterns import late

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 400
MAX_DEPTH = 20

# Names that git, or this engine, would act upon. Case-insensitive disks, HFS+ (which drops invisible characters) and
# NTFS (which drops trailing dots and spaces, knows streams after ":" and short names) open them in other spellings too.
_RESERVED = frozenset({".git", ".gitattributes", ".gitmodules", ".reconvene"})
_SHORT_NAME = late(r"(gi[a-z0-9]{1,4}|reconv|re[0-9a-f]{4})~[0-9]+")
_DRIVE = late(r"[A-Za-z]:")

# Run ids are names of files, folders and git branches, and words on a command line.
MAX_RUN_ID = 120
_RUN_ID = late(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_DEVICE = late(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")  # what Windows opens instead of a file


def safe_path(path: str) -> str:
    """The path in its one spelling ("./a//b" is "a/b"), or a UserError that says why it cannot be used."""
    if not path:
        raise _refused(path, "it is empty")
    if not path.isprintable() and any(_is_control(char) for char in path):
        raise _refused(path, "it holds a control character or a broken one")
    if "\\" in path:
        raise _refused(path, "it holds a backslash; separate folders with /")
    if path.startswith("/") or _DRIVE.match(path):
        raise _refused(path, "it is absolute; paths are relative to the workspace")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts:
        raise _refused(path, "it names no file")
    for part in parts:
        _check_name(path, part)
    clean = "/".join(parts)
    if len(parts) > MAX_DEPTH:
        raise _refused(path, f"it is more than {MAX_DEPTH} folders deep")
    if len(clean.encode()) > MAX_PATH_BYTES:
        raise _refused(path, f"it is longer than {MAX_PATH_BYTES} bytes")
    if _DRIVE.match(clean):
        raise _refused(path, "it is absolute; paths are relative to the workspace")
    return clean


def is_safe(path: str) -> bool:
    """Whether `path` is already in the one spelling that `safe_path` gives."""
    try:
        return safe_path(path) == path
    except UserError:
        return False


def is_ours(path: str) -> bool:
    """Whether the engine would act upon a file of this name: part of a home, or a settings file."""
    *folders, last = map(_as_disks_see_it, path.split("/"))
    return ".reconvene" in (*folders, last) or last == "reconvene.toml"


def why_no_run_id(run: str) -> str:
    """Why this cannot be the id of a run, as the rest of a sentence; "" where it can."""
    if not run:
        return "is empty"
    if len(run) > MAX_RUN_ID:
        return f"is longer than {MAX_RUN_ID} characters"
    if "../" in run or run == "..":
        return "leads out of the folder of the runs with '..'"
    if run[0] in "-.":
        return f"begins with {run[0]!r}: commands would take it for an option, or not list it"
    if not _RUN_ID.fullmatch(run):
        wrong = next(char for char in run if not _RUN_ID.fullmatch(f"x{char}"))
        return f"holds {wrong!r}; letters, digits, '-', '_' and '.' are possible"
    if ".." in run or run.endswith((".", ".lock")):
        return "holds '..', or ends in '.' or '.lock', which git does not take"
    if run.upper() == "HEAD":
        return "is a name that git keeps for itself"
    if _DEVICE.fullmatch(run.lower()):
        return "is a name that some systems keep for a device"
    return ""


def _refused(path: str, why: str) -> UserError:
    shown = path if len(path) <= 80 else path[:77] + "..."
    return UserError(
        f"The file name {ascii(shown) if not shown.isprintable() else repr(shown)} cannot be used: {why}.",
        hint="Use a plain relative path such as notes/draft.md.",
    )


def _check_name(path: str, name: str) -> None:
    if name == "..":
        raise _refused(path, "it leaves the workspace with '..'")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise _refused(path, f"a name in it is longer than {MAX_NAME_BYTES} bytes")
    plain = _as_disks_see_it(name)
    if plain in _RESERVED or _SHORT_NAME.fullmatch(plain):
        raise _refused(path, f"{name.strip()!r} is a name that git or Reconvene keeps for itself")
    if not plain.strip("."):
        raise _refused(path, "a name in it is made of dots, blanks or invisible characters only")


def _as_disks_see_it(name: str) -> str:
    if not name.isascii():
        name = "".join(char for char in name if unicodedata.category(char) != "Cf" and not _is_variation(char))
        name = unicodedata.normalize("NFKC", name)
    return name.casefold().split(":", 1)[0].strip().rstrip(". ")


def _is_control(char: str) -> bool:
    """Control characters, line separators (they forge lines in listings), and halves of characters."""
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")


def _is_variation(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef" or char == "\u034f"


def matches(path: str, pattern: str) -> bool:
    """A workspace path against a pattern of `writes`; `*` crosses folders, `**/` also stands for no folder at all."""
    pattern = pattern.removeprefix("./")
    if pattern.endswith("/"):
        pattern += "*"
    if fnmatchcase(path, pattern):
        return True
    return "**/" in pattern and fnmatchcase(path, pattern.replace("**/", ""))
