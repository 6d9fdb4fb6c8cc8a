"""The client's `initialize`: what is offered, what may be answered, what an answer that is none becomes."""

import asyncio

import pytest

from mesero.errors import (
    CallTimeoutError,
    DisconnectedError,
    InvalidRequestError,
    InvalidResultError,
    NoCommonRevisionError,
    ProtocolError,
    RpcError,
)
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from mesero.transports.memory import MemoryTransport
from mesero.types import Implementation
from tests.legacy.scripted import ALL, Script, caller_over, introduction, open_session

EVERYTHING = {
    "elicit": lambda _: {},
    "elicit_url": lambda _: True,
    "sample": lambda _: "",
    "roots": ["file:///a"],
}


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_initialize_fits_the_schema_of_the_revision_that_it_offers(revision):
    info = Implementation("tester", "9", title="The Tester", description="tests", website_url="https://a.b")
    async with open_session(Script(revision), asked=EVERYTHING, info=info) as (caller, server):
        assert caller.revision == revision
    [sent] = server.sent("initialize")
    assert sent["params"]["protocolVersion"] == revision
    assert check_message(revision, sent) == []


async def test_initialized_comes_before_anything_else():
    async with open_session() as (caller, server):
        await caller.ping()
    assert server.methods == ["initialize", "notifications/initialized", "ping"]


async def test_another_revision_than_the_one_offered_is_no_error_if_we_speak_it():
    async with open_session(Script("2024-11-05"), offer="2025-03-26") as (caller, server):
        assert caller.revision == "2024-11-05"
    assert server.sent("initialize")[0]["params"]["protocolVersion"] == "2025-03-26"


async def test_a_revision_that_we_do_not_speak_is_a_clear_error():
    with pytest.raises(NoCommonRevisionError, match=r"scripted: no common .*2025-11-25; .*speaks 2023-01-01"):
        async with open_session(Script("2023-01-01"), offer="2025-03-26"):
            pass


async def test_only_what_the_caller_supports_may_be_agreed_on():
    with pytest.raises(NoCommonRevisionError):
        async with open_session(Script("2024-11-05"), offer="2025-03-26", supported=["2025-03-26"]):
            pass


async def test_what_the_server_says_of_itself_is_handed_back():
    script = Script("2024-11-05", {"prompts": {}})
    transport = MemoryTransport(script.connect)
    caller = caller_over(transport)
    said = await caller.begin(offer="2024-11-05", timeout_s=5)
    assert said.server_info.name == "scripted"
    # That revision could not declare completion.
    assert said.capabilities.completions == {}
    await caller.aclose()
    await transport.aclose()


async def test_a_refused_initialize_raises_the_servers_error_and_may_be_tried_again():
    def refuse_first(side, message):
        if len(side.script.sent("initialize")) == 1:
            side.refuse(message, -32602, "Unsupported protocol version", {"supported": ["2024-11-05"]})
        else:
            side.answer(message, introduction("2024-11-05"))

    script = Script(initialize=refuse_first)
    transport = MemoryTransport(script.connect, target="scripted")
    caller = caller_over(transport)
    with pytest.raises(RpcError, match=r"scripted: initialize \(id 1\): Unsupported") as caught:
        await caller.begin(offer="2025-11-25", timeout_s=5)
    assert caught.value.data == {"supported": ["2024-11-05"]}
    assert (await caller.begin(offer="2024-11-05", timeout_s=5)).protocol_version == "2024-11-05"
    await caller.ping()
    await caller.aclose()
    await transport.aclose()


@pytest.mark.parametrize("result", [{}, {"capabilities": ALL}, {"protocolVersion": 1}])
async def test_a_result_without_a_revision_is_refused(result):
    with pytest.raises(InvalidResultError, match="the result of initialize does not fit"):
        async with open_session(Script(initialize=lambda side, message: side.answer(message, result))):
            pass


async def test_silence_is_told_and_never_cancelled_on_the_wire():
    script = Script(initialize=lambda *_: None)
    transport = MemoryTransport(script.connect, target="scripted")
    caller = caller_over(transport)
    with pytest.raises(CallTimeoutError, match=r"scripted: no answer to initialize within 0\.05 s"):
        await caller.begin(offer="2025-11-25", timeout_s=0.05)
    task = asyncio.create_task(caller.begin(offer="2025-11-25", timeout_s=5))
    await script.wait_for("initialize", 2)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert script.methods == ["initialize", "initialize"]
    await transport.aclose()


async def test_a_server_that_hangs_up_fails_initialize_at_once():
    with pytest.raises(DisconnectedError, match="hung up"):
        async with open_session(Script(initialize=lambda side, _: side.hang_up())):
            pass


async def test_an_answer_that_is_none_fails_initialize_at_once():
    with pytest.raises(ProtocolError, match="the answer to initialize"):
        async with open_session(Script(initialize=lambda side, _: side.write_raw(b'{"id":1,"result":{}}\n'))):
            pass


async def test_a_limit_of_the_callers_own_is_the_callers_error():
    script = Script(initialize=lambda *_: None)
    transport = MemoryTransport(script.connect)
    caller = caller_over(transport)
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(0.05):
            await caller.begin(offer="2025-11-25", timeout_s=5)
    assert not isinstance(caught.value, CallTimeoutError)
    await caller.aclose()
    await transport.aclose()


async def test_before_the_answer_only_ping_is_answered_and_the_handshake_goes_on():
    def ask_first(side, message):
        side.opening = message
        side.note("notifications/message", level="info", data="starting")
        side.note("notifications/progress", progressToken=1, progress=1)
        side.ask("early", "ping")
        side.ask("too early", "roots/list")

    def go_on(side, _):
        if len(side.script.answers) == 2:
            side.answer(side.opening, introduction())

    script = Script(initialize=ask_first, answer=go_on)
    async with open_session(script, asked={"roots": ["file:///a"]}) as (caller, _):
        await caller.ping()
    assert script.answers["early"]["result"] == {}
    assert script.answers["too early"]["error"]["code"] == InvalidRequestError.default_code
