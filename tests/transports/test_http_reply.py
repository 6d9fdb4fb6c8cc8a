"""The way back for one POST: one answer, or a stream that ends with it."""

import asyncio

import pytest

from mesero.framing import encode_event as event
from mesero.transports.http_gate import Refusal, Welcome
from mesero.transports.http_reply import HttpReply

BOTH = Welcome(may_stream=True, only_streams=False)
JSON_ONLY = Welcome(may_stream=False, only_streams=False)
STREAMS_ONLY = Welcome(may_stream=True, only_streams=True)


class Wire:
    """Keeps what is sent, as (status or None, body); a closed one has no room until it is opened."""

    def __init__(self, welcome=BOTH):
        self.sent = []
        self.statuses = []
        self.headers = {}
        self.streams = []
        self.error = None
        self.room = asyncio.Event()
        self.room.set()
        self.reply = HttpReply(self._receive, self._send, welcome, self.streams.append)

    async def _receive(self):
        raise AssertionError("a reply reads nothing")

    async def _send(self, message):
        await self.room.wait()
        if self.error is not None:
            raise self.error
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])
            self.headers = dict(message["headers"])
        else:
            self.sent.append((message["body"], message.get("more_body", False)))


async def settle():
    """Until tasks that need nothing are over, and their callbacks too."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_answer_alone_is_json():
    wire = Wire()

    await wire.reply.answer(b"{}", status=404, headers=(("X-One", "1"),))

    assert wire.statuses == [404]
    assert wire.headers == {b"content-type": b"application/json", b"content-length": b"2", b"x-one": b"1"}
    assert wire.sent == [(b"{}", False)]
    assert wire.reply.is_answered
    assert not wire.streams


async def test_a_notification_begins_a_stream_that_the_answer_ends():
    wire = Wire()

    await wire.reply.notify(b'{"a":1}')
    await wire.reply.notify(b'{"a":\n2}')
    await wire.reply.answer(b"{}", status=400)

    assert wire.statuses == [200]
    assert wire.headers[b"content-type"] == b"text/event-stream"
    assert wire.headers[b"x-accel-buffering"] == b"no"
    assert b"no-transform" in wire.headers[b"cache-control"]
    assert wire.sent == [
        (event(b'{"a":1}'), True),
        (event(b'{"a":\n2}'), True),
        (event(b"{}"), False),
    ]
    assert wire.streams == [wire.reply]


async def test_nothing_follows_an_answer():
    wire = Wire()

    await wire.reply.answer(b"1")
    await wire.reply.answer(b"2")
    await wire.reply.notify(b"3")
    await wire.reply.accept()
    wire.reply.keep_alive()
    await asyncio.sleep(0)

    assert wire.sent == [(b"1", False)]


async def test_a_notification_of_the_client_is_accepted_without_a_body():
    wire = Wire()

    await wire.reply.accept()

    assert (wire.statuses, wire.sent) == ([202], [(b"", False)])
    assert wire.headers == {b"content-length": b"0"}


async def test_a_client_that_accepts_no_stream_gets_the_answer_alone():
    wire = Wire(JSON_ONLY)

    await wire.reply.notify(b"1")
    wire.reply.keep_alive()
    await wire.reply.answer(b"2")

    assert wire.sent == [(b"2", False)]
    assert wire.headers[b"content-type"] == b"application/json"


@pytest.mark.parametrize(("status", "body"), [(200, event(b"1")), (400, b"1")])
async def test_a_client_that_accepts_streams_only_gets_the_answer_as_one_unless_it_is_a_refusal(status, body):
    wire = Wire(STREAMS_ONLY)

    await wire.reply.answer(b"1", status=status)

    assert (wire.statuses, wire.sent) == ([status], [(body, False)])


async def test_a_comment_keeps_a_stream_alive_and_begins_one():
    wire = Wire()

    wire.reply.keep_alive()
    wire.reply.keep_alive()
    await settle()
    await wire.reply.notify(b"1")
    wire.reply.keep_alive()
    await settle()
    await wire.reply.notify(b"2")

    assert wire.statuses == [200]
    assert wire.sent == [(b":\n\n", True), (event(b"1"), True), (b":\n\n", True), (event(b"2"), True)]


async def test_everybody_takes_turns_while_the_client_does_not_read():
    wire = Wire()
    wire.room.clear()

    async with asyncio.TaskGroup() as group:
        first = group.create_task(wire.reply.notify(b"1"))
        group.create_task(wire.reply.notify(b"2"))
        await asyncio.sleep(0)
        wire.reply.keep_alive()
        await asyncio.sleep(0)
        answer = group.create_task(wire.reply.answer(b"3"))
        await asyncio.sleep(0)
        assert not first.done()
        assert not answer.done()
        wire.room.set()

    # The request was answered before the second notification and the comment had their turn.
    assert wire.sent == [(event(b"1"), True), (event(b"3"), False)]


async def test_an_answer_that_overtakes_the_first_notification_is_json():
    wire = Wire()
    turn = wire.reply._turn_of_ours()
    async with turn:
        notifying = asyncio.create_task(wire.reply.notify(b"1"))
        await asyncio.sleep(0)
        answering = asyncio.create_task(wire.reply.answer(b"2"))
        await asyncio.sleep(0)
    await asyncio.gather(notifying, answering)

    assert wire.sent == [(b"2", False)]
    assert wire.headers[b"content-type"] == b"application/json"


@pytest.mark.parametrize("welcome", [BOTH, STREAMS_ONLY])
async def test_a_send_that_fails_is_the_end_of_the_client(welcome):
    wire = Wire(welcome)
    wire.error = ConnectionResetError("gone")

    await wire.reply.notify(b"1")

    assert wire.reply.is_gone
    await wire.reply.answer(b"2")
    assert not wire.sent


async def test_an_answer_that_cannot_be_sent_is_lost_without_a_word():
    wire = Wire()
    wire.error = OSError("gone")

    await wire.reply.answer(b"1")

    assert not wire.sent


async def test_giving_up_cancels_the_task_once_and_only_before_the_answer():
    wire = Wire()

    async def serve():
        wire.reply.task = asyncio.current_task()
        await asyncio.Event().wait()

    task = asyncio.create_task(serve())
    await asyncio.sleep(0)
    wire.reply.give_up()
    wire.reply.give_up()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelling() == 1
    assert wire.reply.is_gone

    answered = Wire()
    await answered.reply.answer(b"1")
    answered.reply.give_up()
    assert not answered.reply.is_gone


async def test_aborting_says_503_or_ends_the_stream_or_leaves_what_is_complete():
    silent, streaming, done = Wire(), Wire(), Wire()

    await silent.reply.abort()
    await streaming.reply.notify(b"1")
    await streaming.reply.abort()
    await done.reply.answer(b"1")
    await done.reply.abort()

    assert silent.statuses == [503]
    assert b"shutting down" in silent.sent[0][0]
    assert streaming.sent == [(event(b"1"), True), (b"", False)]
    assert done.sent == [(b"1", False)]


# -- for whoever writes the events -------------------------------------------------------------------------


async def test_events_go_out_as_they_are_behind_what_the_stream_opens_with():
    wire = Wire()
    wire.reply.opening = lambda: b"id: 0\n\n"
    await wire.reply.write(b"one\n\n")
    await wire.reply.finish(b"two\n\n")
    await wire.reply.finish(b"three\n\n")

    assert wire.sent == [(b"id: 0\n\n", True), (b"one\n\n", True), (b"two\n\n", False)]
    assert wire.reply.is_stream


async def test_a_stream_may_end_without_having_said_anything():
    wire = Wire()
    await wire.reply.finish()

    assert (wire.statuses, wire.sent) == ([200], [(b"", False)])


@pytest.mark.parametrize("welcome", [BOTH, STREAMS_ONLY])
async def test_added_headers_go_with_the_answer_whatever_its_form(welcome):
    wire = Wire(welcome)
    wire.reply.add_headers((b"mcp-session-id", b"7"))
    await wire.reply.answer(b"{}")

    assert wire.headers[b"mcp-session-id"] == b"7"
    assert wire.reply.is_stream == (welcome is STREAMS_ONLY)


async def test_a_refusal_is_the_answer_and_the_end_of_a_stream_that_has_begun():
    refusal = Refusal(409, ((b"x", b"y"),), b"no")
    wire, begun, answered = Wire(), Wire(), Wire()
    await begun.reply.write(b"one\n\n")
    await answered.reply.answer(b"{}")
    for one in (wire, begun, answered):
        await one.reply.refuse(refusal)

    assert (wire.statuses, wire.sent, wire.headers[b"x"]) == ([409], [(b"no", False)], b"y")
    assert (begun.statuses, begun.sent) == ([200], [(b"one\n\n", True), (b"", False)])
    assert answered.sent == [(b"{}", False)]


async def test_a_client_that_accepts_no_stream_shows():
    assert not Wire(JSON_ONLY).reply.may_stream
    assert Wire(BOTH).reply.may_stream
