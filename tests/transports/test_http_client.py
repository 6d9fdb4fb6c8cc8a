import asyncio

import pytest

from mesero.errors import ClosedError, HttpStatusError, UsageError
from mesero.transports.http_client import HttpTransport
from tests.transports.raw_http import (
    STREAM,
    answering,
    chunk,
    event,
    full,
    open_transport,
    outgoing,
    progress,
    receive_all,
    serve_raw,
)

NOTE = b'{"jsonrpc":"2.0","method":"notifications/x"}'


def test_a_transport_says_what_it_is():
    transport = HttpTransport("https://example.com/mcp?apiKey=geheim")
    assert transport.kind == "http"
    assert transport.mirrors_headers
    assert transport.is_open
    assert transport.target.startswith("https://example.com/mcp?apiKey=redacted-")


def test_plain_http_to_other_machines_has_to_be_allowed():
    with pytest.raises(UsageError, match="allow_plain_http=True"):
        HttpTransport("http://example.com/mcp")
    assert HttpTransport("http://example.com/mcp", allow_plain_http=True).is_open


async def test_opening_sends_nothing():
    async with serve_raw(answering()) as server, open_transport(server.url):
        assert server.connections == 0


async def test_many_exchanges_at_once_get_their_own_answers():
    async with serve_raw(answering()) as server, open_transport(server.url) as transport:
        exchanges = [transport.exchange(outgoing(number)) for number in range(64)]
        answers = await asyncio.gather(*(receive_all(exchange) for exchange in exchanges))
        assert [received.message.id for [received] in answers] == list(range(64))


@pytest.mark.parametrize("status", ["202 Accepted", "200 OK", "204 No Content"])
async def test_a_notification_is_posted_and_accepted(status):
    async with serve_raw(answering(b"", status)) as server, open_transport(server.url) as transport:
        await transport.notify(NOTE)
        await transport.notify(NOTE)
        assert [request.body for request in server.requests] == [NOTE, NOTE]


async def test_a_notification_that_is_not_accepted_is_told():
    async def script(request, connection):
        await connection.write(full(b"no", "400 Bad Request", content_type="text/plain"))

    async with serve_raw(script) as server, open_transport(server.url) as transport:
        with pytest.raises(HttpStatusError, match="400 Bad Request: the notification was not accepted"):
            await transport.notify(NOTE)


async def test_nothing_comes_unsolicited_until_the_transport_is_closed():
    async with open_transport("http://127.0.0.1:1/mcp") as transport:
        reader = asyncio.create_task(list_of(transport.unsolicited()))
        await asyncio.sleep(0)
        assert not reader.done()
        await transport.aclose()
        assert await reader == []


async def test_goodbye_is_said_with_the_headers_of_every_request_and_waited_for_no_longer_than_said():
    async def script(request, connection):
        if len(server.requests) > 1:
            await connection.wait_for_end()
        await connection.write(full(b"", "405 Method Not Allowed"))

    async with serve_raw(script) as server, open_transport(server.url) as transport:
        transport.conduct.headers["X-Who"] = "me"
        await transport.say_goodbye()
        async with asyncio.timeout(5):
            await transport.say_goodbye(timeout_s=0.05)
    for request in server.requests:
        assert request.line.startswith("DELETE")
        assert request.header("X-Who") == "me"
        assert request.header("Content-Type") is None


async def list_of(items):
    return [item async for item in items]


async def silent(request, connection):
    await connection.wait_for_end()


async def streaming_on(request, connection):
    await connection.write(STREAM + chunk(event(progress(1))))
    await connection.wait_for_end()


@pytest.mark.parametrize("script", [silent, streaming_on])
async def test_closing_from_another_task_fails_open_exchanges_at_once(script):
    async with serve_raw(script) as server, open_transport(server.url) as transport:
        readers = [
            asyncio.create_task(receive_all(transport.exchange(outgoing(number)))) for number in range(3)
        ]
        await server.wait_until(lambda: len(server.requests) == 3)
        async with asyncio.timeout(1):
            await asyncio.gather(transport.aclose(), transport.aclose())
            results = await asyncio.gather(*readers, return_exceptions=True)
        assert not transport.is_open
        assert all(isinstance(result, ClosedError) for result in results)
        assert "the client was closed while this call was open" in str(results[0])
        await server.wait_until(lambda: server.open_connections == 0)


async def test_closing_without_ever_opening_is_fine():
    transport = HttpTransport("http://127.0.0.1:1/mcp")
    await transport.aclose()
    assert not transport.is_open
