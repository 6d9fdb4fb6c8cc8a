"""One good request, its headers, ways to spoil them, and the first six steps in their order."""

import json

import pytest

from mesero.errors import RpcError
from mesero.modern import REVISIONS
from mesero.modern.envelope import (
    check_headers,
    check_needs,
    check_request,
    check_revision,
    parse_message,
    read_metadata,
    read_params,
    route,
)
from mesero.modern.headers import HeaderMark
from mesero.modern.methods import METHODS

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
REGION = HeaderMark("Region", ("region",), "string")


def meta(**changes):
    """The metadata of a good request; a change to None takes a member out."""
    members = {VERSION: "2026-07-28", CAPABILITIES: {}, CLIENT_INFO: {"name": "test", "version": "1"}}
    names = {"version": VERSION, "capabilities": CAPABILITIES, "info": CLIENT_INFO}
    members.update({names[name]: value for name, value in changes.items()})
    return {name: value for name, value in members.items() if value is not None}


def call(*, method="tools/call", metadata=None, **changes):
    """A good tools/call, changed; a change to None takes the member out."""
    members = {
        "name": "add",
        "arguments": {"region": "eu"},
        "_meta": meta() if metadata is None else metadata,
    }
    members.update(changes)
    params = {name: value for name, value in members.items() if value is not None}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def lines(version="2026-07-28", method="tools/call", name="add", region="eu", **more):
    """HTTP header lines that agree with the good call; None leaves one out."""
    known = {
        "mcp-protocol-version": version,
        "mcp-method": method,
        "mcp-name": name,
        "mcp-param-region": region,
    }
    pairs = [*known.items(), *((key.replace("_", "-"), value) for key, value in more.items())]
    return [(key.encode(), value.encode("latin-1")) for key, value in pairs if value is not None]


def judge(message, headers=None, *, needs=None, marks=(REGION,)):
    """Steps 1 to 6, called as the server calls them. Either the spec and the parameters, or one error."""
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    request = check_request(parse_message(raw, refuse_twins=headers is not None))
    metadata = read_metadata(request, REVISIONS)
    spec = METHODS.get(request.method)
    if headers is not None:
        marks = marks if request.method == "tools/call" else ()
        check_headers(request, metadata, headers, spec=spec, marks=marks)
    check_revision(metadata, REVISIONS)
    check_needs(needs or {}, metadata)
    spec = route(request, METHODS)
    return spec, read_params(request, spec)


def refusal_of(message, headers=None, **options):
    with pytest.raises(RpcError) as caught:
        judge(message, headers, **options)
    return caught.value
