"""A small general lexicon: which broad subject a word belongs to (money words → economy, law words → regulation, …).

Data and one lookup. Knows nothing of agents: a remit is matched to subjects by the few words that name the subject, a
remark by the many words that speak of it. "word*" stands for every word that begins so. Phrases are taken whole, so
that "power plant" is not power and "working capital" is not work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from reconvene.kits.reading.terms import stem, tokens


class Subject(NamedTuple):
    named: str  # words that name the subject, as a remit would
    spoken: str  # further words that speak of it
    phrases: str = ""  # separated by "/"


SUBJECTS: dict[str, Subject] = {
    "economy": Subject(
        "econom* macroeconom* capital finance financial money fiscal monetary",
        """revenue turnover sales profit profitability loss margin ebit ebitda earnings cash cashflow debt loan credit
        creditor lender bank refinanc* leverage equity shareholder investor investment invest
        dividend bond valuation acquisition acquire merger divestiture budget capex opex spending inflation deflation
        recession gdp currency dollar euro yen fx hedge hedging liquidity solvency covenant insolvency bankruptcy tax
        subsidy payback roi irr npv depreciation funding fund ipo stimulus unemployment""",
        """interest rate/interest payment/interest cost/interest expense/line of credit/
        working capital/capital market/stock market/exchange rate/cost of capital/balance sheet/cash flow/
        central bank/price level/private equity/venture capital""",
    ),
    "regulation": Subject(
        "law laws legal policy policies regulation regulatory geopolit* politic* power trade diplomacy government",
        """regulator regulate antitrust legislation legislator legislature statute compliance comply court lawsuit sue
        litigation ruling tariff duty duties embargo sanction quota export import treaty tax subsidy
        election vote voter president minister ministry parliament congress senate commission directive licence license
        licensing permit ban border military army war invasion nato eu brussels washington beijing kremlin gdpr
        lobby lobbying nationalis* nationaliz* protectionis* sovereignty coup""",
        "trade war/trade agreement/trade policy/supreme court/export control/central government",
    ),
    "technology": Subject(
        "technolog* technical tech digital software it",
        """ai algorithm automation automate robot robotics computer computing hardware chip semiconductor cloud server
        database platform app api cyber* hacker ransomware encryption blockchain internet iot sensor network 5g quantum
        innovation invention patent prototype r&d lab laboratory biotech nanotech
        digitalis* digitaliz* digitis* digitiz* code programmer erp crm saas""",
        """machine learning/artificial intelligence/language model/data centre/data center/neural network/
        information technology/intellectual property/operating system/3d printing/legacy system""",
    ),
    "environment": Subject(
        "climate energy environment* ecolog* resource resources sustainab* nature",
        """carbon co2 emission emit warming temperature drought flood flooding storm hurricane wildfire heatwave weather
        water river groundwater ocean biodiversity species forest soil pollution pollute waste recycl*
        renewable solar wind hydro hydrogen nuclear coal oil gas petrol diesel fuel lng pipeline electric electricity
        grid battery mineral lithium cobalt copper nickel mining ore decarbonis* decarboniz* footprint esg""",
        """power plant/power station/power price/power grid/power cut/electric power/power generation/
        raw material/rare earth/net zero/        climate change/sea level/wind farm/natural gas""",
    ),
    "society": Subject(
        "society societ* social sociolog* demograph* culture cultural people population labour labor workforce",
        """worker employee employer staff personnel headcount hire hiring recruit* retire retirement retiree pension
        pensioner skill skilled talent training education school university student graduate union strike wage salary
        ageing aging birth fertility migration migrant immigration immigrant emigration family household generation
        millennial youth elderly gender women men community town urbanis* urbaniz* trust belief religion
        lifestyle inequality poverty health healthcare wellbeing commut* burnout attitude opinion media""",
        """trade union/labour market/labor market/birth rate/young people/work force/home office/remote work/
        age structure/human resources/public opinion""",
    ),
    "industry": Subject(
        "customer competitor competition supply supplier industr* market",
        """client buyer consumer rival competit* entrant incumbent substitute vendor distributor wholesaler retailer
        dealer reseller channel logistics warehouse shipping freight delivery inventory procurement sourcing
        outsourc* backlog demand price pricing segment brand branding marketing churn loyalty tender
        acquisition merger takeover consolidation partnership franchise store e-commerce ecommerce""",
        """supply chain/market share/market position/lead time/value chain/second source/price war/business model/
        customer base/order book""",
    ),
}

# Phrases that speak of nothing in particular although one of their words would.
_NEUTRAL = "trade off/business climate/investment climate/political capital/in good health/power of attorney"

_SLASH = re.compile(r"\s*/\s*")


class _Compiled(NamedTuple):
    named: frozenset[str]
    named_prefixes: tuple[str, ...]
    spoken: frozenset[str]
    spoken_prefixes: tuple[str, ...]


def _split(words: str) -> tuple[frozenset[str], tuple[str, ...]]:
    plain = frozenset(stem(word) for word in words.split() if not word.endswith("*"))
    return plain, tuple(word[:-1] for word in words.split() if word.endswith("*"))


_COMPILED = {
    name: _Compiled(*_split(subject.named), *_split(f"{subject.named} {subject.spoken}"))
    for name, subject in SUBJECTS.items()
}
_PHRASES: dict[tuple[str, ...], str] = {
    tuple(stem(word) for word in phrase.split()): name
    for name, subject in SUBJECTS.items()
    for phrase in _SLASH.split(subject.phrases.strip())
    if phrase
} | {tuple(stem(word) for word in phrase.split()): "" for phrase in _SLASH.split(_NEUTRAL)}
_LONGEST = max(len(phrase) for phrase in _PHRASES)
# Naming words that speak of too much else in a sentence: "it", "power", "people" say nothing by themselves.
_ONLY_IN_REMITS = frozenset(stem(word) for word in ("it", "power", "people", "technical"))


class Spoken(NamedTuple):
    subject: str
    words: str  # as written


def _pieces(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The text's words with their stems; a known phrase is one piece."""
    written = tokens(text)
    stems = [stem(word) for word in written]
    at = 0
    while at < len(written):
        for length in range(min(_LONGEST, len(written) - at), 0, -1):
            if length == 1 or tuple(stems[at : at + length]) in _PHRASES:
                yield " ".join(written[at : at + length]), tuple(stems[at : at + length])
                at += length
                break


def spoken(text: str) -> list[Spoken]:
    """Which subjects this text speaks of, each with the words that say so, in the order of the text."""
    found: dict[Spoken, None] = {}
    for written, stems in _pieces(text):
        if len(stems) > 1:
            if _PHRASES[stems]:
                found[Spoken(_PHRASES[stems], written)] = None
        elif written == "IT":
            found[Spoken("technology", written)] = None
        elif stems[0] not in _ONLY_IN_REMITS:
            found.update((Spoken(name, written), None) for name in _speaking(written, stems[0]))
    return list(found)


def _speaking(word: str, key: str) -> Iterator[str]:
    low = word.casefold()
    for name, words in _COMPILED.items():
        if key in words.spoken or low.startswith(words.spoken_prefixes):
            yield name


def subjects_of(remit: str) -> frozenset[str]:
    """Which subjects a remit names; where it names none, those it speaks of."""
    words = [(word.casefold(), stem(word)) for word in tokens(remit) if word != "it"]
    named = {
        name
        for name, subject in _COMPILED.items()
        if any(key in subject.named or low.startswith(subject.named_prefixes) for low, key in words)
    }
    return frozenset(named or {found.subject for found in spoken(remit)})


def outside_phrases(text: str) -> str:
    """The text without its known phrases, so that their single words are not taken by themselves."""
    return " ".join(written for written, stems in _pieces(text) if len(stems) == 1)
