"""From what a caller names to a transport."""

import subprocess
import sys

import pytest

from mesero import Server
from mesero.client.targets import TransportOptions, events_transport_for, transport_for
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


class Links:
    """A recording that notes which connections it has."""

    def __init__(self):
        self.opened = []

    def link(self, name, transport, target):
        self.opened.append((name, transport, target))
        return print


@pytest.mark.parametrize(
    ("target", "link"),
    [
        (["python", "-u", "/srv/notes.py", "x"], ("notes", "stdio", "python -u /srv/notes.py x")),
        (["python", "-m", "notes.server"], ("notes.server", "stdio", "python -m notes.server")),
        (["/usr/bin/notes", "two words"], ("notes", "stdio", "/usr/bin/notes 'two words'")),
        (Server("notes"), ("notes", "memory", "notes (in this process)")),
    ],
)
def test_each_connection_is_a_link_of_a_recording(target, link):
    links = Links()
    transport_for(target, TransportOptions(trace=links))
    assert links.opened == [link]


async def test_each_way_over_http_is_a_link_of_its_own():
    links = Links()
    for make in (transport_for, events_transport_for):
        await make("https://example.com/mcp", TransportOptions(trace=links)).aclose()
    target = "https://example.com/mcp"
    assert links.opened == [("example.com", "http", target), ("example.com", "sse", target)]


def test_what_is_no_url_is_said_by_the_transport_and_not_recorded():
    links = Links()
    with pytest.raises(UsageError, match="cannot be parsed"):
        transport_for("http://[", TransportOptions(trace=links))
    assert links.opened == []


def test_a_transport_that_was_made_before_is_not_recorded_silently():
    with pytest.raises(UsageError, match="Give the observer to the transport itself"):
        transport_for(scripted_server(), TransportOptions(trace=print))
