"""Whatever agents and people write stays text: no element, no attribute, no address, no direction of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.browser.hostile import COUNT, EVIL, PRODUCT, as_address, payloads
from tests.browser.poisoned import FIELDS, Poisoned, addresses, poison, raw_addresses
from tests.browser.serving import engine_of
from tests.doors.web.conftest import HOST, Desk, Parsed, Sit

from reconvene.doors.shared.harmless import UNSEEN
from reconvene.doors.web import rendered

_HIDDEN = re.compile(f"[\x00-\x08\x0b\x0e-\x1f{UNSEEN}]")
_NEVER = {
    "iframe", "object", "embed", "base", "img", "video", "audio", "source", "track", "image", "use", "style", "math",
    "animate", "template", "noscript", "picture", "frame", "applet", "feimage", "foreignobject",
}  # fmt: skip
_ADDRESSES = ("href", "src", "action", "formaction", "srcset", "srcdoc", "data", "poster", "background", "xlink:href")


_OF_RUN = "/runs/market-entry-1"
_TAKE_WORDS = (
    "/runs?q=", "/runs/", "/new?workflow=", "/new?draft=", "/figures?run=", f"{_OF_RUN}/file?path=",
    f"{_OF_RUN}/cite?of=", f"{_OF_RUN}/work?agent=", f"{_OF_RUN}/work?round=", f"{_OF_RUN}/events?kind=",
    f"{_OF_RUN}/companion?done=", f"{_OF_RUN}/attempt?task=", "/?q=", "/?filter=",
)  # fmt: skip


def wrong_in(html: str) -> list[str]:
    """What is on a page and must not be."""
    found = [f"hidden character {one!r}" for one in _HIDDEN.findall(html)]
    found += ["a template was carried out"] if PRODUCT[1] in html else []
    for tag, own in Parsed(html).elements:
        where = f"<{tag} {own}>"[:200]
        if tag in _NEVER or (tag == "script" and not own.get("src", "").startswith("/static/")):
            found.append(where)
        if tag == "link" and not own.get("href", "").startswith("/static/"):
            found.append(where)
        if tag == "meta" and "http-equiv" in own:
            found.append(where)
        for name in own:
            if name.startswith("on") or name in ("style", "srcdoc", "xlink:href"):
                found.append(where)
        for name in _ADDRESSES:
            value = own.get(name, "")
            if name in own and not (value.startswith(("/", "#", "?")) and not value.startswith("//")) and value:
                good = (
                    tag == "a" and re.match(r"(?:https?://|mailto:)", value, re.I) and "noopener" in own.get("rel", "")
                )
                found += [] if good else [where]
    return found


def look_through(desk: Desk, one: Poisoned) -> set[str]:
    """All pages of it; the marks that were seen on any."""
    engine, seen = engine_of(desk.home), set[str]()
    for at in addresses(engine, one.run):
        answer = desk.client.get(at)
        if at.endswith("/decide") and answer.status_code == 404:
            continue
        assert answer.status_code == 200, (at, answer.text[:300])
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert wrong_in(answer.text) == [], at
        seen |= set(re.findall(r"m\d{3}z", answer.text))
    for at in raw_addresses(engine, one.run):
        answer = desk.client.get(at)
        assert answer.headers["content-type"] == "text/plain; charset=utf-8", at
        assert answer.headers["content-security-policy"].startswith("sandbox;"), at
        assert answer.headers["x-content-type-options"] == "nosniff", at
    engine.log.close()
    return seen


def _marks(texts: list[str]) -> set[str]:
    return {found[0] for text in texts if (found := re.search(r"m\d{3}z", text))}


@pytest.fixture
def poisoned_desk(tmp_path: Path, sit: Sit) -> Desk:
    return sit(tmp_path / "poisoned")


def test_there_are_five_hundred_different_ones() -> None:
    assert len(set(payloads())) == COUNT
    assert len(_marks(payloads())) == COUNT


def test_every_one_of_them_stays_text_as_markdown_as_code_and_as_a_difference() -> None:
    for text in payloads():
        differs = rendered.by_words("x", text)
        for html in (rendered.markdown(text), rendered.code(text, "html"), differs.was, differs.now):
            assert wrong_in(str(html)) == [], text


def test_in_every_field_of_a_run_they_stay_text(poisoned_desk: Desk) -> None:
    """Some runs, so chosen that each payload stands in some field; `make torture` puts each into all of them."""
    for first in range(0, COUNT, 8 * FIELDS):
        one = poison(poisoned_desk.home, first)
        seen = look_through(poisoned_desk, one)
        assert len(_marks(one.texts) - seen) <= 1, "they are shown, and not left out"


@pytest.mark.torture
@pytest.mark.parametrize("first", range(COUNT))
def test_each_of_them_in_each_field_stays_text(poisoned_desk: Desk, first: int) -> None:
    look_through(poisoned_desk, poison(poisoned_desk.home, first))


def test_in_addresses_and_forms_they_stay_text(own_desk: Desk) -> None:
    for text in payloads()[::29]:
        sent = text.encode("utf-8", "replace").decode()
        at = as_address(sent)
        for path in (*(f"{start}{at}" for start in _TAKE_WORDS), f"/runs?status={at}&after={at}"):
            assert wrong_in(own_desk.client.get(path).text) == [], path
        answer = own_desk.client.post(
            "/new", data={"workflow": "brainstorm", "act": "check", "input.description": sent, "model.scout": sent,
                          "draft": "", f"setting.{sent}": sent},
            files=[(f"file.{sent}", (sent, b"x"))], headers={"origin": f"http://{HOST}"},
        )  # fmt: skip
        assert wrong_in(answer.text) == [], sent


def test_five_megabytes_of_one_line_are_a_bounded_page_with_the_whole_text_behind_it(poisoned_desk: Desk) -> None:
    from reconvene.testing.scripted import ScriptedAgents
    from reconvene.wire.workflow_file import parse_workflow
    from reconvene.wiring import open_engine

    line = ("<b>" + EVIL) * 400_000
    agents = ScriptedAgents({"writer": {"text": line, "files": {"long.md": line, "long.html": line}}})
    engine = open_engine(str(poisoned_desk.home), runner=agents, say=lambda *_: None)
    flow = "name: flow\nagents: {writer: {}}\nphases: [{id: a, agents: [writer], checkpoint: {}}]\n"
    run = engine.start(parse_workflow(flow), by="ann")
    engine.drive_sync(run)
    engine.log.close()

    opened = engine_of(poisoned_desk.home)
    for at in addresses(opened, run):
        answer = poisoned_desk.client.get(at)
        if not at.endswith("/decide"):
            assert answer.status_code == 200
        assert len(answer.text) < 1_500_000, at
        assert wrong_in(answer.text) == [], at
    assert "/raw?path=long.md" in poisoned_desk.get(f"/runs/{run}/file?path=long.md")
    assert poisoned_desk.get(f"/runs/{run}/raw?path=long.md") == line


def test_bytes_that_are_no_text_are_shown_as_far_as_they_are(own_desk: Desk) -> None:
    run, engine = "market-entry-1", engine_of(own_desk.home)
    place = Path(engine.load(run).workspace)
    (place / "broken.md").write_bytes(b"# \xff\xfe <script>x</script> caf\xe9\n")
    (place / "binary.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00<script>")
    engine.scan(run, by="ann")
    engine.log.close()

    for path, how in ((path, how) for path in ("broken.md", "binary.md") for how in ("rendered", "source", "diff")):
        assert wrong_in(own_desk.get(f"/runs/{run}/file?path={path}&as={how}")) == []
    assert "This is no text" in own_desk.get(f"/runs/{run}/file?path=binary.md")
    raw = own_desk.client.get(f"/runs/{run}/raw?path=broken.md")
    assert raw.content == b"# \xff\xfe <script>x</script> caf\xe9\n"
