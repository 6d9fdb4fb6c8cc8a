"""Event streams that outlive their connection, and the one on which a server says what nobody asked for."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from mesero.errors import ClosedError, DisconnectedError
from mesero.framing import Event
from mesero.transports import http_stream
from mesero.transports.http_client import HttpTransport
from mesero.transports.http_stream import Resumption
from tests.transports.children import until
from tests.transports.raw_http import END, STREAM, HangUp, chunk, event, full, outgoing, result_for, serve_raw

NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr(http_stream, "_FIRST_WAIT_S", 0.01)


@asynccontextmanager
async def listening(script, **conduct):
    """A transport that listens to a raw server, what it hears, and how often it missed something."""
    gaps = []
    async with serve_raw(script) as server:
        transport = HttpTransport(server.url)
        await transport.open()
        for name, value in conduct.items():
            setattr(transport.conduct, name, value)
        transport.start_listening(lambda: gaps.append(1))
        try:
            yield transport, server, gaps
        finally:
            await transport.aclose()


async def next_of(transport):
    return await asyncio.wait_for(anext(transport.unsolicited()), 5)


# --- waiting ---


async def test_the_wait_grows_up_to_a_limit_and_begins_again_with_an_event(monkeypatch):
    waits = []

    async def note(wait_s):
        waits.append(wait_s)

    monkeypatch.setattr(http_stream.asyncio, "sleep", note)
    monkeypatch.setattr(http_stream.random, "uniform", lambda *_: 1.0)
    resumption = Resumption(None)
    for _ in range(15):
        await resumption.wait()
    resumption.note(Event(b"", event_id="1"))
    await resumption.wait()
    assert waits[:4] == [0.01, 0.02, 0.04, 0.08]
    assert max(waits) == waits[-2] == 30.0
    assert waits[-1] == 0.01


async def test_what_the_server_says_is_the_least_that_is_waited(monkeypatch):
    waits = []

    async def note(wait_s):
        waits.append(wait_s)

    monkeypatch.setattr(http_stream.asyncio, "sleep", note)
    resumption = Resumption(None)
    resumption.note(Event(b"", retry_ms=500))
    for _ in range(12):
        await resumption.wait()
    assert 0.5 <= waits[0] <= 0.53
    assert min(waits) >= 0.5
    assert waits[-1] > 5


async def test_no_server_makes_us_wait_for_ever(monkeypatch):
    waits = []

    async def note(wait_s):
        waits.append(wait_s)

    monkeypatch.setattr(http_stream.asyncio, "sleep", note)
    resumption = Resumption(None)
    resumption.note(Event(b"", retry_ms=10**12))
    await resumption.wait()
    assert waits[0] < 3800


async def test_no_server_makes_us_ask_without_a_pause(monkeypatch):
    waits = []

    async def note(wait_s):
        waits.append(wait_s)

    monkeypatch.setattr(http_stream.asyncio, "sleep", note)
    resumption = Resumption(None)
    for _ in range(3):
        resumption.note(Event(b"", event_id="1", retry_ms=0))
        await resumption.wait()
    assert min(waits) >= 0.01


# --- the listening stream ---


async def test_what_comes_on_the_stream_is_unsolicited():
    async def script(request, connection):
        assert request.line.startswith("GET")
        assert request.header("Accept") == "text/event-stream"
        assert request.header("Content-Type") is None
        await connection.write(STREAM + chunk(event(NOTE)))
        await connection.wait_for_end()

    async with listening(script) as (transport, _, gaps):
        received = await next_of(transport)
        assert (received.http.method, received.http.status, received.http.is_event) == ("GET", 200, True)
        assert gaps == []


async def test_a_server_that_has_no_such_stream_is_not_asked_again():
    async def script(request, connection):
        await connection.write(full(b"", "405 Method Not Allowed", content_type=""))

    async with listening(script) as (transport, server, _):
        await until(transport._listening.done)
        assert len(server.requests) == 1


async def test_an_answer_that_is_no_stream_is_not_asked_for_again():
    async def script(request, connection):
        await connection.write(full({"a": 1}))

    async with listening(script) as (transport, server, _):
        await until(transport._listening.done)
        assert len(server.requests) == 1


@pytest.mark.parametrize("failure", ["503 Service Unavailable", "429 Too Many Requests", None])
async def test_a_failure_that_may_pass_is_waited_for(failure):
    async def script(request, connection):
        if len(server.requests) < 3:
            if failure is None:
                raise HangUp
            await connection.write(full(b"", failure))
        else:
            await connection.write(STREAM + chunk(event(NOTE)))
            await connection.wait_for_end()

    async with listening(script) as (transport, server, gaps):
        await next_of(transport)
        assert len(server.requests) == 3
        assert gaps == []


async def test_a_stream_without_ids_that_is_back_has_missed_something():
    async def script(request, connection):
        if len(server.requests) == 1:
            await connection.write(STREAM + END)
        else:
            await connection.write(STREAM + chunk(event(NOTE)))
            await connection.wait_for_end()

    async with listening(script) as (transport, server, gaps):
        await next_of(transport)
        assert gaps == [1]
        assert server.requests[1].header("Last-Event-ID") is None


async def test_a_stream_with_ids_goes_on_where_it_stopped():
    async def script(request, connection):
        if len(server.requests) == 1:
            await connection.write(STREAM + chunk(b"id: 7\ndata: \n\n"))
            raise HangUp
        await connection.write(STREAM + chunk(event(NOTE)))
        await connection.wait_for_end()

    async with listening(script) as (transport, server, gaps):
        await next_of(transport)
        assert gaps == []
        assert server.requests[1].header("Last-Event-ID") == "7"


async def test_what_may_not_stand_there_is_recorded_and_let_pass():
    async def script(request, connection):
        await connection.write(STREAM + chunk(b"data: text\n\n") + chunk(event(result_for(1))))
        await connection.write(chunk(b"data: " + b"x" * 5000 + b"\n\n") + chunk(event(NOTE)))
        await connection.wait_for_end()

    async with serve_raw(script) as server:
        transport = HttpTransport(server.url, max_bytes=1000)
        transport.start_listening()
        await next_of(transport)
        assert [kind for kind, _ in transport.dropped] == ["no message", "unknown", "too long"]
        await transport.aclose()


async def test_batches_are_taken_apart_where_there_may_be_some():
    async def script(request, connection):
        await connection.write(STREAM + chunk(event([NOTE, NOTE])))
        await connection.wait_for_end()

    async with listening(script, accepts_batches=True) as (transport, _, _):
        await next_of(transport)
        await next_of(transport)


async def test_a_server_that_does_not_know_us_any_more_is_told_to_whoever_wants_to_know():
    async def script(request, connection):
        if len(server.requests) == 1:
            await connection.write(STREAM + END)
        else:
            await connection.write(full(b"", "404 Not Found"))

    lost = []
    async with listening(script, on_lost=lost.append) as (_, server, _):
        await until(lambda: lost)
        assert "404" in str(lost[0])


async def test_a_server_that_never_had_such_a_stream_may_say_so_with_404():
    async def script(request, connection):
        await connection.write(full(b"", "404 Not Found"))

    lost = []
    async with listening(script, on_lost=lost.append) as (transport, server, _):
        await until(transport._listening.done)
        assert (len(server.requests), lost) == (1, [])


async def test_closing_ends_the_stream_at_once():
    async def script(request, connection):
        await connection.write(STREAM)
        await connection.wait_for_end()

    async with listening(script) as (transport, server, _):
        await server.wait_until(lambda: server.requests)
        reader = asyncio.create_task(anext(transport.unsolicited(), None))
        await asyncio.wait_for(transport.aclose(), 5)
        assert await asyncio.wait_for(reader, 5) is None
        await server.wait_until(lambda: not server.open_connections)
        with pytest.raises(ClosedError):
            await transport.open()


async def test_listening_anew_gives_the_old_stream_up():
    async def script(request, connection):
        await connection.write(STREAM)
        await connection.wait_for_end()

    async with listening(script) as (transport, server, _):
        await server.wait_until(lambda: server.requests)
        transport.start_listening()
        await server.wait_until(lambda: len(server.requests) == 2 and server.open_connections == 1)


# --- resumption ---


async def test_a_stream_that_is_refused_for_a_while_is_resumed():
    async def script(request, connection):
        if request.line.startswith("POST"):
            await connection.write(STREAM + chunk(b"id: 1\ndata: \n\n") + END)
        elif len(server.requests) < 4:
            await connection.write(full(b"", "503 Service Unavailable"))
        else:
            await connection.write(STREAM + chunk(event(result_for(1))) + END)

    async with serve_raw(script) as server:
        transport = HttpTransport(server.url)
        transport.conduct.resumes = True
        received = await asyncio.wait_for(transport.exchange(outgoing()).receive(), 5)
        assert (received.http.method, received.message.id) == ("GET", 1)
        await transport.aclose()


@pytest.mark.parametrize("failure", ["503 Service Unavailable", None])
async def test_a_stream_is_not_tried_to_be_resumed_for_ever(failure):
    async def script(request, connection):
        if request.line.startswith("POST"):
            await connection.write(STREAM + chunk(b"id: 1\ndata: \n\n"))
            raise HangUp
        if failure is None:
            raise HangUp
        await connection.write(full(b"", failure))

    async with serve_raw(script) as server:
        transport = HttpTransport(server.url)
        transport.conduct.resumes = True
        with pytest.raises(DisconnectedError, match="could not be resumed: GET"):
            await asyncio.wait_for(transport.exchange(outgoing()).receive(), 10)
        # What is asked for on a connection that was used before is asked for twice when it breaks.
        assert 6 <= len(server.requests) <= 11
        await transport.aclose()


async def test_whoever_stops_waiting_for_a_stream_to_go_on_may_wait_again():
    go = asyncio.Event()

    async def script(request, connection):
        if request.line.startswith("POST"):
            await connection.write(STREAM + chunk(b"id: 1\ndata: \n\n") + END)
            return
        await go.wait()
        await connection.write(STREAM + chunk(event(result_for(1))) + END)

    async with serve_raw(script) as server:
        transport = HttpTransport(server.url)
        transport.conduct.resumes = True
        exchange = transport.exchange(outgoing())
        waiting = asyncio.create_task(exchange.receive())
        await server.wait_until(lambda: len(server.requests) == 2)
        waiting.cancel()
        await asyncio.wait({waiting})
        go.set()
        assert (await asyncio.wait_for(exchange.receive(), 5)).message.id == 1
        await transport.aclose()
