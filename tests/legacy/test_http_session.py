"""The streams of a session: what is said unasked, and what whoever comes back gets."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mesero
from mesero.legacy import http_session
from tests.legacy.http_talk import (
    HttpTalk,
    build_server,
    events_of,
    is_missed,
    last_id_of,
    messages_of,
    talking,
    text_of,
    until,
)

CHANGED = "notifications/tools/list_changed"


def methods_of(exchange):
    return [message["method"] for message in messages_of(exchange)]


async def listening(talk, **changes):
    listener = talk.listen(**changes)
    await listener.until(lambda: listener.sent and b":\n\n" in listener.body)
    return listener


async def leave(exchange):
    """Go away, and let the server notice; a call goes on."""
    exchange.disconnect()
    await until(lambda: exchange.task.done() or exchange.is_missed())


def change(server, count=1):
    """Changes of a kind of which each is told."""
    for number in range(count):
        server.notify_resource_updated(f"notes://{number}")


async def subscribed(talk, count=9):
    for number in range(count):
        request = talk.request("resources/subscribe", {"uri": f"notes://{number}"})
        assert (await talk.send(request)).json["result"] == {}
    return talk


def uris_of(exchange):
    return [message["params"]["uri"] for message in messages_of(exchange)]


# -- what is said unasked --------------------------------------------------------------------------------


async def test_a_listener_hears_of_changes():
    server = build_server()
    async with talking(server=server) as talk:
        listener = await listening(talk)
        server.tool(name="more")(lambda: 1)
        await until(lambda: messages_of(listener))

        assert listener.headers["content-type"] == "text/event-stream"
        assert methods_of(listener) == [CHANGED]
        await leave(listener)


async def test_the_stream_begins_at_once_and_with_an_id_to_come_back_to():
    async with talking() as talk:
        listener = await listening(talk)
        first = events_of(listener)[0]

        assert (first.data, first.event_id) == (b"", "1-0")
        await leave(listener)


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18"])
async def test_earlier_revisions_know_no_event_without_data(revision):
    server = build_server()
    async with talking(revision, server=server) as talk:
        listener = await listening(talk)
        call = await talk.call("count", {"to": 2})
        server.tool(name="more")(lambda: 1)
        await until(lambda: events_of(listener))

        assert all(event.data and event.event_id for event in [*events_of(listener), *events_of(call)])
        await leave(listener)


async def test_what_was_said_before_anybody_listened_is_heard_by_the_first_who_does():
    server = build_server()
    async with talking(server=server) as talk:
        await subscribed(talk)
        change(server, 3)
        await until(lambda: len(server.subscriptions))
        listener = await listening(talk)
        await until(lambda: len(messages_of(listener)) == 3)

        assert uris_of(listener) == ["notes://0", "notes://1", "notes://2"]
        await leave(listener)


async def test_a_message_goes_on_one_stream_only_that_of_the_latest_listener():
    server = build_server()
    async with talking(server=server) as talk:
        await subscribed(talk)
        one, other = await listening(talk), await listening(talk)
        change(server, 2)
        await until(lambda: len(messages_of(other)) == 2)
        assert messages_of(one) == []
        await leave(other)
        server.notify_resource_updated("notes://5")
        await until(lambda: messages_of(one))

        assert uris_of(one) == ["notes://5"]
        await leave(one)


async def test_no_session_hears_what_is_meant_for_another():
    server = build_server()
    async with talking(server=server) as one:
        other = await HttpTalk(one.app).open()
        listeners = [await listening(one), await listening(other)]
        await subscribed(other)
        change(server, 1)
        await until(lambda: messages_of(listeners[1]))

        assert messages_of(listeners[0]) == []
        for listener in listeners:
            await leave(listener)


async def test_too_many_listeners_are_409_until_one_leaves():
    async with talking() as talk:
        listeners = [await listening(talk) for _ in range(8)]
        refused = await talk.finish(talk.listen())
        assert refused.status == 409
        await leave(listeners[3])
        listeners[3] = await listening(talk)

        assert listeners[3].status == 200
        for listener in listeners:
            await leave(listener)


# -- who comes back --------------------------------------------------------------------------------------


async def test_a_listener_that_comes_back_gets_what_it_missed_and_what_follows():
    server = build_server()
    async with talking(server=server) as talk:
        await subscribed(talk)
        listener = await listening(talk)
        change(server, 1)
        await until(lambda: messages_of(listener))
        event_id = last_id_of(listener)
        await leave(listener)
        change(server, 3)
        again = await listening(talk, last_event_id=event_id)
        await until(lambda: len(messages_of(again)) == 3)
        server.notify_resource_updated("notes://7")
        await until(lambda: len(messages_of(again)) == 4)

        assert uris_of(again) == ["notes://0", "notes://1", "notes://2", "notes://7"]
        await leave(again)


async def test_who_comes_back_takes_the_stream_over_from_a_connection_that_only_seems_open():
    server = build_server()
    async with talking(server=server) as talk:
        await subscribed(talk)
        dead = await listening(talk)
        again = await listening(talk, last_event_id=last_id_of(dead))
        await talk.finish(dead)
        change(server, 1)
        await until(lambda: messages_of(again))

        assert (messages_of(dead), len(messages_of(again))) == ([], 1)
        await leave(again)


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_call_whose_connection_broke_is_not_cancelled_and_its_result_waits(revision):
    server = build_server()
    async with talking(revision, server=server) as talk:
        call = talk.start_call("wait", id=5)
        await until(lambda: call.sent and messages_of(call))
        event_id = last_id_of(call)
        await leave(call)
        server.gate.set()
        again = await talk.resume(event_id)

        assert [message.get("method") for message in messages_of(again)] == ["notifications/progress", None]
        assert text_of(messages_of(again)[-1]) == "waited"
        assert server.cancelled == []
        assert again.is_complete


async def test_who_comes_back_before_the_result_waits_for_it():
    server = build_server()
    async with talking(server=server) as talk:
        call = talk.start_call("wait", id=5)
        await until(lambda: call.sent and messages_of(call))
        await leave(call)
        again = await listening(talk, last_event_id=last_id_of(call))
        assert messages_of(again) == []
        server.gate.set()
        await talk.finish(again)

        assert text_of(messages_of(again)[-1]) == "waited"


async def test_the_result_can_be_had_twice_since_the_first_may_never_have_arrived():
    async with talking() as talk:
        call = await talk.call("count", {"to": 3})
        ids = [event.event_id for event in events_of(call)]
        again = await talk.resume(ids[0])
        last = await talk.resume(ids[-2])

        assert messages_of(again) == messages_of(call)
        assert messages_of(last) == messages_of(call)[-1:]


async def test_nothing_of_another_stream_is_replayed():
    async with talking() as talk:
        calls = [await talk.call("count", {"to": 2}) for _ in range(2)]
        again = await talk.resume(events_of(calls[0])[0].event_id)

        assert messages_of(again) == messages_of(calls[0])


@pytest.mark.parametrize("event_id", ["7-0", "2-99", "nonsense", "", "1", "-", "9" * 30 + "-1"])
async def test_an_event_id_that_names_nothing_is_400_and_the_session_goes_on(event_id):
    async with talking() as talk:
        exchange = await talk.resume(event_id)

        assert exchange.status == 400
        assert "Last-Event-ID" in exchange.json["error"]["message"]
        assert (await talk.send(talk.request("ping"))).status == 200


async def test_the_event_ids_of_one_session_mean_nothing_in_another():
    async with talking() as one:
        other = await HttpTalk(one.app).open()
        call = await one.call("count", {"to": 1})

        assert (await other.resume(last_id_of(call))).status == 400


async def test_a_call_that_broke_before_it_said_anything_asks_on_the_stream_of_a_listener():
    server = build_server()

    @server.tool
    async def later(ctx: mesero.Context) -> str:
        await server.gate.wait()
        return (await ctx.elicit("Sure?")).action

    async with talking(server=server, capabilities={"elicitation": {}}) as talk:
        listener = await listening(talk)
        call = talk.start_call("later", id=5)
        await call.until(lambda: not call._events)
        await leave(call)
        server.gate.set()
        await until(lambda: messages_of(listener))

        assert methods_of(listener) == ["elicitation/create"]
        await leave(listener)


async def test_a_call_that_is_cancelled_ends_its_stream_without_an_answer():
    server = build_server()
    async with talking(server=server) as talk:
        begun, silent = talk.start_call("wait", id=1), talk.start_call("silent", id=2)
        await until(lambda: begun.sent and messages_of(begun) and not silent._events)
        for request_id in (1, 2):
            await talk.notify("notifications/cancelled", {"requestId": request_id})
        await talk.finish(begun)
        await talk.finish(silent)

        assert [message["method"] for message in messages_of(begun)] == ["notifications/progress"]
        assert messages_of(silent) == []
        assert sorted(server.cancelled) == [1, 2]


# -- letting go before the end ---------------------------------------------------------------------------


async def test_a_call_may_let_go_of_its_connection_and_is_polled():
    server = build_server()
    async with talking(server=server) as talk:
        call = talk.start_call("poll", id=5)
        await call.until(lambda: call.is_complete)
        first, retry = events_of(call)
        assert (first.data, first.event_id) == (b"", "1-0")
        assert retry.retry_ms == 250
        server.gate.set()
        again = await talk.resume(first.event_id)

        assert messages_of(again)[-1]["id"] == 5
        assert text_of(messages_of(again)[-1]) == "polled"


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18"])
async def test_earlier_revisions_keep_their_connection_to_the_end(revision):
    server = build_server()
    async with talking(revision, server=server) as talk:
        call = talk.start_call("poll", id=5)
        await until(lambda: not call._events)
        server.gate.set()
        await talk.finish(call)

        assert text_of(call.json) == "polled"


async def test_a_silent_call_gets_an_id_to_come_back_to_when_its_stream_begins():
    server = build_server()
    async with talking(server=server, stream_after_s=0.05) as talk:
        call = talk.start_call("silent", id=5)
        await until(lambda: call.sent and events_of(call))
        await leave(call)
        server.gate.set()
        again = await talk.resume("1-0")

        assert text_of(messages_of(again)[-1]) == "silent"


# -- slow readers, and bounds ----------------------------------------------------------------------------


async def test_a_call_waits_while_its_client_does_not_read():
    server = build_server()
    said = []

    @server.tool
    async def chatter(ctx: mesero.Context) -> str:
        for number in range(200):
            await ctx.log("info", "x" * 100_000)
            said.append(number)
        return "done"

    async with talking(server=server) as talk:
        call = talk.start_call("chatter", id=5)
        call.room.clear()
        await until(lambda: said)
        count = -1
        while count != len(said):
            count = len(said)
            await asyncio.sleep(0.05)
        assert count < 60
        call.room.set()
        await talk.finish(call)

        assert len(messages_of(call)) == 201


async def test_what_is_kept_for_a_client_that_left_is_bounded_and_its_result_is_in_it():
    server = build_server()

    @server.tool
    async def chatter(ctx: mesero.Context) -> str:
        await ctx.report_progress(0, 1)
        await server.gate.wait()
        for _ in range(50):
            await ctx.log("info", "x" * 100_000)
        return "done"

    async with talking(server=server) as talk:
        call = talk.start_call("chatter", id=5)
        await until(lambda: call.sent and messages_of(call))
        await leave(call)
        server.gate.set()
        (session,) = talk.app.sessions._kept._open.values()
        await until(lambda: not session._calls)
        assert session._store.size <= 1024 * 1024
        again = await talk.resume(last_id_of(call))

        assert len(messages_of(again)) < 12
        assert text_of(messages_of(again)[-1]) == "done"


async def test_delivered_streams_are_forgotten_after_a_while():
    async with talking(session_idle_s=0.3) as talk:
        listener = await listening(talk)
        call = await talk.call("count", {"to": 1})
        (session,) = talk.app.sessions._kept._open.values()
        assert len(session._store) == 2
        await until(lambda: len(session._store) == 1)

        assert (await talk.resume(last_id_of(call))).status == 400
        await leave(listener)


async def test_a_body_of_any_size_comes_whole_to_who_comes_back():
    server = build_server()

    @server.tool
    async def big(ctx: mesero.Context) -> str:
        await ctx.report_progress(0, 1)
        await server.gate.wait()
        return "y" * 5_000_000

    async with talking(server=server) as talk:
        call = talk.start_call("big", id=5)
        await until(lambda: call.sent and messages_of(call))
        await leave(call)
        server.gate.set()
        again = await talk.resume(last_id_of(call))

        assert len(text_of(json.loads(events_of(again)[-1].data))) == 5_000_000


# -- whatever comes ------------------------------------------------------------------------------------------

GOOD = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": {"progressToken": 1}},
    }
).encode()
HEADERS = ["mcp_session_id", "mcp_protocol_version", "last_event_id", "accept", "content_type", "mcp_method"]
VALUES = ["", "1-0", "0", "2025-03-26", "2026-07-28", "*/*", "application/json", "text/event-stream", "\xff"]


@given(
    method=st.sampled_from(["POST", "POST", "POST", "DELETE", "PUT", "OPTIONS"]),
    place=st.integers(0, len(GOOD)),
    length=st.integers(0, 40),
    put=st.binary(max_size=20),
    changes=st.dictionaries(st.sampled_from(HEADERS), st.sampled_from(VALUES), max_size=2),
)
def test_whatever_comes_is_answered_once_and_the_other_session_goes_on(method, place, length, put, changes):
    async def run():
        async with talking() as bystander:
            talk = await HttpTalk(bystander.app).open()
            body = GOOD[:place] + put + GOOD[place + length :]
            exchange = await talk.finish(talk.start(method, body=body, **changes))
            allowed = {200, 202, 204, 400, 404, 405, 406, 415}
            assert exchange.is_complete
            assert exchange.status in allowed
            assert (await bystander.send(bystander.request("ping"))).json["result"] == {}

    asyncio.run(run())


@pytest.mark.parametrize("is_array", [True, False])
async def test_calls_that_go_on_without_their_connections_are_bounded(monkeypatch, is_array):
    monkeypatch.setattr(http_session, "MAX_LEFT", 2)
    server = build_server()
    async with talking("2025-03-26", server=server) as talk:
        left = [talk.start_call("wait", id=f"w{number}") for number in range(2)]
        for call in left:
            await call.until(lambda call=call: call.sent and events_of(call))
        ping = talk.request("ping")
        assert (await talk.send(ping)).status == 200
        for call in left:
            call.disconnect()
        await until(lambda: all(is_missed(talk.app, call) for call in left))
        refused = await talk.send([ping] if is_array else ping)

        assert refused.status == 429
        assert "without their connections" in refused.json["error"]["message"]
        server.gate.set()
        for call in left:
            await talk.finish(call)

        assert (await talk.send(talk.request("ping"))).status == 200
