"""The memory transport: real bytes between two ends in one process."""

import asyncio

import pytest

from mesero.errors import ClosedError, DisconnectedError
from tests.transports.wires import Wire


async def test_bytes_are_handed_over_in_a_later_turn():
    wire = Wire()
    await wire.transport.open()
    wire.ask(1)
    assert wire.peer.received == b""
    await asyncio.sleep(0)
    assert wire.peer.received == b'{"jsonrpc":"2.0","id":1,"method":"any","params":{}}\n'
    await wire.transport.aclose()


async def test_opening_twice_connects_once():
    wire = Wire()
    await wire.transport.open()
    await wire.transport.open()
    assert len(wire.peers) == 1
    await wire.transport.aclose()


async def test_what_was_written_before_hanging_up_arrives_first():
    wire = Wire()
    await wire.transport.open()
    exchange = wire.ask(1)
    wire.peer.answer(1)
    wire.peer.hang_up()
    assert (await exchange.receive()).message.id == 1


async def test_after_the_server_hung_up_a_new_end_is_made():
    wire = Wire()
    await wire.transport.open()
    first = wire.peer
    exchange = wire.ask(1)
    first.hang_up()
    with pytest.raises(DisconnectedError, match="the server hung up"):
        await exchange.receive()
    assert not wire.transport.is_open
    await wire.transport.open()
    assert wire.peer is not first
    again = wire.ask(1)
    # What the first end says now is said to nobody.
    first.answer(1, who="first")
    first.hang_up()
    wire.peer.answer(1, who="second")
    assert b"second" in (await again.receive()).raw
    await wire.transport.aclose()


async def test_closing_tells_the_server_once():
    wire = Wire()
    await wire.transport.open()
    await asyncio.gather(wire.transport.aclose(), wire.transport.aclose())
    assert wire.peer.is_closed
    wire.peer.hang_up()
    await asyncio.sleep(0)
    with pytest.raises(ClosedError):
        await wire.transport.open()


async def test_closing_before_opening_is_fine():
    wire = Wire()
    await wire.transport.aclose()
    assert wire.peers == []


async def test_nothing_is_sent_to_an_end_that_was_never_made():
    Wire().transport._send(b"x")
