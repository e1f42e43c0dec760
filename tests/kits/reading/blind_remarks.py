"""How many remarks of a file are read as a person labelled them, with confusion tables for kind and level.

python -m tests.kits.reading.blind_remarks                       the packaged cases
RECONVENE_REMARKS=FILE python -m tests.kits.reading.blind_remarks    another file; add `-v` for each line that is wrong
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from reconvene.core.extensions import AgentProfile
from reconvene.kits.reading.kit import KIT

BLIND = Path(__file__).resolve().parents[2] / "golden" / "feedback" / "blind"
AGENTS = (
    "economist", "geopolitics", "technologist", "ecologist", "sociologist", "industry_analyst", "contrarian",
)  # fmt: skip
_WORDS = re.compile(r"[^\W_]+")
_LEVELS = ("minor", "major")


class Part(NamedTuple):
    text: str
    kind: str
    level: str
    target: str = ""


class Heard(NamedTuple):
    parts: tuple[Part, ...]
    order: str


class Scored(NamedTuple):
    row: Mapping[str, object]
    heard: Heard
    right: bool
    pairs: tuple[tuple[str, str, str, str], ...]  # kind meant, kind heard, level meant, level heard
    targets: tuple[bool, ...]


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def heard(row: Mapping[str, object]) -> Heard:
    """What the rules make of a line: as the doors and the engine ask them."""
    reader = KIT.reader
    assert reader is not None
    known, by = row["known"], row["known_by"]
    assert isinstance(known, list)
    assert isinstance(by, list)
    outputs: dict[str, str] = {}
    for line, who in zip(known, by, strict=True):
        agent = str(who).replace(" ", "_") or "company.md"
        outputs[agent] = outputs.get(agent, "## Assumptions\n") + f"- {line}\n"
    text = str(row["text"])
    parts = []
    for one in reader.split(text, AGENTS):
        reading = reader.read(one.remark, outputs)
        profiles = {agent: AgentProfile(agent, last_output=outputs.get(agent, "")) for agent in AGENTS}
        concerned = reader.concerned((one.remark,), profiles, ())
        whom = ", ".join(each.agent for each in concerned if each.rule in ("mention", "assumption", "output"))
        parts.append(Part(one.remark.text, one.remark.kind, reading.level, whom))
    return Heard(tuple(parts), reader.order(text))


def score(row: Mapping[str, object]) -> Scored:
    said = heard(row)
    expected = row["expected"]
    assert isinstance(expected, list)
    order = said.order == row["order"] or (bool(row["nothing"]) and said.order in ("", "proceed"))
    if not expected:
        pairs = tuple(("nothing", one.kind, "none", one.level) for one in said.parts) or (
            ("nothing", "nothing", "none", "none"),
        )
        return Scored(row, said, order and not said.parts, pairs, ())
    whose: dict[int, list[Part]] = {index: [] for index in range(len(expected))}
    stray = []
    for part in said.parts:
        shared = [(_overlap(part.text, str(each["part"])), -index) for index, each in enumerate(expected)]
        most, index = max(shared)
        whose[-index].append(part) if most else stray.append(part)
    right = order and not stray
    pairs_found = [("nothing", one.kind, "none", one.level) for one in stray]
    targets = []
    for index, each in enumerate(expected):
        found = whose[index]
        kinds = {str(each["kind"]), *map(str, each.get("also", ()))}
        level = max((one.level for one in found), key=_LEVELS.index, default="none")
        good = bool(found) and all(one.kind in kinds for one in found)
        right = right and good and level == each["level"]
        kind = str(each["kind"]) if good else next((one.kind for one in found if one.kind not in kinds), "nothing")
        pairs_found.append((str(each["kind"]), kind, str(each["level"]), level))
        if each["target"]:
            targets.append(any(str(each["target"]).replace(" ", "_") in one.target for one in found))
    return Scored(row, said, right, tuple(pairs_found), tuple(targets))


def _overlap(one: str, two: str) -> int:
    return sum((Counter(_WORDS.findall(one.casefold())) & Counter(_WORDS.findall(two.casefold()))).values())


def table(pairs: Iterable[tuple[str, str]]) -> str:
    """Rows: what was meant. Columns: what was heard."""
    counted = Counter(pairs)
    names = list(dict.fromkeys(sorted({name for pair in counted for name in pair})))
    width = max(map(len, names)) + 1
    lines = [" " * width + "".join(f"{name:>{width}}" for name in names)]
    lines += [
        f"{meant:<{width}}" + "".join(f"{counted[meant, said] or '·':>{width}}" for said in names) for meant in names
    ]
    return "\n".join(lines)


def measured(path: Path) -> list[Scored]:
    return [score(row) for row in rows(path)]


def share(scored: list[Scored]) -> float:
    return sum(one.right for one in scored) / len(scored)


def main() -> None:
    given = os.environ.get("RECONVENE_REMARKS", "")
    for path in [Path(given)] if given else [BLIND / "remarks.jsonl", BLIND / "third.jsonl"]:
        scored = measured(path)
        pairs = [pair for one in scored for pair in one.pairs]
        print(f"{path.name}: {sum(one.right for one in scored)} of {len(scored)} right, {share(scored):.1%}")
        for language in sorted({str(one.row["language"]) for one in scored}):
            own = [one for one in scored if one.row["language"] == language]
            print(f"  {language}: {sum(one.right for one in own)} of {len(own)}")
        targets = [each for one in scored for each in one.targets]
        print(f"  whom it concerns, where somebody is: {sum(targets)} of {len(targets)}")
        print("\nkind (rows: meant, columns: heard)\n" + table((meant, said) for meant, said, _, _ in pairs))
        print("\nlevel\n" + table((meant, said) for _, _, meant, said in pairs))
        print("\norder\n" + table((str(one.row["order"]) or "-", one.heard.order or "-") for one in scored) + "\n")
        if "-v" in sys.argv:
            for one in scored:
                if not one.right:
                    print(f"✗ {one.row['id']} {one.row['text']!r}\n    known {one.row['known']}")
                    print(f"    meant {[(e['kind'], e['level'], e['part']) for e in one.row['expected']]}")  # type: ignore[attr-defined]
                    print(f"    order {one.row['order']!r} heard {one.heard.order!r}")
                    for part in one.heard.parts:
                        print(f"    heard {part}")


if __name__ == "__main__":
    main()
