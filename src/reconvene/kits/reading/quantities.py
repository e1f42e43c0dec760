"""Numbers in prose: "$1.2bn", "1.234,5 €", "10–15 %", "seven years", as values that can be compared.

Linear in the length of the text: every pattern is anchored at a digit or a word, every repetition bounded or
deterministic. What a text says *about* its figures (that one replaces another) is for `figures`.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from reconvene.kits.reading import tongues
from reconvene.kits.reading.tongues import Tongue

# Signs of currencies and scales that all languages share. Words for them are in the languages' lists.
PERCENT, POINTS, DATE = "%", "pp", "date"

CURRENCY = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "￥": "JPY", "₹": "INR", "₩": "KRW", "₺": "TRY",
    "₪": "ILS", "₽": "RUB", "₴": "UAH", "A$": "AUD", "C$": "CAD", "Fr.": "CHF",
}  # fmt: skip
CODES = frozenset(
    "USD EUR GBP CHF JPY CNY RMB INR AUD CAD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR KRW SGD HKD TRY ILS AED SAR UAH"
    " RUB".split()
)
HARD_UNITS = CODES | {PERCENT, POINTS}

HAN_SCALES = "千万萬亿億兆"
LADDER = (1e12, 1e9, 1e6, 1e3, 1.0)
# Behind a space these are more often metres, bits and kelvin than millions, billions and thousands.
ATTACHED_ONLY = frozenset({"m", "b", "k"})

_GAP = r"[ \u00a0\u202f]"
_TOKEN = (
    # Dates and times of day are not quantities.
    r"(?<![\d.])(?P<never>\d{4}-\d\d-\d\d(?!\d)|\d{1,2}:\d\d(?::\d\d)?(?!\d)|\d{1,2}([./])\d{1,2}\2\d{2,4}(?![\d.]))"
    # Nor are Q3, CO2, FB-001, v1.2, #7.
    r"|(?<![A-Za-z\d_#])(?<![A-Za-z]-)(?<!\d[.,])(?P<sign>(?<![\w)])[-+−])?"
    rf"(?:(?P<currency>(?-i:US\$|[AC]\$|[$€£¥￥₹₩₺₪₽₴]|Fr\.|(?:{'|'.join(sorted(CODES))}))){_GAP}?)?"
    rf"(?P<number>\d{{1,3}}(?:[ \u00a0\u202f'’]\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*)"
    # "twelve", "four hundred and twenty", "zweihundertvierzig".
    r"|\b(?P<spelled>(?:<<number_parts>>)(?:[ -]?(?:<<number_parts>>)){1,8}|<<numbers>>)\b"
)
_PERCENTAGE = rf"{_GAP}?(?:(?P<points><<percentage_points>>)|%[ -]?(?P<more>points?\b)|%|％|<<percent>>)"
_NEXT_WORD = re.compile(rf"(?P<gap>{_GAP}|-)?(?P<word>[^\W\d_]{{1,24}})\.?")
_NEXT_SYMBOL = re.compile(rf"{_GAP}?(?P<symbol>US\$|[$€£¥￥₹₩₺₪₽₴])")
_DATED = r"(?:<<dated>>|[–-])[ -]{0,2}$"
_RANGE = rf"{_GAP}?(?:[-–—~〜]|<<range>>){_GAP}?"
_OPEN_RANGE = r"<<range_opens>>\W{1,3}$"
_CLOSE_RANGE = rf"{_GAP}?<<range_closes>>{_GAP}?"
_NO_RANGE = r"(?P<wide><<wide>>\s)?<<range_denied>>\W{1,3}$"

_LONGEST_NUMBER = 40


class Figure(Struct, frozen=True):
    """One quantity, in the base of its unit: millions multiplied out, years as days. Of a range, its middle."""

    value: float
    unit: str  # a currency code, "%", "pp", "date" (a year), the word behind the figure, or ""
    text: str
    start: int
    end: int
    other: float | None = None  # the other reading where "1.200" or "1,234" can be both
    scale: float = 0.0  # 0 = none was written
    low: float | None = None
    high: float | None = None
    per: float = 1.0  # what one of the written unit is in its base: a year is 365 days

    @property
    def bare(self) -> bool:
        """No scale was written: the "850" in "$900M, not 850" takes it from the other figure."""
        return not self.scale and self.unit not in (PERCENT, POINTS, DATE)


def figures_in(text: str) -> tuple[Figure, ...]:
    """Every figure of the text, in order; ranges as one."""
    tongue = tongues.of(text)
    found = [figure for match in tongue.pattern(_TOKEN).finditer(text) if (figure := _figure(text, match, tongue))]
    return tuple(_with_ranges(text, found, tongue))


def change(was: float, now: float) -> float:
    """The relative change, 0.2 = 20 %. From nothing to something is infinite."""
    if was == now:
        return 0.0
    return abs(now - was) / abs(was) if was else float("inf")


def comparable(one: Figure, two: Figure) -> bool:
    """Whether a sentence can mean one of them in place of the other."""
    if one.unit in HARD_UNITS and two.unit in HARD_UNITS:
        return one.unit == two.unit
    if DATE in (one.unit, two.unit):
        return one.unit == two.unit or "" in (one.unit, two.unit)
    return True


def aligned(was: Figure, now: Figure) -> tuple[float, float]:
    """Both values as one writer means them: a missing scale, and the ambiguous "1.200", are read as fits the other."""
    pairs = [(old, new) for old in _readings(was, now) for new in _readings(now, was)]
    return min(pairs, key=lambda pair: _distance(*pair))


def _distance(one: float, two: float) -> float:
    small, large = sorted((abs(one), abs(two)))
    if small == large:
        return 1.0
    return large / small if small else float("inf")


def _readings(figure: Figure, beside: Figure) -> list[float]:
    values = [figure.value] + ([figure.other] if figure.other is not None else [])
    if figure.bare and beside.scale:
        values = [value * scale for value in values for scale in LADDER if scale <= beside.scale]
    if figure.bare and not figure.unit and beside.unit == "days":
        # "7 years, not 4": the same unit of time.
        values = [value * beside.per for value in values]
    return values


def _figure(text: str, match: re.Match[str], tongue: Tongue) -> Figure | None:
    number = match["number"] or ""
    if match["never"] or len(number) > _LONGEST_NUMBER:
        return None
    value: float | None
    if match["spelled"]:
        value, other = _spelled(match["spelled"].casefold(), tongue), None
    else:
        value, other = _value(number, "," if tongue.main.decimal_comma else ".")
    if value is None:
        return None
    mark = match["currency"] or ""
    unit, scale, end = _tail(text, match.end(), bool(mark), tongue)
    if unit is None:
        return None
    if mark:
        unit = CURRENCY.get(mark, mark)
    unit, per = tongue.units.get(unit, (unit, 1.0))
    if number and unit not in HARD_UNITS and not scale and _is_year(text, match, tongue):
        unit, end, per = DATE, match.end(), 1.0
        value = float(number)
    factor = per * (scale or 1.0) * (-1 if match["sign"] in ("-", "−") else 1)
    second = None if other is None else other * factor
    return Figure(value * factor, unit, text[match.start() : end], match.start(), end, second, scale, per=per)


def _spelled(words: str, tongue: Tongue) -> float | None:
    """A number in words: hundreds and thousands multiply what stands before them, everything else is added up."""
    if words in tongue.numbers:
        return tongue.numbers[words]
    whole = under = 0.0
    before = float("inf")
    for part in tongue.pattern("<<number_parts>>").findall(words):
        value = tongue.number_parts[part]
        if value == 1000:
            whole, under = whole + (under or 1.0) * value, 0.0
        elif value == 100:
            under = (under or 1.0) * value
        elif (before >= 20 and value < before) or before < 10 <= value:
            under += value
        else:
            return None  # "two three-year contracts" are two numbers
        before = value
    return whole + under


def _is_year(text: str, match: re.Match[str], tongue: Tongue) -> bool:
    number = match["number"]
    if match["currency"] or not (len(number) == 4 and number.isdigit() and 1900 <= int(number) < 2100):
        return False
    following = _NEXT_WORD.match(text, match.end())
    alone = not following or following["word"].casefold() in tongue.words("not_units")
    return alone or bool(tongue.pattern(_DATED).search(text[max(0, match.start() - 12) : match.start()]))


def _tail(text: str, position: int, money: bool, tongue: Tongue) -> tuple[str | None, float, int]:
    """What stands behind the digits: (unit, scale, end). None: this is an ordinal, not a quantity."""
    if share := tongue.pattern(_PERCENTAGE).match(text, position):
        return (POINTS if share["points"] or share["more"] else PERCENT), 0.0, share.end()
    scale = 0.0
    word = _NEXT_WORD.match(text, position)
    if word and (found := _scale(word, money, tongue)):
        scale, position = found
        word = _NEXT_WORD.match(text, position)
    if symbol := _NEXT_SYMBOL.match(text, position):
        return CURRENCY[symbol["symbol"]], scale, symbol.end()
    if not word:
        return "", scale, position
    name = word["word"]
    low = name.casefold()
    if name in CODES or low in tongue.currencies:
        return tongue.currencies.get(low, name), scale, word.end("word")
    if not word["gap"] and low in tongue.words("ordinals"):
        return None, scale, position
    if money or low in tongue.words("not_units"):
        return "", scale, position
    return low, scale, word.end("word")


def _scale(word: re.Match[str], money: bool, tongue: Tongue) -> tuple[float, int] | None:
    name = word["word"]
    if name[0] in HAN_SCALES:
        return tongue.scales[name[0]], word.start("word") + 1
    if money and name == "T":
        return 1e12, word.end("word")
    if name.casefold() not in tongue.scales or (name in ATTACHED_ONLY and word["gap"] and not money):
        return None
    return tongue.scales[name.casefold()], word.end() if len(name) == 3 else word.end("word")


def _value(digits: str, decimals: str) -> tuple[float | None, float | None]:
    """(value, the other possible reading). Commas and points are told apart by their order and what follows them, and
    else by the mark of decimals that the language uses."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    marks = re.findall(r"[.,]", plain)
    parts = re.split(r"[.,]", plain)
    grouped = len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
    whole = "".join(parts)
    fraction = f"{''.join(parts[:-1])}.{parts[-1]}"
    match len(marks), len(set(marks)):
        case 0, _:
            return float(whole), None
        case 1, _ if not grouped or parts[0].startswith("0"):
            return float(fraction), None
        case 1, _:
            if marks != [decimals] or (decimals == "." and parts[1].endswith("00")):
                return float(whole), float(fraction)
            return float(fraction), float(whole)
        case _, 1:
            return (float(whole) if grouped else None), None  # 1.2.3 is a version
        case _:
            last_differs = marks.count(marks[-1]) == 1 and all(len(part) == 3 for part in parts[1:-1])
            return (float(fraction) if last_differs else None), None


def _with_ranges(text: str, figures: list[Figure], tongue: Tongue) -> list[Figure]:
    merged: list[Figure] = []
    for figure in figures:
        if merged and merged[-1].low is None and _is_range(text, merged[-1], figure, tongue):
            merged[-1] = _range(text, merged[-1], figure)
        else:
            merged.append(figure)
    return merged


def _is_range(text: str, low: Figure, high: Figure, tongue: Tongue) -> bool:
    if DATE in (low.unit, high.unit) or not comparable(low, high) or high.start - low.end > 6:
        return False
    between = text[low.end : high.start]
    before = text[max(0, low.start - 24) : low.start]
    if tongue.pattern(_CLOSE_RANGE).fullmatch(between):
        return bool(tongue.pattern(_OPEN_RANGE).search(before))
    start = tongue.pattern(_NO_RANGE).search(before)
    return bool(tongue.pattern(_RANGE).fullmatch(between)) and (start is None or bool(start["wide"]))


def _range(text: str, low: Figure, high: Figure) -> Figure:
    unit = high.unit or low.unit
    first = low.value
    if low.bare:
        in_days = high.per if high.unit == "days" and not low.unit else 1.0
        raised = first * (high.scale or 1.0) * in_days
        first = raised if raised <= high.value else first
    return replace(
        high, value=(first + high.value) / 2, unit=unit, text=text[low.start : high.end], start=low.start, other=None,
        low=first, high=high.value,
    )  # fmt: skip
