"""Clients of the newer era over HTTP that speak it wrongly."""

from tests.broken.clients.starting import asked, meta
from tests.broken.lines import NOW


def call(number, capabilities=None):
    return asked(number, "tools/call", {"name": "slow", "arguments": {}, **meta(capabilities)})


def mirrored(message, **changes):
    """The headers that a request of the newer era has, by its body."""
    named = {"MCP-Protocol-Version": NOW, "Mcp-Method": message["method"]}
    if message["method"] == "tools/call":
        named["Mcp-Name"] = message["params"]["name"]
    return {**named, **changes}


async def send(wire, message, **changes):
    return await wire.post(message, **mirrored(message, **changes))


async def mirrors_nothing(wire):
    """P117: a bridge that was built before the headers were."""
    await wire.post(call(1), **{"MCP-Protocol-Version": NOW})


async def is_rewritten_on_its_way(wire):
    """P118: the header says one tool, the body another."""
    await send(wire, call(1), **{"Mcp-Name": "search"})


async def keeps_its_session(wire):
    """P120: drags the session id of another server along."""
    await send(wire, asked(1, "tools/list", meta()), **{"Mcp-Session-Id": "1868a90c-46a2-4b5f-9d1e-0c3a5b7d"})


async def pings(wire):
    """P123: keeps the connection alive with a method that is no more."""
    await send(wire, asked(1, "tools/list", meta()))
    await send(wire, asked(2, "ping", meta()))


async def listens_with_get(wire):
    """P123: opens the stream that older servers had."""
    await send(wire, asked(1, "tools/list", meta()))
    await wire.send("GET", Accept="text/event-stream", **{"MCP-Protocol-Version": NOW})


async def leaves_its_metadata_out(wire):
    """Names the revision in the header, and nothing in the body."""
    message = asked(1, "tools/list", {})
    await wire.post(message, **mirrored(message))


async def turns_a_page_of_long_ago(wire):
    """Keeps the cursor of a list that has changed since."""
    await send(wire, asked(1, "tools/list", {"cursor": "of-long-ago", **meta()}))


async def declares_once(wire):
    """P135: says what it can do in its first request only."""
    await send(wire, asked(1, "tools/list", meta({"elicitation": {"form": {}}})))
    await send(wire, call(2))
