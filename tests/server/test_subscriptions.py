import asyncio
import threading

import pytest

from mesero.extensions import Extension
from mesero.server import MemoryBus
from mesero.server.bus import Change
from mesero.server.subscriptions import Subscription, Subscriptions, keys_offered
from mesero.types import ServerCapabilities, ToolsCapability
from tests.server.talking import SERVER_INFO, SUBSCRIPTION_ID, cancellation, quiet_server, talking

ALL = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["notes://1", "notes://2"],
}
TOOLS_CHANGED = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"


def full_server(**options):
    server = quiet_server(**options)
    server.tool(name="tool")(lambda: None)
    server.prompt(name="prompt")(lambda: "x")
    server.resource("notes://{key}")(lambda key: key)
    return server


async def listening(talk, wanted, request_id):
    """Open a subscription and wait for its acknowledgement."""
    request = talk.request("subscriptions/listen", {"notifications": wanted}, id=request_id)
    talk.send(request)

    def acknowledged(said):
        return [
            one["params"]["notifications"]
            for one in said
            if one.get("method") == "notifications/subscriptions/acknowledged"
            and one["params"]["_meta"][SUBSCRIPTION_ID] == request_id
        ]

    return (await talk.until(acknowledged))[0]


def heard(talk, request_id):
    """The methods and URIs that a subscription heard, without its acknowledgement."""
    return [
        (one["method"], one["params"].get("uri"))
        for one in talk.said
        if one.get("method") and one["params"]["_meta"][SUBSCRIPTION_ID] == request_id
    ][1:]


async def test_the_acknowledgement_is_first_and_names_what_is_honoured():
    async with talking(full_server()) as talk:
        honoured = await listening(talk, {**ALL, "promptsListChanged": False, "unknownThing": True}, "sub")
    assert honoured == {key: value for key, value in ALL.items() if key != "promptsListChanged"}
    assert talk.said[0]["method"] == "notifications/subscriptions/acknowledged"


async def test_kinds_that_the_server_does_not_have_are_not_honoured():
    server = quiet_server()
    server.tool(name="tool")(lambda: None)
    async with talking(server) as talk:
        assert await listening(talk, ALL, 1) == {"toolsListChanged": True}


def test_keys_of_extensions_are_honoured_whatever_the_capabilities():
    known = {"toolsListChanged": ("a",), "promptsListChanged": ("b",), "com.example/x": ("c",)}
    declared = ServerCapabilities(tools=ToolsCapability())
    assert keys_offered(known, declared).keys() == {"toolsListChanged", "com.example/x"}


async def test_each_listener_hears_what_it_asked_for_under_its_own_id():
    server = full_server()
    async with talking(server) as talk:
        await listening(talk, {"toolsListChanged": True}, 7)
        await listening(talk, {"resourceSubscriptions": ["notes://1"]}, "7")
        await listening(talk, {}, "none")
        server.tool(name="more")(lambda: None)
        server.prompt(name="more")(lambda: "x")
        server.notify_resource_updated("notes://1")
        server.notify_resource_updated("notes://3")
        server.tools.remove("more")
        await talk.until(lambda said: len(heard(talk, 7)) >= 1 and heard(talk, "7"))
        await talk.settle()
        assert set(heard(talk, 7)) == {(TOOLS_CHANGED, None)}
        assert heard(talk, "7") == [(UPDATED, "notes://1")]
        assert heard(talk, "none") == []


async def test_changes_that_say_the_same_are_sent_once_to_a_client_that_does_not_read():
    server = full_server()
    async with talking(server) as talk:
        await listening(talk, ALL, 1)
        talk.connection.pause_writing()
        server.notify_resource_updated("notes://1")
        await talk.settle()
        for _ in range(1000):
            server.notify_resource_updated("notes://1")
            server.notify_resource_updated("notes://2")
            server.tools.add("more", server.tools.find("tool"))
            server.tools.remove("more")
        await talk.settle()
        assert heard(talk, 1) == [(UPDATED, "notes://1")]
        talk.connection.resume_writing()
        await talk.until(lambda said: len(heard(talk, 1)) == 4)
        await talk.settle()
        assert sorted(heard(talk, 1)[1:], key=str) == sorted(
            [(UPDATED, "notes://1"), (UPDATED, "notes://2"), (TOOLS_CHANGED, None)], key=str
        )


async def test_the_server_ends_a_subscription_with_a_cancellation_and_then_its_result():
    server = full_server()
    async with talking(server) as talk:
        await listening(talk, ALL, "sub")
        server.notify_resource_updated("notes://1")
        server.end_subscriptions()
        answer = await talk.answer_to({"id": "sub"})
        await talk.settle()
    assert [one.get("method") for one in talk.said] == [
        "notifications/subscriptions/acknowledged",
        UPDATED,
        "notifications/cancelled",
        None,
    ]
    assert talk.said[2]["params"]["requestId"] == "sub"
    assert talk.said[2]["params"]["_meta"] == {SUBSCRIPTION_ID: "sub"}
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["_meta"][SUBSCRIPTION_ID] == "sub"
    assert answer["result"]["_meta"][SERVER_INFO]["name"] == "testing"
    assert len(server.subscriptions) == 0


async def test_a_client_ends_a_subscription_in_silence():
    server = full_server()
    async with talking(server) as talk:
        await listening(talk, ALL, 1)
        talk.send(cancellation(1))
        await talk.settle()
        server.notify_resource_updated("notes://1")
        await talk.settle()
        assert len(talk.said) == 1
        assert len(server.subscriptions) == 0
        # The id is free again, and nothing of the first subscription is left.
        talk.said.clear()
        assert await listening(talk, {"toolsListChanged": True}, 1) == {"toolsListChanged": True}


async def test_the_end_of_a_connection_ends_its_subscriptions():
    server = full_server()
    async with talking(server) as talk:
        await listening(talk, ALL, 1)
        assert len(server.subscriptions) == 1
    assert len(server.subscriptions) == 0


async def test_replicas_share_a_bus():
    bus = MemoryBus()
    here, there = full_server(bus=bus), full_server(bus=bus)
    async with talking(here) as talk:
        await listening(talk, ALL, 1)
        there.notify_resource_updated("notes://2")
        await talk.until(lambda said: heard(talk, 1))
    assert heard(talk, 1) == [(UPDATED, "notes://2")]


async def test_a_server_is_on_the_bus_only_while_somebody_listens():
    class CountingBus(MemoryBus):
        def count(self):
            return len(self._listeners)

    bus = CountingBus()
    server = full_server(bus=bus)
    assert bus.count() == 0
    async with talking(server) as talk:
        await listening(talk, ALL, 1)
        await listening(talk, ALL, 2)
        assert bus.count() == 1
    assert bus.count() == 0


async def test_changes_may_be_made_in_threads():
    server = full_server()

    @server.tool
    def touch() -> None:
        server.notify_resource_updated("notes://1")

    async with talking(server) as talk:
        await listening(talk, ALL, 1)
        await talk.call("touch")
        await talk.until(lambda said: (UPDATED, "notes://1") in heard(talk, 1))


async def test_a_change_that_comes_when_the_loop_is_gone_is_dropped():
    class Nobody:
        is_answered = False

        async def notify(self, raw):
            raise AssertionError("not reached")

    bus = MemoryBus()
    everybody = Subscriptions(bus)

    async def make():
        return Subscription(
            request_id=1,
            honoured={"k": True},
            known={"k": ("m",)},
            reply=Nobody(),
            is_shared_channel=False,
        )

    made = []
    thread = threading.Thread(target=lambda: made.append(asyncio.run(make())))
    thread.start()
    await asyncio.to_thread(thread.join)
    with everybody.holding(made[0]):
        bus.publish(Change("m"))
        everybody.end_all()
    assert len(everybody) == 0


@pytest.mark.parametrize(
    "wanted",
    [None, [], {"toolsListChanged": "yes"}, {"resourceSubscriptions": True}, {"resourceSubscriptions": [1]}],
)
async def test_a_malformed_filter_is_an_error(wanted):
    async with talking(full_server()) as talk:
        error = await talk.error("subscriptions/listen", {"notifications": wanted})
    assert error["code"] == -32602


async def test_a_filter_is_needed():
    async with talking(full_server()) as talk:
        assert (await talk.error("subscriptions/listen"))["code"] == -32602


async def test_an_extensions_kind_is_heard():
    extension = Extension(identifier="com.example/x", listen_keys={"com.example/x": ("notifications/x",)})
    server = quiet_server(extensions=[(extension, {})])
    async with talking(server, {"extensions": {"com.example/x": {}}}) as talk:
        assert await listening(talk, {"com.example/x": ["a"]}, 1) == {"com.example/x": ["a"]}
        server.notify_changed("notifications/x", {"n": 1}, subject="a")
        server.notify_changed("notifications/x", {"n": 2}, subject="b")
        await talk.until(lambda said: heard(talk, 1))
        await talk.settle()
    assert [one["n"] for one in talk.notifications("notifications/x")] == [1]
