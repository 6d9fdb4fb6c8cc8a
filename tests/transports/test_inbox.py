"""What came and answers nothing, kept until somebody reads it."""

import asyncio

from mesero.jsonrpc import Notification
from mesero.transports import Received
from mesero.transports.inbox import Inbox


def message(number):
    return Received(b"%d" % number, Notification(str(number)))


async def test_messages_are_read_in_the_order_they_came_to_the_last():
    inbox = Inbox()
    for number in range(3):
        inbox.put(message(number))
    inbox.close()
    assert [received.raw async for received in inbox.read()] == [b"0", b"1", b"2"]


async def test_a_reader_is_woken_by_a_message_and_by_the_end():
    inbox = Inbox()
    seen = []

    async def read():
        seen.extend([received.raw async for received in inbox.read()])

    task = asyncio.create_task(read())
    await asyncio.sleep(0)
    inbox.put(message(1))
    inbox.put(message(2))
    await asyncio.sleep(0)
    inbox.close()
    await asyncio.wait_for(task, 5)
    assert seen == [b"1", b"2"]


async def test_a_reader_that_stops_loses_nothing_for_the_next_one():
    inbox = Inbox()
    inbox.put(message(1))
    inbox.put(message(2))
    first = inbox.read()
    assert (await anext(first)).raw == b"1"
    await first.aclose()
    inbox.close()
    assert [received.raw async for received in inbox.read()] == [b"2"]


async def test_only_the_last_ten_thousand_are_kept():
    inbox = Inbox()
    for number in range(10_001):
        inbox.put(message(number))
    inbox.close()
    kept = [received.raw async for received in inbox.read()]
    assert (len(kept), kept[0]) == (10_000, b"1")


async def test_what_is_kept_is_bounded_in_bytes_as_well():
    inbox = Inbox()
    for name in ("a", "b", "c"):
        inbox.put(Received(bytes(30 * 1024 * 1024), Notification(name)))
    assert (await anext(inbox.read())).message.method == "b"
    inbox.put(Received(bytes(100 * 1024 * 1024), Notification("d")))
    inbox.close()
    assert [received.message.method async for received in inbox.read()] == ["d"]
