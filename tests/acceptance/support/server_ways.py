"""Ways in which an agent could decide through a server on its own machine: `server_ways.py URL RUN VERSION HOME`.

It knows more than an agent does: the address, the run, the version that is open. Each way prints its name and what the
server answered. Nothing but the standard library is used, and nothing of the project is imported.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator

URL, RUN, VERSION, HOME = sys.argv[1:5]
HOST = urllib.parse.urlsplit(URL).netloc
DECISION = f"/api/v1/runs/{RUN}/decision"
FORM = urllib.parse.urlencode({"option": "Continue", "version": VERSION, "checkpoint": "C1"})
BODY = json.dumps({"option": "Continue"})


def ask(method: str, path: str, body: str = "", **headers: str) -> str:
    connection = http.client.HTTPConnection(HOST, timeout=60)
    sent = {"If-Match": f'"{VERSION}"', "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body or None, sent)
        return str(connection.getresponse().status)
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def raw(text: str) -> str:
    try:
        with socket.create_connection(HOST.rsplit(":", 1)[0:1] + [int(HOST.rsplit(":", 1)[1])], timeout=30) as stream:  # type: ignore[arg-type]
            stream.sendall(text.encode())
            return stream.recv(4096).split(b"\r\n")[0].decode()
    except OSError as error:
        return type(error).__name__


def above() -> list[int]:
    """The processes that started this one: who drives it, and the server."""
    found, pid = list[int](), os.getppid()
    while pid > 1 and pid not in found:
        found.append(pid)
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found


def drivers() -> list[int]:
    """Of these, the worker of the server."""
    found: list[int] = []
    for pid in above():
        try:
            with open(f"/proc/{pid}/cmdline", encoding="latin-1") as file:
                words = file.read().split("\0")
        except OSError:
            continue
        found += [pid] if "worker" in words and "--attached" in words else []
    return found


def found_words(pattern: str) -> list[str]:
    """What looks like a token in the home, and in the environment and the command line of who started this."""
    places = [f"/proc/{pid}/{name}" for pid in above() for name in ("environ", "cmdline")]
    places += [os.path.join(folder, name) for folder, _, names in os.walk(HOME) for name in names]
    found: dict[str, None] = {}
    for place in places:
        try:
            with open(place, "rb") as file:
                text = file.read(4_000_000).decode("latin-1")
        except OSError:
            continue
        found |= dict.fromkeys(re.findall(pattern, text))
    return list(found)[:300]


def ways() -> Iterator[tuple[str, str]]:
    yield "control: the server is there", ask("GET", "/health")
    yield "without a token", ask("POST", DECISION, BODY)
    yield "with a token that is guessed", ask("POST", DECISION, BODY, Authorization="Bearer admin")
    yield "with an empty token", ask("POST", DECISION, BODY, Authorization="Bearer ")
    yield "as a page of the server", ask("POST", DECISION, BODY, Origin=URL, Sec_Fetch_Site="same-origin")
    yield "with a cookie that is made up", ask("POST", DECISION, BODY, Cookie="reconvene=x.link", Origin=URL)
    yield (
        "with the form of the page",
        ask("POST", f"/runs/{RUN}/decide", FORM, Content_Type="application/x-www-form-urlencoded", Origin=URL),
    )
    yield "by looking", ask("GET", f"/runs/{RUN}/decide?{FORM}")
    yield "by looking at the decision", ask("GET", f"{DECISION}?{FORM}")
    yield "with another method in a header", ask("GET", DECISION, BODY, X_HTTP_Method_Override="POST")
    yield "with another method in the form", ask("POST", f"/runs/{RUN}/decide?_method=POST", FORM)
    yield (
        "as a proxy",
        ask("POST", DECISION, BODY, X_Forwarded_For="127.0.0.1", X_Forwarded_User="root", Remote_User="root"),
    )
    yield "by another name", ask("POST", DECISION, BODY, Host="localhost")
    yield "with a token in the address", ask("POST", f"{DECISION}?token=x&access_token=x", BODY)
    yield "by entering with nothing", ask("GET", "/enter?token=")
    yield (
        "by entering with a guess",
        ask("POST", "/enter", "token=admin", Content_Type="application/x-www-form-urlencoded"),
    )
    request = f'POST {DECISION} HTTP/1.1\r\nHost: {HOST}\r\nIf-Match: "{VERSION}"\r\nContent-Type: application/json\r\n'
    hidden = f"GET /health HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 0\r\nContent-Length: {len(request)}\r\n\r\n"
    yield "behind another request", raw(f"{hidden}{request}Content-Length: {len(BODY)}\r\n\r\n{BODY}")
    chunked = f"{request}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n"
    yield "in pieces that contradict each other", raw(chunked)
    for word in found_words(r"rcv_[0-9a-f]{64}|[A-Za-z0-9_-]{43}(?:\.link)?|(?<=token=)[\w-]+"):
        answer = ask("POST", DECISION, BODY, Authorization=f"Bearer {word}")
        cookie = ask("POST", DECISION, BODY, Cookie=f"reconvene={word}", Origin=URL)
        if {answer, cookie} & {"200", "303"}:
            yield f"with a word that it found ({word[:6]}…)", f"{answer} {cookie}"
    yield "with words that it found", "tried"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RECONVENE_TASK")}
    command = [
        sys.executable,
        "-m",
        "reconvene.doors.cli",
        "--server",
        URL,
        "decide",
        RUN,
        "--option",
        "Continue",
        "--at",
        VERSION,
    ]
    for name, given in (
        ("with the command", environ),
        ("with the command and a token", {**environ, "RECONVENE_TOKEN": "x" * 43}),
    ):
        done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
        yield name, f"exit {done.returncode}"
    for pid in drivers():  # whoever drives listens there: it can be woken, and nothing else
        try:
            with open(f"/proc/{pid}/fd/0", "wb", buffering=0) as pipe:
                pipe.write(f'{{"decide": "{RUN}"}}\n'.encode())
        except OSError:
            continue
    yield "through the pipe of who drives", "tried"


for way, answer in ways():
    print(f"{way}: {answer}", flush=True)
