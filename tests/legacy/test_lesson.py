"""The exercises of the lesson on the client, done by a real client and real servers.

They read like the exercises: who says what, in which order, and what follows from it.
"""

import json
import sys
from pathlib import Path

import pytest

import mesero
from mesero.errors import MissingCapabilityError, NoCommonRevisionError
from mesero.jsonrpc import Notification, Request, ResultResponse, decode_message
from mesero.types import Root
from tests.legacy.session_talk import in_session
from tests.server.talking import quiet_server

FILES = [sys.executable, str(Path(__file__).parents[2] / "examples/files.py")]
REVISION = "2025-03-26"


class Trace:
    """Every message in the order in which it passed: who said it, and what."""

    def __init__(self):
        self.messages = []

    def __call__(self, direction, raw, http):
        self.messages.append((direction, json.loads(raw)))

    def sequence(self):
        """In one line each: a request by method and id, a response by its id, a notification by method."""
        return [f"{direction} {self._line_for(message)}" for direction, message in self.messages]

    def _line_for(self, message):
        if "method" not in message:
            return f"answer {message['id']}"
        return f"{message['method']} {message['id']}" if "id" in message else message["method"]


def text_server(name, text):
    """A program that answers `initialize` with that text, whatever was offered."""
    program = f"import sys\nfor line in sys.stdin:\n    print({text!r}, flush=True)\n"
    return [sys.executable, "-c", program]


def database_server():
    server = mesero.Server("database-server", version="1.0.0")

    @server.tool
    def query(sql: str) -> str:
        return sql

    @server.resource("db://schema")
    def schema() -> str:
        return "tables"

    return server


# --- 1: which kind of message is it? ---


def test_messages_are_told_apart_by_their_members():
    a = b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_file"}}'
    b = b'{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hola"}]}}'
    c = b'{"jsonrpc":"2.0","method":"notifications/resources/updated"}'
    d = b'{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}'
    assert isinstance(decode_message(a), Request)
    assert isinstance(decode_message(b), ResultResponse)
    assert isinstance(decode_message(c), Notification)
    assert decode_message(d).code == -32601


# --- 2: the initialize pair of a database server with tools and resources, and no prompts ---


async def test_the_initialize_pair_of_a_database_server():
    async with in_session(database_server(), REVISION, is_open=False) as talk:
        request = talk.initialize_request(REVISION, {"roots": {"listChanged": True}}, id=1)
        talk.send(request)
        answer = await talk.answer_to(request)
    assert answer == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "protocolVersion": "2025-03-26",
            "capabilities": {
                "tools": {"listChanged": True},
                "resources": {"subscribe": True, "listChanged": True},
                # Its functions can always log.
                "logging": {},
            },
            "serverInfo": {"name": "database-server", "version": "1.0.0"},
        },
    }


async def test_a_client_does_not_ask_that_server_for_prompts():
    trace = Trace()
    async with mesero.Client(database_server(), era=REVISION, trace=trace) as client:
        with pytest.raises(MissingCapabilityError, match="prompts"):
            await client.list_prompts()
    assert not [one for one in trace.sequence() if "prompts" in one]


# --- 3: "read package.json", from initialize to the answer ---


async def test_the_whole_sequence_of_read_package_json(tmp_path):
    (tmp_path / "package.json").write_text('{"name": "my-app"}')
    trace = Trace()
    roots = [Root(tmp_path.as_uri(), "my-app")]
    async with mesero.Client(FILES, era=REVISION, roots=roots, trace=trace) as client:
        tools = {tool.name for tool in await client.list_tools()}
        assert "read_file" in tools
        result = await client.call_tool("read_file", {"path": "package.json"})
    assert result.text == '{"name": "my-app"}'
    assert not result.is_error
    assert trace.sequence() == [
        "c2s initialize 1",
        "s2c answer 1",
        "c2s notifications/initialized",
        "c2s tools/list 2",
        "s2c answer 2",
        "c2s tools/call 3",
        # The server asks where it may read; the call is open meanwhile.
        "s2c roots/list 1",
        "c2s answer 1",
        "s2c answer 3",
    ]


# --- 4: 2025-03-26 is offered, 2024-11-05 is answered ---


async def test_an_older_revision_that_we_speak_is_no_error():
    server = mesero.Server("old-server", version="0.1.0", revisions=["2024-11-05"])
    server.tool(name="old")(lambda: "works")
    async with mesero.Client(server, era=REVISION) as client:
        assert client.server.revision == "2024-11-05"
        assert (await client.call_tool("old")).text == "works"


async def test_an_older_revision_that_nobody_speaks_is_a_clear_one():
    result = {
        "protocolVersion": "2023-07-01",
        "capabilities": {},
        "serverInfo": {"name": "x", "version": "0"},
    }
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})
    with pytest.raises(NoCommonRevisionError) as caught:
        await mesero.Client.connect(text_server("ancient", answer), era=REVISION)
    assert caught.value.theirs == ("2023-07-01",)
    assert "2023-07-01" in str(caught.value)
    assert REVISION in str(caught.value)


# --- 6: find the .py files, read the largest ---


@pytest.mark.parametrize("era", [REVISION, "2025-11-25", "2026-07-28"])
async def test_the_result_of_the_search_picks_the_file_that_is_read(tmp_path, era):
    sizes = {"main.py": 24, "utils.py": 51, "test_main.py": 18}
    for name, size in sizes.items():
        (tmp_path / name).write_text(f"# {name}\n".ljust(size, "#"))
    (tmp_path / "larger.txt").write_text("x" * 1000)
    async with mesero.Client(FILES, era=era, roots=[Root(tmp_path.as_uri())]) as client:
        search = await client.call_tool("search_files", {"pattern": "*.py", "path": str(tmp_path)})
        # The oldest revisions have no structured content; there the text is the JSON of it.
        found = search.structured_content or json.loads(search.text)
        found = found["result"] if isinstance(found, dict) else found
        largest = max(found, key=lambda one: one["size"])
        result = await client.call_tool("read_file", {"path": largest["path"]})
    assert result.text.startswith("# utils.py")


# --- three servers, three clients: each knows its own ---


async def test_each_client_knows_the_capabilities_of_its_own_server():
    filesystem, database, weather = (quiet_server() for _ in "ABC")
    filesystem.tool(name="read_file")(lambda: "")
    database.tool(name="query")(lambda: "")
    database.resource("db://schema")(lambda: "")
    database.prompt(name="analyze_table")(lambda: "")
    weather.tool(name="get_forecast")(lambda: "sunny")
    async with (
        mesero.Client(filesystem, era="2025-06-18") as a,
        mesero.Client(database, era=REVISION) as b,
        mesero.Client(weather, era="2024-11-05") as c,
    ):
        offered = [
            [name for name in ("tools", "resources", "prompts") if getattr(one.server.capabilities, name)]
            for one in (a, b, c)
        ]
        assert offered == [["tools"], ["tools", "resources", "prompts"], ["tools"]]
        assert [one.server.revision for one in (a, b, c)] == ["2025-06-18", REVISION, "2024-11-05"]
        with pytest.raises(MissingCapabilityError):
            await a.list_resources()
        assert [one.uri for one in await b.list_resources()] == ["db://schema"]
        # What happens to one connection does not concern the others.
        await b.aclose()
        assert (await c.call_tool("get_forecast")).text == "sunny"


# --- what goes wrong in the protocol is an error, what goes wrong in the operation is a result ---


async def test_errors_of_the_protocol_and_of_the_operation_stay_apart(tmp_path):
    async with mesero.Client(FILES, era=REVISION, roots=[Root(tmp_path.as_uri())]) as client:
        result = await client.call_tool("read_file", {"path": "nonexistent.md"})
        assert result.is_error
        with pytest.raises(mesero.errors.InvalidParamsError):
            await client.call_tool("nonexistent")


# --- the message that the lesson sends by hand ---


async def test_the_message_that_is_piped_in_by_hand_is_answered():
    async with in_session(database_server(), REVISION, is_open=False) as talk:
        talk.send_bytes(
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",'
            b'"capabilities":{},"clientInfo":{"name":"test","version":"1.0"}}}\n'
        )
        (answer,) = await talk.until(lambda said: said)
        assert answer["result"]["protocolVersion"] == REVISION
