"""Each broken server of this folder that shows it only when it is sent what is rare or odd."""

import contextlib
import functools
import json
import queue
import sys
import threading

import pytest

from mesero.client import Client
from mesero.demo import notes
from mesero.doctor import examine
from tests.broken import calling, lines
from tests.broken.endpoints import JSON, SESSION, honest, serving
from tests.broken.examining import QUICK_S, check, command_of, evidence_of
from tests.http_serving import serving as asgi_serving

DEEP = [
    ("P00_old", []),
    ("P00_now", []),
    ("deep_answers_notifications", ["DEEP-6"]),
    ("deep_dies_of_cancellation", ["DEEP-7"]),
    ("deep_dies_of_cancelled_call", ["DEEP-7"]),
    ("deep_runs_without_meta", ["DEEP-10"]),
    ("deep_dies_of_twins", ["DEEP-12"]),
    ("deep_dies_of_batches", ["DEEP-13"]),
    ("deep_dies_of_lists", ["DEEP-14"]),
]
# The limits of single requests are parts of this one.
WAITING_S = 12.0
WAITING = [
    ("P92", ["DEEP-4"]),
    ("deep_id_0", ["DEEP-11"]),
    ("deep_stays_in_call", ["DEEP-8"]),
    ("deep_leaves_in_call", ["DEEP-8"]),
    ("deep_ignores_batches", ["DEEP-13", "DEEP-14"]),
]


@pytest.mark.parametrize(
    ("name", "expected", "timeout_s"),
    [*((*case, QUICK_S) for case in DEEP), *((*case, WAITING_S) for case in WAITING)],
)
async def test_what_odd_requests_bring_to_light_is_diagnosed(name, expected, timeout_s):
    report = await examine(command_of(name), is_deep=True, timeout_s=timeout_s)

    assert sorted(each.code for each in report.diagnoses) == sorted(expected), report
    if len(expected) == 1:
        check(report, expected)


DEMO_CALLS = {
    "notes_add": {"title": "tea", "body": "green"},
    "notes_import": {"lines": ["a: b"]},
    "notes_delete": {"id": "none"},
}


async def test_a_newer_request_that_is_run_by_older_rules_is_told_and_nobody_blamed():
    report = await examine(command_of("P00_old"), is_deep=True, timeout_s=QUICK_S)

    check(report, [])
    assert any("run by older rules" in text for text in evidence_of(report, "deep"))


@pytest.fixture(params=["legacy", "modern"])
def era(request, monkeypatch):
    def pinned(*words, **settings):
        return Client(*words, **{"era": request.param, "discover": True, **settings})

    monkeypatch.setattr("mesero.doctor.visit.Client", pinned)
    return request.param


async def test_the_demo_stands_everything_over_stdio(era):
    command = [sys.executable, "-m", "mesero.demo"]

    report = await examine(command, is_deep=True, calls=DEMO_CALLS, timeout_s=QUICK_S)

    check(report, [])
    assert report.era == era
    assert sum("a result of" in text for text in evidence_of(report)) == 4


async def test_the_demo_stands_everything_over_http(era):
    async with asgi_serving(notes.server.asgi(path="/mcp")) as url:
        report = await examine(url, is_deep=True, calls=DEMO_CALLS, timeout_s=QUICK_S)

    check(report, [])
    assert report.era == era
    assert any("contradicts its body: error -32020" in text for text in evidence_of(report, "deep")) == (
        era == "modern"
    )


# -- over HTTP -----------------------------------------------------------------------------------------------


def with_calls(method, path, headers, body, *, era="old", is_checking=True, **how):
    """An honest server with a tool; without ``is_checking`` it looks at no header."""
    message = json.loads(body) if body else {}
    if method != "POST" or path != "/mcp" or headers.get("Origin"):
        return honest(method, path, headers, body, era=era, **how)
    refusal = refusal_over_http(message, headers, era) if is_checking else None
    if refusal is not None:
        return 400, JSON, json.dumps({"jsonrpc": "2.0", **refusal}).encode()
    if isinstance(message, dict) and message.get("method") == "tools/call":
        answer = {"jsonrpc": "2.0", **calling.say(message, "done", era=era)}
        return 200, JSON, json.dumps(answer).encode()
    if not isinstance(message, dict):
        return 400, {}, b"no batches"
    status, kinds, content = honest(method, path, headers, body, era=era, tools=[calling.ECHO], **how)
    return (404 if era == "now" and b'"error"' in content else status), kinds, content


def refusal_over_http(message, headers, era):
    refusal = calling.refusal_of(message, era)
    version = headers.get("MCP-Protocol-Version")
    if refusal is None and era == "now" and headers.get("Mcp-Method") != message["method"]:
        refusal = {"id": message.get("id"), "error": {"code": -32020, "message": "another method"}}
    is_call = era == "now" and isinstance(message, dict) and message["method"] == "tools/call"
    if refusal is None and is_call and headers.get("Mcp-Name") != message["params"]["name"]:
        refusal = {"id": message["id"], "error": {"code": -32020, "message": "another tool"}}
    if refusal is None and era == "old" and version not in (None, lines.OLD, lines.NOW):
        refusal = {"id": message.get("id"), "error": {"code": -32600, "message": "unknown version"}}
    return refusal


def looks_at_methods_only(method, path, headers, body):
    """P118: routes by Mcp-Method, and does not look at Mcp-Name."""
    message = json.loads(body) if body else {}
    if isinstance(message, dict) and message.get("method") == "tools/call":
        del headers["Mcp-Name"]
        headers["Mcp-Name"] = message["params"]["name"]
    return with_calls(method, path, headers, body, era="now")


def breaks_off(method, path, headers, body):
    """Closes the connection in a call."""
    if b'"tools/call"' in body:
        return None
    return with_calls(method, path, headers, body)


URLS = [
    ("P00 legacy", with_calls, []),
    ("P00 legacy with sessions", functools.partial(with_calls, session=SESSION), []),
    ("P00 modern", functools.partial(with_calls, era="now"), []),
    ("P118", looks_at_methods_only, ["DEEP-5"]),
    ("no look at the version", functools.partial(with_calls, is_checking=False), ["DEEP-9"]),
    ("breaks off", breaks_off, ["CALL-7"]),
]


@pytest.mark.parametrize(("respond", "expected"), [each[1:] for each in URLS], ids=[each[0] for each in URLS])
async def test_what_odd_requests_to_a_url_bring_to_light_is_diagnosed(respond, expected):
    with serving(respond) as root:
        report = await examine(f"{root}/mcp", is_deep=True, timeout_s=QUICK_S)

    check(report, expected)


class AsksOnTheOtherStream:
    """P91: a server that asks on the stream which a client opens by itself, and answers the call then."""

    def __init__(self):
        self._questions = queue.Queue()
        self._answered = threading.Event()

    def respond(self, method, path, headers, body):
        if method == "GET" and path == "/mcp":
            return self._stream(headers.raw)
        message = json.loads(body) if body else {}
        if isinstance(message, dict) and message.get("method") == "tools/call":
            self._questions.put({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
            assert self._answered.wait(10)
        if isinstance(message, dict) and message.get("id") == "q":
            self._answered.set()
            return 202, {}, b""
        return with_calls(method, path, headers, body)

    def _stream(self, handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        with contextlib.suppress(queue.Empty, OSError):
            question = self._questions.get(timeout=10)
            handler.wfile.write(f"data: {json.dumps(question)}\n\n".encode())
            handler.wfile.flush()


async def test_a_question_on_the_stream_that_some_clients_never_open_is_told():
    with serving(AsksOnTheOtherStream().respond) as root:
        report = await examine(f"{root}/mcp", calls={"echo": None}, timeout_s=QUICK_S)

    check(report, [])
    assert any("on the GET stream" in text for text in evidence_of(report))
