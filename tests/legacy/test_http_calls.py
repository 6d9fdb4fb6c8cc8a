"""A call that runs whatever becomes of the connection that it came on."""

import asyncio
import json

import pytest

from mesero.legacy.event_streams import EventStore
from mesero.legacy.http_calls import HttpCall
from mesero.transports.http_gate import Welcome
from mesero.transports.http_reply import HttpReply


class Line:
    """What a client sees of one response."""

    def __init__(self, *, only_streams=False):
        self.sent = []
        welcome = Welcome(may_stream=True, only_streams=only_streams)
        self.reply = HttpReply(None, self._send, welcome, lambda _: None)

    async def _send(self, event):
        self.sent.append(event)

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def headers(self):
        return dict(self.sent[0]["headers"])

    @property
    def body(self):
        return b"".join(event.get("body", b"") for event in self.sent[1:])


async def run(work, *, request_id=1, line=None, elsewhere=None, primes=True):
    """A call whose work is a function of the call; its line and its task."""
    line = line or Line()
    call = HttpCall(EventStore(10_000).open(primes=primes), (elsewhere or []).append, request_id)
    task = call.start(work(call))
    task.add_done_callback(lambda _: call.finish())
    await call.follow(line.reply)
    return line, call


async def test_an_answer_alone_is_json_with_its_status_and_headers():
    async def work(call):
        await call.answer(b'{"id":1}', status=401, headers=(("WWW-Authenticate", "Bearer"),))

    line, _ = await run(work)

    assert (line.status, line.body) == (401, b'{"id":1}')
    assert line.headers[b"www-authenticate"] == b"Bearer"


async def test_a_second_answer_and_what_is_said_after_the_first_are_dropped():
    async def work(call):
        await call.answer(b"1")
        await call.answer(b"2")
        await call.notify(b"3")

    line, call = await run(work)

    assert (line.body, call.is_answered) == (b"1", True)


async def test_who_accepts_only_streams_gets_one():
    async def work(call):
        await call.answer(b"1")

    line, _ = await run(work, line=Line(only_streams=True))

    assert line.headers[b"content-type"] == b"text/event-stream"
    assert line.body.endswith(b"id: 1-1\nevent: message\ndata: 1\n\n")


async def test_an_array_in_which_nothing_was_owed_an_answer_is_accepted():
    async def work(call):
        pass

    line, _ = await run(work, request_id=None)

    assert (line.status, line.body) == (202, b"")


async def test_a_call_that_was_cancelled_ends_its_stream():
    async def work(call):
        raise asyncio.CancelledError

    line, call = await run(work)

    assert (line.status, line.headers[b"content-type"]) == (200, b"text/event-stream")
    assert b"event:" not in line.body
    assert call.is_answered


async def test_what_a_lost_call_says_goes_elsewhere_and_its_answer_nowhere():
    elsewhere, gate = [], asyncio.Event()

    async def work(call):
        await gate.wait()
        await call.notify(b"question")
        await call.answer(b"answer")

    call = HttpCall(EventStore(10_000).open(primes=True), elsewhere.append, 1)
    task = call.start(work(call))
    following = asyncio.get_running_loop().create_task(call.follow(Line().reply))
    await asyncio.sleep(0)
    following.cancel()
    await asyncio.wait([following])
    gate.set()
    await task

    assert elsewhere == [b"question"]


@pytest.mark.parametrize("request_id", [1, "a"])
async def test_the_end_of_the_session_answers_and_cancels(request_id):
    async def work(call):
        await asyncio.Event().wait()

    line = Line()
    call = HttpCall(EventStore(10_000).open(primes=True), [].append, request_id)
    task = call.start(work(call))
    following = asyncio.get_running_loop().create_task(call.follow(line.reply))
    await asyncio.sleep(0)
    call.end()
    await following
    await asyncio.wait([task])

    assert task.cancelled()
    assert (line.status, json.loads(line.body)["id"]) == (404, request_id)
