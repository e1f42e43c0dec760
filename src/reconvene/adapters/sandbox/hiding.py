"""What of the machine is not a program's business, and what it needs nevertheless. Paths and look-ups; changes nothing.

Hidden are credentials, the sockets of whoever acts for the person, and temporary files of others. Everything else is
there to read.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

# Below the person's own folder. What presets keep is added by whoever knows them.
_PRIVATE = (
    ".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".password-store", ".netrc", ".git-credentials", ".pypirc",
    ".vault-token", ".pgpass", ".my.cnf", ".Xauthority", ".ICEauthority", ".mozilla", ".thunderbird", ".bash_history",
    ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".lesshst", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".terraform.d", ".config/gh", ".config/glab-cli", ".config/gcloud",
    ".config/git/credentials", ".config/hub", ".config/rclone", ".config/sops", ".config/doctl", ".config/containers",
    ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/1Password", ".config/Bitwarden",
    ".local/share/keyrings", ".local/share/kwalletd", ".local/share/fish/fish_history", ".local/share/containers",
)  # fmt: skip
TEMPORARY = ("/tmp", "/var/tmp")
_RUNNING = ("/run", "/var/run")
_OF_RUNNING = (  # what programs need below /run: names of hosts, and where some systems keep their programs
    "/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf", "/run/current-system",
    "/run/booted-system", "/run/opengl-driver", "/run/wrappers",
)  # fmt: skip
_OF_THE_SYSTEM = ("/usr/", "/opt/", "/nix/", "/bin/", "/lib/", "/etc/")
_MOST_LOOKED, _DEEPEST = 2_000, 3  # entries and folders below a private place, when links are looked for
_SOCKETS = ("SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "GNUPGHOME", "KUBECONFIG", "DOCKER_CONFIG")
_DOCKER = ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock")
_GPU = ("dri", "kfd", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps", "dxg")


def own(environ: Mapping[str, str]) -> str:
    """The person's own folder, "" where there is none worth the name."""
    home = environ.get("HOME", "")
    return os.path.realpath(home) if os.path.isabs(home) and os.path.isdir(home) and home != "/" else ""


def private(environ: Mapping[str, str]) -> Iterator[str]:
    """What nobody's program is shown, as far as it is there."""
    home = own(environ)
    for name in _PRIVATE if home else ():
        yield os.path.join(home, name)
    for name in _SOCKETS:
        value = environ.get(name, "")
        if os.path.isabs(value):
            yield value
    yield from docker(environ)
    yield from (*TEMPORARY, *_RUNNING)


def real(paths: Iterable[str]) -> list[str]:
    """These as they really are, without what is not there."""
    return sorted({os.path.realpath(path) for path in paths if os.path.exists(path)} - {"/"})


def behind(places: Iterable[str], environ: Mapping[str, str]) -> set[str]:
    """What links in these places lead to, as with settings that are kept in one folder and linked from there: it is as
    private as they are. Only of places that begin with a dot in the person's own folder; what belongs to the system is
    not meant, and nobody looks further than a few folders deep."""
    home, found = own(environ), set[str]()
    dotted = tuple(f"{each.rstrip('/')}/." for each in (home, environ.get("HOME", ""))) if home else ()
    for place in places:
        if dotted and place.startswith(dotted):
            found |= {real for link in _links(place) if _is_private(real := os.path.realpath(link), home)}
    return found


def _links(folder: str) -> Iterator[str]:
    left = _MOST_LOOKED
    for here, folders, names in os.walk(folder):
        if here.count("/") - folder.count("/") >= _DEEPEST:
            folders.clear()
        for name in (*folders, *names):
            left -= 1
            if not left:
                return
            if os.path.islink(path := os.path.join(here, name)):
                yield path


def _is_private(path: str, home: str) -> bool:
    if os.path.isdir(path):
        return within(path, home) and path != home
    return os.path.isfile(path) and not path.startswith(_OF_THE_SYSTEM)


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def docker(environ: Mapping[str, str]) -> list[str]:
    named = environ.get("DOCKER_HOST", "").removeprefix("unix://")
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    places = [*_DOCKER, *([f"{runtime}/docker.sock"] if runtime else []), *([named] if os.path.isabs(named) else [])]
    return real(place for place in places if is_socket(place))


def sockets(names: Iterable[str], environ: Mapping[str, str]) -> list[str]:
    """`own` names none: a program may make its own."""
    wanted = [name for name in names if name != "own"]
    return [path for name in wanted for path in (docker(environ) if name == "docker" else real([name]))]


def devices(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        if name != "gpu":
            found += [name]
            continue
        found += [f"/dev/{each}" for each in _GPU]
        found += [f"/dev/nvidia{number}" for number in range(16)]
    return [path for path in found if os.path.exists(path)]


def needed(argv: Sequence[str], env: Mapping[str, str], hidden: Collection[str]) -> list[str]:
    """What a program must find although it lies where temporary or private things do: itself and what interprets it,
    the programs on its PATH, what its command line names, and files that its variables name."""
    program = shutil.which(argv[0], path=env.get("PATH", os.defpath)) or ""
    named = [word for word in (*argv, program, *_interpreter(program)) if os.path.isabs(word)]
    named += [entry for entry in env.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    found = [path for word in named for path in (word, os.path.realpath(word)) if os.path.exists(path)]
    wanted = {_installed(path, hidden) for path in found}
    wanted |= {os.path.realpath(value) for value in env.values() if os.path.isabs(value) and os.path.isfile(value)}
    wanted |= {path for path in _OF_RUNNING if os.path.exists(path)}
    resolver = os.path.realpath("/etc/resolv.conf")
    wanted |= {resolver} if os.path.exists(resolver) else set()
    return sorted(path for path in map(os.path.realpath, wanted) if path not in ("/", *hidden))


def _interpreter(program: str) -> list[str]:
    """The words after `#!`."""
    try:
        with open(program, "rb") as file:
            first = file.readline(500)
    except OSError:
        return []
    return first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []


def _installed(path: str, hidden: Collection[str]) -> str:
    """The folder that a program came in: with its libraries, where that can be seen, and is not hidden as such."""
    parts = path.split("/")
    if "node_modules" in parts:
        return "/".join(parts[: parts.index("node_modules") + 1])
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    above = os.path.dirname(folder)
    if os.path.basename(folder) in ("bin", "sbin", "libexec") and above not in ("/", *hidden):
        return above
    return path if folder in ("/", *hidden) else folder


def is_socket(path: str, *, follow: bool = True) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path, follow_symlinks=follow).st_mode)
    except (OSError, ValueError):
        return False
