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


def call_on(line, elsewhere=None, request_id=1, primes=True):
    return HttpCall(EventStore(10_000), (elsewhere or []).append, line.reply, request_id, primes=primes)


async def run(work, *, request_id=1, line=None):
    """A call whose work is a function of the call, to its end; its line and the call."""
    line = line or Line()
    call = call_on(line, request_id=request_id)
    await call.run(work(call))
    return line, call


async def cancel(task):
    task.cancel()
    await asyncio.wait([task])
    return task


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


async def test_a_call_that_its_client_cancels_ends_its_stream():
    line, gate = Line(), asyncio.Event()

    async def start():
        call = call_on(line)
        gate.call = call
        await call.run(gate.wait())

    task = asyncio.get_running_loop().create_task(start())
    await asyncio.sleep(0)
    gate.call.is_cancelled = True
    await cancel(task)

    assert not task.cancelled()
    assert (line.status, line.headers[b"content-type"]) == (200, b"text/event-stream")
    assert line.body == b""
    assert gate.call.is_answered


@pytest.mark.parametrize("says", [True, False])
async def test_any_other_cancellation_is_passed_on_and_leaves_nothing_running(says):
    line = Line()

    async def start():
        call = call_on(line)
        if says:
            await call.notify(b"1")
        await call.run(asyncio.Event().wait())

    task = asyncio.get_running_loop().create_task(start())
    await asyncio.sleep(0)
    await cancel(task)
    for _ in range(3):
        await asyncio.sleep(0)

    assert task.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_a_call_says_after_its_client_left_goes_elsewhere_and_its_answer_nowhere():
    elsewhere, line = [], Line()

    async def work(call):
        line.reply.give_up()
        await call.notify(b"question")
        await call.answer(b"answer")

    call = HttpCall(EventStore(10_000), elsewhere.append, line.reply, 1, primes=True)
    await call.run(work(call))

    assert elsewhere == [b"question"]
    assert line.sent == []


async def test_what_a_call_said_is_kept_for_who_comes_back_once_an_event_id_is_out():
    store, line = EventStore(10_000), Line()

    async def work(call):
        await call.notify(b"1")
        for _ in range(3):
            await asyncio.sleep(0)
        line.reply.give_up()
        await call.notify(b"2")
        await call.answer(b"3")

    call = HttpCall(store, [].append, line.reply, 1, primes=True)
    await call.run(work(call))
    stream, after = store.find("1-1")
    stream.attach(after=after)

    assert line.body.endswith(b"data: 1\n\n")
    assert stream.take().split() == b"id: 1-2 event: message data: 2 id: 1-3 event: message data: 3".split()


async def test_a_client_that_leaves_before_the_writer_has_begun_holds_nobody_up():
    line = Line()

    async def work(call):
        await call.notify(b"x" * 3_000_000)
        line.reply.give_up()
        async with asyncio.timeout(5):
            await call.notify(b"y" * 3_000_000)
        await call.answer(b"z")

    _, call = await run(work, line=line)

    assert call.is_answered


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize("says", [True, False])
async def test_the_end_of_the_session_ends_the_call_and_says_so_if_it_is_to(says, is_told):
    line, calls = Line(), []

    async def start():
        calls.append(call_on(line, request_id="a"))
        if says:
            await calls[0].notify(b"1")
        await calls[0].run(asyncio.Event().wait())

    task = asyncio.get_running_loop().create_task(start())
    await asyncio.sleep(0)
    calls[0].end(is_told=is_told)
    await asyncio.wait([task])

    assert not task.cancelled()
    assert line.status == (404 if is_told and not says else 200)
    assert (b'"id":"a"' in line.body) == is_told


async def test_a_batch_that_breaks_off_with_its_session_has_no_id_to_answer_under():
    line, calls = Line(), []

    async def start():
        calls.append(call_on(line, request_id=None))
        await calls[0].run(asyncio.Event().wait())

    task = asyncio.get_running_loop().create_task(start())
    await asyncio.sleep(0)
    calls[0].end()
    await asyncio.wait([task])

    assert "id" not in json.loads(line.body)
