"""The checks of transports: ours pass them, and broken ones are told what they do wrong."""

import asyncio
import sys

import pytest

from mesero.errors import DisconnectedError, ProtocolError
from mesero.jsonrpc import Notification
from mesero.testing import check_transport, echo_server
from mesero.testing.checks import CHECKS
from mesero.transports.http_client import HttpTransport
from mesero.transports.memory import MemoryTransport
from mesero.transports.stdio import StdioTransport
from mesero.transports.stream import StreamExchange, StreamTransport
from tests.http_serving import serving

FAST = {"large_bytes": 1000, "timeout_s": 1.0}


def memory_transport(kind=MemoryTransport):
    server = echo_server()
    return lambda: kind(lambda send, _hang_up: server.connect(send))


async def test_the_memory_transport_passes():
    await check_transport(memory_transport())


async def test_the_stdio_transport_passes():
    await check_transport(lambda: StdioTransport([sys.executable, "-m", "mesero.testing"]), timeout_s=60)


async def test_the_http_transport_passes():
    async with serving(echo_server().asgi()) as url:
        await check_transport(lambda: HttpTransport(url))


async def test_a_transport_may_be_made_asynchronously():
    make = memory_transport()

    async def make_later():
        return make()

    await check_transport(make_later, **FAST)


async def failures_of(kind):
    with pytest.raises(AssertionError) as caught:
        await check_transport(memory_transport(kind), **FAST)
    head, *sentences = str(caught.value).splitlines()
    assert f"{len(sentences)} of {len(CHECKS)}" in head
    return sentences


async def test_a_transport_that_does_not_cancel_is_told_so(monkeypatch):
    monkeypatch.setattr("mesero.testing.checks._PROMPT_S", 0.1)

    class Careless(MemoryTransport):
        def give_up(self, request_id, reason):
            self._ledger.close(request_id, is_answered=False)

    (sentence,) = await failures_of(Careless)
    assert sentence.startswith(
        "- Closing an exchange before its response cancels the request at the server. "
    )
    assert sentence.endswith("the server was not told within 0.1 s")


async def test_a_transport_that_loses_waiters_is_told_so(monkeypatch):
    monkeypatch.setattr("mesero.testing.checks._PROMPT_S", 0.1)

    class Forgetful(MemoryTransport):
        def mark_closed(self):
            self._is_closed = True

    sentences = await failures_of(Forgetful)
    assert any("still waits 0.1 s after aclose()" in sentence for sentence in sentences)
    assert any("unsolicited() goes on" in sentence for sentence in sentences)


async def test_a_transport_with_another_error_on_closing_is_told_so():
    class Vague(MemoryTransport):
        def _gone_error(self):
            return DisconnectedError("gone")

    (sentence,) = await failures_of(Vague)
    assert "fails with DisconnectedError (gone) instead of ClosedError" in sentence


async def test_a_transport_that_answers_after_closing_is_told_so():
    class Immortal(MemoryTransport):
        is_open = True

        async def aclose(self):
            """Stays open."""

    sentences = await failures_of(Immortal)
    assert any("is_open is still true" in sentence for sentence in sentences)


async def test_a_transport_that_raises_for_error_responses_is_told_so():
    class Excited(MemoryTransport):
        def _receive_error(self, raw, message):
            self._ledger.close(message.id, is_answered=True).fail(ProtocolError(message.message))

    (sentence,) = await failures_of(Excited)
    assert "an error response was raised as ProtocolError" in sentence


async def test_a_transport_that_mixes_answers_up_is_told_so():
    class Confused(MemoryTransport):
        def exchange(self, outgoing):
            exchange = super().exchange(outgoing)
            self._last = getattr(self, "_last", exchange)
            return self._last

    sentences = await failures_of(Confused)
    assert any("got the answer" in sentence for sentence in sentences)


async def test_a_transport_that_drops_notifications_is_told_so():
    class Deaf(StreamExchange):
        def deliver(self, received):
            if not isinstance(received.message, Notification):
                super().deliver(received)

    class Silent(MemoryTransport):
        def exchange(self, outgoing):
            exchange = Deaf(self, outgoing.id, outgoing.method)
            self._ledger.open(outgoing.id, exchange)
            self._write(outgoing.raw)
            return exchange

    sentences = await failures_of(Silent)
    assert any("progress 1 to 5 was sent, and [] received" in sentence for sentence in sentences)
    assert any("did not come to an end within 1 s" in sentence for sentence in sentences)


async def test_a_transport_that_cannot_be_opened_fails_every_check():
    class Shut(MemoryTransport):
        async def open(self):
            raise OSError("no way in")

    assert len(await failures_of(Shut)) == len(CHECKS)


async def test_a_transport_that_answers_closed_exchanges_is_told_so():
    class Late(MemoryTransport):
        def mark_closed(self):
            for exchange in self._ledger.take_all():
                exchange.deliver(None)
            StreamTransport.mark_closed(self)

    sentences = await failures_of(Late)
    assert any("was answered although the transport was closed" in sentence for sentence in sentences)
    await asyncio.sleep(0)
