"""Each broken server at a URL: the right diagnosis comes first, and no wrong one."""

import functools
import itertools
import json
import socket
import threading
from urllib.parse import urlsplit

import pytest

from mesero.doctor import examine
from tests.broken.endpoints import SESSION, OldTransport, honest, serving
from tests.broken.examining import QUICK_S, check


def always(status, body=b"", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def respond(method, path, asked, content):
        return status, named, body

    return respond


def redirecting(method, path, headers, body):
    """P70: the endpoint has a slash at its end, and says so."""
    if path == "/mcp":
        return 307, {"Location": "/mcp/"}, b""
    return honest(method, path, headers, body, at="/mcp/")


def failing_first(method, path, headers, body):
    """P66: the first attempt fails, and the 405 of the fallback is no news."""
    return (500, {}, b"the database is gone") if method == "POST" else (405, {}, b"")


def strict_version(method, path, headers, body):
    """P34: refuses a revision that it does not know, instead of negotiating."""
    return 400, {"Content-Type": "text/plain"}, b"Unsupported protocol version (supported: 2024-11-05)"


def cors_without_headers(method, path, headers, body):
    """P80: browsers may come, but not with what MCP needs."""
    if method == "OPTIONS":
        allow = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Headers": "content-type, authorization",
        }
        return 204, allow, b""
    return honest(method, path, headers, body)


def open_to_pages(method, path, headers, body):
    """Answers pages of other sites."""
    del headers["Origin"]
    return honest(method, path, headers, body)


def replicas():
    """P77: every other request reaches a process that does not know the session."""
    numbers = itertools.count()

    def respond(method, path, headers, body):
        known = SESSION if headers.get("Mcp-Session-Id") is None or next(numbers) % 2 else "other"
        return honest(method, path, headers, body, session=known)

    return respond


class Redirecting:
    """A server that sends everybody who asks at /mcp elsewhere.

    Args:
        status: With which status.
        to: Where; ROOT is the server itself.
        at: Where MCP is, "" for nowhere.
    """

    def __init__(self, status, to, at=""):
        self._status = status
        self._to = to
        self._at = at
        self.seen = []

    def __call__(self, method, path, headers, body):
        self.seen.append((method, path, headers.get("Authorization")))
        if path == self._at:
            return honest(method, path, headers, body, at=self._at)
        if path == "/mcp" or self._to.endswith("/mcp/again"):
            return self._status, {"Location": self._to.replace("ROOT", f"http://{headers['Host']}")}, b""
        return 404, {}, b""


def circling(method, path, headers, body):
    """Two rules that undo each other."""
    return 308, {"Location": "/mcp/" if path == "/mcp" else "/mcp"}, b""


def replicas_of(count):
    """P77: every so many requests reach a process that does not know the session."""
    numbers = itertools.count(1)

    def respond(method, path, headers, body):
        is_lost = headers.get("Mcp-Session-Id") is not None and next(numbers) % count == 0
        return honest(method, path, headers, body, session="other" if is_lost else SESSION)

    return respond


def restarting(after, status):
    """P74, P75: the server is restarted once, after so many requests with a session."""
    numbers = itertools.count(1)
    known = {"id": "first-one-of-them-0001"}

    def respond(method, path, headers, body):
        if headers.get("Mcp-Session-Id") is not None and next(numbers) == after:
            known["id"] = "second-one-of-them-02"
        return honest(method, path, headers, body, session=known["id"], unknown=status)

    return respond


def undying(method, path, headers, body):
    """P78: DELETE is answered with success, and nothing is deleted."""
    if method == "DELETE":
        return 204, {}, b""
    return honest(method, path, headers, body, session=SESSION)


def ending():
    """A server that really forgets what is deleted."""
    live = set()
    numbers = itertools.count(1)

    def respond(method, path, headers, body):
        session = headers.get("Mcp-Session-Id")
        if method == "DELETE":
            return (204 if session in live else 404), {}, live.discard(session) or b""
        if method == "POST" and json.loads(body)["method"] == "initialize":
            live.add(session := f"session-number-{next(numbers):04}")
            return honest(method, path, headers, body, session=session)
        return honest(method, path, headers, body, session=session if session in live else "gone")

    return respond


def limiting(after, **headers):
    """A server that allows so many requests, and then asks to wait."""
    numbers = itertools.count(1)

    def respond(method, path, asked, body):
        if next(numbers) > after:
            return 429, {name.replace("_", "-"): value for name, value in headers.items()}, b""
        return honest(method, path, asked, body)

    return respond


def cut_short(method, path, headers, body):
    """A body that breaks off in the middle of its chunks."""
    handler = headers.raw
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'400\r\n{"jsonrpc": "2.0", "id"')


def of_kind(kind):
    """An honest server that declares another content type."""

    def respond(method, path, headers, body):
        status, named, content = honest(method, path, headers, body)
        return status, ({**named, "Content-Type": kind} if content else named), content

    return respond


PAGE = {"Content_Type": "text/html", "Server": "nginx"}
CASES = [
    ("P00 legacy", honest, []),
    ("P00 legacy with sessions", functools.partial(honest, session=SESSION), []),
    ("P00 modern", functools.partial(honest, era="now"), ["ANY"]),
    ("P34", strict_version, ["VERSION-5"]),
    ("P37", functools.partial(honest, capabilities={}), ["CAP-1"]),
    ("P66", failing_first, ["HTTP-7"]),
    ("P69", always(406, b"Not Acceptable"), ["HTTP-008"]),
    ("P70", redirecting, ["HTTP-1"]),
    ("P73", always(421, b"Invalid Host header"), ["S421-1"]),
    ("P75", functools.partial(honest, session=SESSION, unknown=503), ["SESSION-1"]),
    ("P77", replicas(), ["SESSION-2"]),
    ("P80", cors_without_headers, ["CORS-1"]),
    ("P81 gateway", always(502, b"<html><title>502 Bad Gateway</title>", **PAGE), ["HTTP-6"]),
    ("P81 page", always(200, b"<html><title>Welcome</title>", **PAGE), ["PAGE-1"]),
    ("P132", functools.partial(honest, at="/api/mcp"), ["HTTP-3"]),
    ("P132 nowhere", always(404, b"nothing"), ["S404-4"]),
    ("too many requests", always(429, b"", Retry_After="30"), ["HTTP-8"]),
    ("foreign pages", open_to_pages, ["ORIGIN-1"]),
    ("P70 301", Redirecting(301, "/mcp/", "/mcp/"), ["HTTP-9"]),
    ("P70 302", Redirecting(302, "ROOT/mcp/", "/mcp/"), ["HTTP-9"]),
    ("P70 303", Redirecting(303, "/mcp/", "/mcp/"), ["HTTP-9"]),
    ("P70 308", Redirecting(308, "/mcp/", "/mcp/"), ["HTTP-1"]),
    ("to nowhere", Redirecting(307, "/other"), ["HTTP-1"]),
    ("circle", circling, ["HTTP-10"]),
    ("circle of one", Redirecting(307, "/mcp"), ["HTTP-10"]),
    ("no end", Redirecting(307, "/mcp/again"), ["HTTP-10"]),
    ("another server", Redirecting(307, "https://other.example/mcp"), ["HTTP-11"]),
    ("another server, with GET", Redirecting(302, "https://other.example/mcp"), ["HTTP-11"]),
    ("P75 restart 400", restarting(3, 400), ["SESSION-1"]),
    ("P75 restart 401", restarting(3, 401), ["SESSION-1"]),
    ("P75 restart 500", restarting(3, 500), ["SESSION-1"]),
    ("P75 restart 503", restarting(3, 503), ["SESSION-1"]),
    ("P74 restart 404", restarting(3, 404), ["SESSION-4"]),
    ("P75 400", functools.partial(honest, session=SESSION, unknown=400), ["SESSION-1"]),
    ("P77 every third", replicas_of(3), ["SESSION-2"]),
    ("P77 every fourth", replicas_of(4), ["SESSION-2"]),
    ("P78", undying, ["SESSION-3"]),
    ("P78 healthy", ending(), []),
    ("limit in the handshake", limiting(2, Retry_After="30"), ["HTTP-8"]),
    ("limit after the handshake", limiting(4, Retry_After="30"), ["HTTP-8"]),
    ("limit of single requests", limiting(7), ["HTTP-8"]),
    ("wall", always(403, b"<html><title>Just a moment...</title>", Content_Type="text/html"), ["HTTP-13"]),
    ("wall by header", always(403, b"", cf_mitigated="challenge"), ["HTTP-13"]),
    ("captcha", always(200, b"<html>Please solve the CAPTCHA", Content_Type="text/html"), ["HTTP-13"]),
    (
        "no gzip",
        always(200, b'{"jsonrpc": "2.0"}', Content_Type="application/json", Content_Encoding="gzip"),
        ["HTTP-14"],
    ),
    ("cut short", cut_short, ["HTTP-15"]),
    ("nothing", always(200), ["HTTP-16"]),
    ("202", always(202), ["HTTP-16"]),
    ("204", always(204), ["HTTP-16"]),
    ("text/plain", of_kind("text/plain"), ["HTTP-005"]),
    ("octets", of_kind("application/octet-stream"), ["HTTP-005"]),
    (
        "host guard",
        always(403, b'{"error": "Invalid Host: x"}', Content_Type="application/json"),
        ["HTTP-18"],
    ),
    ("host guard that names one", always(403, b"Access is only allowed at other.example:3902"), ["HTTP-18"]),
    ("host guard 400", always(400, b"Invalid host header"), ["HTTP-18"]),
    ("proxy", always(407, b"", Proxy_Authenticate="Basic"), ["NET-6"]),
]


@pytest.mark.parametrize(
    ("respond", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
async def test_a_broken_url_is_diagnosed(respond, expected):
    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    if expected == ["ANY"]:
        expected = [each.code for each in report.diagnoses if each.code.startswith("HTTP-0")]
    check(report, expected)


async def test_the_older_transport_is_named_at_its_own_path():
    """P65"""
    with serving(OldTransport().respond) as root:
        report = await examine(f"{root}/sse", timeout_s=QUICK_S)

    check(report, ["HTTP-4"])
    assert report.revision == "2025-06-18"


async def test_the_older_transport_that_lets_foreign_pages_in_is_named():
    with serving(OldTransport(is_guarded=False).respond) as root:
        report = await examine(f"{root}/sse", timeout_s=QUICK_S)

    check(report, ["HTTP-4", "ORIGIN-1"])


async def test_behind_a_redirect_the_rest_is_looked_at_where_it_leads():
    inner = ending()

    def respond(method, path, headers, body):
        if path == "/mcp":
            return 307, {"Location": "/mcp/"}, b""
        return inner(method, path[:-1], headers, body)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["HTTP-1"])
    said = next(one for one in report.checks if one.name == "sessions").evidence
    assert "7 of 7" in said[0]


async def test_the_older_transport_is_found_beside_a_wrong_path():
    with serving(OldTransport().respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["HTTP-3"])
    assert f"{root}/sse" in report.diagnoses[0].fix


async def test_a_port_at_which_nothing_listens_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        report = await examine(f"http://127.0.0.1:{taken.getsockname()[1]}/mcp", timeout_s=QUICK_S)

    check(report, ["NET-2"])


async def test_a_name_without_an_address_is_named():
    report = await examine(f"http://{'x' * 70}.invalid/mcp", timeout_s=QUICK_S)

    check(report, ["NET-1"])


async def test_a_port_that_speaks_no_tls_is_named():
    with serving(honest) as root:
        report = await examine(root.replace("http:", "https:") + "/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-4"])


async def test_a_server_that_never_answers_is_named_within_the_limit():
    done = threading.Event()

    def respond(method, path, headers, body):
        done.wait(10)

    try:
        with serving(respond) as root:
            report = await examine(f"{root}/mcp", timeout_s=3.0)
            done.set()
    finally:
        done.set()

    check(report, ["HTTP-12"])
    assert report.took_s < 4


async def test_credentials_do_not_follow_a_redirect():
    respond = Redirecting(302, "/mcp/", "/mcp/")
    with serving(respond) as root:
        await examine(f"{root}/mcp", headers={"Authorization": "Bearer canary-123456"}, timeout_s=QUICK_S)

    assert {path for _, path, token in respond.seen if token} == {"/mcp"}
    assert any(path == "/mcp/" for _, path, _ in respond.seen)


async def test_a_server_that_asks_to_wait_is_left_alone():
    count = 0

    def respond(method, path, headers, body):
        nonlocal count
        count += 1
        return 429, {"Retry-After": "30"}, b""

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["HTTP-8"])
    assert "Retry-After: 30" in report.diagnoses[0].cause
    assert count == 1


async def test_a_path_that_wants_a_token_is_found_beside_a_wrong_one():
    def respond(method, path, headers, body):
        if path != "/mcp":
            return 404, {}, b""
        return 401, {"WWW-Authenticate": "Bearer"}, b""

    with serving(respond) as root:
        report = await examine(f"{root}/mpc", timeout_s=QUICK_S)

    check(report, ["HTTP-3"])
    assert report.diagnoses[0].fix == f'"url": "{root}/mcp"'


async def test_a_key_in_the_url_is_never_shown():
    """P107, P109."""
    key = "canary-1234567890"
    seen = []

    def respond(method, path, headers, body):
        seen.append(path)
        if "key" not in path:
            return 404, {}, b""
        return 307, {"Location": f"/mcp/?key={key}"}, b""

    for answer in (respond, always(401, b""), always(500, b"oops"), honest):
        with serving(answer) as root:
            report = await examine(f"{root}/mcp?key={key}", timeout_s=QUICK_S)
        assert report.diagnoses
        assert key not in repr(report)
    assert any(key in path for path in seen)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://someone:canary-secret@127.0.0.1:9/mcp", {}),
        ("http://mcp.example.net/mcp", {"Authorization": "Bearer canary-secret"}),
        ("https:///mcp", {}),
    ],
)
async def test_a_url_that_cannot_be_used_is_told(url, headers):
    report = await examine(url, headers=headers, timeout_s=QUICK_S)

    check(report, ["NET-10"])
    assert "canary" not in repr(report)


def test_urls_of_the_cases_are_local():
    with serving(honest) as root:
        assert urlsplit(root).hostname == "127.0.0.1"


async def test_the_name_that_a_server_wants_to_be_called_by_is_in_what_can_be_pasted():
    with serving(always(403, b"Access is only allowed at localhost:3902")) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["HTTP-18"])
    assert report.diagnoses[0].fix == '"url": "http://localhost:3902/mcp"'
    assert report.diagnoses[0].blame == "client"
