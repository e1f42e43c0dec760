"""How currencies, scales and units are written, and what they are worth in their base.

Pure data for `quantities`; English first, with the words of some other languages.
"""

from __future__ import annotations

PERCENT, POINTS, DATE = "%", "pp", "date"

CURRENCY = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "￥": "JPY", "₹": "INR", "₩": "KRW", "₺": "TRY",
    "₪": "ILS", "₽": "RUB", "₴": "UAH", "A$": "AUD", "C$": "CAD", "Fr.": "CHF", "dollar": "USD", "dollars": "USD",
    "euro": "EUR", "euros": "EUR", "pounds": "GBP", "francs": "CHF", "franken": "CHF", "yen": "JPY", "yuan": "CNY",
    "rupees": "INR",
}  # fmt: skip
CODES = frozenset(
    "USD EUR GBP CHF JPY CNY RMB INR AUD CAD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR KRW SGD HKD TRY ILS AED SAR UAH"
    " RUB".split()
)
HARD_UNITS = CODES | {PERCENT, POINTS}

SCALES = {
    word: factor
    for factor, words in (
        (1e3, "k thousand tsd tausend mille 千"),
        (1e4, "万 萬"),
        (1e5, "lakh lakhs"),
        (1e6, "m mn mm mln mio million millions millionen millones"),
        (1e7, "crore crores"),
        (1e8, "亿 億"),
        (1e9, "b bn bln mrd mia billion billions milliarde milliarden milliards"),
        (1e12, "tn trn trillion trillions 兆"),
    )
    for word in words.split()
}
HAN_SCALES = "千万萬亿億兆"
LADDER = (1e12, 1e9, 1e6, 1e3, 1.0)
# Behind a space these are more often metres, bits and kelvin than millions, billions and thousands.
ATTACHED_ONLY = frozenset({"m", "b", "k"})

# Units that convert into one another, so that "7 years, not 18 months" and "1.2 GW, not 800 MW" compare.
CONVERTED = {
    name: (unit, factor)
    for unit, factor, names in (
        ("days", 365.25, "year years yr yrs jahr jahre jahren"),
        ("days", 91.3, "quarter quarters"),
        ("days", 30.44, "month months monat monate monaten"),
        ("days", 7.0, "week weeks woche wochen"),
        ("days", 1.0, "day days tag tage tagen"),
        ("days", 1 / 24, "hour hours hrs h stunden"),
        ("days", 1 / 1440, "minute minutes min minuten"),
        ("g", 1e3, "kg kilo kilos"),
        ("g", 1e6, "t tonne tonnes ton tons tonnen"),
        ("g", 1e9, "kt"),
        ("W", 1e3, "kw"),
        ("W", 1e6, "mw"),
        ("W", 1e9, "gw"),
        ("Wh", 1e3, "kwh"),
        ("Wh", 1e6, "mwh"),
        ("Wh", 1e9, "gwh"),
        ("Wh", 1e12, "twh"),
    )
    for name in names.split()
}
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
SPELLED = {word: float(value) for value, word in enumerate(_WORDS, 2)} | {
    "fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0,
    "eighty": 80.0, "ninety": 90.0,
}  # fmt: skip
# Words that follow a figure without saying what is counted.
NOT_UNITS = frozenset(
    "a an and or of in on at to for from by per is are was were be not but the this that it its we our you your they as"
    " than rather instead now then so if with und oder von im auf zu nicht sondern statt ist war pro et de du en y no"
    " last next each every all only about more less higher lower up down until since before after has have had will"
    " too also which who where when because".split()
)
