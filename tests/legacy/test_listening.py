"""Hearing of changes inside a session: what is subscribed to, what is told, and what a new session does."""

import asyncio

import pytest

from mesero.errors import CallTimeoutError, DisconnectedError, MissingCapabilityError, ProtocolError, RpcError
from mesero.legacy import listening
from tests.legacy.scripted import Script, open_session
from tests.transports.children import until

TOOLS = {"toolsListChanged": True}


def listen(caller, wanted, *, reconnect=True, gaps=None, acknowledge_s=5.0):
    on_gap = (lambda: None) if gaps is None else (lambda: gaps.append(1))
    return caller.listen(wanted, acknowledge_s=acknowledge_s, reconnect=reconnect, on_gap=on_gap)


def watch(*uris):
    return {"resourceSubscriptions": list(uris)}


async def next_of(changes):
    return await asyncio.wait_for(anext(changes), 5)


async def test_a_change_of_a_list_is_told():
    async with open_session() as (caller, server), listen(caller, TOOLS) as changes:
        assert changes.honoured == TOOLS
        server.side.note("notifications/prompts/list_changed")
        server.side.note("notifications/tools/list_changed")
        assert (await next_of(changes)).kind == "tools"


async def test_a_resource_is_subscribed_to_and_unsubscribed_from():
    async with open_session() as (caller, server):
        async with listen(caller, watch("file:///a")) as changes:
            assert server.methods[-1] == "resources/subscribe"
            server.side.note("notifications/resources/updated", uri="file:///b")
            server.side.note("notifications/resources/updated", uri="file:///a")
            change = await next_of(changes)
            assert (change.kind, change.uri) == ("resource", "file:///a")
        unsubscribed = await server.wait_for("resources/unsubscribe")
        assert unsubscribed["params"] == {"uri": "file:///a"}


async def test_a_part_of_a_watched_resource_is_told():
    async with open_session() as (caller, server), listen(caller, watch("file:///a/")) as changes:
        server.side.note("notifications/resources/updated")
        server.side.note("notifications/resources/updated", uri="file:///a/b")
        assert (await next_of(changes)).uri == "file:///a/b"


async def test_a_change_that_comes_before_the_answer_is_not_missed():
    def change_first(side, message):
        side.note("notifications/resources/updated", uri=message["params"]["uri"])
        side.answer(message, {})

    script = Script(resources__subscribe=change_first)
    async with open_session(script) as (caller, _), listen(caller, watch("file:///a")) as changes:
        assert (await next_of(changes)).uri == "file:///a"


async def test_a_resource_is_watched_until_the_last_of_its_listeners_is_gone():
    async with open_session() as (caller, server):
        first = listen(caller, watch("file:///a", "file:///a"))
        second = listen(caller, watch("file:///a"))
        await first.start()
        await second.start()
        await first.aclose()
        await first.aclose()
        assert server.sent("resources/unsubscribe") == []
        server.side.note("notifications/resources/updated", uri="file:///a")
        assert (await next_of(second)).uri == "file:///a"
        await second.aclose()
        assert len(server.sent("resources/unsubscribe")) == 1


async def test_what_the_server_does_not_declare_is_not_asked_for():
    script = Script(capabilities={"tools": {}, "resources": {"listChanged": True}})
    async with open_session(script) as (caller, server):
        for wanted, name in ((watch("file:///a"), "resources.subscribe"), (TOOLS, "tools.listChanged")):
            with pytest.raises(MissingCapabilityError) as caught:
                await listen(caller, wanted).start()
            assert caught.value.capability == name
        with pytest.raises(MissingCapabilityError):
            await listen(caller, {"com.example/things": True}).start()
        async with listen(caller, {**TOOLS, "resourcesListChanged": True}) as changes:
            assert changes.honoured == {"resourcesListChanged": True}
    assert server.sent("resources/subscribe") == []


async def test_a_resource_that_the_server_will_not_watch_is_its_error():
    def refuse(side, message):
        if message["params"]["uri"].endswith("b"):
            side.refuse(message, -32002, "none")
        else:
            side.answer(message, {})

    async with open_session(Script(resources__subscribe=refuse)) as (caller, server):
        with pytest.raises(RpcError, match="none"):
            await listen(caller, watch("file:///a", "file:///b")).start()
        # What was subscribed to before it is not left behind.
        await server.wait_for("resources/unsubscribe", 2)


async def test_a_server_that_does_not_answer_is_a_time_out_that_names_the_request():
    async with open_session(Script(resources__subscribe=lambda *_: None)) as (caller, _):
        with pytest.raises(CallTimeoutError, match="resources/subscribe"):
            await asyncio.wait_for(listen(caller, watch("file:///a"), acknowledge_s=0.1).start(), 5)


# --- ends ---


async def test_a_new_session_is_subscribed_in_again_and_told():
    gaps = []
    async with open_session() as (caller, server), listen(caller, watch("file:///a"), gaps=gaps) as changes:
        server.side.hang_up()
        assert (await next_of(changes)).kind == "reconnected"
        assert gaps == [1]
        assert [message["method"] for message in server.side.received] == [
            "initialize",
            "notifications/initialized",
            "resources/subscribe",
        ]
        server.side.note("notifications/resources/updated", uri="file:///a")
        assert (await next_of(changes)).kind == "resource"


async def test_without_reconnecting_the_loss_is_raised_after_what_came_before_it():
    async with open_session() as (caller, server), listen(caller, TOOLS, reconnect=False) as changes:
        server.side.note("notifications/tools/list_changed")
        server.side.hang_up()
        assert (await next_of(changes)).kind == "tools"
        with pytest.raises(DisconnectedError):
            await next_of(changes)


async def test_listening_ends_with_the_client():
    async with open_session() as (caller, server), listen(caller, watch("file:///a")) as changes:
        waiting = asyncio.create_task(anext(changes, None))
        await caller.ping()
        await caller.aclose()
        assert await asyncio.wait_for(waiting, 5) is None
        assert server.sent("resources/unsubscribe") == []


async def test_a_closed_client_listens_to_nothing():
    async with open_session() as (caller, _):
        await caller.aclose()
        changes = listen(caller, TOOLS)
        assert await anext(changes, None) is None


async def test_a_reader_that_is_far_behind_is_told(monkeypatch):
    monkeypatch.setattr(listening, "_MAX_BACKLOG", 3)
    async with open_session() as (caller, server), listen(caller, TOOLS) as changes:
        for _ in range(5):
            server.side.note("notifications/tools/list_changed")
        await caller.ping()
        await until(lambda: changes._exchange.is_over)
        for _ in range(3):
            await next_of(changes)
        with pytest.raises(ProtocolError, match="unread"):
            await next_of(changes)
