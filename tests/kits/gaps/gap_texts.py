"""Outputs in the house format, written by hand for the tests: an engineer's, a reviewer's, a list of gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reconvene.kits.gaps import tracker
from reconvene.kits.gaps.tracker import Config, Sources, settle, track

Value = dict[str, object]

LIST = """# Gaps of the courier service

## Process Flow

- GAP-FLOW-001 (CRITICAL): Nobody says what happens when a parcel is refused
- GAP-FLOW-002 (HIGH): The hand-over between depot and driver has no owner
- GAP-FLOW-003 (HIGH, blocking): Opening hours are named without a time zone

## Roles

- GAP-ROLE-001 (MEDIUM): Who may cancel a booking?
- GAP-ROLE-002 (LOW): The word "agent" stands for two roles
"""


def solution(gap: str, text: str = "", new: Sequence[str] = (), more: str = "") -> str:
    listed = "\n".join(f"- {one}" for one in new) or "None."
    return f"""## Gap Resolution: {gap}

**Gap:** as listed

**Confidence:** HIGH
{more}
### Proposed Solution

{text or f"The depot keeps a record for {gap} and asks once a day."}

### Examples

```text
## Gap Resolution: GAP-EXAMPLE-999
- GAP-EXAMPLE-998: not a gap, an example
```

### Trade-offs

**Pros:** simple. **Cons:** one more table.

### New Gaps Introduced

{listed}

---
"""


def proposals(*parts: str) -> str:
    return "# Engineer Proposals\n\n" + "\n".join(parts) + "\n---\n\n**Ready for Reviewer assessment.**\n"


def response(
    issue: str, position: str = "DISAGREE", why: str = "A schema costs more than it saves.", other: str = ""
) -> str:
    return f"""## Response to {issue}

**Reviewer Concern:** the threshold is arbitrary

**Engineer Position:** {position}

**Rationale:** {why}

**Alternative View:** {other}

**Request:** Escalate to user for decision

"""


def review(
    verdicts: Mapping[str, str] | None = None, issues: str = "", new: Sequence[str] = (), overall: str = "REVISE"
) -> str:
    judged = "\n".join(f"{n}. {gap}: as read - **{said}**" for n, (gap, said) in enumerate((verdicts or {}).items(), 1))
    listed = "\n".join(f"- {one}" for one in new) or "None."
    return f"""## Review: Round N

### Proposals Reviewed

{judged}

{issues}

### New Gaps Identified

{listed}

### Completeness Checks
- [x] Every solution was read against the specification

### Recommendation

**{overall}** - see above.
"""


def issue(
    name: str, gap: str, severity: str = "HIGH", text: str = "The threshold of 100 characters is arbitrary."
) -> str:
    return f"### {name}: Threshold\n\n**Severity:** {severity}\n\n**Gap:** {gap}\n\n{text}\n"


def begun(text: str = LIST, config: Config = Config()) -> Value:  # noqa: B008
    return track(None, Sources(0, given=text), config)


def played(value: object, n: int, engineer: str | None, reviewer: str | None, config: Config = Config()) -> Value:  # noqa: B008
    """A whole round, closed."""
    sources = Sources(n, proposals=engineer, review=reviewer, closed=True, **files(n))
    return track(value, sources, config)


def files(n: int) -> dict[str, str]:
    """Where a workflow might keep what it was given."""
    return {"proposals_file": f"round_{n:03d}/engineer.md", "review_file": f"round_{n:03d}/reviewer.md"}


def ordered(value: Value, **orders: object) -> Value:
    return settle(value | {"orders": orders}, 1, "Ann", "2026-01-09T10:00:00Z")


def states(value: Value) -> dict[str, str]:
    return {gap["id"]: gap["state"] for gap in value["list"]}  # type: ignore[attr-defined]


def gap(value: Value, name: str) -> dict[str, object]:
    return next(one for one in value["list"] if one["id"] == name)  # type: ignore[attr-defined]


def codes(value: Value) -> list[str]:
    return [one["code"] for one in value["errors"]]  # type: ignore[attr-defined]


def wrong_with(value: object, role: str, text: str, sources: Sources) -> str:
    """What the agent is told, "" where nothing is wrong."""
    found = tracker.wrong_with(value, role, text, sources)
    return found.said if found else ""
