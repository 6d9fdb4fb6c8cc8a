"""The echo server's tools."""

import asyncio

import pytest

from mesero import Client
from mesero.errors import CallTimeoutError
from mesero.testing import echo_server


async def test_it_echoes_and_counts():
    heard = []
    async with Client(echo_server()) as client:
        assert (await client.call_tool("echo", {"value": "hi"})).text == "hi"
        result = await client.call_tool("count", {"to": 3}, on_progress=heard.append)
    assert result.text == "counted to 3"
    assert [one.progress for one in heard] == [1, 2, 3]


async def test_it_tells_when_a_hanging_call_was_cancelled():
    async with Client(echo_server()) as client:
        telling = asyncio.ensure_future(client.call_tool("await_cancellation", {"key": "a"}))
        with pytest.raises(CallTimeoutError):
            await client.call_tool("hang", {"key": "a"}, timeout_s=0.05)
        assert (await telling).text == "a"
