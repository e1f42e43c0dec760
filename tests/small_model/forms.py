r"""Grammars (GBNF, as llama.cpp reads it) for the forms that packaged workflows ask for in Markdown. Pure.

A small model cannot keep to a form; a server can hold it to one, as it does with a JSON schema. Which form an agent is
held to is said where it is bound: `--model specialists=llamacpp:smollm2/report`. A form fixes headings, tables and ids;
what stands there is the model's own. Files that must be handed over in blocks are a form, too.
"""

# ruff: noqa: E501 - a rule of a grammar is one line

from __future__ import annotations

import json
import re

_COMMON = r"""
text ::= [A-Za-z] [^\n#|<>`*]{40,160} "\n"
line ::= [A-Za-z] [^\n#|<>`*]{15,100} "\n"
cell ::= [A-Za-z] [^\n#|<>`*]{3,40}
"""
_REPORT = r"""
root ::= "## Findings\n" finding{3} "\n## Assumptions\n" ("- " line){2} "\n## Ratings\n" table "\n## Summary\n" text
finding ::= "**" cell "** " text
table ::= "| item | rating | reason |\n|---|---|---|\n" ("| " cell " | " [1-9] " | " cell " |\n"){2,3}
"""
_GAPS = r"""
root ::= gap{1,3}
gap ::= "## GAP-" area "-00" [1-9] ": " line "\n**Severity:** " severity "\n**Blocking:** " ("yes" | "no") "\n**Blocked by:** none\n**Lines:** " [1-9] "-1" [0-9] "\n\n" text "\n"
area ::= "FLOW" | "DATA" | "ROLE"
severity ::= "CRITICAL" | "HIGH" | "MEDIUM" | "LOW"
"""
_REVIEW = r"""
root ::= "## Review: Round @ROUND@ - " line "\n### Proposals Reviewed\n" @JUDGED@ "\n### Issues\n" ("None.\n" | issue) "\n### Severities Changed\nNone.\n\n### Completeness Checks\n" ("- [x] " line){1,2} "\n### New Gaps Identified\nNone.\n\n### Recommendation\n**" ("APPROVE" | "REVISE") "** " text
verdict ::= "**APPROVED**\n" | "**NEEDS REVISION**\n   - " line
issue ::= "- **ISSUE-R@ROUND@-001** (" ("HIGH" | "LOW") ", " @ID@ "): " line "  " text
"""
_PROPOSALS = r"""
root ::= "# Engineer Proposals - Round @ROUND@\n\n" @RESOLVED@ "\n## Summary\n\n| Gap ID | Resolution Status | Confidence | New Gaps |\n|---|---|---|---|\n" @ROWS@
confidence ::= "HIGH" | "MEDIUM" | "LOW"
body ::= "\n**Gap:** " line "**Confidence:** " confidence "\n\n### Proposed Solution\n" text "\n### Examples\n" line "\n### Trade-offs\n" line "\n### New Gaps Introduced\nNone.\n"
"""
_PROSE = r"""
root ::= text{2,3} @SENTENCE@
"""
_SENTENCE = "User feedback from checkpoints incorporated."
_CONTRACT = re.compile(r"valid against this JSON Schema:\n\n(\{.*\})\n")
_NUMBER, _TEXT = "[0-9]", r'"\"" [a-z] [a-z ]{3,60} "\""'
_HEADINGS = re.compile(r"one of these headings is missing: (.+)")
_FILES = re.compile(r"Write these files: (.+?)\. (?:Hand|Put) ")
_GAP_ID = re.compile(r"\bGAP-[A-Z]+-\d{3}\b")
_ROUND = re.compile(r"\bround (\d+)", re.IGNORECASE)
_MOST_GAPS = 2


def grammar(model: str, prompt: str) -> str:
    """For what this prompt asks of this model; "" = it may write what it likes."""
    if named := _FILES.search(prompt):
        return _blocks(named[1].split(", "), _CONTRACT.search(prompt))
    match model.partition("/")[2]:
        case "report":
            return _REPORT + _COMMON
        case "headed" if wanted := _HEADINGS.search(prompt):
            return _headed(wanted[1].split(", ")) + _COMMON
        case "prose" | "headed":
            asked = _quoted(_SENTENCE) if _SENTENCE.rstrip(".") in prompt else '""'
            return _PROSE.replace("@SENTENCE@", asked) + _COMMON
        case "review" if re.search(r"task: find the gaps", prompt):
            return _GAPS + _COMMON
        case "review":
            return _filled(_REVIEW, prompt) + _COMMON
        case "proposals":
            return _filled(_PROPOSALS, prompt) + _COMMON
        case "change":
            return _blocks([], None)
        case _:
            return ""


def _blocks(paths: list[str], contract: re.Match[str] | None) -> str:
    """One block per file; where none is named, one file of Python. After them what the contract asks for, else prose."""
    names = [_quoted(path) for path in paths] or ['[a-z] [a-z_]{2,12} ".py"']
    blocks = [rf'"<file path=\"" {name} "\">\n" code{{1,8}} "</file>\n\n"' for name in names]
    rest = _object(json.loads(contract[1])) if contract else "text"
    return f"root ::= {' '.join(blocks)} {rest}\n" + r'code ::= [^\n<]{1,80} "\n"' + _COMMON


def _object(schema: dict[str, dict[str, dict[str, str]]]) -> str:
    """Each property in its order, as a number or a text: what contracts beside files ask for."""
    parts = [
        f"{_quoted(f'{json.dumps(name)}: ')} {_NUMBER if of.get('type') in ('integer', 'number') else _TEXT}"
        for name, of in schema["properties"].items()
    ]
    return '"{" ' + ' ", " '.join(parts) + ' "}"'


def _headed(names: list[str]) -> str:
    """The headings that a gate asks for, each with a few sentences below it."""
    titles = [name if name.startswith("#") else f"## {name}" for name in names]
    return f"root ::= {' '.join(_quoted(title + chr(10)) + ' text{2,3}' for title in titles)}\n"


def _filled(form: str, prompt: str) -> str:
    """With the round and the gaps that the prompt speaks of, in its order."""
    named = prompt.partition("Work on these gaps:")[2].partition("\n")[0]
    gaps = list(dict.fromkeys(_GAP_ID.findall(named or prompt)))[:_MOST_GAPS]
    gaps = gaps or ["GAP-FLOW-001"]
    judged = " ".join(rf'"{n}. {gap}: " cell " - " verdict' for n, gap in enumerate(gaps, 1))
    resolved = " ".join(rf'"## Gap Resolution: {gap}\n" body' for gap in gaps)
    rows = " ".join(rf'"| {gap} | Proposed | " confidence " | None |\n"' for gap in gaps)
    rounds = _ROUND.search(prompt.partition("Your task")[2])
    for name, value in (
        ("@JUDGED@", judged),
        ("@RESOLVED@", resolved),
        ("@ROWS@", rows),
        ("@ID@", _quoted(gaps[0])),
        ("@ROUND@", rounds[1] if rounds else "1"),
    ):
        form = form.replace(name, value)
    return form


def _quoted(text: str) -> str:
    return json.dumps(text)
