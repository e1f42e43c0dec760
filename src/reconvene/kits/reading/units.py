"""Signs of currencies and scales that all languages share. Words for them are in the languages' lists."""

from __future__ import annotations

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
