"""Streams that outlive their connections: nothing is lost, nothing comes twice, nothing grows for ever."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.framing import EventFramer
from mesero.legacy.event_streams import MAX_LAG_BYTES, MAX_STREAMS, EventStore


class Connection:
    """A reply that takes whatever it is given, until it is cut off."""

    def __init__(self):
        self.framer = EventFramer()
        self.got = []
        self.is_finished = False
        self.has_begun = False
        self.opening = None
        self.room = asyncio.Event()
        self.room.set()

    async def write(self, events):
        await self.room.wait()
        if not self.has_begun:
            self.has_begun = True
            events = (self.opening() if self.opening else b"") + events
        self.got.extend(self.framer.receive(events))

    async def finish(self, events=b""):
        await self.write(events)
        self.is_finished = True

    @property
    def messages(self):
        return [event.data for event in self.got if event.data]

    @property
    def last_id(self):
        return next((event.event_id for event in reversed(self.got) if event.event_id), None)


def follow(stream, after=0):
    connection = Connection()
    connection.opening = stream.opening
    mark = stream.attach(after=after)
    task = asyncio.get_running_loop().create_task(stream.follow(connection, mark))
    return connection, task


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def cut(task):
    task.cancel()
    await asyncio.wait([task])


# -- one stream ------------------------------------------------------------------------------------------


async def test_a_connection_gets_what_was_there_and_what_comes_and_ends_with_the_last():
    stream = EventStore(10_000).open(primes=True)
    connection, task = follow(stream)
    stream.append(b"1")
    stream.append(b"2")
    await settle()
    stream.append(b"3", is_last=True)
    await task

    assert connection.messages == [b"1", b"2", b"3"]
    assert [event.event_id for event in connection.got] == ["1-0", "1-1", "1-2", "1-3"]
    assert connection.is_finished


async def test_after_the_last_message_there_is_none():
    stream = EventStore(10_000).open(primes=True)
    connection, task = follow(stream)
    stream.append(b"1", is_last=True)
    stream.append(b"2")
    await task

    assert connection.messages == [b"1"]


async def test_a_second_connection_ends_the_first():
    stream = EventStore(10_000).open(primes=True)
    first, first_task = follow(stream)
    await settle()
    second, second_task = follow(stream)
    stream.append(b"1")
    await first_task
    await settle()

    assert (first.messages, first.is_finished) == ([], True)
    assert second.messages == [b"1"]
    await cut(second_task)


async def test_a_stream_that_is_let_go_of_says_when_to_come_back():
    stream = EventStore(10_000).open(primes=True)
    connection, task = follow(stream)
    stream.append(b"1")
    stream.suspend(250)
    await task

    assert [event.retry_ms for event in connection.got] == [None, None, 250]
    assert connection.messages == [b"1"]
    assert not stream.has_reader


@pytest.mark.parametrize("primes", [True, False])
async def test_nobody_is_sent_away_who_could_not_come_back(primes):
    stream = EventStore(10_000).open(primes=primes)
    if primes:
        stream.suspend(250)
    connection, task = follow(stream)
    if not primes:
        stream.suspend(250)
    await settle()

    assert not connection.is_finished
    await cut(task)


async def test_a_stream_that_nobody_can_come_back_to_keeps_nothing():
    stream = EventStore(10_000).open(primes=True)
    _, task = follow(stream)
    await settle()
    await cut(task)
    assert stream.is_lost
    stream.append(b"1")

    assert (stream.size, stream.count) == (0, 1)


async def test_a_stream_of_one_connection_keeps_only_what_is_not_yet_written():
    stream = EventStore(0).open(primes=False, is_once=True)
    connection, task = follow(stream)
    for number in range(10):
        stream.append(b"%d" % number)
        await settle()

    assert stream.size == 0
    assert connection.messages == [b"%d" % number for number in range(10)]
    await cut(task)


@given(st.lists(st.sampled_from(["say", "say", "leave", "come", "take over", "let go"]), max_size=40))
def test_through_any_breaks_everything_comes_once_and_in_order(steps):
    async def run():
        store = EventStore(1_000_000)
        stream = store.open(primes=True)
        connection, task = follow(stream)
        await settle()
        await connection.write(b":\n\n")
        heard, said, last_id = [], 0, connection.last_id
        for step in [*steps, "come"]:
            if step == "say":
                stream.append(b"%d" % said)
                said += 1
            elif step == "leave":
                await cut(task)
            elif step == "let go":
                stream.suspend(0)
            await settle()
            if step == "take over" or (step == "come" and task.done()):
                heard += connection.messages
                last_id = connection.last_id or last_id
                found, after = store.find(last_id)
                old, (connection, task) = task, follow(found, after)
                await asyncio.wait([old])
                await settle()
        heard += connection.messages
        await cut(task)
        assert heard == [b"%d" % number for number in range(said)]

    asyncio.run(run())


# -- slow connections ------------------------------------------------------------------------------------


async def test_who_sends_waits_for_a_connection_that_does_not_read_and_for_no_other():
    stream = EventStore(10_000).open(primes=True)
    stream.append(b"x" * MAX_LAG_BYTES * 2)
    await asyncio.wait_for(stream.drain(), 5)
    connection, task = follow(stream)
    connection.room.clear()
    stream.append(b"x" * MAX_LAG_BYTES * 2)
    await settle()
    stream.append(b"x" * MAX_LAG_BYTES * 2)
    waiting = asyncio.get_running_loop().create_task(stream.drain())
    await settle()
    assert not waiting.done()
    connection.room.set()
    await asyncio.wait_for(waiting, 5)
    await cut(task)


@pytest.mark.parametrize("end", ["leave", "end"])
async def test_who_sends_waits_no_longer_than_the_connection_or_the_stream_lasts(end):
    stream = EventStore(10_000).open(primes=True)
    connection, task = follow(stream)
    connection.room.clear()
    stream.append(b"x")
    await settle()
    stream.append(b"x" * MAX_LAG_BYTES * 2)
    waiting = asyncio.get_running_loop().create_task(stream.drain())
    await settle()
    if end == "leave":
        await cut(task)
    else:
        stream.end()
    await asyncio.wait_for(waiting, 5)
    await cut(task)


# -- bounds ----------------------------------------------------------------------------------------------


def kept(store, *sizes, is_last=True):
    stream = store.open(primes=True)
    store.keep(stream)
    for place, size in enumerate(sizes, start=1):
        stream.append(b"x" * size, is_last=is_last and place == len(sizes))
    return stream


async def test_the_oldest_messages_go_first_when_there_is_no_room():
    store = EventStore(100)
    first, second = kept(store, 30, 30), kept(store, 30, 30)

    assert store.size == 90
    assert (first.oldest, second.oldest) == (2, 1)


async def test_one_message_of_any_size_is_kept_if_it_is_the_latest():
    store = EventStore(100)
    stream = kept(store, 30, 30, 5000)

    assert (store.size, stream.oldest) == (5000, 3)


async def test_what_was_delivered_goes_before_what_somebody_may_still_come_for():
    store = EventStore(100)
    waited_for, delivered = kept(store, 60), kept(store, 30)
    connection, task = follow(delivered)
    await task
    kept(store, 40)

    assert connection.messages
    assert (waited_for.size, delivered.size) == (60, 0)


async def test_what_a_connection_has_still_to_write_stays():
    store = EventStore(100)
    stream = store.open(primes=True)
    connection, task = follow(stream)
    await connection.write(b"")
    connection.room.clear()
    for _ in range(5):
        stream.append(b"x" * 50)
    await settle()
    stream.append(b"x" * 50)
    connection.room.set()
    await settle()

    assert len(connection.messages) == 6
    await cut(task)


async def test_there_is_a_limit_to_streams():
    store = EventStore(1_000_000)
    streams = [kept(store, 1) for _ in range(MAX_STREAMS + 10)]

    assert len(store) == MAX_STREAMS
    assert store.find("1-0") is None
    assert store.find(f"{len(streams)}-1") == (streams[-1], 1)


async def test_what_was_delivered_is_forgotten_at_the_second_look():
    store = EventStore(1_000)
    stream = kept(store, 10)
    store.forget_spare()
    store.forget_spare()
    assert len(store) == 1
    _, task = follow(stream)
    await task
    store.forget_spare()
    assert len(store) == 1
    store.forget_spare()

    assert (len(store), store.size) == (0, 0)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 60), st.sampled_from(["say", "last", "read", "look"])),
        max_size=60,
    )
)
def test_the_books_are_right_whatever_happens(steps):
    async def run():
        store = EventStore(100)
        streams = [kept(store) for _ in range(5)]
        for number, size, step in steps:
            if step == "read":
                mark = streams[number].attach(after=0)
                streams[number].take()
                streams[number].detach(mark)
            elif step == "look":
                store.forget_spare()
            else:
                streams[number].append(b"x" * size, is_last=step == "last")
            assert store.size == sum(one.size for one in store._streams.values())
            assert store.size <= 100

    asyncio.run(run())


@pytest.mark.parametrize("event_id", ["", "1", "1-2-3", "a-b", "1-٣", " 1-0", "2-0", "1-7", "1--1"])
async def test_an_id_of_nothing_finds_nothing(event_id):
    store = EventStore(100)
    kept(store, 10)

    assert store.find(event_id) is None
