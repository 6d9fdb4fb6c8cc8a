"""HTTP+SSE of 2024-11-05: the address in the stream, a POST for each message, answers on the stream."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from mesero.errors import (
    ClosedError,
    ConnectError,
    DisconnectedError,
    HttpStatusError,
    ProtocolError,
    UsageError,
)
from mesero.jsonrpc import decode_value, encode_notification
from mesero.transports.sse import SseTransport
from tests.transports.children import until
from tests.transports.raw_http import END, STREAM, HangUp, chunk, event, full, outgoing, result_for, serve_raw

HEAD = STREAM[:-2] + b"Connection: close\r\n\r\n"
ADDRESS = b"event: endpoint\ndata: /messages?id=1\n\n"


class Server:
    """A script: the stream of the last GET, and what to do with each message that is posted."""

    def __init__(self, address=ADDRESS, take=None, status="202 Accepted"):
        self.address = address
        self.take = take or self.answer
        self.status = status
        self.streams = []
        self.posted = []
        self.paths = []

    async def __call__(self, request, connection):
        verb, path, _ = request.line.split()
        if verb == "GET":
            self.streams.append(connection)
            # Nothing else is answered on this connection, so that nobody may use it again.
            await connection.write(HEAD + chunk(self.address))
            await connection.wait_for_end()
            return
        self.paths.append(path)
        self.posted.append(request.json)
        await connection.write(full(b"Accepted", self.status, content_type="text/plain"))
        await self.take(request.json)

    async def answer(self, message):
        if "id" in message:
            await self.send(result_for(message["id"]))

    async def send(self, message):
        await self.streams[-1].write(chunk(event(message)))


@asynccontextmanager
async def opened(script, **options):
    async with serve_raw(script) as server:
        transport = SseTransport(server.url, **options)
        try:
            await transport.open()
            yield transport
        finally:
            await transport.aclose()


async def receive(exchange):
    return await asyncio.wait_for(exchange.receive(), 5)


async def be_silent(_):
    pass


# --- the address ---


async def test_messages_are_posted_to_the_address_and_answered_on_the_stream():
    script = Server()
    seen = []
    async with opened(script, observer=lambda *what: seen.append(what), headers={"X-Key": "k"}) as transport:
        received = await receive(transport.exchange(outgoing(1)))
        await transport.notify(encode_notification("notifications/initialized"))
    assert received.message.id == 1
    assert script.paths == ["/messages?id=1"] * 2
    assert [(direction, http.method) for direction, _, http in seen] == [
        ("c2s", "POST"),
        ("s2c", "GET"),
        ("c2s", "POST"),
    ]
    assert transport.kind == "sse"


async def test_a_whole_url_of_the_same_server_is_an_address():
    async with serve_raw(None) as server:
        script = server.script = Server(b"event: endpoint\ndata: http://127.0.0.1:%d/m\n\n" % server.port)
        transport = SseTransport(server.url)
        await transport.open()
        await receive(transport.exchange(outgoing(1)))
        await transport.aclose()
    assert script.paths == ["/m"]


@pytest.mark.parametrize(
    "address",
    [
        b"http://127.0.0.1:1/messages",
        b"https://127.0.0.1/messages",
        b"//example.com/messages",
        b"http://localhost.example.com/",
    ],
)
async def test_an_address_of_another_server_is_refused_and_nothing_sent(address):
    script = Server(b"event: endpoint\ndata: " + address + b"\n\n")
    with pytest.raises(ProtocolError, match="of another server"):
        async with opened(script):
            pass
    assert script.posted == []


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (event({"jsonrpc": "2.0", "method": "x"}), "does not name an address"),
        (b"event: endpoint\ndata: http://[\n\n", "no URL"),
    ],
)
async def test_a_stream_that_begins_with_something_else_is_refused(first, text):
    with pytest.raises(ProtocolError, match=text):
        async with opened(Server(first)):
            pass


async def test_a_stream_that_ends_or_breaks_before_the_address_is_told():
    async def end(request, connection):
        await connection.write(STREAM + END)

    async def hang_up(request, connection):
        await connection.write(STREAM)
        raise HangUp

    with pytest.raises(ProtocolError, match="ended before it named"):
        async with opened(end):
            pass
    with pytest.raises(DisconnectedError):
        async with opened(hang_up):
            pass


async def test_a_server_that_never_names_the_address_is_not_waited_for_for_ever():
    with pytest.raises(ConnectError, match=r"no event named the address for messages within 0\.1 s"):
        async with opened(Server(b": nothing\n\n"), connect_timeout_s=0.1):
            pass


@pytest.mark.parametrize("status", ["404 Not Found", "405 Method Not Allowed", "200 OK"])
async def test_what_is_no_stream_is_told_with_its_status(status):
    async def script(request, connection):
        await connection.write(full(b"<html>", status, content_type="text/html"))

    with pytest.raises(HttpStatusError, match=rf"GET http.*{status[:3]}.*no event stream"):
        async with opened(script):
            pass


async def test_plain_http_to_another_machine_is_refused():
    with pytest.raises(UsageError, match="plain HTTP"):
        SseTransport("http://example.com/sse")


# --- messages ---


async def test_answers_find_their_calls_in_any_order():
    script = Server(take=be_silent)
    async with opened(script) as transport:
        exchanges = [transport.exchange(outgoing(number)) for number in range(1, 4)]
        await until(lambda: len(script.posted) == 3)
        for number in (3, 1, 2):
            await script.send(result_for(number, number))
        for number, exchange in enumerate(exchanges, start=1):
            assert decode_value((await receive(exchange)).message.result)["value"] == number


async def test_a_message_that_is_not_accepted_fails_its_call_at_once():
    async with opened(Server(status="400 Bad Request")) as transport:
        with pytest.raises(HttpStatusError, match=r"400.*not accepted"):
            await receive(transport.exchange(outgoing(1)))
        with pytest.raises(HttpStatusError, match="400"):
            await transport.notify(encode_notification("notifications/initialized"))


async def test_giving_up_cancels_on_the_wire_and_abandoning_does_not():
    script = Server(take=be_silent)
    async with opened(script) as transport:
        given_up, abandoned = transport.exchange(outgoing(1)), transport.exchange(outgoing(2))
        await until(lambda: len(script.posted) == 2)
        abandoned.abandon()
        await given_up.close("tired")
        await until(lambda: len(script.posted) == 3)
        assert script.posted[-1]["method"] == "notifications/cancelled"
        assert script.posted[-1]["params"] == {"requestId": 1, "reason": "tired"}


async def test_a_cancellation_that_nobody_accepts_harms_nothing():
    script = Server(take=be_silent)
    async with opened(script) as transport:
        exchange = transport.exchange(outgoing(1))
        await until(lambda: script.posted)
        script.status = "500 Oh"
        await exchange.close()
        await until(lambda: len(script.posted) == 2)
        script.status = "202 Accepted"
        script.take = script.answer
        await receive(transport.exchange(outgoing(3)))


async def test_what_answers_nothing_is_unsolicited():
    script = Server()
    async with opened(script) as transport:
        await script.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        received = await asyncio.wait_for(anext(transport.unsolicited()), 5)
        assert received.message.method == "notifications/tools/list_changed"


async def test_a_message_that_is_too_long_fails_its_call():
    async def answer_long(message):
        await script.send(result_for(message["id"], "x" * 5000))

    script = Server(take=answer_long)
    async with opened(script, max_bytes=1000) as transport:
        with pytest.raises(ProtocolError, match="longer than the limit of 1000 bytes"):
            await receive(transport.exchange(outgoing(1)))


async def test_a_server_that_takes_the_request_and_does_not_answer_is_waited_for_within_the_limit():
    async def keep_silent(_, connection):
        await connection.wait_for_end()

    async with serve_raw(keep_silent) as server:
        transport = SseTransport(server.url, connect_timeout_s=0.1)
        with pytest.raises(ConnectError, match=r"no answer within 0\.1 s"):
            await asyncio.wait_for(transport.open(), 5)
        await transport.aclose()


# --- the end ---


async def test_the_end_of_the_stream_fails_every_call_and_the_next_one_opens_another():
    script = Server(take=be_silent)
    lost = []
    async with opened(script) as transport:
        transport.conduct.on_lost = lost.append
        exchanges = [transport.exchange(outgoing(number)) for number in (1, 2)]
        await until(lambda: len(script.posted) == 2)
        await script.streams[0].write(END)
        for exchange in exchanges:
            with pytest.raises(DisconnectedError, match="the event stream ended"):
                await receive(exchange)
        assert not transport.is_open
        assert len(lost) == 1
        with pytest.raises(DisconnectedError):
            await receive(transport.exchange(outgoing(3)))
        with pytest.raises(DisconnectedError):
            await transport.notify(encode_notification("any"))
        script.take = script.answer
        await asyncio.gather(transport.open(), transport.open())
        assert transport.connections == 2
        await receive(transport.exchange(outgoing(4)))


async def test_a_broken_stream_is_told_like_an_end():
    script = Server(take=be_silent)
    async with opened(script) as transport:
        exchange = transport.exchange(outgoing(1))
        await until(lambda: script.posted)
        script.streams[0].writer.transport.abort()
        with pytest.raises(DisconnectedError):
            await receive(exchange)


async def test_closing_fails_open_calls_from_any_task_any_number_of_times():
    script = Server(take=be_silent)
    async with opened(script) as transport:
        exchange = transport.exchange(outgoing(1))
        waiting = asyncio.create_task(exchange.receive())
        await until(lambda: script.posted)
        await asyncio.create_task(transport.aclose())
        await transport.aclose()
        with pytest.raises(ClosedError):
            await waiting
        for attempt in (transport.open(), transport.notify(b"{}"), transport.exchange(outgoing(2)).receive()):
            with pytest.raises(ClosedError):
                await attempt


async def test_closing_while_the_stream_is_being_opened_ends_that_too():
    async with serve_raw(Server(b": not yet\n\n")) as server:
        transport = SseTransport(server.url)
        opening = asyncio.create_task(transport.open())
        await server.wait_until(lambda: server.requests)
        await transport.aclose()
        with pytest.raises(ClosedError):
            await asyncio.wait_for(opening, 5)
