"""How long the road of one decision is: the modules that it crosses, and the calls that it makes, before it is on disk.

`python -m bench.road` plays each packaged workflow from its recording to its first checkpoint, and takes the first
option that is open, in a fresh process, as `reconvene decide` does. Counted is what runs of this package from the first
step into the app room, after parsing and opening, to the commit of the append. Importing a module does not count.
`--modules` names them; `--functions` names what is called most.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType

from bench.children import environment, reconvene

APP = "reconvene.app."
OPENED = ("reconvene.doors.cli.common", "open_run")  # what is called of the app room after its return counts
COMMIT = ("reconvene.adapters.sqlite.log", "append")  # with its return, the decision is on disk


class Road:
    """A profile function that counts the calls of this package's functions, by module and name."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self._opened = self._counting = self._done = False
        self._importing = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += 1 if event == "call" else -1
            return
        module = frame.f_globals.get("__name__", "")
        if self._done or self._importing or not module.startswith("reconvene."):
            return
        if event == "return":
            self._opened = self._opened or (module, code.co_name) == OPENED
            self._done = self._counting and (module, code.co_name) == COMMIT
            if self._done:
                sys.setprofile(None)
                Path("road.json").write_text(json.dumps([[*name, count] for name, count in self.calls.items()]))
            return
        self._counting = self._counting or (self._opened and module.startswith(APP))
        if self._counting:
            self.calls[module, code.co_qualname] += 1


def _decide(arguments: list[str]) -> None:
    """The command, in the process that is measured. What it crossed lies in road.json afterwards."""
    from reconvene.doors.cli.main import main

    sys.argv = ["reconvene", *arguments]
    sys.setprofile(Road())
    main()


def _first_decision(name: str, folder: Path) -> Counter[tuple[str, str]]:
    around = environment(RECONVENE_HOME=str(folder / ".reconvene"))

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    started = run(*reconvene(), "run", name, "--recorded", "--no-input", "--json")
    assert started.returncode == 3, started.stderr
    (parked,) = json.loads(run(*reconvene(), "inbox", "--json").stdout)
    option = next(one["label"] for one in parked["checkpoint"]["options"] if one["available"])
    measured = run(sys.executable, "-m", "bench.road", "--decide", parked["run"], "--option", option)
    assert (folder / "road.json").exists(), measured.stderr
    calls = json.loads((folder / "road.json").read_text())
    return Counter({(module, function): count for module, function, count in calls})


def main() -> None:
    from reconvene.wire.packaged import packaged

    arguments = sys.argv[1:]
    if arguments[:1] == ["--decide"]:
        return _decide(["decide", *arguments[1:]])
    print(f"{'first decision of':24}{'modules':>9}{'calls':>9}")
    for name in sorted(packaged()):
        with tempfile.TemporaryDirectory() as folder:
            calls = _first_decision(name, Path(folder))
        modules = Counter[str]()
        for (module, _), count in calls.items():
            modules[module] += count
        print(f"{name:24}{len(modules):9}{calls.total():9}")
        if "--modules" in arguments:
            print("".join(f"    {count:6} {module}\n" for module, count in sorted(modules.items())), end="")
        if "--functions" in arguments:
            print("".join(f"    {count:6} {'.'.join(which)}\n" for which, count in calls.most_common(40)), end="")


if __name__ == "__main__":
    main()
