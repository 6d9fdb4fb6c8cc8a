"""Each broken server at a URL: the right diagnosis comes first, and no wrong one."""

import functools
import itertools
import json
import socket
import threading
from urllib.parse import urlsplit

import pytest

from mesero.doctor import examine
from tests.broken.endpoints import JSON, SESSION, OldTransport, honest, serving
from tests.broken.test_commands import check, codes_of

QUICK_S = 30.0


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
    with serving(OldTransport().respond) as root:
        report = await examine(f"{root}/sse", timeout_s=QUICK_S)

    check(report, ["HTTP-4"])
    assert report.revision == "2025-06-18"


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


def test_urls_of_the_cases_are_local():
    with serving(honest) as root:
        assert urlsplit(root).hostname == "127.0.0.1"
