"""P83: event streams that are held back, cut or never begun: the right diagnosis, and no wrong one."""

import contextlib
import functools
import json
import threading

import pytest

from mesero.doctor import examine
from tests.broken.endpoints import (
    SESSION,
    OldTransport,
    begin_stream,
    forwarding_to,
    honest,
    say_event,
    serving,
)
from tests.broken.examining import HANGING_S, QUICK_S, check, check_of

CHANGING = {"tools": {"listChanged": True}}
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class Listened:
    """A server with a stream of its own, of either era, that keeps it open until it is told to end.

    Args:
        era: "now" or "old".
        first: What the stream begins with: "acknowledged", "comment" or "" for nothing.
        ends_s: When the stream ends by itself, in seconds; None for never.
        is_announced: Whether it says so before it ends.
        is_broken_off: Whether it ends without the end of the body.
        headers: More for the head of the stream.
    """

    def __init__(
        self,
        *,
        era="now",
        first="acknowledged",
        ends_s=None,
        is_announced=False,
        is_broken_off=False,
        **headers,
    ):
        self._era = era
        self._first = first
        self._ends_s = ends_s
        self._is_announced = is_announced
        self._is_broken_off = is_broken_off
        self._headers = headers
        self._over = threading.Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._over.set()

    def respond(self, method, path, headers, body):
        modern = self._era == "now"
        message = json.loads(body) if body else {}
        if (modern and message.get("method") == "subscriptions/listen") or (not modern and method == "GET"):
            with contextlib.suppress(OSError):
                self._stream(headers.raw, message)
            return None
        return honest(method, path, headers, body, era=self._era, capabilities=CHANGING)

    def _stream(self, handler, message):
        more = {"Transfer-Encoding": "chunked"} if self._is_broken_off else {}
        begin_stream(handler, **self._headers, **more)
        meta = {"io.modelcontextprotocol/subscriptionId": message.get("id")}
        if self._first == "acknowledged" and message:
            params = {"_meta": meta, "notifications": {"toolsListChanged": True}}
            said = {"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": params}
            if self._is_broken_off:
                data = f"data: {json.dumps(said)}\n\n".encode()
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            else:
                say_event(handler, said)
        elif self._first == "comment":
            handler.wfile.write(b": still here\n\n")
        handler.wfile.flush()
        self._over.wait(10 if self._ends_s is None else self._ends_s)
        if self._is_announced and message:
            result = {"resultType": "complete", "_meta": meta}
            say_event(handler, {"jsonrpc": "2.0", "id": message["id"], "result": result})


@pytest.mark.parametrize("era", ["now", "old"])
async def test_a_stream_that_begins_at_once_is_fine(era):
    with Listened(era=era) as server, serving(server.respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, [each.code for each in report.diagnoses if each.code.startswith("HTTP-0")])
    seen = check_of(report, "streams")
    assert seen.status == "ok"
    assert any("after 0." in line for line in seen.evidence)


@pytest.mark.parametrize("holds_head", [True, False])
async def test_a_stream_that_a_proxy_holds_back_is_told_with_times(holds_head):
    with (
        Listened(Server="lunch/1") as server,
        serving(server.respond) as inner,
        serving(forwarding_to(inner, holds_head=holds_head)) as root,
    ):
        report = await examine(f"{root}/mcp", timeout_s=HANGING_S)
        server._over.set()

    named = [each for each in report.diagnoses if not each.code.startswith("HTTP-0")]
    assert [each.code for each in named] == ["SSE-1"], report
    assert named[0].blame == "intermediary"
    assert "no event within 1.2 s" in named[0].cause
    if not holds_head:
        assert "via: 1.1 holder" in named[0].cause
        assert "no X-Accel-Buffering" in named[0].cause


async def test_a_stream_of_the_older_era_whose_head_is_held_back_is_a_note():
    """Nothing is due on it, so that this may as well be a server that sends its head with the first event."""
    with (
        Listened(era="old") as server,
        serving(server.respond) as inner,
        serving(forwarding_to(inner)) as root,
    ):
        report = await examine(f"{root}/mcp", timeout_s=6.0)
        server._over.set()

    check(report, ["SSE-1"])
    assert report.verdict == "ok"
    assert "not even its head came within 1.8 s" in report.diagnoses[0].cause


async def test_an_acknowledgement_that_never_comes_is_the_servers_matter():
    with Listened(first="comment") as server, serving(server.respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=HANGING_S)

    named = [each.code for each in report.diagnoses if not each.code.startswith("HTTP-0")]
    assert named == ["SSE-4"], report


async def test_a_subscription_that_ends_at_once_is_told():
    with Listened(first="", ends_s=0.05) as server, serving(server.respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=HANGING_S)

    named = [each.code for each in report.diagnoses if not each.code.startswith("HTTP-0")]
    assert named == ["SSE-2"], report


async def test_changes_that_are_announced_and_cannot_be_listened_to_are_told():
    respond = functools.partial(honest, era="now", capabilities=CHANGING)
    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    named = [each.code for each in report.diagnoses if not each.code.startswith("HTTP-0")]
    assert named == ["SSE-3"], report


# -- a stream on which nothing is said -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "codes"),
    [
        ({}, []),
        ({"ends_s": 0.3}, ["WATCH-4"]),
        ({"ends_s": 0.3, "is_announced": True}, []),
        ({"ends_s": 0.3, "is_broken_off": True}, ["WATCH-4"]),
        ({"era": "old", "ends_s": 0.3}, []),
        ({"era": "old", "ends_s": 0.3, "is_broken_off": True}, ["WATCH-4"]),
    ],
)
async def test_a_silent_stream_that_is_cut_is_told_with_its_time(how, codes):
    with Listened(**how) as server, serving(server.respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S, watch_s=0.8)

    named = [each for each in report.diagnoses if not each.code.startswith("HTTP-0")]
    assert [each.code for each in named] == codes, report
    if codes:
        assert "after 0.3 s of silence" in named[0].cause
    elif "ends_s" not in how:
        assert any("held open for 0.8 s" in line for line in check_of(report, "streams").evidence)


# -- answers that are streams --------------------------------------------------------------------------------


def streamed(*pieces, ends=True):
    """A server that answers each request with an event stream: these pieces, with ANSWER for the answer."""
    over = threading.Event()

    def respond(method, path, headers, body):
        status, named, content = honest(method, path, headers, body)
        if status != 200 or not content:
            return status, named, content
        handler = headers.raw
        begin_stream(handler)
        for piece in pieces:
            handler.wfile.write(piece.replace(b"ANSWER", content))
            handler.wfile.flush()
        if not ends:
            over.wait(5)
        return None

    respond.over = over
    return respond


async def test_answers_that_are_streams_are_fine():
    with serving(streamed(b"id: 1\nretry: 100\ndata:\n\n", b"id: 2\ndata: ANSWER\n\n")) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, [])


async def test_a_stream_that_ends_before_the_answer_is_told():
    """P85."""
    with serving(streamed(b": soon\n\n")) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["SILENT-9"])


async def test_a_stream_on_which_no_answer_comes_is_told():
    respond = streamed(ends=False)
    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=HANGING_S)
        respond.over.set()

    check(report, ["SSE-1"])
    assert report.took_s < HANGING_S + 1


async def test_the_first_event_of_the_older_transport_that_is_held_back_is_told():
    old = OldTransport()
    over = threading.Event()

    def respond(method, path, headers, body):
        if method == "GET" and path == "/sse":
            begin_stream(headers.raw, Via="1.1 holder")
            over.wait(10)
            return None
        return old.respond(method, path, headers, body)

    with serving(respond) as root:
        report = await examine(f"{root}/sse", timeout_s=6.0)
        over.set()

    check(report, ["SSE-1"])
    assert "endpoint event" in report.diagnoses[0].cause
    assert "via: 1.1 holder" in report.diagnoses[0].cause


# -- GET -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "severity"),
    [
        ((200, {"Content-Type": "text/html"}, b"<html><title>Hello</title>"), "degraded"),
        ((200, {"Content-Type": "application/json"}, b'{"status": "ok"}'), "degraded"),
        ((404, {}, b""), "note"),
    ],
)
async def test_get_that_is_neither_a_stream_nor_refused_is_told(answer, severity):
    def respond(method, path, headers, body):
        return answer if method == "GET" else honest(method, path, headers, body, session=SESSION)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["METHOD-1"])
    assert report.diagnoses[0].severity == severity
