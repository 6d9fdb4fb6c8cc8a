"""Exchanges on one shared channel: whose answer is whose, and what happens to what is nobody's."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesero.errors import ClosedError, DisconnectedError, ProtocolError
from mesero.jsonrpc import ErrorResponse, Notification, Request, ResultResponse, encode_notification
from mesero.transports import stream
from mesero.transports.stream import StreamTransport
from tests.transports.wires import Wire


@pytest.fixture
async def wire():
    wire = Wire()
    await wire.transport.open()
    yield wire
    await wire.transport.aclose()


async def turns(count=5):
    for _ in range(count):
        await asyncio.sleep(0)


async def answer_to(exchange):
    return (await asyncio.wait_for(exchange.receive(), 10)).message


async def failure_of(exchange):
    with pytest.raises(ProtocolError) as caught:
        await asyncio.wait_for(exchange.receive(), 10)
    return str(caught.value)


# --- whose answer is whose ---


async def test_answers_find_their_calls_in_any_order(wire):
    first, second = wire.ask(1), wire.ask("two")
    wire.peer.answer("two", n=2)
    wire.peer.answer(1, n=1)
    assert (await answer_to(first)).id == 1
    assert (await answer_to(second)).id == "two"


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(12)), st.lists(st.integers(1, 400), max_size=40))
def test_any_interleaving_and_any_chunks_give_everybody_their_own(order, sizes):
    async def scenario():
        wire = Wire()
        await wire.transport.open()
        exchanges = [wire.ask(number) for number in range(12)]
        data = b"".join(
            encode_notification("notifications/progress", {"progressToken": number, "progress": 1})
            + b"\n"
            + json.dumps({"jsonrpc": "2.0", "id": number, "result": {"n": number}}).encode()
            + b"\n"
            for number in order
        )
        for size in sizes:
            wire.peer.send(data[:size])
            data = data[size:]
        wire.peer.send(data)
        for number, exchange in enumerate(exchanges):
            assert (await answer_to(exchange)).method == "notifications/progress"
            assert json.loads(bytes((await answer_to(exchange)).result)) == {"n": number}
        await wire.transport.aclose()

    asyncio.run(scenario())


async def test_notifications_come_before_the_answer_that_they_belong_to(wire):
    exchange = wire.ask(1)
    progress = {"progressToken": 1, "progress": 1}
    wire.peer.write({"method": "notifications/progress", "params": progress})
    subscribed = {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
    wire.peer.write({"method": "notifications/tools/list_changed", "params": subscribed})
    wire.peer.answer(1)
    kinds = [type(await answer_to(exchange)) for _ in range(3)]
    assert kinds == [Notification, Notification, ResultResponse]


async def test_what_belongs_to_no_call_is_unsolicited(wire):
    unsolicited = wire.transport.unsolicited()
    wire.peer.write({"method": "notifications/message", "params": {"level": "info", "data": 1}})
    wire.peer.write({"id": 5, "method": "roots/list"})
    assert (await anext(unsolicited)).message.method == "notifications/message"
    assert isinstance((await anext(unsolicited)).message, Request)
    # A server may not ask here, and waits for an answer that never comes: that explains a later silence.
    assert "roots/list" in wire.transport.evidence()[0]
    waiting = asyncio.ensure_future(anext(unsolicited))
    await turns()
    await wire.transport.aclose()
    with pytest.raises(StopAsyncIteration):
        await waiting


async def test_an_error_without_an_id_goes_to_the_only_call(wire):
    exchange = wire.ask(1)
    wire.peer.write({"error": {"code": -32700, "message": "no"}})
    assert isinstance(await answer_to(exchange), ErrorResponse)


async def test_an_error_without_an_id_among_many_calls_is_kept_for_later(wire):
    exchanges = [wire.ask(1), wire.ask(2)]
    wire.peer.write({"error": {"code": -32700, "message": "no"}})
    wire.peer.answer(1)
    wire.peer.answer(2)
    assert [(await answer_to(exchange)).id for exchange in exchanges] == [1, 2]
    assert "-32700" in wire.transport.evidence()[0]


async def test_an_error_with_an_id_is_an_answer(wire):
    exchange = wire.ask(1)
    wire.peer.write({"id": 1, "error": {"code": 1, "message": "no"}})
    assert (await answer_to(exchange)).code == 1


@pytest.mark.parametrize("error", [False, True])
async def test_late_double_and_unknown_answers_are_dropped_and_recorded(wire, error):
    answer = {"error": {"code": 1, "message": "no"}} if error else {"result": {}}
    given_up, answered = wire.ask(1), wire.ask(2)
    await given_up.close("enough")
    for request_id in (2, 1, 2, 77):
        wire.peer.write({"id": request_id, **answer})
    progress = {"progressToken": 1, "progress": 1}
    wire.peer.write({"method": "notifications/progress", "params": progress})
    assert (await answer_to(answered)).id == 2
    await turns()
    verdicts = [verdict for verdict, _ in wire.transport.dropped]
    assert verdicts == ["late", "duplicate", "unknown", "late"]


# --- what is no valid answer ---


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (b'{"jsonrpc":"2.0","id":"1","result":{}}', "under the id '1' instead of 1"),
        (b'{"jsonrpc":"2.0","id":"1","error":{"code":1,"message":"no"}}', "under the id '1' instead of 1"),
        (b'{"jsonrpc":"2.0","id":1.0,"result":{}}', "under the id 1.0 instead of 1"),
        (b'{"jsonrpc":"1.0","id":1,"result":{}}', "marked \"jsonrpc\": '1.0'"),
        (b'{"id":1,"result":{}}', 'marked "jsonrpc": None'),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', "inside an array"),
        (b'{"jsonrpc":"2.0","result":{}}', "without the id of its request"),
        (b'{\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": {}\n}', "split over several lines"),
        (b'INFO sending {"jsonrpc":"2.0","id":1,"result":{}}', "glued to other text"),
        (
            b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}',
            "both a result and an error",
        ),
    ],
)
async def test_what_is_meant_as_an_answer_and_is_none_fails_its_call_by_name(wire, reply, complaint):
    exchange = wire.ask(1, "tools/call")
    wire.peer.send(reply + b"\n")
    text = await failure_of(exchange)
    assert complaint in text
    assert "the answer to tools/call (id 1) came" in text
    assert "It sent: " in text
    again = wire.ask(2)
    wire.peer.answer(2)
    assert (await answer_to(again)).id == 2


async def test_text_that_is_tied_to_nothing_is_kept_and_counted(wire):
    exchange = wire.ask(1)
    wire.peer.send(b"Server is running\n\n\xff\xfe\n")
    wire.peer.answer(1)
    assert (await answer_to(exchange)).id == 1
    assert wire.transport.noise.count == 2
    assert wire.transport.noise.lines[0] == "Server is running"
    assert wire.transport.evidence() == (r"2 lines that answer nothing, the last: '\\xff\\xfe'",)


async def test_a_line_without_its_end_explains_a_silence(wire):
    wire.peer.send(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    await turns()
    assert wire.transport.evidence() == (
        """a line without its end: '{"jsonrpc":"2.0","id":1,"result":{}}'""",
    )


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NEARLY_MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]) | ANYTHING,
        "id": st.sampled_from([1, 2, "1", "2", 1.0]) | ANYTHING,
        "method": st.sampled_from(["notifications/progress", "ping"]) | ANYTHING,
        "params": st.fixed_dictionaries({"progressToken": ANYTHING, "_meta": ANYTHING}) | ANYTHING,
        "result": ANYTHING,
        "error": st.fixed_dictionaries({"code": st.integers(), "message": st.text()}) | ANYTHING,
    },
)
LINES = st.one_of(st.binary(max_size=60), NEARLY_MESSAGES.map(lambda found: json.dumps(found).encode()))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"", b"\r\n", b"\x00\n"])), max_size=8), st.booleans()
)
def test_whatever_a_server_writes_the_next_call_is_answered(lines, is_stderr):
    async def scenario():
        wire = Wire()
        await wire.transport.open()
        wire.ask(1)
        wire.ask(2)
        for line, end in lines:
            if is_stderr:
                wire.transport.receive_stderr_line(line)
            else:
                wire.transport.receive_bytes(line + end)
        wire.transport.receive_bytes(b"\n")
        last = wire.ask("the last one")
        wire.peer.answer("the last one")
        assert (await answer_to(last)).id == "the last one"
        await wire.transport.aclose()

    asyncio.run(scenario())


async def test_a_silence_without_a_reason_has_no_evidence(wire):
    assert wire.transport.evidence() == ()


async def test_a_message_beyond_the_limit_fails_the_call_that_it_names():
    wire = Wire(max_bytes=1000)
    await wire.transport.open()
    first, second = wire.ask(1, "tools/call"), wire.ask("two")
    wire.peer.answer(1, text="x" * 2000)
    assert "longer than the limit of 1000 bytes (max_message_bytes=)" in await failure_of(first)
    wire.peer.answer("two", text="x" * 900)
    assert (await answer_to(second)).id == "two"
    wire.peer.answer(99, text="x" * 2000)
    await turns()
    await wire.transport.aclose()


async def test_a_message_beyond_the_limit_that_names_nobody_fails_everybody():
    wire = Wire(max_bytes=1000)
    await wire.transport.open()
    only = wire.ask(1)
    wire.peer.send(b'{"result":"' + b"x" * 2000 + b'"}\n')
    assert "longer than the limit" in await failure_of(only)
    several = [wire.ask(2), wire.ask(3)]
    wire.peer.send(b'{"result":"' + b"x" * 2000 + b'"}\n')
    for exchange in several:
        assert "nobody can tell whose it was" in await failure_of(exchange)
    await wire.transport.aclose()


async def test_a_reply_on_stderr_fails_its_call_unless_the_real_one_follows(wire, monkeypatch):
    monkeypatch.setattr(stream, "_STDERR_GRACE_S", 0.01)
    reply = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    exchange = wire.ask(1)
    for line in (
        b"{not json",
        b'{"level":"info","id":1,"error":"x"}',
        b'{"jsonrpc":"2.0","id":9,"result":{}}',
    ):
        wire.transport.receive_stderr_line(line)
    wire.transport.receive_stderr_line(reply)
    assert "came on stderr" in await failure_of(exchange)


# --- giving up ---


async def test_giving_a_call_up_cancels_it_on_the_wire_once(wire):
    exchange = wire.ask(7)
    await exchange.close("changed my mind")
    await exchange.close("changed my mind")
    await turns()
    assert wire.peer.messages[1:] == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 7, "reason": "changed my mind"},
        }
    ]


async def test_giving_up_needs_no_reason(wire):
    await wire.ask(7).close()
    await turns()
    assert wire.peer.messages[1]["params"] == {"requestId": 7}


async def test_giving_up_what_was_answered_says_nothing(wire):
    exchange = wire.ask(1)
    wire.peer.answer(1)
    await answer_to(exchange)
    await exchange.close("late")
    await turns()
    assert len(wire.peer.messages) == 1


async def test_who_waits_for_a_call_that_another_task_gives_up_is_told(wire):
    exchange = wire.ask(1)
    waiting = asyncio.ensure_future(exchange.receive())
    await turns()
    await exchange.close("over")
    with pytest.raises(ClosedError, match=r"any \(id 1\) was given up"):
        await waiting


async def test_a_reader_that_is_cancelled_as_a_message_comes_does_not_lose_it(wire):
    exchange = wire.ask(1)
    waiting = asyncio.ensure_future(exchange.receive())
    await turns()
    for number in (1, 2):
        progress = {"progressToken": 1, "progress": number}
        wire.transport.receive_bytes(encode_notification("notifications/progress", progress) + b"\n")
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    assert [json.loads(bytes((await answer_to(exchange)).params))["progress"] for _ in range(2)] == [1, 2]


async def test_a_reader_that_is_cancelled_can_come_back(wire):
    exchange = wire.ask(1)
    waiting = asyncio.ensure_future(exchange.receive())
    await turns()
    waiting.cancel()
    await asyncio.wait({waiting})
    wire.peer.answer(1)
    assert (await answer_to(exchange)).id == 1


async def test_a_call_whose_messages_nobody_reads_is_given_up(wire, monkeypatch):
    monkeypatch.setattr(stream, "_MAX_BACKLOG", 3)
    exchange = wire.ask(1)
    for number in range(5):
        progress = {"progressToken": 1, "progress": number}
        wire.peer.write({"method": "notifications/progress", "params": progress})
    await turns()
    for _ in range(3):
        await answer_to(exchange)
    assert "3 messages for any (id 1) wait unread" in await failure_of(exchange)
    assert wire.peer.messages[-1]["params"]["requestId"] == 1


async def test_a_call_whose_unread_messages_are_too_large_is_given_up(wire, monkeypatch):
    monkeypatch.setattr(stream, "_MAX_BACKLOG_BYTES", 3000)
    exchange = wire.ask(1)
    progress = {"method": "notifications/progress", "params": {"progressToken": 1, "message": "x" * 1000}}
    for _ in range(4):
        for _ in range(2):
            wire.peer.write(progress)
        await turns()
        for _ in range(2):
            await answer_to(exchange)
    for _ in range(4):
        wire.peer.write(progress)
    await turns()
    for _ in range(3):
        await answer_to(exchange)
    assert "3 messages for any (id 1) wait unread" in await failure_of(exchange)


# --- writing ---


async def test_a_message_is_one_line(wire):
    await wire.transport.notify(b'{"jsonrpc":"2.0",\r\n"method":"any"}')
    await turns()
    assert wire.peer.received == b'{"jsonrpc":"2.0",  "method":"any"}\n'


async def test_messages_of_one_turn_keep_their_order(wire):
    for number in range(5):
        wire.ask(number)
    await turns()
    assert [message["id"] for message in wire.peer.messages] == [0, 1, 2, 3, 4]


async def test_the_observer_sees_the_exact_bytes_both_ways_and_may_fail(caplog):
    seen = []

    def observe(direction, raw, http):
        seen.append((direction, raw, http))
        raise RuntimeError

    wire = Wire(observer=observe)
    await wire.transport.open()
    exchange = wire.ask(1)
    wire.peer.send(b'{"jsonrpc":"2.0",  "id":1, "result":{}}\n')
    assert (await answer_to(exchange)).id == 1
    await wire.transport.aclose()
    assert seen == [
        ("c2s", b'{"jsonrpc":"2.0","id":1,"method":"any","params":{}}', None),
        ("s2c", b'{"jsonrpc":"2.0",  "id":1, "result":{}}', None),
    ]
    assert "the observer of in this process failed" in caplog.text


async def test_a_stream_without_a_channel_takes_no_request():
    transport = StreamTransport("nowhere")
    assert not transport.is_open
    transport._send(b"lost")
    with pytest.raises(DisconnectedError):
        await transport.notify(b"{}")


# --- the end ---


async def test_closing_fails_open_calls_at_once_and_refuses_new_ones(wire):
    exchange = wire.ask(1, "tools/call")
    waiting = asyncio.ensure_future(exchange.receive())
    await turns()
    await wire.transport.aclose()
    with pytest.raises(ClosedError, match=r"tools/call \(id 1\): the client was closed while"):
        await waiting
    with pytest.raises(ClosedError):
        await wire.ask(2).receive()
    with pytest.raises(ClosedError):
        await wire.transport.notify(b"{}")
    with pytest.raises(ClosedError):
        await wire.transport.open()
    assert not wire.transport.is_open


async def test_the_end_of_the_stream_fails_every_call_with_an_error_of_its_own(wire):
    exchanges = [wire.ask(1, "tools/call"), wire.ask(2, "tools/list")]
    wire.peer.answer(77)
    wire.peer.hang_up()
    texts = []
    for exchange in exchanges:
        with pytest.raises(DisconnectedError) as caught:
            await exchange.receive()
        texts.append(str(caught.value))
    assert "tools/call (id 1): the server hung up" in texts[0]
    assert "tools/list (id 2): the server hung up" in texts[1]
    assert '"id": 77' in texts[0]
    with pytest.raises(DisconnectedError, match="not open"):
        await wire.ask(3).receive()


async def test_what_came_before_the_end_can_still_be_read(wire):
    exchange = wire.ask(1)
    progress = {"progressToken": 1, "progress": 1}
    wire.peer.write({"method": "notifications/progress", "params": progress})
    wire.peer.hang_up()
    await turns()
    assert isinstance(await answer_to(exchange), Notification)
    with pytest.raises(DisconnectedError):
        await exchange.receive()


async def test_giving_up_after_the_end_writes_nothing(wire):
    exchange = wire.ask(1)
    wire.transport._is_up = False
    await exchange.close("too late")
    await turns()
    assert len(wire.peer.messages) == 1


async def test_an_answer_that_comes_as_its_reader_is_cancelled_and_given_up_is_no_error(wire):
    exchange = wire.ask(1)
    waiting = asyncio.ensure_future(exchange.receive())
    await turns()
    wire.transport.end(DisconnectedError("gone", where="here"))
    waiting.cancel()
    outcome = (await asyncio.gather(waiting, return_exceptions=True))[0]
    assert isinstance(outcome, (DisconnectedError, asyncio.CancelledError))
