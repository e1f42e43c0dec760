"""Numbers in prose: "$1.2bn", "1.234,5 €", "10–15 %", "seven years", as values that can be compared.

Pure, and linear in the length of the text: every pattern is anchored at a digit and every repetition is bounded or
deterministic. Knows how people write figures; nothing of remarks. What a text says *about* its figures (replaced,
denied) is in `corrections`, whose names are offered here too.
"""

from __future__ import annotations

import re

from msgspec import Struct

_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD|TRY|ILS|AED|SAR|UAH|RUB"
)
_SYMBOLS = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "￥": "JPY", "₹": "INR", "₩": "KRW",
            "₺": "TRY", "₪": "ILS", "₽": "RUB", "₴": "UAH", "A$": "AUD", "C$": "CAD", "Fr.": "CHF", "Rs": "INR"}  # fmt: skip
_NAMES = {"dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "pound": "GBP", "pounds": "GBP",
          "franc": "CHF", "francs": "CHF", "franken": "CHF", "yen": "JPY", "yuan": "CNY", "rupees": "INR"}  # fmt: skip
_SCALES = {
    1e3: "k thousand tsd tausend mil mille 千",
    1e4: "万 萬",
    1e5: "lakh lakhs",
    1e6: "m mn mm mln mio million millions millionen millones",
    1e7: "crore crores",
    1e8: "亿 億",
    1e9: "b bn bln mrd mia billion billions milliarde milliarden milliards",
    1e12: "tn trn trillion trillions 兆",
}
_SCALE = {word: factor for factor, words in _SCALES.items() for word in words.split()}
# Without a space these are scales; behind a space they are more often metres, bytes, bits or kelvin.
_ATTACHED_ONLY = {"m", "b", "k"}
# Units that convert into one another, so that "7 years, not 18 months" and "1.2 GW, not 800 MW" compare.
_CONVERTED = {
    **{name: ("days", days) for names, days in (
        ("year years yr yrs jahr jahre jahren", 365.25), ("quarter quarters", 91.3), ("month months monat monate monaten", 30.44),
        ("week weeks woche wochen", 7.0), ("day days tag tage tagen", 1.0), ("hour hours hrs h stunden", 1 / 24),
        ("minute minutes min minuten", 1 / 1440),
    ) for name in names.split()},
    **{prefix + unit: (unit, factor) for unit in ("w", "wh", "wp")
       for prefix, factor in (("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12))},
    **{name: ("g", factor) for names, factor in (
        ("kg kilo kilos", 1e3), ("t tonne tonnes ton tons tonnen", 1e6), ("kt", 1e9),
    ) for name in names.split()},
}  # fmt: skip
_PERCENT = {"%", "％", "percent", "per cent", "prozent", "pct", "pour cent", "por ciento"}
_POINTS = {"pp", "ppt", "ppts", "percentage point", "percentage points", "prozentpunkte", "prozentpunkten"}
_SPELLED = {
    word: float(value)
    for value, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
} | {"fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0,
     "seventy": 70.0, "eighty": 80.0, "ninety": 90.0}  # fmt: skip
# A word that follows a figure but does not say what is counted.
_NOT_UNITS = frozenset(
    "a an and or of in on at to for from by per is are was were be not but the this that it its we our you your they as"
    " than rather instead now then so if with und oder von im in auf zu nicht sondern statt ist war pro et de du en y no"
    " last next each every all only about more less higher lower up down until since before after".split()
)

_MARK = rf"(?:(?P<currency>US\$|[AC]\$|[$€£¥￥₹₩₺₪₽₴]|\bFr\.|\bRs\b|\b(?:{_CODES}))[ \u00a0\u202f]?)"
_NUMBER = r"(?P<number>\d{1,3}(?:[ \u00a0\u202f']\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,'’]\d+)*)"
_NEVER = r"\d{4}-\d\d-\d\d(?!\d)|\d{1,2}:\d\d(?::\d\d)?(?!\d)|\d{1,2}([./])\d{1,2}\1\d{2,4}(?!\d)"
_PERCENTAGE = r"%|％|percentage points?|prozentpunkten?|ppts?\b|pp\b|per ?cent\b|prozent\b|pct\b|pour cent\b|por ciento\b"
_TOKEN = re.compile(
    rf"(?P<never>{_NEVER})"
    rf"|(?:(?<![A-Za-z\d_#])(?<![A-Za-z]-)|(?<=(?:mn|io|rd)\.))"
    rf"(?P<sign>(?<![\w)])[-+−])?{_MARK}?(?P<late>[-−])?(?<![A-Za-z]){_PLACE}{_NUMBER}"
    if False
    else rf"(?P<never>{_NEVER})"
    rf"|(?<![A-Za-z\d_#])(?<![A-Za-z]-)(?P<sign>(?<![\w)])[-+−])?{_MARK}?{_NUMBER}"
    rf"(?P<percent>[ \u00a0\u202f]?(?:{_PERCENTAGE}))?",
    re.IGNORECASE,
)
