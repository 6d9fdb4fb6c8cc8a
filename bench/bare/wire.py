"""The wire as the bare programs speak it: pre-built bytes and the few Structs that they read.

It is that of 2026-07-28, or with `--handshake` on a program's command line that of 2025-11-25.

Nothing of any SDK is imported here, mesero's included, so that each side under test faces the same
counterpart. It is no implementation of the protocol: it knows four methods and trusts its peer.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec

HANDSHAKE = "--handshake" in sys.argv
ARGUMENTS = [argument for argument in sys.argv[1:] if argument != "--handshake"]
REVISION = "2025-11-25" if HANDSHAKE else "2026-07-28"
SESSION_ID = "bare"
TOOL_COUNT = 1000
BLOB_BYTES = 5_000_000

_PREFIX = "io.modelcontextprotocol/"
_SERVER_META = {f"{_PREFIX}serverInfo": {"name": "bare", "version": "1"}}
_CLIENT_META = {
    f"{_PREFIX}protocolVersion": REVISION,
    f"{_PREFIX}clientInfo": {"name": "bare", "version": "1"},
    f"{_PREFIX}clientCapabilities": {},
}


class Arguments(msgspec.Struct):
    a: int = 0
    b: int = 0


class Params(msgspec.Struct):
    name: str = ""
    arguments: Arguments = msgspec.field(default_factory=Arguments)


class Request(msgspec.Struct):
    method: str
    id: int | str | None = None
    params: Params = msgspec.field(default_factory=Params)


class Text(msgspec.Struct):
    text: str = ""


class CallResult(msgspec.Struct):
    content: list[Text]
    resultType: str = ""  # noqa: N815 - the name on the wire


class Answer(msgspec.Struct):
    id: int
    result: CallResult


read_request = msgspec.json.Decoder(Request).decode
read_answer = msgspec.json.Decoder(Answer).decode


def build_tool(number: int) -> dict[str, Any]:
    """A tool as real servers declare them: a description and five properties types, limits, a choice."""
    return {
        "name": f"records_search_{number:04}",
        "title": f"Search records {number}",
        "description": "Searches the records of a project and returns the best matches, newest first.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for", "minLength": 1},
                "project": {"type": "string", "description": "Identifier of the project"},
                "limit": {
                    "type": "integer",
                    "description": "At most this many",
                    "minimum": 1,
                    "maximum": 100,
                },
                "order": {"type": "string", "enum": ["newest", "oldest", "relevance"], "default": "newest"},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "All of these tags"},
            },
            "required": ["query", "project"],
            "additionalProperties": False,
        },
    }


def _build_tools() -> list[dict[str, Any]]:
    add = {
        "name": "add",
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
        },
    }
    blob = {"name": "blob", "description": "5 MB of text.", "inputSchema": {"type": "object"}}
    return [add, blob, *(build_tool(number) for number in range(TOOL_COUNT - 2))]


def _result_bytes(**members: Any) -> bytes:
    stateless = {} if HANDSHAKE else {"resultType": "complete", "_meta": _SERVER_META}
    return msgspec.json.encode({**stateless, **members})


_CACHE = {} if HANDSHAKE else {"ttlMs": 0, "cacheScope": "private"}
_DISCOVER = _result_bytes(supportedVersions=[REVISION], capabilities={"tools": {}}, **_CACHE)
_INITIALIZE = _result_bytes(
    protocolVersion=REVISION, capabilities={"tools": {}}, serverInfo={"name": "bare", "version": "1"}
)
_TOOLS = _result_bytes(tools=_build_tools(), **_CACHE)
_LINE = 'A line of text as tools return it: words, numbers (42), a "quoted" part, and the end of the line.\n'
_BLOB = _result_bytes(
    content=[{"type": "text", "text": (_LINE * (BLOB_BYTES // len(_LINE) + 1))[:BLOB_BYTES]}]
)
_ADD = _result_bytes(
    content=[{"type": "text", "text": "@"}], structuredContent={"result": "@"}, isError=False
)
_ADD_HEAD, _ADD_MIDDLE, _ADD_TAIL = _ADD.replace(b'"result":"@"', b'"result":@').split(b"@")


def _result_for(request: Request) -> bytes | None:
    match request.method, request.params.name:
        case "tools/call", "add":
            total = b"%d" % (request.params.arguments.a + request.params.arguments.b)
            return b"".join((_ADD_HEAD, total, _ADD_MIDDLE, total, _ADD_TAIL))
        case "tools/call", "blob":
            return _BLOB
        case "tools/list", _:
            return _TOOLS
        case "server/discover", _ if not HANDSHAKE:
            return _DISCOVER
        case "initialize", _ if HANDSHAKE:
            return _INITIALIZE
        case "ping", _ if HANDSHAKE:
            return b"{}"
    return None


def answer_to(message: bytes) -> bytes:
    """The answer to one message, without a line end; empty for a notification."""
    request = read_request(message)
    if request.id is None:
        return b""
    identity = msgspec.json.encode(request.id)
    result = _result_for(request)
    if result is None:
        error = b'{"code":-32601,"message":"Method not found"}'
        return b"".join((b'{"jsonrpc":"2.0","id":', identity, b',"error":', error, b"}"))
    return b"".join((b'{"jsonrpc":"2.0","id":', identity, b',"result":', result, b"}"))


def _request_template(method: str, **params: Any) -> tuple[bytes, bytes, bytes]:
    stateless = {} if HANDSHAKE else {"_meta": _CLIENT_META}
    message = {"jsonrpc": "2.0", "id": "@", "method": method, "params": {**params, **stateless}}
    parts = msgspec.json.encode(message).replace(b'"@"', b"@").split(b"@")
    return (parts[0], parts[1], parts[2] if len(parts) == 3 else b"")


_CALL_HEAD, _CALL_MIDDLE, _CALL_TAIL = _request_template(
    "tools/call", name="add", arguments={"a": "@", "b": 2}
)
_OPENING = (
    _request_template(
        "initialize", protocolVersion=REVISION, capabilities={}, clientInfo={"name": "bare", "version": "1"}
    )
    if HANDSHAKE
    else _request_template("server/discover")
)
READY = b'{"jsonrpc":"2.0","method":"notifications/initialized"}' if HANDSHAKE else b""
"""What follows the answer to the opening, if anything."""


def encode_call(number: int) -> bytes:
    """`add(number, 2)` with id `number`: its right answer is a function of its id alone."""
    text = b"%d" % number
    return b"".join((_CALL_HEAD, text, _CALL_MIDDLE, text, _CALL_TAIL))


def encode_opening() -> bytes:
    """What a connection begins with."""
    head, tail, _ = _OPENING
    return b"".join((head, b"0", tail))


def check_opening(message: bytes) -> None:
    """Refuses what is no answer to `encode_opening`.

    Raises:
        ValueError: the server did not answer, or not rightly.

    """
    member = "protocolVersion" if HANDSHAKE else "supportedVersions"
    if member not in msgspec.json.decode(message).get("result", {}):
        text = f"the server under test does not begin rightly: {message[:300]!r}"
        raise ValueError(text)


def check_answer(message: bytes) -> None:
    """Refuses anything but the complete result of `encode_call` with that id.

    Raises:
        ValueError: the server did not answer, or not rightly.

    """
    try:
        answer = read_answer(message)
    except msgspec.MsgspecError:
        answer = None
    kind = "" if HANDSHAKE else "complete"
    is_right = answer and answer.result.resultType == kind
    if not answer or not is_right or answer.result.content[0].text != str(answer.id + 2):
        text = f"the server under test answered wrongly: {message[:300]!r}"
        raise ValueError(text)


def http_headers(method: str, name: str | None = None, *, session_id: str = "") -> list[str]:
    lines = [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {REVISION}",
    ]
    if HANDSHAKE:
        return [*lines, f"Mcp-Session-Id: {session_id}"] if session_id else lines
    lines.append(f"Mcp-Method: {method}")
    return [*lines, f"Mcp-Name: {name}"] if name else lines
