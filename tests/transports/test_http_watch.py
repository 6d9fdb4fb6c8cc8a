"""What is told of HTTP: each request by its number, and what became of it, once."""

import asyncio
import contextlib

import pytest

from mesero.errors import ConnectError, DisconnectedError, HttpStatusError, MeseroError, ProtocolError
from mesero.jsonrpc import encode_notification
from mesero.transports import http_stream
from mesero.transports.http_client import HttpTransport
from mesero.transports.sse import SseTransport
from tests.transports.children import until
from tests.transports.links import Link
from tests.transports.raw_http import (
    END,
    STREAM,
    HangUp,
    answering,
    chunk,
    error_for,
    event,
    full,
    head,
    open_transport,
    outgoing,
    progress,
    receive_all,
    receive_from,
    result_for,
    serve_raw,
    streaming,
)

PRIMING = b"id: 7\nretry: 10\ndata:\n\n"


@pytest.fixture
def link():
    return Link()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr(http_stream, "_FIRST_WAIT_S", 0.01)


def own_result(request):
    return result_for(request.id)


# --- answers ---


async def test_an_answer_is_joined_with_its_request(link):
    async with serve_raw(answering()) as server, open_transport(server.url, observer=link) as transport:
        for number in (1, 2):
            await receive_all(transport.exchange(outgoing(number, headers=[("Mcp-Method", "tools/call")])))
    assert link.brief == [
        "message c2s 1 POST",
        "message s2c 1 200",
        "message c2s 2 POST",
        "message s2c 2 200",
    ]
    asked = link.told[0][3]
    assert asked.url == server.url
    assert ("mcp-method", "tools/call") in asked.headers
    assert ("content-type", "application/json") in link.told[1][3].headers


async def test_a_status_alone_is_told(link):
    script = answering(b"", "202 Accepted", content_type="")
    async with serve_raw(script) as server, open_transport(server.url, observer=link) as transport:
        await transport.notify(encode_notification("any"))
        await transport.say_goodbye()
    assert link.brief == ["message c2s 1 POST", "http s2c 1 202", "http c2s 2 DELETE", "http s2c 2 202"]


@pytest.mark.parametrize(
    ("body", "status", "kind", "told"),
    [
        (b"<h1>Not here</h1>", "404 Not Found", "text/html", "http s2c 1 404"),
        (b"<h1>A portal</h1>", "200 OK", "text/html", "http s2c 1 200"),
        (error_for(None), "400 Bad Request", "application/json", "message s2c 1 400"),
        (b'{"detail":"no"}', "403 Forbidden", "application/json", "http s2c 1 403"),
        (result_for(99), "200 OK", "application/json", "message s2c 1 200"),
        (b"{broken", "200 OK", "application/json", "message s2c 1 200"),
    ],
)
async def test_an_answer_that_is_none_is_told_with_what_it_said(link, body, status, kind, told):
    script = answering(body, status, content_type=kind)
    with contextlib.suppress(MeseroError):
        await receive_from(script, observer=link)
    assert link.brief == ["message c2s 1 POST", told]
    if told.startswith("http"):
        assert link.told[1][3] == body


async def test_answers_that_are_used_up_inside_an_exchange_are_told(link):
    async def script(request, connection):
        if "/mcp" in request.line:
            await connection.write(full(b"", "307 Temporary Redirect", "Location: /there"))
        elif request.header("authorization") is None:
            await connection.write(full(b"", "401 Unauthorized"))
        else:
            await connection.write(full(own_result(request)))

    async def authorize(headers, facts):
        return {"Authorization": "Bearer x"} if facts is not None else None

    await receive_from(script, observer=link, authorize=authorize)
    assert link.brief == [
        "message c2s 1 POST",
        "http s2c 1 307",
        "message c2s 2 POST",
        "http s2c 2 401",
        "message c2s 3 POST",
        "message s2c 3 200",
    ]
    assert link.told[2][3].url.endswith("/there")


async def test_an_authorization_that_fails_leaves_no_answer_untold(link):
    async def authorize(headers, facts):
        if facts is not None:
            raise ProtocolError("no")

    with pytest.raises(ProtocolError):
        await receive_from(answering(b"", "401 Unauthorized"), observer=link, authorize=authorize)
    assert link.brief == ["message c2s 1 POST", "http s2c 1 401"]


# --- what does not come ---


async def test_a_server_that_is_not_there_is_told_as_an_error(link):
    async with serve_raw(answering()) as server:
        pass
    async with open_transport(server.url, observer=link) as transport:
        with pytest.raises(ConnectError):
            await transport.exchange(outgoing()).receive()
    assert link.brief == ["message c2s 1 POST", "http s2c 1 nothing error"]
    assert "connection refused" in link.told[1][4]


@pytest.mark.parametrize("cut", [head("200 OK", "Content-Type: application/json", "Content-Length: 50"), b""])
async def test_a_connection_that_breaks_off_is_told_as_an_error(link, cut):
    async def script(request, connection):
        await connection.write(cut)
        raise HangUp

    with pytest.raises(DisconnectedError):
        await receive_from(script, observer=link)
    assert link.brief[0] == "message c2s 1 POST"
    assert link.brief[1] == f"http s2c 1 {'200' if cut else 'nothing'} error"
    assert len(link.told) == 2


async def test_a_message_over_the_limit_is_told_as_an_error(link):
    with pytest.raises(ProtocolError):
        await receive_from(answering(b"x" * 5000), observer=link, max_bytes=1000)
    assert link.brief == ["message c2s 1 POST", "http s2c 1 200 error"]


@pytest.mark.parametrize(
    "begun", [b"", head("200 OK", "Content-Type: application/json", "Content-Length: 50")]
)
async def test_a_caller_that_gives_up_ends_the_exchange_from_our_side(link, begun):
    async def script(request, connection):
        await connection.write(begun)
        await connection.wait_for_end()

    async with serve_raw(script) as server, open_transport(server.url, observer=link) as transport:
        receiving = asyncio.ensure_future(transport.exchange(outgoing()).receive())
        await server.wait_until(lambda: server.requests)
        if begun:
            await until(lambda: transport._link.watch._untold)
        receiving.cancel()
        await asyncio.wait({receiving})
    assert link.brief == ["message c2s 1 POST", *(["http s2c 1 200"] if begun else []), "eof c2s 1"]


# --- event streams ---


async def test_an_event_stream_begins_and_ends_once(link):
    await receive_from(streaming(PRIMING, progress(1), own_result), observer=link)
    assert link.brief == [
        "message c2s 1 POST",
        "http s2c 1 200",
        "http s2c 1 200",
        "message s2c 1 200 event",
        "message s2c 1 200 event",
        "eof s2c 1",
    ]
    primed = link.told[2][2]
    assert (primed.is_event, primed.event_id, primed.retry_ms) == (True, "7", 10)
    assert link.told[3][3].event_id is None


async def test_what_is_no_message_on_a_stream_is_told_as_it_came(link):
    with pytest.raises(ProtocolError):
        await receive_from(streaming(b"event: odd\ndata: hello\n\n", own_result), observer=link)
    told = [one for one in link.told if one[0] == "message" and one[1] == "s2c"]
    assert told[0][2] == b"hello"
    assert told[0][3].event == "odd"
    assert link.brief[-1] in ("eof c2s 1", "eof s2c 1")


async def test_an_event_over_the_limit_is_told_by_its_beginning(link):
    with pytest.raises(ProtocolError):
        await receive_from(streaming(result_for(1, "x" * 2000)), observer=link, max_bytes=1000)
    assert link.brief[2:4] == ["text s2c", "note"]


async def test_a_stream_that_is_cut_off_is_told_as_an_error(link):
    with pytest.raises(DisconnectedError):
        await receive_from(streaming(progress(1), ends=False), observer=link)
    assert link.brief[1:] == ["http s2c 1 200", "message s2c 1 200 event", "http s2c 1 200 error"]


async def test_a_stream_that_is_given_up_ends_from_our_side(link):
    async def script(request, connection):
        await connection.write(STREAM + chunk(event(progress(1))))
        await connection.wait_for_end()

    async with serve_raw(script) as server, open_transport(server.url, observer=link) as transport:
        exchange = transport.exchange(outgoing())
        await exchange.receive()
        await exchange.close()
    assert link.brief[-1] == "eof c2s 1"


async def test_a_stream_that_does_not_end_after_the_response_is_ended_by_us(link):
    async def script(request, connection):
        await connection.write(STREAM + chunk(event(own_result(request))))
        await connection.wait_for_end()

    await receive_from(script, observer=link)
    assert link.brief[-1] == "eof c2s 1"


async def test_a_stream_that_goes_on_elsewhere_is_an_exchange_of_its_own(link):
    async def script(request, connection):
        if request.line.startswith("POST"):
            await connection.write(STREAM + chunk(PRIMING) + END)
        elif len(server.requests) == 2:
            await connection.write(full(b"", "503 Service Unavailable"))
        else:
            await connection.write(STREAM + chunk(event(result_for(1))) + END)

    async with serve_raw(script) as server:
        transport = HttpTransport(server.url, observer=link)
        transport.conduct.resumes = True
        await transport.exchange(outgoing()).receive()
        await transport.aclose()
    assert link.brief == [
        "message c2s 1 POST",
        "http s2c 1 200",
        "http s2c 1 200",
        "eof s2c 1",
        "http c2s 2 GET",
        "http s2c 2 503",
        "http c2s 3 GET",
        "http s2c 3 200",
        "message s2c 3 200 event",
        "eof s2c 3",
    ]
    assert ("last-event-id", "7") in link.told[4][2].headers


async def test_the_stream_that_is_listened_to_is_told(link):
    streams = []

    async def script(request, connection):
        streams.append(connection)
        if len(streams) > 2:
            await connection.write(full(b"", "405 Method Not Allowed"))
            return
        await connection.write(STREAM + chunk(event(progress(1))))
        if len(streams) == 2:
            raise HangUp
        await connection.write(END)

    async with serve_raw(script) as server:
        transport = HttpTransport(server.url, observer=link)
        await transport.open()
        transport.start_listening()
        await until(lambda: "http s2c 3 405" in link.brief)
        await transport.aclose()
    assert link.brief == [
        "http c2s 1 GET",
        "http s2c 1 200",
        "message s2c 1 200 event",
        "eof s2c 1",
        "http c2s 2 GET",
        "http s2c 2 200",
        "message s2c 2 200 event",
        "http s2c 2 200 error",
        "http c2s 3 GET",
        "http s2c 3 405",
    ]


# --- the transport of 2024-11-05 ---


async def test_the_address_of_the_older_transport_is_told_and_messages_once(link):
    streams = []

    async def script(request, connection):
        if request.line.startswith("GET"):
            streams.append(connection)
            await connection.write(STREAM + chunk(b"event: endpoint\ndata: /messages\n\n"))
            await connection.wait_for_end()
            return
        await connection.write(full(b"", "202 Accepted"))
        await streams[0].write(chunk(event(own_result(request))))

    async with serve_raw(script) as server:
        transport = SseTransport(server.url, observer=link)
        await transport.open()
        await transport.exchange(outgoing()).receive()
        await transport.aclose()
    asked, begun, named, sent = link.told[:4]
    assert (asked[0], asked[1], asked[2].method) == ("http", "c2s", "GET")
    assert begun[2].status == 200
    assert (named[2].event, named[3]) == ("endpoint", b"/messages")
    assert sent[3].url.endswith("/messages")
    assert sorted(link.brief[4:]) == ["eof c2s 1", "http s2c 2 202", "message s2c 1 200 event"]


@pytest.mark.parametrize("ends", [True, False])
async def test_the_end_of_the_older_transport_is_told(link, ends):
    script = streaming(b"event: endpoint\ndata: /messages\n\n", ends=ends)
    async with serve_raw(script) as server:
        transport = SseTransport(server.url, observer=link)
        await transport.open()
        await until(lambda: transport.has_ended)
        await transport.aclose()
    assert link.brief[-1] == ("eof s2c 1" if ends else "http s2c 1 200 error")


async def test_a_page_in_place_of_the_older_transport_is_told(link):
    async with serve_raw(answering(b"<h1>no</h1>", content_type="text/html")) as server:
        transport = SseTransport(server.url, observer=link)
        with pytest.raises(HttpStatusError):
            await transport.open()
        await transport.aclose()
    assert link.brief == ["http c2s 1 GET", "http s2c 1 200"]


async def test_a_function_that_fails_breaks_no_traffic(caplog):
    def observe(direction, raw, http):
        raise RuntimeError

    await receive_from(streaming(progress(1), own_result), observer=observe)
    await receive_from(answering(), observer=observe)
    assert caplog.text.count("the observer of http://127.0.0.1:") == 5
