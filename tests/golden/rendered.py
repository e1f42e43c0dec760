"""What golden homes render when they go on: files, prompts, and what people are shown. Kept as it was on one day.

Four ways lead to a record:

- `on`: the home takes one decision and is ended; a new one goes the whole way. What `make test` does with every home.
- `through`: the home goes the whole way. `make torture`.
- `anew`: the journeys, played with the packaged workflows as they are now, at each of their stops.
- `told`: what the commands that only read give as JSON, before the home goes on.

`make golden` records what has no record yet, and never changes one. To take what is rendered today as the new measure,
remove the file of the workflow, run `make golden`, and say why in the commit. Where only the packaged prompts are
others, what homes of earlier days render stays on record: `make golden ARGS="--anew scenario-planning"` makes the
`anew` records of that workflow once more, and no others. For a single intended difference there is ALLOWED. Files are
compared to the letter, prompts by what they tell (`prompted.py`), and what is shown as JSON may have more in it.
Nothing is made equal before it is compared but the folder, which a test has of its own: the clock stands still between
two decisions, answers take the same time, and commits get the same date (`place.py`).
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .archive import canonical_json
from .canonical import differences, nameless
from .prompted import lost

FOLDER = Path(__file__).parent / "rendered"
Rendered = dict[str, str]  # name (`run/files/…`, `run/prompts/…`, `run/shown/…`) → text

_LONGEST_DIFF = 40  # lines
_MOST = 5  # differences that are shown in full
_PROMPTS = "/prompts/"  # compared by what they tell, not by where it stands
_AS_JSON = ("/shown/", "told/")  # what may have more in it today, but nothing less


class Allowed(NamedTuple):
    """A difference from the record that is intended.

    `name` is a pattern for `workflow/way/stop/name`; * also stands for slashes. `then` turns today's text into the one
    on record. Without it nothing is compared there.
    """

    name: str
    reason: str
    then: Callable[[str], str] | None = None


def swap(now: str, then: str) -> Callable[[str], str]:
    """For `then`: wherever today's text matches `now`, the record has `then`. As in `re.sub`."""
    return lambda text: re.sub(now, then, text)


_REBIND = "Try again with another model"


def _without_rebind(text: str) -> str:
    shown = json.loads(text)
    point = shown.get("checkpoint") or {}
    options = point.get("options", [])
    if any(option["label"] == _REBIND for option in options):
        point["options"] = [option for option in options if option["label"] != _REBIND]
    return json.dumps(shown)


def _again_first(text: str) -> str:
    """What could be done twice was the first option, and the prompt said less of why."""
    shown = json.loads(text)
    point = shown.get("checkpoint") if isinstance(shown, dict) else None
    if not isinstance(point, dict) or "may have acted already" not in str(point.get("prompt")):
        return text
    point["options"].sort(key=lambda option: option["label"] != "Try again")
    why, then = "the process that ran it ended before its outcome", "the process ended before the outcome"
    point["prompt"] = point["prompt"].replace(why, then)
    return json.dumps(shown)


def _not_again(text: str) -> str:
    """An expression that failed could not be tried again."""
    shown = json.loads(text)
    point = shown.get("checkpoint") if isinstance(shown, dict) else None
    if not isinstance(point, dict):
        return text
    first = next((option["label"] for option in point.get("options", [])), "")
    if first == "Count it as true" or "The mistake may be in the workflow" in str(point.get("prompt")):
        point["options"] = [option for option in point["options"] if option["label"] != "Try again"]
    return json.dumps(shown)


def _by_branch(text: str) -> str:
    """The line that merges named the branch, which may have moved on."""
    shown = json.loads(text)
    project = shown.get("project") if isinstance(shown, dict) else None
    if isinstance(project, dict) and "merge" in project:
        project["merge"] = re.sub(r"merge [0-9a-f]{12}$", f"merge {project['branch']}", project["merge"])
    return json.dumps(shown)


def _light_edit(text: str) -> str:
    """An edit weighed little, whatever figure was changed by it."""
    shown = json.loads(text)
    for remark in shown.get("remarks", []) if isinstance(shown, dict) else []:
        if remark.get("kind") == "edit":
            remark.update(level="minor", reason="an edit of a file", was="", now="")
    return json.dumps(shown)


_BACK = (r"back to the beginning of ([^;\"]+); what is there stays", r"\1 is done anew")
ALLOWED: tuple[Allowed, ...] = (
    Allowed("troubles/*/shown/*", "a stop says whose words it tells.", swap(r"- the check of \w+ says: ", "- ")),
    *(
        Allowed(name, "an option that goes back says that what is there stays.", swap(*_BACK))
        for name in ("[!j]*/on/*/shown/*", "[!j]*/through/*/shown/*", "[!j]*/told/*")  # job was recorded later
    ),
    *(
        Allowed(f"[!j]*/{way}/*/prompts/*", why, swap(now, then))  # job was recorded later
        for way in ("on", "through")  # what is played anew is on record as it is now
        for why, now, then in (
            (
                "the rules also say what a quotation in a task is.",
                ", and for what a task quotes, between “ and ” or behind >",
                "",
            ),
            (
                "a contract beside files is told as what comes after them.",
                "Beside the files, answer with JSON",
                "Answer with JSON",
            ),
        )
    ),
    *(
        Allowed(f"brainstorm/{way}/*/shown/*", "what is merged is the commit that was shown.", _by_branch)
        for way in ("on", "through")
    ),
    *(
        Allowed(f"*/{way}/*/shown/*", "a figure changed by hand weighs like one that is said.", _light_edit)
        for way in ("on", "through")
    ),
    Allowed("brainstorm/*/brainstorm-1-fork-1/shown/*", "a commit is named by its first twelve digits."),
    Allowed("*/shown/*", "an expression that failed can be tried again.", _not_again),
    Allowed("*/prompts/*", "of an edit, what was removed is called so.", swap(r"> - \(removed\) ", "> -")),
    Allowed("*/prompts/*", "of an edit, only what the person changed is shown.", swap(r"> …", ">")),
    Allowed("troubles/*/shown/*", "to do something twice is not what is suggested.", _again_first),
    Allowed("*/shown/*", "where an agent failed, another model may be tried.", _without_rebind),
    Allowed(
        "*/shown/*",
        "where an expression failed, the workflow can be mended.",
        swap(r"(\\n){2}The mistake may be in the workflow[^\"]*? --to [\w.]+", ""),
    ),
)


def matching(names: Iterable[str], one: Allowed) -> list[str]:
    return [name for name in names if fnmatchcase(name, one.name)]


def unlike(then: Rendered, now: Rendered, of: str, allowed: Sequence[Allowed] = ALLOWED) -> Iterator[str]:
    """What is rendered otherwise than it was, each with its name and the difference. `of`: `workflow/way/stop`."""
    for name in sorted({*then, *now}):
        told = [one for one in allowed if matching([f"{of}/{name}"], one)]
        if any(one.then is None for one in told):
            continue
        if name not in now:
            yield f"{of}/{name} is missing. It was:\n{_start(then[name])}"
            continue
        text = now[name]
        for one in told:
            text = one.then(text) if one.then else text
        if name not in then:
            yield f"{of}/{name} is new:\n{_start(text)}"
        elif not list(_changed(name, then[name], now[name])):
            continue  # recorded since: what older records may differ in is not asked of it
        elif lines := list(_changed(name, then[name], text)):
            yield "\n".join([f"{of}/{name} is not what it was:", *_short(lines)])


def _changed(name: str, then: str, now: str) -> Iterator[str]:
    if then == now:
        return
    if _PROMPTS in name:
        yield from (f"not told any more: {paragraph}" for paragraph in lost(then, now))
    elif any(part in name for part in _AS_JSON):
        yield from differences(nameless(json.loads(then), pins=False), nameless(json.loads(now), pins=False), more=True)
    elif then.splitlines() == now.splitlines():
        yield from (f"-{then[-40:]!r}", f"+{now[-40:]!r}")
    else:
        yield from unified_diff(then.splitlines(), now.splitlines(), "on record", "now", lineterm="", n=1)


def _start(text: str) -> str:
    return "\n".join(_short(text.splitlines()))


def _short(lines: list[str]) -> list[str]:
    more = len(lines) - _LONGEST_DIFF
    return lines if more <= 0 else [*lines[:_LONGEST_DIFF], f"[{more} more lines]"]


def check(release: str, workflow: str, found: Mapping[str, Rendered]) -> None:
    """That this (`way/stop` → what is rendered there) is as it is on record."""
    __tracebackhide__ = True
    kept = records(release, workflow)
    if unknown := sorted(set(found) - set(kept)):
        raise AssertionError(f"{workflow}: nothing is on record of {', '.join(unknown)}. Add it with: make golden")
    lines = [line for of, one in found.items() for line in unlike(kept[of], one, f"{workflow}/{of}")]
    if lines:
        hint = "Intended? Say so in ALLOWED of tests/golden/rendered.py, which also says how to record anew."
        raise AssertionError("\n\n".join(["not rendered as it was", *lines[:_MOST], *_rest(lines), hint]))


def _rest(lines: list[str]) -> list[str]:
    more = [line.partition("\n")[0] for line in lines[_MOST:]]
    return ["\n".join([f"And {len(more)} more:", *more])] if more else []


# --- keeping ---


@cache
def records(release: str, workflow: str, folder: Path = FOLDER) -> Mapping[str, Rendered]:
    """`way/stop` → what was rendered there."""
    file = file_of(release, workflow, folder)
    if not file.is_file():
        return {}
    kept = json.loads(lzma.decompress(file.read_bytes()))
    texts = kept["texts"]
    return {of: {name: texts[number] for name, number in names.items()} for of, names in kept["records"].items()}


def add(release: str, workflow: str, found: Mapping[str, Rendered], folder: Path = FOLDER) -> Path:
    """Keep these beside what is on record, which stays as it is."""
    there = records(release, workflow, folder)
    assert not set(found) & set(there), f"{sorted(set(found) & set(there))}: on record already"
    return _write(release, workflow, {**there, **found}, folder)


def made_anew(release: str, workflow: str, found: Mapping[str, Rendered], folder: Path = FOLDER) -> Path:
    """Keep these in place of all that is on record of the way `anew`."""
    others = {of: one for of, one in records(release, workflow, folder).items() if not of.startswith("anew/")}
    return _write(release, workflow, {**others, **found}, folder)


def _write(release: str, workflow: str, every: Mapping[str, Rendered], folder: Path) -> Path:
    # Those of one name side by side: they have much in common.
    named = sorted((name, text) for one in every.values() for name, text in one.items())
    texts = list(dict.fromkeys(text for _, text in named))
    number = {text: place for place, text in enumerate(texts)}
    kept = {of: {name: number[text] for name, text in one.items()} for of, one in every.items()}
    file = file_of(release, workflow, folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(canonical_json({"texts": texts, "records": kept}), preset=9 | lzma.PRESET_EXTREME))
    records.cache_clear()
    return file


def file_of(release: str, workflow: str, folder: Path = FOLDER) -> Path:
    return folder / release / f"{workflow}.json.xz"
