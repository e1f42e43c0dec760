"""message_ports.Sender: a process for each batch, which is ended when its time is up.

Libraries for fifty services hang, wait and print in fifty ways. In a process of their own none of it reaches a run, and
nothing of them is loaded here. What a process printed before it was ended counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from reconvene.adapters.shared import process
from reconvene.message_ports import Destination, Letter

_ANSWER = 15.0  # seconds that a service has for one message
_BATCH = 60.0  # seconds for all of them


class ChildSender:
    def __init__(self, environ: Mapping[str, str], answer: float = _ANSWER, batch: float = _BATCH) -> None:
        self._environ = environ
        self._answer = answer
        self._batch = batch

    async def send(self, destination: Destination, letters: Sequence[Letter]) -> list[str]:
        if not destination.secret and find_spec("apprise") is None:
            return ["Apprise is not installed: pip install 'reconvene[notify]'"]
        told = [{**one._asdict(), "data": one.data.decode()} for one in letters]
        order = {"url": destination.url, "secret": destination.secret, "seconds": self._answer, "letters": told}
        argv = [sys.executable, "-P", "-m", "reconvene.adapters.notify.send_child"]
        try:
            done = await process.run(argv, json.dumps(order).encode(), "/", self._environ, self._batch, lambda _: None)
        except process.TookTooLong as late:
            return _cut([*_results(late.so_far.stdout), f"no answer within {self._batch:g} s"], letters)
        except OSError as error:
            return [f"who sends it cannot be started: {error.strerror}"]
        results = _results(done.stdout)
        if done.code and len(results) < len(letters):
            results.append(f"who sends it ended with {done.code}")  # its words may hold the address
        return _cut(results, letters)


def _results(out: bytes) -> list[str]:
    """A line that was cut off is none."""
    lines = out.split(b"\n")[:-1]
    return [str(json.loads(line)["error"]) for line in lines]


def _cut(results: list[str], letters: Sequence[Letter]) -> list[str]:
    return results[: len(letters)]
