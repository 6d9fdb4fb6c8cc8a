"""A request that needs the user to visit a page first: -32042 of 2025-11-25."""

import asyncio

import pytest

from mesero.errors import DisconnectedError, RpcError
from mesero.types import ElicitResult
from tests.legacy.scripted import CALL, TEXT, Script, open_session
from tests.transports.children import until

PAGES = [
    {"mode": "url", "elicitationId": name, "url": f"https://example.com/{name}", "message": "Agree"}
    for name in ("one", "two")
]


def needing(*pages):
    """A script whose first call needs visits, and whose next does not."""

    def act(side, message):
        if len(side.script.sent("tools/call")) == 1:
            side.refuse(message, -32042, "visit first", {"elicitations": list(pages)})
        else:
            side.answer(message, TEXT)

    return act


def complete(server, name):
    server.side.note("notifications/elicitation/complete", elicitationId=name)


async def test_the_request_is_sent_again_once_the_server_says_that_the_visits_are_over():
    seen = []

    async def visit(params):
        seen.append(params.url)
        complete(server, params.url.rpartition("/")[2])
        return True

    script = Script(tools__call=needing(*PAGES))
    asked = []
    async with open_session(script, asked={"elicit_url": visit}) as (caller, server):
        result = await caller.call(CALL, {"name": "a"}, on_asked=lambda: asked.append(1))
    assert result.text == "done"
    assert seen == ["https://example.com/one", "https://example.com/two"]
    assert asked == [1]
    assert len(server.sent("tools/call")) == 2


async def test_it_is_not_sent_before_that():
    async with open_session(Script(tools__call=needing(PAGES[0])), asked={"elicit_url": lambda _: True}) as (
        caller,
        server,
    ):
        call = asyncio.create_task(caller.call(CALL, {"name": "a"}))
        await until(lambda: caller._visits._open)
        complete(server, "another")
        server.side.note("notifications/elicitation/complete")
        await caller.ping()
        assert len(server.sent("tools/call")) == 1
        complete(server, "one")
        assert (await call).text == "done"


async def test_a_server_that_never_says_so_is_tried_again_after_the_limit():
    async with open_session(Script(tools__call=needing(PAGES[0])), asked={"elicit_url": lambda _: True}) as (
        caller,
        _,
    ):
        assert (await caller.call(CALL, {"name": "a"}, timeout_s=0.1)).text == "done"


@pytest.mark.parametrize("answer", [False, ElicitResult("cancel")])
async def test_who_does_not_agree_gets_the_servers_error(answer):
    async with open_session(Script(tools__call=needing(*PAGES)), asked={"elicit_url": lambda _: answer}) as (
        caller,
        server,
    ):
        with pytest.raises(RpcError, match="visit first") as caught:
            await caller.call(CALL, {"name": "a"})
    assert caught.value.code == -32042
    assert len(server.sent("tools/call")) == 1


async def test_so_does_who_cannot_open_pages():
    async with open_session(Script(tools__call=needing(*PAGES)), asked={"elicit": lambda _: {}}) as (
        caller,
        _,
    ):
        with pytest.raises(RpcError, match="visit first"):
            await caller.call(CALL, {"name": "a"})


async def test_it_is_sent_again_only_once():
    def act(side, message):
        side.refuse(message, -32042, "visit first", {"elicitations": PAGES[:1]})

    async def visit(_):
        complete(server, "one")
        return True

    async with open_session(Script(tools__call=act), asked={"elicit_url": visit}) as (caller, server):
        with pytest.raises(RpcError, match="visit first"):
            await caller.call(CALL, {"name": "a"})
    assert len(server.sent("tools/call")) == 2


async def test_the_end_of_the_server_ends_the_wait_for_its_word():
    def act(side, message):
        if side.number == 0:
            side.refuse(message, -32042, "visit first", {"elicitations": PAGES[:1]})
        else:
            side.hang_up()

    async with open_session(Script(tools__call=act), asked={"elicit_url": lambda _: True}) as (
        caller,
        server,
    ):
        call = asyncio.create_task(caller.call(CALL, {"name": "a"}, timeout_s=60))
        await until(lambda: caller._visits._open)
        server.side.hang_up()
        with pytest.raises(DisconnectedError):
            await asyncio.wait_for(call, 5)
