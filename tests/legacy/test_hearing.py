"""What the server says unasked, and the client's functions that hear it."""

import asyncio

import pytest

from mesero.jsonrpc import decode_message, encode_notification
from mesero.transports import Received
from tests.legacy.scripted import CALL, LATEST, TEXT, Script, open_session
from tests.transports.children import until

FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}


async def test_log_messages_are_passed_on_in_order():
    seen = []

    async def take(params):
        await asyncio.sleep(0)
        seen.append(params.data)

    async with open_session(on_log=take) as (_, server):
        for number in range(5):
            server.side.note("notifications/message", level="info", data=number)
        await until(lambda: len(seen) == 5)
    assert seen == [0, 1, 2, 3, 4]


async def test_a_function_that_takes_its_time_delays_no_question():
    never = asyncio.Event()
    async with open_session(on_log=lambda _: never.wait(), asked={"elicit": lambda _: {}}) as (_, server):
        server.side.note("notifications/message", level="info", data=1)
        server.side.ask(1, "elicitation/create", **FORM)
        await server.wait_for("answer")


async def test_a_function_that_hears_may_call_the_server_and_be_asked_on_the_way():
    seen = []

    async def take(_):
        seen.append((await caller.call(CALL, {"name": "a"})).text)

    def ask_first(side, message):
        side.script.call = message
        side.ask(1, "elicitation/create", **FORM)

    def finish(side, _):
        side.answer(side.script.call, TEXT)

    script = Script(tools__call=ask_first, answer=finish)
    async with open_session(script, on_log=take, asked={"elicit": lambda _: {}}) as (caller, server):
        server.side.note("notifications/message", level="info", data=1)
        await until(lambda: seen)
    assert seen == ["done"]


async def test_a_function_that_hears_may_close_the_client():
    async def close(_):
        await caller.aclose()

    async with open_session(on_log=close) as (caller, server):
        server.side.note("notifications/message", level="info", data=1)
        await until(lambda: caller.is_closed)
    tasks = [task for task in asyncio.all_tasks() if "Hearing" in repr(task)]
    assert tasks == []


async def test_changes_are_told_at_once_and_everything_unknown_is_let_pass():
    seen = []
    async with open_session(on_notification=lambda note: seen.append(note.method)) as (caller, server):
        server.side.note("notifications/unheard-of", a=1)
        server.side.note("notifications/cancelled")
        server.side.note("notifications/tools/list_changed")
        server.side.note("notifications/resources/updated", uri="file:///a")
        await caller.ping()
    assert seen == ["notifications/tools/list_changed", "notifications/resources/updated"]


async def test_what_comes_before_the_handshake_is_done_is_dropped():
    seen = []

    def change_first(side, message):
        side.note("notifications/tools/list_changed")
        result = {"protocolVersion": LATEST, "capabilities": {}, "serverInfo": {"name": "", "version": ""}}
        asyncio.get_running_loop().call_later(0.02, side.answer, message, result)

    script = Script(initialize=change_first)
    async with open_session(script, on_notification=seen.append) as (caller, _):
        await caller.ping()
    assert seen == []


@pytest.mark.parametrize("token", [2, 99])
async def test_progress_that_comes_beside_its_call_reaches_whoever_waits_for_it(token, caplog):
    seen = []

    def act(side, message):
        # As over HTTP, where it may come on another stream than the answer.
        raw = encode_notification("notifications/progress", {"progressToken": token, "progress": 1})
        caller.transport._inbox.put(Received(raw, decode_message(raw)))
        asyncio.get_running_loop().call_later(0.05, side.answer, message, TEXT)

    def take(step):
        seen.append(step.progress)
        raise ValueError

    async with open_session(Script(tools__call=act)) as (caller, _):
        assert (await caller.call(CALL, {"name": "a"}, on_progress=take)).text == "done"
    assert seen == ([1] if token == 2 else [])
    assert ("on_progress failed" in caplog.text) == (token == 2)
