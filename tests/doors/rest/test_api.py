"""The API: the same JSON as the command line, versions, refusals with a status each, requests sent twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from commands import Command
from reconvene.app import index
from reconvene.doors.http.callers import Callers, Role
from reconvene.doors.rest import looking
from reconvene.doors.rest.routes import OPERATIONS, PREFIX
from reconvene.doors.web.app import application
from reconvene.wire.workflow_file import parse_workflow
from served_home import DRAFT, HOST, Ground, service_of

API = "/api/v1"


def at(client: TestClient, made: Ground, run: str, name: str = "ada") -> str:
    found = client.get(f"{API}/runs/{run}/checkpoint", headers=made.person(name))
    assert found.status_code == 200
    assert found.headers["etag"] == f'"{found.json()["digest"]}"'
    return str(found.headers["etag"])


def decide(
    client: TestClient, headers: dict[str, str], run: str, version: str = "", **body: object
) -> tuple[int, dict[str, Any]]:
    more = {"if-match": version} if version else {}
    found = client.post(f"{API}/runs/{run}/decision", json={"option": "Go on", **body}, headers={**headers, **more})
    return found.status_code, found.json()


# --- looking ---


def test_lists_go_page_by_page_and_hold_what_the_command_line_prints(made: Ground, client: TestClient) -> None:
    runs = [made.parked() for _ in range(3)]
    ada = made.person("ada", "viewer")
    found: list[dict[str, Any]] = []
    after, pages = "", 0
    while pages == 0 or after:
        page = client.get(f"{API}/inbox", params={"limit": 2, "after": after}, headers=ada).json()
        found, after, pages = [*found, *page["runs"]], page["next"], pages + 1
    assert pages > 1
    assert {one["run"] for one in found} >= set(runs)
    assert len({one["run"] for one in found}) == len(found)
    rows = [json.loads(row.doc) for row in index.page(made.engine.log, "waiting", "", 0).rows]
    assert found == rows


def test_a_run_is_shown_as_show_prints_it(made: Ground, client: TestClient, reconvene: Command) -> None:
    run = made.parked()
    shown = client.get(f"{API}/runs/{run}", headers=made.person("ada", "viewer")).json()
    assert shown == reconvene("--home", made.home, "show", run, "--json").object
    assert "preview" in shown["review"]


@pytest.mark.parametrize(
    "one", [one for one in OPERATIONS if one.method == "GET" and "stream" not in one.name], ids=lambda one: one.name
)
def test_everything_can_be_looked_at(made: Ground, client: TestClient, one: Any) -> None:
    run = next(iter(made.engine.log.heads()), "") or made.parked()
    parts = {"run": run, "path": "draft.md", "workflow": "none", "view": "none", "digest": "none", "id": "none"}
    asks = {"search": "?query=Revenue&text_only=true", "cite": "?what=draft.md:1"}.get(one.name, "")
    if one.name == "compare":
        asks = f"?other={made.parked()}"
    path = PREFIX + one.path.format(**parts) + asks
    who = made.person("ada", "admin" if one.name == "people" else "viewer")
    found = client.get(path, headers=who)
    missing = one.name in ("workflow", "view", "gaps")  # of the workflow of these tests there is none
    assert found.status_code == (404 if missing else 200)
    again = client.get(path, headers={**who, "if-none-match": found.headers.get("etag", "")})
    assert again.status_code in ((304,) if not missing and one.name != "checkpoint" else (404, 200))
    assert client.request("HEAD", path, headers=who).content == b""
    unknown = PREFIX + one.path.format(**{**parts, "run": "nobody-1"}) + asks
    if "{run}" in one.path:
        assert client.get(unknown, headers=made.person("ada", "viewer")).status_code == 404


def test_two_runs_are_compared_as_the_command_line_compares_them(
    made: Ground, client: TestClient, reconvene: Command
) -> None:
    run, ada = made.parked(), made.person("ada", "viewer")
    fork = made.engine.fork(run, at=made.engine.log.head(run), by="ann")
    found = client.get(f"{API}/runs/{run}/compare", params={"other": fork}, headers=ada).json()
    assert found == reconvene("--home", made.home, "compare", run, fork, "--json").object
    assert (found["fork"], found["past"]["event"]) == (fork, made.engine.log.head(run))
    assert client.get(f"{API}/runs/{fork}/compare", headers=ada).json()["there"]["run"] == run
    assert client.get(f"{API}/runs/{run}/compare", headers=ada).status_code == 422
    assert client.get(f"{API}/runs/{run}/compare", params={"other": "nobody-1"}, headers=ada).status_code == 404


def test_files_are_given_as_bytes_that_no_browser_runs(made: Ground, client: TestClient) -> None:
    run = made.parked()
    ada = made.person("ada", "viewer")
    found = client.get(f"{API}/runs/{run}/files/draft.md", headers=ada)
    assert found.text == DRAFT
    assert found.headers["content-type"] == "text/plain; charset=utf-8"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in found.headers["content-security-policy"]
    versions = client.get(f"{API}/runs/{run}/versions", headers=ada).json()["versions"]
    assert [one["path"] for one in versions] == ["draft.md"]
    for path in ("../reconvene.sqlite", "%2e%2e/reconvene.sqlite", "/etc/passwd", "draft.md?version=" + "0" * 64):
        assert client.get(f"{API}/runs/{run}/files/{path}", headers=ada).status_code == 404
    other = made.state(run).workflow  # a content that is there, and is no version of this file
    assert client.get(f"{API}/runs/{run}/files/draft.md?version={other}", headers=ada).status_code == 404


def test_events_are_listed_from_a_number_on(made: Ground, client: TestClient) -> None:
    run = made.parked()
    ada = made.person("ada", "viewer")
    first = client.get(f"{API}/runs/{run}/events?limit=3", headers=ada).json()
    rest = client.get(f"{API}/runs/{run}/events?after={first['next']}", headers=ada).json()
    assert [one["seq"] for one in (*first["events"], *rest["events"])] == [*range(1, made.engine.log.head(run) + 1)]
    assert rest["next"] == 0


# --- deciding ---


def test_a_decision_needs_the_version_that_was_shown(made: Ground, client: TestClient) -> None:
    run, ada = made.parked(), made.person("ada")
    assert decide(client, ada, run)[0] == 428
    assert decide(client, ada, run, '"00000000"')[0] == 409
    assert decide(client, ada, run, "*")[0] == 422
    status, told = decide(client, ada, run, at(client, made, run))
    assert (status, told["run"]) == (200, run)
    assert made.state(run).record.decisions


def test_who_comes_second_is_told_who_decided_and_the_same_again_does_nothing(made: Ground, client: TestClient) -> None:
    run = made.parked()
    version = at(client, made, run)
    assert decide(client, made.person("ada"), run, version)[0] == 200
    status, told = decide(client, made.person("bob"), run, version, option="Stop")
    assert status == 409
    assert "by ada" in told["detail"]
    status, told = decide(client, made.person("ada"), run, version)
    assert (status, told["nothing_to_do"]) == (200, True)


def test_a_remark_that_came_meanwhile_is_told_once_and_deciding_anyway_is_on_record(
    made: Ground, client: TestClient
) -> None:
    run = made.parked()
    version = at(client, made, run)
    said = {"remarks": [{"text": "correction: Revenue is 900, not 850"}]}
    assert (
        client.post(f"{API}/runs/{run}/remarks", json=said, headers=made.person("bob", "reviewer")).status_code == 201
    )
    status, told = decide(client, made.person("ada"), run, version)
    assert status == 409
    assert any("Revenue is 900" in one for one in told["changes"])
    status, _ = decide(client, made.person("ada"), run, version, anyway=told["version"])
    assert status == 200
    shown = client.get(f"{API}/runs/{run}", headers=made.person("ada")).json()
    assert shown["decisions"][-1]["since"] == ["FB-001"]


def test_deciding_anyway_is_not_offered_where_it_cannot_help(made: Ground, client: TestClient) -> None:
    """The run is at another checkpoint by now: nobody decides that by what was shown at the one before."""
    run, ada, bob = made.parked(), made.person("ada"), made.person("bob")
    version = at(client, made, run)
    assert decide(client, bob, run, version, option="Go on")[0] == 200
    made.drive(run)
    status, told = decide(client, ada, run, version)
    assert (status, "anyway" in told.get("hint", "")) == (409, False)
    page = client.get(f"/runs/{run}/decide", headers=made.person("ada", cookie=True)).text
    form = {"option": "Go on", "version": version.strip('"'), "checkpoint": "C1"}
    page = client.post(f"/runs/{run}/decide", data=form, headers=made.person("ada", cookie=True)).text
    assert 'name="anyway"' not in page


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"option": "Onwards"}, "option"),
        ({"option": "Once more"}, "remarks"),
        ({"fields": {"severity": "purple"}}, "severity"),
        ({"fields": {"nothing": 1}}, "nothing"),
        ({"remarks": [{"text": "x", "kind": "shouting"}]}, "kind"),
        ({"remarks": [{"text": "x", "on": {"path": "draft.md", "version": "0", "first": 1}}]}, "path"),
        ({"remarks": [{"text": ""}]}, "remarks[0].text"),
        ({"option": 3}, "option"),
        ({"more": 3}, "more"),
    ],
)
def test_what_does_not_fit_is_named(made: Ground, client: TestClient, body: dict[str, object], field: str) -> None:
    waiting = (run for run in made.engine.log.heads() if run.startswith("flow") and made.state(run).status == "waiting")
    run = next(waiting, "") or made.parked()
    status, told = decide(client, made.person("ada"), run, at(client, made, run), **body)
    assert (status, told["field"]) == (422, field)


TOGETHER = """
name: pay
agents: {writer: {}}
phases:
  - id: plan
    agents: [writer]
    checkpoint:
      options: [{label: Pay, needs: 2, remark: optional, fields: [{id: amount, required: true}], then: {end: paid}}]
"""


def proved(made: Ground, name: str, role: Role = "decider", *, cookie: bool = False) -> dict[str, str]:
    """The headers of one of the people of the home: what they do is theirs, and not the server's."""
    headers = made.person(name, role, cookie=cookie)
    token = f"{name}-{role}-{cookie}"
    made.people[token] = replace(made.people[token], listed=True)
    return headers


def test_what_one_of_several_says_and_answers_is_shown_to_the_next_once(made: Ground, client: TestClient) -> None:
    run = made.engine.start(parse_workflow(TOGETHER))
    made.drive(run)
    version, ada, bob = at(client, made, run), proved(made, "ada"), proved(made, "bob")
    status, told = decide(client, ada, run, version, option="Pay")
    assert (status, told["field"], told["hint"]) == (422, "amount", 'Add "fields": {"amount": …}.')
    note = {"text": "Only without VAT."}
    assert decide(client, ada, run, version, option="Pay", fields={"amount": "5"}, remarks=[note])[0] == 200
    (approval,) = client.get(f"{API}/runs/{run}/checkpoint", headers=bob).json()["approvals"]
    assert (approval["user"], approval["answers"], approval["counts"]) == ("ada", {"amount": "5"}, True)
    status, told = decide(client, bob, run, version, option="Pay")
    assert (status, "anyway" in told["hint"], "--" in told["hint"]) == (409, True, False)
    assert any("Only without VAT." in one for one in told["changes"])
    assert "ada chose “Pay” with amount: 5" in told["changes"]
    page = client.get(f"/runs/{run}/decide", headers=proved(made, "bob", cookie=True)).text
    assert "chose “Pay” (amount: 5)" in page
    assert "ada: 5. Left open, yours is the same." in page, "bob reads what he would agree to"
    assert decide(client, bob, run, version, option="Pay", anyway=told["version"])[0] == 200
    taken = client.get(f"{API}/runs/{run}", headers=bob).json()["decisions"][-1]
    assert (taken["approved"], taken["answers"], taken["since"]) == (["ada", "bob"], {"amount": "5"}, ["FB-001"])


def test_a_remark_is_taken_back_by_who_said_it_and_stays_visible(made: Ground, client: TestClient) -> None:
    run, bob, eve = made.parked(), proved(made, "bob", "reviewer"), proved(made, "eve", "reviewer")
    one, said = f"{API}/runs/{run}/remarks/FB-001", {"remarks": [{"text": "Never without tests."}]}
    client.post(f"{API}/runs/{run}/remarks", json=said, headers=bob)
    version = at(client, made, run)
    assert client.delete(one, headers=eve).status_code == 403
    assert client.delete(one, headers=bob).status_code == 200
    assert client.patch(one, json={"kind": "correction"}, headers=bob).status_code == 422
    (remark,) = client.get(f"{API}/runs/{run}/remarks", headers=eve).json()["remarks"]
    assert (remark["text"], remark["withdrawn"]) == ("Never without tests.", "bob")
    (gone,) = client.get(f"{API}/runs/{run}/ledger", headers=eve).json()["withdrawn"]
    assert (gone["text"], gone["said_by"], gone["by"]) == ("Never without tests.", "bob", "bob")
    assert client.get(f"{API}/runs/{run}", headers=eve).json()["withdrawn"][0]["withdrawn"] == "bob"
    status, told = decide(client, made.person("ada"), run, version)
    assert (status, "FB-001 was taken back by bob (bob: Never without tests.)" in told["changes"]) == (409, True)


def test_what_somebody_said_is_read_anew_by_them_and_weighed_by_who_decides(made: Ground, client: TestClient) -> None:
    """Agents are shown it as theirs: nobody else puts figures into it."""
    run, bob, eve = made.parked(), proved(made, "bob", "reviewer"), proved(made, "eve", "reviewer")
    ada, root = proved(made, "ada"), proved(made, "ruth", "admin")
    one, said = f"{API}/runs/{run}/remarks/FB-001", {"remarks": [{"text": "Debt is 150M, not 20M."}]}
    client.post(f"{API}/runs/{run}/remarks", json=said, headers=bob)
    figures = {"was": "20M", "now": "1M"}
    assert client.patch(one, json={"level": "minor"}, headers=eve).status_code == 403
    refused = client.patch(one, json=figures, headers=ada)
    assert (refused.status_code, "FB-001 is bob's" in refused.json()["detail"]) == (403, True)
    assert client.patch(one, json={"level": "major", "target": "writer"}, headers=ada).status_code == 200
    assert client.patch(one, json={"now": "150M"}, headers=bob).status_code == 200
    assert client.patch(one, json={"kind": "correction", "was": "20M"}, headers=root).status_code == 200


def test_a_remark_is_called_answered_by_who_said_it_or_decides_and_replaced_by_who_said_it(
    made: Ground, client: TestClient
) -> None:
    run, ada = made.parked(), proved(made, "ada")
    bob, eve = proved(made, "bob", "reviewer"), proved(made, "eve", "reviewer")
    remarks, texts = f"{API}/runs/{run}/remarks", ("Name the carrier.", "Say when.", "Debt is 150M.")
    client.post(remarks, json={"remarks": [{"text": text} for text in texts]}, headers=bob)
    refused = client.post(f"{remarks}/FB-001/settle", json={}, headers=eve)
    assert (refused.status_code, "only they, or who decides" in refused.json()["detail"]) == (403, True)
    assert client.post(f"{remarks}/FB-001/settle", json={}, headers=bob).status_code == 200
    assert client.post(f"{remarks}/FB-002/settle", json={}, headers=ada).status_code == 200
    assert client.post(f"{remarks}/FB-009/settle", json={}, headers=ada).status_code == 404
    instead = {"remarks": [{"text": "Debt is 155M.", "replaces": "fb-003"}]}
    assert client.post(remarks, json=instead, headers=eve).status_code == 403
    assert client.post(remarks, json=instead, headers=bob).status_code in (200, 201)
    found = client.get(f"{API}/runs/{run}/ledger", headers=eve).json()
    assert [(one["id"], one["status"], one["settled"]) for one in found["remarks"]] == [
        ("FB-001", "addressed", "bob"), ("FB-002", "addressed", "ada"), ("FB-004", "captured", ""),
    ]  # fmt: skip
    (gone,) = found["withdrawn"]
    assert (gone["id"], gone["status"], gone["replaced_by"]) == ("FB-003", "replaced", "FB-004")
    assert client.post(f"{remarks}/FB-003/settle", json={}, headers=ada).status_code == 422


def test_each_role_may_do_so_much(made: Ground, client: TestClient) -> None:
    run = made.parked()
    version = at(client, made, run)
    assert decide(client, made.person("rita", "reviewer"), run, version)[0] == 403
    assert decide(client, made.person("vera", "viewer"), run, version)[0] == 403
    for one in OPERATIONS:
        if one.method != "GET":
            path = PREFIX + one.path.format(run=run, id="FB-001", digest="x", name="x")
            body = {"option": "Stop", "who": ["x"], "at": 1, "position": 1, "workflow": "x", "text": "x", "fields": {}}
            body |= {"name": "eve"} if one.name == "add_person" else {}
            body |= {"role": "viewer", "path": "x", "edit": ["x"]}
            wanted = one.body.__struct_fields__ if one.body is not None else ()
            sent = {name: value for name, value in body.items() if name in wanted}
            if one.name in ("remark",):
                sent = {"remarks": [{"text": "x"}]}
            if one.name == "decide_calls":
                sent = {"calls": {"call1": {"ruling": "approve"}}}
            headers = {**made.person("vera", "viewer"), "if-match": version}
            found = (
                client.post(path, files={"file": ("a.txt", b"a")}, headers=headers)
                if one.upload
                else client.request(one.method, path, json=sent, headers=headers)
            )
            assert found.status_code == (404 if one.name == "drop_upload" else 403), (one.name, found.text)
    assert made.state(run).status == "waiting"


# --- what is refused before anybody looks ---


def test_nobody_is_let_in_without_a_token(made: Ground, client: TestClient) -> None:
    for path in ("/inbox", "/runs/flow-1", "/openapi.json", "/stream", "/nothing"):
        found = client.get(f"{API}{path}")
        assert found.status_code == 401
        assert found.headers["www-authenticate"] == "Bearer"
    assert client.get("/health").json() == {"status": "ok", "busy": 0.0}


def test_a_page_of_others_another_name_and_a_cookie_alone_change_nothing(made: Ground, client: TestClient) -> None:
    run = made.parked()
    version = at(client, made, run)
    cookie = made.person("ada", cookie=True)
    strange = ({"origin": "https://evil.example"}, {"host": "evil.example"}, {"origin": "null"})
    for more in strange:
        assert decide(client, {**cookie, **more}, run, version)[0] in (403, 421)
    without = {"cookie": cookie["cookie"]}
    assert decide(client, without, run, version)[0] == 403
    assert decide(client, {**without, "sec-fetch-site": "cross-site"}, run, version)[0] == 403
    assert client.get(f"{API}/runs/{run}/decision", headers=cookie).status_code == 405
    assert not made.state(run).record.decisions
    assert decide(client, cookie, run, version)[0] == 200
    assert next(iter(made.state(run).record.decisions.values())).door == "browser"


def test_methods_that_are_not_there_are_named_405_with_those_that_are(made: Ground, client: TestClient) -> None:
    ada = made.person("ada")
    for path, allow in ((f"{API}/inbox", "GET, HEAD, OPTIONS"), (f"{API}/runs", "GET, HEAD, OPTIONS, POST")):
        for method in ("DELETE", "TRACE", "PATCH"):
            found = client.request(method, path, headers=ada)
            assert (found.status_code, found.headers["allow"]) == (405, allow)
        assert client.options(path, headers=ada).headers["allow"] == allow
    found = client.get(f"{API}/nowhere", headers=ada)
    assert (found.status_code, found.headers["content-type"]) == (404, "application/problem+json")


def test_bodies_are_bounded_and_are_json(made: Ground, client: TestClient) -> None:
    run, ada = made.parked(), made.person("ada")
    path, version = f"{API}/runs/{run}/decision", at(client, made, run)
    json_ = {**ada, "if-match": version, "content-type": "application/json"}
    for content, status in ((b"{", 400), (b"[" * 100_000, 400), (b"\xff", 400), (b" " * 3_000_000, 413), (b"[]", 422)):
        assert client.post(path, content=content, headers=json_).status_code == status
    deep = b'{"option": "Go on", "fields": {"severity": ' + b"[" * 5000 + b"]" * 5000 + b"}}"
    assert client.post(path, content=deep, headers=json_).status_code == 400
    form = {**json_, "content-type": "application/x-www-form-urlencoded"}
    assert client.post(path, content=b"option=Go+on", headers=form).status_code == 415
    assert not made.state(run).record.decisions


# --- requests sent twice ---


def test_a_request_with_a_key_has_its_effect_once(made: Ground, client: TestClient) -> None:
    run, ada = made.parked(), {**made.person("ada"), "idempotency-key": "abc-1"}
    before = len(made.engine.log.heads())
    body = {"at": made.engine.log.head(run)}
    first, second = (client.post(f"{API}/runs/{run}/fork", json=body, headers=ada) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert len(made.engine.log.heads()) == before + 1
    other = client.post(f"{API}/runs/{run}/fork", json={"at": 1}, headers=ada)
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    bob = {**made.person("bob"), "idempotency-key": "abc-1"}  # a key is its person's
    assert client.post(f"{API}/runs/{run}/fork", json=body, headers=bob).json()["run"] != first.json()["run"]


def test_a_request_that_was_refused_can_be_sent_again_with_its_key(made: Ground, client: TestClient) -> None:
    run, ada = made.parked(), {**made.person("ada"), "idempotency-key": "abc-2"}
    assert client.post(f"{API}/runs/{run}/fork", json={"at": 99_999}, headers=ada).status_code == 422
    assert client.post(f"{API}/runs/{run}/fork", json={"at": 99_999}, headers=ada).status_code == 422


def test_two_requests_with_one_key_at_once_are_told_apart_from_a_stale_decision(made: Ground) -> None:
    run, ada = made.parked(), {**made.person("ada"), "idempotency-key": "abc-3"}
    service, callers = service_of(made), Callers("Olga")
    callers.find = made.find  # type: ignore[method-assign]
    service.under_way.add(("ada", "abc-3"))
    with TestClient(application(service, callers, [HOST]), f"http://{HOST}") as client:
        told = client.post(f"{API}/runs/{run}/fork", json={"at": 1}, headers=ada)
        assert (told.status_code, told.json()["title"], "version" in told.json()) == (409, "Under way", False)
        assert client.post(f"{API}/runs/{run}/fork", json={"at": 99_999}, headers=made.person("ada")).status_code == 422


# --- what does not fit is named ---


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("GET", "/runs?after=garbage", None, "after"),
        ("GET", "/runs?nonsense=1", None, "nonsense"),
        ("GET", "/runs?status=null", None, "status"),
        ("GET", "/runs/RUN/diff?old=garbage", None, "old"),
        ("GET", "/runs/RUN/outputs?round=abc", None, "round"),
        ("POST", "/runs/RUN/fork", {}, "at"),
        ("POST", "/runs/RUN/fork", {"at": 1, "on": 2}, "on"),
        ("POST", "/runs/RUN/fork", {"at": 999}, "at"),
        ("GET", "/runs/RUN/outputs?agent=writer&round=9", None, "round"),
        ("POST", "/runs/RUN/reopen", {}, None),  # nothing of what was sent is at fault: the run has not ended
        ("POST", "/runs/RUN/remarks", {"remarks": [{"text": "a", "target": "nobody"}]}, "target"),
        ("POST", "/runs/RUN/remarks", {"remarks": [{"text": "a", "x": "b"}]}, "remarks[0].x"),
    ],
)
def test_whatever_is_asked_for_what_does_not_fit_is_named(
    made: Ground, client: TestClient, method: str, path: str, body: object, field: str | None
) -> None:
    address = f"{API}{path.replace('RUN', made.parked())}"
    told = client.request(method, address, json=body, headers=made.person("ada"))
    assert (told.status_code, told.json().get("field")) == (422, field), told.text


@pytest.mark.parametrize("key", ["", "a b", "\u00fc".encode().decode("latin-1")])
def test_a_key_that_is_none_is_named(made: Ground, client: TestClient, key: str) -> None:
    headers = [*made.person("ada").items(), ("Idempotency-Key", key)]
    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    told = client.post(f"{API}/runs/{made.parked()}/remarks", json={"remarks": [{"text": "a"}]}, headers=sent)
    assert (told.status_code, told.json().get("field")) == (422, "Idempotency-Key"), told.text


def test_a_form_with_more_than_a_file_is_named(made: Ground, client: TestClient) -> None:
    more = {"files": {"file": ("a.txt", b"a")}, "data": {"somebody": "null"}, "headers": made.person("ada")}
    told = client.post(f"{API}/uploads", **more)  # type: ignore[arg-type]
    assert (told.status_code, told.json().get("field")) == (422, "somebody")


def test_a_key_without_end_is_named(made: Ground, client: TestClient) -> None:
    headers = {**made.person("ada"), "idempotency-key": "k" * 300}
    told = client.post(f"{API}/runs/{made.parked()}/fork", json={"at": 1}, headers=headers)
    assert (told.status_code, told.json()["field"]) == (422, "Idempotency-Key")


def test_a_name_that_stands_twice_in_a_body_is_refused_and_nothing_is_lost(made: Ground, client: TestClient) -> None:
    run, headers = made.parked(), {**made.person("ada"), "content-type": "application/json"}
    body = '{"remarks":[{"text":"one"}],"remarks":[{"text":"two"}]}'
    told = client.post(f"{API}/runs/{run}/remarks", content=body, headers=headers)
    assert (told.status_code, told.json()["field"]) == (422, "remarks")
    assert not made.state(run).record.remarks
    inner = '{"remarks":[{"text":"one","text":"two"}]}'
    assert client.post(f"{API}/runs/{run}/remarks", content=inner, headers=headers).status_code == 422


def test_the_same_remark_again_is_told(made: Ground, client: TestClient) -> None:
    run, ada = made.parked(), made.person("ada")
    first, second = (
        client.post(f"{API}/runs/{run}/remarks", json={"remarks": [{"text": "shorter"}]}, headers=ada).json()
        for _ in range(2)
    )
    assert "nothing_to_do" not in first
    assert (second["remarks"], second["nothing_to_do"]) == ([], True)
    assert "FB-001" in second["note"]


def test_outputs_go_page_by_page_where_they_are_long(
    made: Ground, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = "name: three\nagents: {a: {}, b: {}, c: {}}\nphases: [{id: draft, agents: [a, b, c]}]\n"
    run, ada = made.engine.start(parse_workflow(flow), by="Olga"), made.person("ada")
    made.drive(run)
    address = f"{API}/runs/{run}/outputs"
    whole = client.get(address, headers=ada).json()
    assert (len(whole["attempts"]), whole["next"]) == (3, 0)
    monkeypatch.setattr(looking, "_LONG_PAGE", 1)
    found, after = list[Any](), 0
    while not found or after:
        page = client.get(f"{address}?after={after}", headers=ada).json()
        assert len(page["attempts"]) == 1
        found, after = [*found, *page["attempts"]], page["next"]
    assert found == whole["attempts"]


# --- uploads ---


def test_uploads_are_a_persons_own(made: Ground, client: TestClient) -> None:
    ada, bob = made.person("ada"), made.person("bob")
    found = client.post(f"{API}/uploads", files={"file": ("../../brief.md", b"# Brief\n")}, headers=ada)
    assert found.status_code == 201
    digest = found.json()["digest"]
    assert "/" not in found.json()["name"]
    assert [one["digest"] for one in client.get(f"{API}/uploads", headers=ada).json()["uploads"]] == [digest]
    assert client.get(f"{API}/uploads", headers=bob).json()["uploads"] == []
    assert client.delete(f"{API}/uploads/{digest}", headers=bob).status_code == 404
    assert client.post(f"{API}/uploads", data={"file": "text"}, headers=ada).status_code in (415, 422)
    broken = {**ada, "content-type": "multipart/form-data; boundary=x"}
    assert client.post(f"{API}/uploads", content=b"--x\r\nnonsense", headers=broken).status_code in (400, 422)
    assert client.delete(f"{API}/uploads/{digest}", headers=ada).status_code == 204
