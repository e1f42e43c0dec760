"""Names that people would take for each other."""

from __future__ import annotations

import unicodedata

# Letters of other scripts, and signs, that look like a Latin letter: what people take for each other in a name.
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u043a\u043c\u0442\u0432\u043d\u0456\u0458\u0455\u0501\u051b\u051d\u04cf\u0433"
    "\u03b1\u03b5\u03bf\u03c1\u03c7\u03c5\u03ba\u03c4\u03b9\u03bd\u03b7\u03c3\u0131\u0251\u0261\u0269"
    "01|",
    "aeopcxykmtbhijsdqwlraeopxyktivnoiagioll",
)


def skeleton(name: str) -> str:
    """The same for names that people would take for each other: by case, accents, or letters of another script."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    letters = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Mn", "Cf"))
    return letters.translate(_ALIKE).replace("i", "l").replace("rn", "m").replace("vv", "w")
