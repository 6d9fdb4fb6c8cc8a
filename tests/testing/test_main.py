"""``python -m mesero.testing``."""

import sys

from mesero import Client


async def test_it_serves_the_echo_server_over_stdio():
    async with Client([sys.executable, "-m", "mesero.testing"]) as client:
        assert client.server.name == "echo"
        assert (await client.call_tool("echo", {"value": "hi"})).text == "hi"
