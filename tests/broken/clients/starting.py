"""Clients that go wrong before or at the handshake, or by which era or revision they speak."""

import asyncio
import json

from tests.broken.lines import NOW, OLD

LATEST = "2025-11-25"
INFO = {"name": "client", "version": "1"}


def hello(revision=OLD, capabilities=None):
    return {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": INFO}


def meta(capabilities=None, **more):
    """The metadata of a request of the newer era."""
    prefix = "io.modelcontextprotocol/"
    named = {"protocolVersion": NOW, "clientCapabilities": capabilities or {}, "clientInfo": INFO}
    return {"_meta": {f"{prefix}{name}": value for name, value in named.items()} | more}


async def shake(pipe, revision=OLD, capabilities=None):
    answer = await pipe.call("initialize", hello(revision, capabilities))
    pipe.tell("notifications/initialized")
    return answer["result"]


# -- over stdio ----------------------------------------------------------------------------------------------


async def ignores_the_tools(pipe):
    """P38: knows only servers that announce nothing but tools."""
    offered = (await shake(pipe))["capabilities"]
    if set(offered) == {"tools"}:
        await pipe.call("tools/list")
    await pipe.end()


async def takes_a_refusal_as_the_end(pipe):
    """P41: sets the level of a log that the server never announced, and stops when that is refused."""
    await shake(pipe)
    if "error" not in await pipe.call("logging/setLevel", {"level": "info"}):
        await pipe.call("tools/list")
    await pipe.end()


async def lists_too_early(pipe):
    """P43, P32: lists before the handshake is over."""
    await pipe.call("initialize", hello())
    await pipe.call("tools/list")
    await pipe.end()


async def calls_an_unknown_tool(pipe):
    """P43: calls a tool that is not in the list."""
    await shake(pipe)
    await pipe.call("tools/list")
    await pipe.call("tools/call", {"name": "subtract", "arguments": {"a": 1}})
    await pipe.end()


async def calls_with_wrong_arguments(pipe):
    """P43: leaves out what the tool needs."""
    await shake(pipe)
    await pipe.call("tools/list")
    await pipe.call("tools/call", {"name": "add", "arguments": {}})
    await pipe.end()


async def goes_on_with_a_lost_session(pipe):
    """P43: has a session that the server lost."""
    await shake(pipe)
    await pipe.call("ping")
    await pipe.call("tools/list")
    await pipe.end()


def batch(params=None):
    """Two requests in one array."""
    more = {} if params is None else {"params": params}
    return json.dumps([{"jsonrpc": "2.0", "id": n, "method": "tools/list", **more} for n in (8, 9)])


def sends_a_batch(revision):
    """P46: under each revision with a handshake, of which one has batches."""

    async def client(pipe):
        await shake(pipe, revision)
        pipe.write(batch())
        await pipe.read()
        await pipe.end()

    return client


async def waits_for_a_batch(pipe):
    """P46: goes on waiting for what a server of a later revision does not answer."""
    await shake(pipe, "2025-06-18")
    pipe.write(batch())
    try:
        await pipe.read(within_s=1.2)
    except TimeoutError:
        await pipe.end()


async def sends_a_modern_batch(pipe):
    """P46: an array of requests of the newer era."""
    pipe.write(batch(meta()))
    await pipe.read()
    await pipe.end()


async def leaves_an_upward_server(pipe):
    """P125: does not know the revision that the server answers with, and goes."""
    answer = await pipe.call("initialize", hello("2024-11-05"))
    assert answer["result"]["protocolVersion"] == OLD
    await pipe.end()


async def skips_the_question_of_the_era(pipe):
    """P114: speaks to an older server as to a newer one, and takes what comes for an answer."""
    await pipe.call("tools/call", {"name": "add", **meta()})
    await pipe.end()


async def leaves_an_older_server(pipe):
    """P33: knows its own latest revision only."""
    answer = await pipe.call("initialize", hello(LATEST))
    assert answer["result"]["protocolVersion"] == OLD
    await pipe.end()


async def knows_only_the_handshake(pipe):
    """P110: of the older era, and before a server of the newer one."""
    await pipe.call("initialize", hello())
    await pipe.end()


async def does_not_fall_back(pipe):
    """P112: takes any refusal of its probe for the end."""
    await pipe.call("server/discover", meta())
    await pipe.end()


async def probes_only(pipe):
    """P111: does not start a server again that its probe has killed."""
    assert await pipe.call("server/discover", meta()) is None


async def cannot_read_long_lines(pipe):
    """P18: a reader with a limit of 64 KiB."""
    await shake(pipe)
    assert len(str(await pipe.call("tools/list"))) > 65_536
    await pipe.end()


async def stops_at_an_empty_page(pipe):
    """P52: takes an empty page for the end of the list."""
    await shake(pipe)
    await pipe.call("tools/list")
    await pipe.end()


async def does_not_answer_ping(pipe):
    """P40: hears the server's ping, and has no answer to it."""
    await shake(pipe)
    await pipe.call("tools/list")
    while await pipe.read() is not None:
        pass


async def pings_in_the_newer_era(pipe):
    """P123: keeps the connection alive with a method that is no more."""
    await pipe.call("tools/list", meta())
    await pipe.call("ping", meta())
    await pipe.end()


# -- over HTTP -----------------------------------------------------------------------------------------------


def asked(number, method, params=None):
    return {"id": number, "method": method, **({} if params is None else {"params": params})}


async def start(wire, *, revision=OLD, capabilities=None):
    """The handshake; what later requests need is in the headers of the wire."""
    answer = await wire.post(asked(0, "initialize", hello(revision, capabilities)))
    wire.headers["MCP-Protocol-Version"] = answer.json["result"]["protocolVersion"]
    wire.headers["Mcp-Session-Id"] = answer.headers.get("mcp-session-id", "")
    await wire.post({"method": "notifications/initialized"})


async def finish(wire):
    await wire.send("DELETE")
    wire.headers.clear()


async def sends_its_own_revision(wire):
    """P35: negotiates, and then names its own latest."""
    await start(wire)
    wire.headers["MCP-Protocol-Version"] = LATEST
    await wire.post(asked(1, "tools/list"))


async def accepts_too_little(wire):
    """P68: the notification accepts one kind only."""
    answer = await wire.post(asked(0, "initialize", hello()))
    wire.headers["MCP-Protocol-Version"] = answer.json["result"]["protocolVersion"]
    await wire.post({"method": "notifications/initialized"}, Accept="application/json")


async def does_not_start_again(wire):
    """P74: takes 404 for the end of everything, and asks on."""
    await start(wire)
    await wire.post(asked(1, "tools/list"))
    await wire.post(asked(2, "ping"))
    await wire.post(asked(3, "tools/list"))


async def forgets_its_session(wire):
    """P79: as a page in a browser that cannot read the session id."""
    await start(wire)
    del wire.headers["Mcp-Session-Id"]
    await wire.post(asked(1, "tools/list"))


async def takes_400_for_the_end(wire):
    """P112: its probe is refused by an older server, and it does not fall back."""
    message = asked(1, "server/discover", meta())
    await wire.post(message, **{"MCP-Protocol-Version": NOW, "Mcp-Method": "server/discover"})


async def never_closes_a_session(wire):
    """P78: a session for each question."""
    for _ in range(4):
        wire.headers.clear()
        await start(wire)
        await wire.post(asked(1, "tools/list"))


async def gives_up_after_one_failure(wire):
    """P86: one ping fails on a connection that was idle, and that is the end."""
    await start(wire)
    await wire.post(asked(1, "tools/list"))
    # What is idle for minutes between real hosts and servers.
    await asyncio.sleep(1.1)
    answer = await wire.post(asked(2, "ping"))
    assert answer.status == 502
    await finish(wire)


async def leaves_an_upward_url(wire):
    """P125, over HTTP: without a session there is nothing to close."""
    answer = await wire.post(asked(0, "initialize", hello("2024-11-05")))
    assert answer.json["result"]["protocolVersion"] == OLD
