import asyncio
import threading

import pytest

from mesero.legacy.announcements import Announcements
from mesero.server.bus import Change
from tests.legacy.session_talk import HANDSHAKE_REVISIONS, SessionTalk, in_session, notes_server, notification
from tests.server.talking import quiet_server

UPDATED = "notifications/resources/updated"


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_a_change_of_a_list_is_announced_unasked(revision):
    server = notes_server()
    async with in_session(server, revision) as talk:
        await talk.result("ping")
        server.tool(name="another")(lambda: "here")
        await talk.until(lambda said: said[-1] == notification("notifications/tools/list_changed"))


async def test_a_change_is_not_announced_before_the_session_is_ready():
    server = notes_server()
    async with in_session(server, is_open=False) as talk:
        await talk.initialize()
        server.tool(name="another")(lambda: "here")
        talk.send(notification("notifications/initialized"))
        await talk.result("ping")
        assert len(talk.said) == 2


async def test_what_was_not_declared_is_not_announced():
    server = quiet_server()
    async with in_session(server) as talk:
        server.tool(name="first")(lambda: "here")
        await talk.result("ping")
        await talk.settle()
        assert not [one for one in talk.said if "method" in one]


async def test_an_update_is_announced_to_who_subscribed_and_while_it_is():
    server = notes_server()
    async with in_session(server) as talk:
        server.notify_resource_updated("notes://one")
        await talk.result("resources/subscribe", {"uri": "notes://one"})
        await talk.settle()
        assert talk.notifications(UPDATED) == []
        server.notify_resource_updated("notes://one")
        server.notify_resource_updated("notes://two")
        assert await talk.notified(UPDATED) == [{"uri": "notes://one"}]
        await talk.result("resources/unsubscribe", {"uri": "notes://one"})
        server.notify_resource_updated("notes://one")
        await talk.settle()
        assert len(talk.notifications(UPDATED)) == 1


async def test_two_clients_hear_of_what_each_subscribed_to():
    server = notes_server()
    one, two = SessionTalk(server), SessionTalk(server)
    try:
        await one.open()
        await two.open()
        await one.result("resources/subscribe", {"uri": "notes://one"})
        await two.result("resources/subscribe", {"uri": "notes://two"})
        server.notify_resource_updated("notes://one")
        server.notify_resource_updated("notes://two")
        assert await one.notified(UPDATED) == [{"uri": "notes://one"}]
        assert await two.notified(UPDATED) == [{"uri": "notes://two"}]
    finally:
        await one.connection.aclose()
        await two.connection.aclose()


async def test_a_change_of_an_extension_is_not_announced_to_who_cannot_know_it():
    server = notes_server()
    async with in_session(server) as talk:
        server.notify_changed("notifications/example/changed", {"x": 1})
        await talk.result("ping")
        await talk.settle()
        assert not [one for one in talk.said if "method" in one]


async def test_a_session_may_not_watch_everything(monkeypatch):
    monkeypatch.setattr("mesero.legacy.serving._MAX_SUBSCRIPTIONS", 2)
    async with in_session(notes_server()) as talk:
        for uri in ("notes://1", "notes://2", "notes://1"):
            await talk.result("resources/subscribe", {"uri": uri})
        assert (await talk.error("resources/subscribe", {"uri": "notes://3"}))["code"] == -32600


# --- by themselves ---


class Reader:
    """An outlet whose reader may be away."""

    def __init__(self):
        self.read = []
        self.is_there = asyncio.Event()
        self.news = asyncio.Event()

    def take(self, raw):
        self.read.append(raw)
        self.news.set()

    async def drain(self):
        await self.is_there.wait()


def encode(change):
    return None if change.subject == "secret" else f"{change.method} {change.subject}".encode()


async def test_equal_changes_wait_as_one_while_nobody_reads():
    reader = Reader()
    announcements = Announcements(encode, reader.take, reader.drain)
    for number in range(1000):
        announcements.publish(Change("m", f"{number % 3}"))
    announcements.publish(Change("m", "secret"))
    await reader.news.wait()
    for number in range(1000):
        announcements.publish(Change("m", f"{number % 3}"))
    assert len(reader.read) == 1
    reader.is_there.set()
    async with asyncio.timeout(10):
        while len(reader.read) < 4:
            reader.news.clear()
            await reader.news.wait()
    assert sorted(set(reader.read)) == [b"m 0", b"m 1", b"m 2"]
    announcements.close()


async def test_a_change_may_come_from_any_thread():
    reader = Reader()
    announcements = Announcements(encode, reader.take, None)
    thread = threading.Thread(target=announcements.publish, args=(Change("m", "s"),))
    thread.start()
    async with asyncio.timeout(10):
        await reader.news.wait()
    thread.join()
    assert reader.read == [b"m s"]
    announcements.close()


async def test_after_the_end_nothing_is_told():
    reader = Reader()
    announcements = Announcements(encode, reader.take, reader.drain)
    announcements.publish(Change("m", "1"))
    announcements.publish(Change("m", "2"))
    await reader.news.wait()
    announcements.end()
    announcements.close()
    announcements.publish(Change("m", "3"))
    reader.is_there.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert reader.read == [b"m 1"]
