"""What a shared channel does beside requests and their answers, where that is asked for."""

import json

import pytest

from mesero.errors import ClosedError, DisconnectedError
from mesero.jsonrpc import Request, ResultResponse
from tests.transports.test_stream import answer_to, failure_of, turns
from tests.transports.wires import Wire


@pytest.fixture
async def wire():
    wire = Wire()
    await wire.transport.open()
    yield wire
    await wire.transport.aclose()


async def test_where_the_server_may_ask_its_requests_are_no_noise_and_it_may_take_them_back(wire):
    wire.transport.conduct.passes_requests = True
    exchange = wire.ask(5)
    unsolicited = wire.transport.unsolicited()
    wire.peer.write({"id": 5, "method": "roots/list"})
    wire.peer.write({"method": "notifications/cancelled", "params": {"requestId": 5}})
    wire.peer.answer(5)
    assert isinstance((await anext(unsolicited)).message, Request)
    assert (await anext(unsolicited)).message.method == "notifications/cancelled"
    assert isinstance(await answer_to(exchange), ResultResponse)
    assert wire.transport.evidence() == ()


async def test_where_batches_may_come_each_message_goes_to_whom_it_belongs(wire):
    wire.transport.conduct.accepts_batches = True
    first, second = wire.ask(1), wire.ask(2)
    answers = [{"jsonrpc": "2.0", "id": number, "result": {}} for number in (2, 1)]
    wire.peer.send(json.dumps(answers).encode() + b"\n")
    assert (await answer_to(first)).id == 1
    assert (await answer_to(second)).id == 2


async def test_a_batch_of_one_is_no_answer_where_there_are_none(wire):
    exchange = wire.ask(1)
    wire.peer.send(b'[{"jsonrpc":"2.0","id":1,"result":{}}]\n')
    assert "array" in await failure_of(exchange)


async def test_an_abandoned_call_is_not_cancelled_on_the_wire_and_its_answer_is_late(wire):
    exchange = wire.ask(1)
    exchange.abandon()
    exchange.abandon()
    with pytest.raises(ClosedError):
        await exchange.receive()
    wire.peer.answer(1)
    await turns()
    assert [message["method"] for message in wire.peer.messages] == ["any"]
    assert [verdict for verdict, _ in wire.transport.dropped] == ["late"]


async def test_the_loss_of_the_channel_is_told_and_its_return_counted(wire):
    lost = []
    wire.transport.conduct.on_lost = lost.append
    assert wire.transport.connections == 1
    wire.peer.hang_up()
    await turns()
    assert isinstance(lost[0], DisconnectedError)
    await wire.transport.open()
    assert wire.transport.connections == 2
