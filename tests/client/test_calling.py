"""One call from its parameters to its result: its metadata and its rounds of questions."""

import asyncio

import pytest

from mesero import Client
from mesero.client import calling
from mesero.errors import (
    ClosedError,
    InputNeededError,
    InvalidResultError,
    UsageError,
)
from mesero.modern.mrtr import MAX_ROUNDS
from mesero.testing import scripted_server
from tests.client.talking import TEXT, asks, form, link, requests_in, talk

# --- what every request carries ---


async def test_every_request_repeats_its_metadata():
    async with talk(name="tester", version="9", elicit=lambda _: None) as (client, server, wire):
        server.expect("tools/call").answer(content=TEXT)
        server.expect("tools/list").answer(tools=[])
        await client.call_tool("any")
        await client.list_tools()
    for message in wire.sent:
        meta = message["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientInfo"] == {"name": "tester", "version": "9"}
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {"form": {}}}
    assert len({message["id"] for message in wire.sent}) == 3


async def test_a_trace_context_is_passed_on_and_our_own_members_win():
    async with talk() as (client, server, wire):
        server.expect("tools/call").answer(content=TEXT)
        meta = {"traceparent": "00-1-2-01", "io.modelcontextprotocol/protocolVersion": "forged"}
        await client.call_tool("any", meta=meta)
    sent = requests_in(wire, "tools/call")[0]["params"]["_meta"]
    assert sent["traceparent"] == "00-1-2-01"
    assert sent["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


# --- rounds of questions ---


async def test_questions_are_answered_and_the_state_comes_back_byte_for_byte():
    state = '  sealed\u2028 é "quoted" \\ 🎉 '
    async with talk(elicit=lambda _: {"name": "Ada"}) as (client, server, wire):
        server.expect("tools/call", arguments={"a": 1}).answer(asks(state, who=form({"name": {}})))
        server.expect(
            "tools/call",
            name="any",
            arguments={"a": 1},
            requestState=state,
            inputResponses={"who": {"action": "accept", "content": {"name": "Ada"}}},
        ).answer(content=TEXT)
        server.expect("tools/call", name="next").answer(content=TEXT)
        await client.call_tool("any", {"a": 1})
        await client.call_tool("next")
    first, second, other = requests_in(wire, "tools/call")
    assert first["id"] != second["id"]
    assert "inputResponses" not in first["params"]
    # "They MUST NOT be used for any other request."
    assert not {"inputResponses", "requestState"} & set(other["params"])


async def test_no_state_is_sent_where_none_came():
    async with talk(elicit=lambda _: {}) as (client, server, wire):
        server.expect("tools/call").answer(asks("first", a=form()))
        server.expect("tools/call").answer(asks(b=form()))
        server.expect("tools/call").answer(content=TEXT)
        await client.call_tool("any")
    third = requests_in(wire, "tools/call")[2]["params"]
    assert "requestState" not in third
    assert set(third["inputResponses"]) == {"b"}


async def test_a_state_without_questions_is_sent_back_at_once_and_then_with_patience(monkeypatch):
    waits = []

    async def note(wait_s):
        waits.append(wait_s)

    monkeypatch.setattr(calling.asyncio, "sleep", note)
    async with talk() as (client, server, wire):
        for _ in range(8):
            server.expect("tools/call").answer(asks("not yet"))
        server.expect("tools/call").answer(content=TEXT)
        await client.call_tool("any")
    assert waits == [0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    assert "inputResponses" not in requests_in(wire, "tools/call")[1]["params"]


async def test_a_server_that_asks_for_ever_is_given_up_before_the_person_is_asked_again():
    asked = 0

    def answer(_):
        nonlocal asked
        asked += 1
        return {}

    async with talk(elicit=answer) as (client, server, _):
        for _ in range(MAX_ROUNDS + 1):
            server.expect("tools/call").answer(asks("more", q=form()))
        with pytest.raises(InputNeededError, match=f"asked {MAX_ROUNDS + 1} times and was given up"):
            await client.call_tool("any")
    assert asked == MAX_ROUNDS


async def test_several_questions_are_answered_one_after_the_other():
    running = []

    async def answer(params):
        running.append(params.message)
        await asyncio.sleep(0)
        assert len(running) == 1
        running.clear()
        return {}

    async def open_page(_):
        return False

    async with talk(elicit=answer, elicit_url=open_page) as (client, server, wire):
        server.expect("prompts/get").answer(asks(a=form(), b=form(), c=link()))
        server.expect("prompts/get").answer(messages=[])
        await client.get_prompt("any")
    answers = requests_in(wire, "prompts/get")[1]["params"]["inputResponses"]
    assert {key: answer["action"] for key, answer in answers.items()} == {
        "a": "accept",
        "b": "accept",
        "c": "decline",
    }


async def test_questions_of_parallel_calls_do_not_mix():
    async def answer(params):
        await asyncio.sleep(0.01)
        return {"echo": params.message}

    def question(word):
        return {
            "method": "elicitation/create",
            "params": {"message": word, "requestedSchema": {"type": "object", "properties": {}}},
        }

    server = scripted_server(ordered=False)
    words = [f"w{number}" for number in range(20)]
    for word in words:
        server.expect(
            "tools/call",
            name=word,
            requestState=word,
            inputResponses={word: {"action": "accept", "content": {"echo": word}}},
        ).answer(content=[{"type": "text", "text": word}])
    for word in words:
        server.expect("tools/call", name=word).answer(asks(word, **{word: question(word)}))
    async with talk(server, elicit=answer) as (client, _, _):
        results = await asyncio.gather(*(client.call_tool(word) for word in words))
    assert [result.text for result in results] == words


async def test_a_question_without_its_function_names_the_argument():
    async with talk() as (client, server, _):
        server.expect("tools/call").answer(asks("state", q=form()))
        with pytest.raises(InputNeededError, match=r"elicit=…"):
            await client.call_tool("any")


async def test_an_answer_that_does_not_fit_is_never_sent():
    async with talk(elicit=lambda _: {"n": "x"}) as (client, server, _):
        server.expect("tools/call").answer(asks(q=form({"n": {"type": "integer"}})))
        with pytest.raises(UsageError, match="does not fit the form"):
            await client.call_tool("any")


async def test_the_clock_does_not_run_while_a_person_is_asked():
    async def think(_):
        await asyncio.sleep(0.3)
        return {}

    async with talk(elicit=think, timeout_s=0.2) as (client, server, _):
        server.expect("tools/call").answer(asks("s", q=form()))
        server.expect("tools/call").answer(content=TEXT)
        assert (await client.call_tool("any")).text == "done"


async def test_a_method_that_may_not_ask_is_refused():
    async with talk(elicit=lambda _: {}) as (client, server, _):
        server.expect("tools/list").answer(asks("s", q=form()))
        with pytest.raises(
            InvalidResultError, match="a scripted server: tools/list was answered with input_req"
        ):
            await client.list_tools()


async def test_asking_for_nothing_is_refused():
    async with talk() as (client, server, _):
        server.expect("tools/call").answer(asks())
        with pytest.raises(InvalidResultError, match="neither inputRequests nor requestState"):
            await client.call_tool("any")


async def test_an_unknown_kind_of_result_is_refused():
    async with talk() as (client, server, _):
        server.expect("tools/call").answer(resultType="surprise")
        with pytest.raises(InvalidResultError, match="unknown resultType 'surprise'"):
            await client.call_tool("any")


async def test_a_closed_client_refuses_calls():
    server = scripted_server()
    client = await Client.connect(server)
    await client.aclose()
    with pytest.raises(ClosedError, match="the client is closed"):
        await client.call_tool("any")
