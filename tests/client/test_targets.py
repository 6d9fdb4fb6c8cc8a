"""From what a caller names to a transport."""

import subprocess
import sys

import pytest

from mesero import Server
from mesero.client.targets import TransportOptions, transport_for
from mesero.errors import UsageError
from mesero.testing import scripted_server
from mesero.transports.http_client import HttpTransport
from mesero.transports.memory import MemoryTransport
from mesero.transports.stdio import StdioTransport

OPTIONS = TransportOptions(env={"KEY": "1"}, cwd="/", max_message_bytes=1234)


@pytest.mark.parametrize("command", [["uvx", "server"], ("uvx", "server")])
def test_a_list_is_a_command(command):
    transport = transport_for(command, OPTIONS)
    assert isinstance(transport, StdioTransport)
    assert transport.target == "uvx server"


async def test_a_url_is_reached_over_http():
    transport = transport_for("http://localhost:1/mcp", OPTIONS)
    assert isinstance(transport, HttpTransport)
    await transport.aclose()


def test_a_server_of_this_process_is_reached_in_memory():
    transport = transport_for(Server("notes"), OPTIONS)
    assert isinstance(transport, MemoryTransport)
    assert transport.target == "notes (in this process)"


def test_a_transport_is_taken_as_it_is():
    script = scripted_server()
    assert transport_for(script, OPTIONS) is script


@pytest.mark.parametrize("target", [None, 7, b"uvx server", bytearray(b"uvx"), {"command": "uvx"}])
def test_anything_else_is_refused(target):
    with pytest.raises(UsageError, match="is no target: give a URL, a command as a list"):
        transport_for(target, OPTIONS)


@pytest.mark.parametrize("text", ["uvx server", "ftp://example.com", "example.com/mcp", ""])
def test_text_that_is_no_url_explains_how_a_command_is_given(text):
    with pytest.raises(UsageError, match=r"is no http\(s\) URL.*a list, for example \['uvx'"):
        transport_for(text, OPTIONS)


def test_an_empty_command_is_refused():
    with pytest.raises(UsageError, match="a command is a list"):
        transport_for([], OPTIONS)


def test_a_client_of_a_command_loads_neither_http_nor_a_server():
    code = (
        "import sys, mesero; mesero.Client(['x']); heavy = ('aiohttp', 'mesero.server', 'jsonschema_rs');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"[]"
