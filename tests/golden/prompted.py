"""Prompts of then and now: whatever an agent was told must still be told to it, wherever it stands now.

The engine orders and marks what agents are shown, and may do it better tomorrow. What it must never do is lose any of
it: a document, a remark, an instruction. So prompts are compared paragraph by paragraph: each one on record is found
whole in the prompt of today. Only what the engine said in words of its own may be said otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

# What the engine itself said in prompts of earlier releases: its headings, and its standing sentences.
_ENGINE = (
    r"## (What you may read|What you were given|What to do now|What to write|Where you work)",
    r"## Your last attempt (was sent back|failed)",
    r"This is authoritative: where it differs from anything else, it counts\. Cite a remark by its id in brackets "
    r"where you act on it, and say why where you do not\.",
    r"(What you wrote then|An example of what is expected):",
    r"Please (try again|do it again, with that put right)\.",
    r"What you changed in the project then, and what has been taken back since:",
    r"\[\d+ more characters\]",
)
_OURS = re.compile("|".join(f"(?:{pattern})" for pattern in _ENGINE))
_MARK = re.compile(r"^The mark of this message is ([0-9a-f]{12})\.$", re.MULTILINE)
_TITLE = re.compile(r"### (.+)\n?")  # of a document, or a heading in one


def lost(then: str, now: str) -> Iterator[str]:
    """Paragraphs on record that the prompt of today does not have."""
    today = _plain(_text(now))
    for paragraph in re.split(r"\n\s*\n", _plain(_text(then))):
        said = paragraph.strip()
        if not said or _OURS.fullmatch(said) or said in today:
            continue
        title = _TITLE.match(said)
        if title and f'name="{title[1]}"' in today and said[title.end() :].strip() in today:
            continue
        yield said


def _text(prompt: str) -> str:
    """As the agent reads it: a command's request holds it among other things."""
    if not prompt.startswith("{"):
        return prompt
    try:
        found = json.loads(prompt)
    except ValueError:
        return prompt
    return str(found["stdin"]) if isinstance(found, dict) and "stdin" in found else prompt


def _plain(text: str) -> str:
    """Without the marks of a quotation, and without the ends of lines that nobody sees. The mark of a prompt is made of
    all that is shown, the folder of a test included, so it is left out."""
    if mark := _MARK.search(text):
        text = text.replace(mark[1], "MARK")
    return re.sub(r"[ \t]+$", "", re.sub(r"^[ \t]*(?:> ?)?", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
