"""Clients that wait wrongly: for answers, for questions, for streams, for pages."""

import asyncio

from tests.broken.clients.starting import asked, finish, meta, shake, start

LIMIT_S = 1.1
"""What these clients call a long time; real ones say 60 s."""


# -- over stdio ----------------------------------------------------------------------------------------------


async def reads_one_page(pipe):
    """P52: does not look at nextCursor."""
    await shake(pipe)
    await pipe.call("tools/list")
    await pipe.end()


async def keeps_the_old_list(pipe):
    """P63: hears that the tools changed, and does not ask again."""
    await shake(pipe)
    await pipe.call("tools/list")
    await pipe.call("tools/call", {"name": "slow"})
    await pipe.end()


def gives_up(*, progress):
    """P87, P88: a limit of its own, whatever the server says meanwhile."""

    async def client(pipe):
        await shake(pipe)
        await pipe.call("tools/list")
        token = {"_meta": {"progressToken": "p"}} if progress else {}
        await _stop_after_limit(pipe, pipe.ask("tools/call", {"name": "slow", **token}))

    return client


async def _stop_after_limit(pipe, number):
    try:
        await pipe.answer_to(number, LIMIT_S)
    except TimeoutError:
        pipe.tell("notifications/cancelled", {"requestId": number})
    await pipe.end()


async def goes_on_after_a_cancellation(pipe):
    """In order: gives a call up, and asks for something else."""
    await shake(pipe)
    await pipe.call("tools/list")
    number = pipe.ask("tools/call", {"name": "slow"})
    pipe.tell("notifications/cancelled", {"requestId": number})
    assert await pipe.call("ping") is None


async def leaves_in_the_middle(pipe):
    """Closes the server's stdin while a call is open."""
    await shake(pipe)
    await pipe.call("tools/list")
    pipe.ask("tools/call", {"name": "slow"})
    await pipe.end()


async def asks_nobody_while_it_waits(pipe):
    """P90: serves no questions of the server while a call is open."""
    await shake(pipe, "2025-06-18", {"elicitation": {}})
    await pipe.call("tools/list")
    await _stop_after_limit(pipe, pipe.ask("tools/call", {"name": "slow"}))


async def never_comes_back(pipe):
    """P124: says that it can ask the user, and takes the question for the end."""
    await pipe.call("tools/list", meta())
    await pipe.call("tools/call", {"name": "slow", **meta({"elicitation": {}})})
    # As long as it would have waited for an answer.
    await asyncio.sleep(LIMIT_S)
    await pipe.end()


# -- over HTTP -----------------------------------------------------------------------------------------------

CALL = asked(2, "tools/call", {"name": "slow", "arguments": {}})


async def loses_the_stream(wire):
    """P85: reads until the connection is gone, and leaves it at that."""
    await start(wire)
    await wire.post(asked(1, "tools/list"))
    async with wire.opened("POST", **wire.posting(CALL)) as stream:
        await stream.read()
    await finish(wire)


async def resumes_once(wire):
    """P85: goes on with a stream that was cut, and takes the second cut for the end."""
    await start(wire)
    await wire.post(asked(1, "tools/list"))
    async with wire.opened("POST", **wire.posting(CALL)) as stream:
        await stream.read()
    await wire.send("GET", Accept="text/event-stream", **{"Last-Event-ID": "e1"})
    await finish(wire)


async def listens_nowhere(wire):
    """P91: can be asked, and opens no stream on which a question could come."""
    await start(wire, revision="2025-06-18", capabilities={"elicitation": {}})
    await wire.post(asked(1, "tools/list"))
    try:
        async with asyncio.timeout(LIMIT_S), wire.opened("POST", **wire.posting(CALL)) as stream:
            await stream.read()
    except TimeoutError:
        await wire.post({"method": "notifications/cancelled", "params": {"requestId": 2}})
    await finish(wire)
