"""Where the home is, whether it is one, and what a new one is made of. A home is a folder that holds `reconvene.db`.

`--home` names it, else RECONVENE_HOME. Otherwise `.reconvene` is looked for as git looks for `.git`: in the current
folder, then in each one above. The search ends at a file system boundary, and below the person's home folder and below
`/`. Those two are looked in only when they are the current folder: a run started there once must not collect the runs
of every project. Where nothing is found, a run makes `.reconvene` in the current folder, where the person can see it.

A home that was found and belongs to another user is refused: they may have put it there. Whether a home was made by
this person is another question: see `trust.py`. Knows folders; opens no store.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from shlex import quote
from typing import NamedTuple

from reconvene.errors import StoreError, UserError
from reconvene.settings import HOME_VARIABLE, SETTINGS_FILE, own_folder

NAME = ".reconvene"
STORE = "reconvene.db"
SERVERS = "servers"  # the file that says what servers of one's own can do
PEOPLE = "people.db"  # who may do what here; not there where nobody is set up
INDEX = "search.db"  # passages of runs; made from the store, and can be deleted
FINISHED = "finished"  # what agents finished and the store could not take yet
OPTION = "--home"

# What lies in a home before its store does. A process that was killed may have left it.
_BEFORE_THE_STORE = {
    *(".gitignore", "id", "recorded", "scratch", "processes", PEOPLE, f"{PEOPLE}-journal"),
    *(f"{STORE}.new", f"{STORE}.new-journal"),
}
_BESIDE_THE_STORE = ("history.git", "manifests", "runs")
_ONLY_OURS = ("history.git", "manifests")  # many a folder has one named "runs"
_IGNORE = "# Made by reconvene: nothing in this folder belongs into the repository around it.\n*\n"


_IN_FILE_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"


def file_name(run: str) -> str:
    """A run's id as a file name, its own for every id."""
    if not run.strip(_IN_FILE_NAMES):
        return run
    from reconvene.core.facts.ids import digest_of

    safe = "".join(sign if sign in _IN_FILE_NAMES else "_" for sign in run)
    return f"{safe}-{digest_of(run.encode())[:8]}"


class Home(NamedTuple):
    folder: str  # as the person would write it; it may not be there yet
    named: str = ""  # what names it, OPTION or HOME_VARIABLE; "" = it was looked for
    top: str = ""  # the last folder that was looked in

    @property
    def told(self) -> str:
        """Where runs were looked for."""
        if self.named:
            return f"{self.named} is {self.folder}, which is not there yet"
        here = os.getcwd()
        return f"looked for {NAME} in {here}" + (f" up to {self.top}" if self.top not in ("", here) else "")


def find(given: str = "") -> Home:
    """`given` is what `--home` says."""
    if given:
        return Home(given, OPTION)
    if named := os.environ.get(HOME_VARIABLE):
        return Home(named, HOME_VARIABLE)
    return _looked_for()


def is_found_without_name(folder: str) -> bool:
    """Whether a command that names no home, in a shell where no variable does, finds this one."""
    try:
        return os.path.realpath(_looked_for().folder) == os.path.realpath(folder)
    except UserError:  # somebody else's lies in the way
        return False


def _looked_for() -> Home:
    here = top = os.getcwd()
    for top in upwards(here):
        folder = os.path.join(top, NAME)
        if _is_found(folder):
            for path in (folder, os.path.join(folder, STORE)):
                require_own(path, f"the home {folder}", f"name it if you mean it: reconvene {OPTION} {quote(folder)} …")
            return Home(NAME if top == here else folder, top=top)
    return Home(NAME, top=top)


def require_own(path: str, what: str, hint: str) -> None:
    """Refuse what another user may change. What only root may change is the machine's, and may be used."""
    try:
        status = os.stat(path)
    except OSError:
        return
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if status.st_uid != os.geteuid() and (status.st_uid != 0 or shared):
        raise UserError(f"{what} belongs to another user ({_user(status.st_uid)}), and is not used", hint=hint)


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"number {number}"


def upwards(here: str) -> Iterator[str]:
    """The folders to look in, nearest first."""
    yield here
    ends = {os.path.realpath(os.path.expanduser("~")), os.sep}
    device, folder = os.stat(here).st_dev, here
    while folder not in ends:
        folder = os.path.dirname(folder)
        if folder in ends or _device(folder) != device:
            return
        yield folder


def user_file() -> str:
    """The person's own settings file; it may not be there."""
    return os.path.join(own_folder(), SETTINGS_FILE)


def settings_files() -> list[tuple[str, bool]]:
    """Those that are there, the person's own first, then the project's; and whether it came with the project."""
    own = user_file()
    files = [(own, False)] if os.path.lexists(own) else []
    for folder in upwards(os.getcwd()):
        path = os.path.join(folder, SETTINGS_FILE)
        if os.path.lexists(path):
            return files + [(path, True)] * (os.path.realpath(path) != os.path.realpath(own))
    return files


def _device(folder: str) -> int:
    try:
        return os.stat(folder).st_dev
    except OSError:  # it may not be looked at
        return -1


def _is_found(folder: str) -> bool:
    return holds_store(folder) or not _entries(folder).isdisjoint(_BESIDE_THE_STORE)


def is_there(home: Home) -> bool:
    """Whether there is a home to read. UserError where one was named that is none, StoreError where it lost its store.

    A place that RECONVENE_HOME names may be empty still: whoever set it may not have started a run yet.
    """
    if holds_store(home.folder):
        return True
    if home.named == OPTION and not os.path.lexists(home.folder):
        raise UserError(f"there is no home {home.folder}: the folder does not exist", hint=_instead(home))
    _refuse_others(home)
    if home.named == OPTION:
        raise UserError(f"{home.folder} is not a home: there is no {STORE} in it", hint=_instead(home))
    return False


def require_fit(home: Home) -> None:
    """Refuse what can neither be used as a home nor become one: it holds something else."""
    if not holds_store(home.folder):
        _refuse_others(home)


def make(folder: str) -> None:
    """A folder for a home, for its owner only, that git takes no notice of. One that holds anything stays as it is."""
    from reconvene.adapters.shared.private_folders import make_private_folder

    make_private_folder(os.path.abspath(folder))
    if not os.listdir(folder):
        with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as file:
            file.write(_IGNORE)


def require_ours(folder: str, home: str) -> None:
    """Refuse the folder of a run that belongs to another home, as in a copy of a project: its runs name the original's.

    A home that was moved has left no other behind, and may go on.
    """
    project = os.path.dirname(home)
    is_near = folder.startswith(project + os.sep) or os.path.commonpath([folder, project]) == project
    above = folder
    while (above := os.path.dirname(above)) != os.path.dirname(above):
        # Near this home only what lies inside of another one is that one's.
        for other in (above,) if is_near else (above, os.path.join(above, NAME)):
            if holds_store(other) and os.path.realpath(other) != os.path.realpath(home):
                raise StoreError(
                    f"The folder {folder} belongs to the home {other}, of which {home} is a copy."
                    " Nothing was read or written there.",
                    hint=f"Go on there: reconvene --home {quote(other)} resume. Start new runs here.",
                )


def holds_store(folder: str) -> bool:
    """Whether it is a home. Says nothing of why it is none: see `is_there`."""
    return os.path.lexists(os.path.join(folder, STORE))


def _entries(folder: str) -> set[str]:
    """What lies in a folder; what cannot be looked into is not there, and neither are empty folders."""
    try:
        with os.scandir(folder) as found:
            return {each.name for each in found if not each.is_dir(follow_symlinks=False) or os.listdir(each.path)}
    except OSError:
        return set()


def _nearest(folder: str) -> str:
    """The folder, or the nearest above it that is there."""
    path = os.path.abspath(folder)
    while not os.path.lexists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def _refuse_others(home: Home) -> None:
    folder = home.folder
    if os.path.lexists(folder) and not os.path.isdir(folder):
        what = "a file" if os.path.isfile(folder) else "not a folder"
        raise UserError(f"{folder} cannot be a home: it is {what}", hint=_instead(home))
    if (above := _nearest(folder)) and not os.path.isdir(above):
        what = f"{folder} cannot be a home: {above} is not a folder"
        raise UserError(what, hint="name another: reconvene --home DIR …")
    entries = _entries(folder)
    ours = os.path.basename(os.path.abspath(folder)) == NAME or not entries.isdisjoint(_ONLY_OURS)
    if ours and (lost := sorted(entries.intersection(_BESIDE_THE_STORE))):
        raise StoreError(
            f"The store {os.path.join(folder, STORE)} is missing. Still there: {', '.join(lost)}.",
            hint=f"Restore it from a backup. To begin anew: mv {quote(folder)} {quote(folder)}-old",
        )
    if entries - _BEFORE_THE_STORE:
        raise UserError(f"{folder} is not a home: it holds other files, and no {STORE}", hint=_instead(home))


def _instead(home: Home) -> str:
    """The command that was probably meant."""
    folder = home.folder
    above = os.path.dirname(folder)
    for other in (os.path.join(folder, NAME), above, os.path.join(above, NAME)):
        if other not in ("", folder) and holds_store(other):
            return f"there is one near: reconvene --home {quote(other)} runs"
    found = _looked_for().folder
    if home.named and holds_store(found):
        return f"without {home.named}, {os.path.abspath(found)} is found: reconvene runs"
    if os.path.basename(folder) == NAME and os.path.lexists(folder):
        return f"move it away: mv {quote(folder)} {quote(folder)}-old"
    place = os.path.join(folder, NAME) if os.path.isdir(folder) and os.listdir(folder) else folder
    place = os.path.join(above, NAME) if os.path.isfile(folder) else place
    return f"to make a home, start a run: reconvene --home {quote(place)} run WORKFLOW"
