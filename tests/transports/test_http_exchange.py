import asyncio
import json

import pytest

from mesero.errors import ClosedError, DisconnectedError, HttpStatusError, ProtocolError, UsageError
from mesero.jsonrpc import ErrorResponse, Notification, ResultResponse
from tests.transports.raw_http import (
    END,
    STREAM,
    HangUp,
    answering,
    chunk,
    error_for,
    event,
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


def own_result(request):
    return result_for(request.id)


def kinds_of(received):
    return [type(item.message) for item in received]


async def test_a_json_answer_is_one_message_with_its_bytes_and_facts():
    [received], server = await receive_from(answering())
    assert received.message == ResultResponse(1, received.message.result)
    assert received.raw.startswith(b'{"jsonrpc": "2.0", "id": 1')
    assert received.http.status == 200
    assert received.http.url == server.url
    assert ("content-type", "application/json") in received.http.headers
    assert not received.http.is_event


async def test_an_event_stream_is_its_messages_in_order():
    received, _ = await receive_from(streaming(progress(1), progress(2), own_result))
    assert kinds_of(received) == [Notification, Notification, ResultResponse]
    assert all(item.http.is_event for item in received)
    assert b'"progress": 1' in received[0].raw


async def test_an_event_stream_in_single_bytes_and_with_comments_gives_the_same():
    async def script(request, connection):
        await connection.write(STREAM)
        stream = b": keep-alive\r\n\r\n" + event(progress(1)) + b"id: 7\ndata:\n\nretry: 10\n\n"
        for byte in stream + event(own_result(request)):
            await connection.write(chunk(bytes([byte])))
        await connection.write(END)

    received, _ = await receive_from(script)
    assert kinds_of(received) == [Notification, ResultResponse]


async def test_many_events_in_one_chunk_are_all_delivered():
    received, _ = await receive_from(
        streaming(
            lambda request: b"".join(event(progress(n)) for n in range(50)) + event(own_result(request))
        )
    )
    assert len(received) == 51


async def test_a_json_rpc_error_comes_through_any_status():
    script = answering(lambda request: error_for(request.id), "404 Not Found")
    [received], _ = await receive_from(script)
    assert isinstance(received.message, ErrorResponse)
    assert received.http.status == 404


async def test_an_error_event_without_an_id_answers_the_request_of_its_stream():
    [received], _ = await receive_from(streaming(error_for(None)))
    assert received.message.id is None


async def test_the_status_of_a_page_is_told():
    with pytest.raises(HttpStatusError, match=r"POST http://127\.0\.0\.1:\d+/mcp → 502 Bad Gateway"):
        await receive_from(answering(b"<h1>nginx</h1>", "502 Bad Gateway", content_type="text/html"))


async def test_a_request_of_the_server_is_dropped_and_kept_as_evidence():
    asked = {"jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": {}}
    async with (
        serve_raw(streaming(asked, own_result)) as server,
        open_transport(server.url) as transport,
    ):
        received = await receive_all(transport.exchange(outgoing()))
        assert kinds_of(received) == [ResultResponse]
        [(kind, beginning)] = transport.dropped
    assert kind == "request"
    assert b"sampling/createMessage" in beginning


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (result_for(2), r"tools/call \(id 1\) was answered with a response with the id 2"),
        (result_for("1"), "under the id '1' instead of 1"),
        (b"data: {oops\n\n", "an event that is no message came for tools/call: not JSON"),
        ([result_for(1)], "an event that is no message came for tools/call: a message is one JSON object"),
    ],
)
async def test_an_event_that_cannot_be_ours_fails_the_request_at_once(item, text):
    async def script(request, connection):
        await connection.write(STREAM + chunk(item if isinstance(item, bytes) else event(item)))
        await connection.wait_for_end()

    with pytest.raises(ProtocolError, match=text) as caught:
        await receive_from(script)
    assert caught.value.excerpt


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([], "ended without the response to tools/call (id 1); no message had come"),
        ([progress(1)], "1 message had come"),
        ([progress(1), progress(2)], "2 messages had come"),
        ([b'data: {"jsonrpc": "2.0"'], "the last event was not finished by an empty line"),
    ],
)
async def test_a_stream_that_ends_early_says_what_had_come(events, text):
    with pytest.raises(DisconnectedError) as caught:
        await receive_from(streaming(*events))
    assert text in str(caught.value)


async def test_a_stream_that_breaks_off_names_the_last_message():
    with pytest.raises(DisconnectedError, match="the body ended too early; 1 message had come") as caught:
        await receive_from(streaming(progress(1), ends=False))
    assert b"notifications/progress" in caught.value.last_message


async def test_a_json_body_that_breaks_off_says_how_far_it_came():
    async def script(request, connection):
        await connection.write(
            head("200 OK", "Content-Type: application/json", "Content-Length: 100") + b"{" * 10
        )
        raise HangUp

    with pytest.raises(DisconnectedError, match="200 OK → the body ended too early; 10 bytes had come"):
        await receive_from(script)


async def test_an_event_over_the_limit_names_it():
    with pytest.raises(ProtocolError, match=r"longer than the limit of 1000 bytes \(max_message_bytes=\)"):
        await receive_from(streaming(result_for(1, "x" * 2000)), max_bytes=1000)


async def test_the_bytes_of_a_response_reach_the_observer():
    seen = []
    await receive_from(
        streaming(progress(1), own_result),
        outgoing(headers=[("Mcp-Method", "tools/call")]),
        observer=lambda *facts: seen.append(facts),
    )
    assert [direction for direction, _, _ in seen] == ["c2s", "s2c", "s2c"]
    sent, notified, answered = (facts for _, _, facts in seen)
    assert ("mcp-method", "tools/call") in sent.headers
    assert sent.method == "POST"
    assert sent.status == 0
    assert notified.is_event
    assert answered.status == 200


async def test_after_the_response_there_is_nothing_to_receive():
    async with serve_raw(answering()) as server, open_transport(server.url) as transport:
        exchange = transport.exchange(outgoing())
        await exchange.receive()
        with pytest.raises(ClosedError, match="the response to tools/call was read"):
            await exchange.receive()
        await exchange.close()


async def test_closing_before_the_request_was_sent_sends_nothing():
    async with serve_raw(answering()) as server, open_transport(server.url) as transport:
        exchange = transport.exchange(outgoing())
        await exchange.close("no need")
        with pytest.raises(ClosedError, match="tools/call was given up: no need"):
            await exchange.receive()
        assert server.connections == 0


async def test_closing_an_open_stream_closes_its_connection():
    async with serve_raw(streaming_forever) as server, open_transport(server.url) as transport:
        exchange = transport.exchange(outgoing(method="subscriptions/listen"))
        await exchange.receive()
        await exchange.close()
        await exchange.close()
        await server.wait_until(lambda: server.open_connections == 0)


async def test_where_the_server_may_ask_its_requests_and_what_it_says_to_all_are_unsolicited():
    asked = {"jsonrpc": "2.0", "id": 9, "method": "roots/list"}
    said = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    script = streaming(asked, said, progress(1), own_result)
    async with serve_raw(script) as server, open_transport(server.url) as transport:
        transport.conduct.passes_requests = True
        received = await receive_all(transport.exchange(outgoing()))
        assert kinds_of(received) == [Notification, ResultResponse]
        unsolicited = transport.unsolicited()
        assert (await anext(unsolicited)).raw == json.dumps(asked).encode()
        assert (await anext(unsolicited)).message.method == "notifications/tools/list_changed"
        assert list(transport.dropped) == []


async def test_a_batch_may_be_an_event_where_there_are_some():
    script = streaming(lambda request: [progress(1), own_result(request)])
    async with serve_raw(script) as server, open_transport(server.url) as transport:
        transport.conduct.accepts_batches = True
        received = await receive_all(transport.exchange(outgoing()))
        assert kinds_of(received) == [Notification, ResultResponse]


async def test_giving_up_is_told_in_a_message_where_that_is_wanted_and_abandoning_is_not():
    async with serve_raw(streaming_forever) as server, open_transport(server.url) as transport:
        transport.conduct.tells_cancellation = True
        for request_id, ends in ((1, "close"), (2, "abandon"), (3, "close")):
            exchange = transport.exchange(outgoing(request_id))
            await exchange.receive()
            if ends == "close":
                await exchange.close("tired" if request_id == 1 else "")
                await exchange.close()
            else:
                exchange.abandon()
        await server.wait_until(lambda: len(server.requests) == 5)
    told = [request.json["params"] for request in server.requests if "id" not in request.json]
    assert sorted(told, key=lambda params: params["requestId"]) == [
        {"requestId": 1, "reason": "tired"},
        {"requestId": 3},
    ]


async def streaming_forever(request, connection):
    await connection.write(STREAM + chunk(event(progress(1))))
    await connection.wait_for_end()
    raise HangUp


async def test_an_exchange_can_be_closed_under_its_reader():
    async with serve_raw(streaming_forever) as server, open_transport(server.url) as transport:
        exchange = transport.exchange(outgoing())
        await exchange.receive()
        reader = asyncio.create_task(exchange.receive())
        await asyncio.sleep(0)
        await exchange.close("by another task")
        with pytest.raises(ClosedError, match="by another task"):
            await reader
        assert reader.cancelling() == 0
        await server.wait_until(lambda: server.open_connections == 0)


async def test_a_reader_that_was_cancelled_by_others_too_stays_cancelled():
    async with serve_raw(streaming_forever) as server, open_transport(server.url) as transport:
        exchange = transport.exchange(outgoing())
        await exchange.receive()
        reader = asyncio.create_task(exchange.receive())
        await asyncio.sleep(0)
        reader.cancel()
        await exchange.close()
        with pytest.raises(asyncio.CancelledError):
            await reader


async def test_a_cancelled_read_of_an_open_stream_can_be_repeated():
    go_on = asyncio.Event()

    async def script(request, connection):
        await connection.write(STREAM + chunk(event(progress(1))))
        await go_on.wait()
        await connection.write(chunk(event(own_result(request))) + END)

    async with serve_raw(script) as server, open_transport(server.url) as transport:
        exchange = transport.exchange(outgoing())
        await exchange.receive()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(exchange.receive(), 0.01)
        go_on.set()
        assert isinstance((await exchange.receive()).message, ResultResponse)
        await exchange.close()


async def test_a_cancelled_post_is_given_up_for_good():
    async def script(request, connection):
        await connection.wait_for_end()
        raise HangUp

    async with serve_raw(script) as server, open_transport(server.url) as transport:
        exchange = transport.exchange(outgoing())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(exchange.receive(), 0.05)
        with pytest.raises(ClosedError, match="tools/call was given up"):
            await exchange.receive()
        await server.wait_until(lambda: server.open_connections == 0)


async def test_the_connection_of_a_finished_stream_is_used_again():
    async with (
        serve_raw(streaming(progress(1), own_result)) as server,
        open_transport(server.url) as transport,
    ):
        for number in range(3):
            await receive_all(transport.exchange(outgoing(number)))
            async with asyncio.timeout(5):
                # The end of the stream may come in a packet of its own.
                while transport._link._draining:  # noqa: ASYNC110 - nothing announces it
                    await asyncio.sleep(0)
        assert server.connections == 1


async def test_an_exchange_is_read_inside_a_task_only():
    async with open_transport("http://127.0.0.1:1/mcp") as transport:
        failed = asyncio.get_running_loop().create_future()

        def read_outside():
            try:
                transport.exchange(outgoing()).receive().send(None)
            except UsageError as error:
                failed.set_result(error)

        asyncio.get_running_loop().call_soon(read_outside)
        assert "inside a task" in str(await failed)
