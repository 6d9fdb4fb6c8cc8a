"""Clients that do everything right: nothing may be said of them."""

from tests.broken.clients.newer import call, send
from tests.broken.clients.starting import asked, finish, meta, shake, start
from tests.broken.clients.waiting import CALL


async def speaks_the_older_era(pipe):
    await shake(pipe)
    await pipe.call("tools/list")
    await pipe.call("ping")
    await pipe.end()


async def speaks_the_newer_era(pipe):
    await pipe.call("server/discover", meta())
    await pipe.call("tools/list", meta())
    able = meta({"elicitation": {}})
    asked_back = (await pipe.call("tools/call", {"name": "slow", **able}))["result"]
    answers = {"sure": {"action": "accept", "content": {}}}
    await pipe.call(
        "tools/call",
        {"name": "slow", **able, "inputResponses": answers, "requestState": asked_back["requestState"]},
    )
    await pipe.end()


async def answers_while_it_waits(pipe):
    await shake(pipe, capabilities={"elicitation": {}})
    await pipe.call("tools/list")
    number = pipe.ask("tools/call", {"name": "slow"})
    question = await pipe.read()
    pipe.write({"id": question["id"], "result": {"action": "decline"}})
    await pipe.answer_to(number)
    await pipe.end()


async def starts_again(wire):
    """After a 404 another session, and each session is closed."""
    await start(wire)
    await wire.post(asked(1, "tools/list"))
    assert (await wire.post(asked(2, "tools/list"))).status == 404
    wire.headers.clear()
    await start(wire)
    await wire.post(asked(3, "tools/list"))
    await finish(wire)


async def resumes(wire):
    await start(wire)
    await wire.post(asked(1, "tools/list"))
    async with wire.opened("POST", **wire.posting(CALL)) as stream:
        await stream.read()
    for last in ("e1", "e2"):
        answer = await wire.send("GET", Accept="text/event-stream", **{"Last-Event-ID": last})
    assert b'"result"' in answer.body
    await finish(wire)


async def tries_again(wire):
    """One connection that broke is not the end."""
    await start(wire)
    await wire.post(asked(1, "tools/list"))
    assert (await wire.post(asked(2, "ping"))).status == 502
    await wire.post(asked(3, "tools/list"))
    await finish(wire)


async def declares_each_time(wire):
    able = {"elicitation": {"form": {}}}
    await send(wire, asked(1, "tools/list", meta(able)))
    await send(wire, call(2, able))
