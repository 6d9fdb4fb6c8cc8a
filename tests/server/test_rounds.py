import asyncio

import pytest

from mesero.server import Context
from tests.server.talking import ACCEPTED, EVERYTHING, quiet_server, talking

FORM = {"type": "object", "properties": {}}


def accept(**content):
    return {"action": "accept", "content": content}


def asking_server(**options):
    """Asks for a name and then for a sum, and counts how often it ran."""
    server = quiet_server(**options)
    server.runs = 0

    @server.tool
    async def pay(shop: str, ctx: Context) -> str:
        server.runs += 1
        name = await ctx.elicit("Your name?", {"type": "object", "properties": {"name": {"type": "string"}}})
        amount = await ctx.elicit("How much?", key="amount")
        return f"{name.content['name']} pays {amount.content['euro']} at {shop}"

    return server


async def test_several_questions_are_asked_one_round_after_the_other():
    server = asking_server()
    async with talking(server, EVERYTHING) as talk:
        first = await talk.call("pay", {"shop": "bakery"})
        assert first["resultType"] == "input_required"
        assert first["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "testing"
        (key,) = first["inputRequests"]
        assert key == "elicitation/create-1"
        assert first["inputRequests"][key]["params"]["message"] == "Your name?"
        second = await talk.call(
            "pay",
            {"shop": "bakery"},
            inputResponses={key: accept(name="Ana")},
            requestState=first["requestState"],
        )
        assert list(second["inputRequests"]) == ["amount"]
        third = await talk.call(
            "pay",
            {"shop": "bakery"},
            inputResponses={"amount": accept(euro=3)},
            requestState=second["requestState"],
        )
    assert third["resultType"] == "complete"
    assert third["content"][0]["text"] == "Ana pays 3 at bakery"
    assert server.runs == 3


async def test_answers_without_a_state_are_accepted():
    server = asking_server()
    answers = {"elicitation/create-1": accept(name="Ana"), "amount": accept(euro=3)}
    async with talking(server, EVERYTHING) as talk:
        result = await talk.call("pay", {"shop": "bakery"}, inputResponses=answers)
    assert result["content"][0]["text"] == "Ana pays 3 at bakery"


async def test_a_missing_answer_is_asked_for_again_and_an_unknown_one_is_ignored_and_not_carried():
    server = asking_server()
    async with talking(server, EVERYTHING) as talk:
        first = await talk.call(
            "pay", {"shop": "bakery"}, inputResponses={"wrong": accept(), "amount": accept(euro=1)}
        )
        assert list(first["inputRequests"]) == ["elicitation/create-1"]
        answers = {"elicitation/create-1": accept(name="Ana")}
        second = await talk.call(
            "pay", {"shop": "bakery"}, inputResponses=answers, requestState=first["requestState"]
        )
    # The answer that came before its question was not remembered.
    assert list(second["inputRequests"]) == ["amount"]


@pytest.mark.parametrize("bad", [None, 5, [], "x"])
async def test_malformed_answers_are_an_error(bad):
    async with talking(asking_server(), EVERYTHING) as talk:
        error = await talk.call_error("pay", {"shop": "a"}, inputResponses=bad)
    assert error["code"] == -32602


@pytest.mark.parametrize("bad", [12345, None, {"action": "maybe"}, {"content": {}}, []])
async def test_a_malformed_answer_is_an_error(bad):
    async with talking(asking_server(), EVERYTHING) as talk:
        error = await talk.call_error("pay", {"shop": "a"}, inputResponses={"elicitation/create-1": bad})
    assert error["code"] == -32602
    assert "elicitation/create-1" in error["message"]


@pytest.mark.parametrize("state", [1, None, {}])
async def test_a_state_that_is_no_text_is_an_error(state):
    async with talking(asking_server(), EVERYTHING) as talk:
        error = await talk.call_error("pay", {"shop": "a"}, requestState=state)
    assert error["code"] == -32602


async def test_a_state_of_other_parameters_or_another_tool_does_not_open():
    server = asking_server()

    @server.tool
    async def other(shop: str) -> str:
        return "not reached"

    async with talking(server, EVERYTHING) as talk:
        state = (await talk.call("pay", {"shop": "bakery"}))["requestState"]
        for name, shop in (("pay", "bank"), ("other", "bakery")):
            error = await talk.call_error(name, {"shop": shop}, requestState=state)
            assert error["code"] == -32602
            assert "start the operation again" in error["message"]
    assert server.runs == 1


async def test_a_state_opens_on_any_replica_with_the_same_keys():
    old, new = b"o" * 32, b"n" * 32
    here, there = asking_server(state_keys=[old]), asking_server(state_keys=[new, old])
    answers = {"elicitation/create-1": accept(name="Ana")}
    async with talking(here, EVERYTHING) as talk:
        first = await talk.call("pay", {"shop": "b"})
    async with talking(there, EVERYTHING) as talk:
        second = await talk.call(
            "pay", {"shop": "b"}, inputResponses=answers, requestState=first["requestState"]
        )
    assert list(second["inputRequests"]) == ["amount"]
    async with talking(asking_server(), EVERYTHING) as talk:
        error = await talk.call_error("pay", {"shop": "b"}, requestState=first["requestState"])
    assert error["code"] == -32602


async def test_several_questions_may_share_a_round():
    server = quiet_server()

    @server.tool
    async def both(ctx: Context) -> str:
        from mesero.types import ElicitFormParams, ListRootsParams, decode_input_response, input_request_from

        answers = await ctx.ask(
            {
                "sure": input_request_from(ElicitFormParams("Sure?", FORM)),
                "where": input_request_from(ListRootsParams()),
            }
        )
        roots = decode_input_response("roots/list", answers["where"]).roots
        return f"{decode_input_response('elicitation/create', answers['sure']).action} {roots[0].uri}"

    async with talking(server, EVERYTHING) as talk:
        first = await talk.call("both")
        assert {key: one["method"] for key, one in first["inputRequests"].items()} == {
            "sure": "elicitation/create",
            "where": "roots/list",
        }
        partly = await talk.call(
            "both",
            inputResponses={"where": {"roots": [{"uri": "file:///a"}]}},
            requestState=first["requestState"],
        )
        assert list(partly["inputRequests"]) == ["sure"]
        last = await talk.call("both", inputResponses={"sure": ACCEPTED}, requestState=partly["requestState"])
    assert last["content"][0]["text"] == "accept file:///a"


async def test_a_value_made_once_is_carried_through_the_rounds():
    server = quiet_server()
    made = []

    @server.tool
    async def order(ctx: Context) -> str:
        async def number():
            made.append(1)
            return {"number": len(made), "when": (1, 2)}

        ticket = await ctx.once("ticket", number)
        plain = await ctx.once("plain", lambda: "p")
        await ctx.elicit("Sure?")
        again = await ctx.once("ticket", number)
        assert again == ticket
        return f"{ticket} {plain}"

    async with talking(server, EVERYTHING) as talk:
        first = await talk.call("order")
        answers = {"elicitation/create-1": ACCEPTED}
        last = await talk.call("order", inputResponses=answers, requestState=first["requestState"])
    assert last["content"][0]["text"] == "{'number': 1, 'when': [1, 2]} p"
    assert made == [1]


@pytest.mark.parametrize("value", [float("nan"), object()])
async def test_a_value_without_a_json_form_cannot_be_carried(value):
    server = quiet_server()

    @server.tool
    async def order(ctx: Context) -> str:
        return str(await ctx.once("value", lambda: value))

    async with talking(server, EVERYTHING) as talk:
        assert (await talk.call("order"))["isError"] is True


async def test_a_state_larger_than_the_limit_is_an_error_of_the_server():
    server = quiet_server()

    @server.tool
    async def big(ctx: Context) -> str:
        await ctx.once("big", lambda: "x" * 40_000)
        return (await ctx.elicit("Sure?")).action

    async with talking(server, EVERYTHING) as talk:
        error = await talk.call_error("big")
    assert error["code"] == -32603
    assert "keep it in a store" in error["message"]


async def test_a_handler_cannot_swallow_the_end_of_its_round():
    server = quiet_server()
    steps = []

    @server.tool
    async def stubborn(ctx: Context) -> str:
        for _ in range(3):
            try:
                await ctx.elicit("Sure?", key="sure")
            except BaseException:  # noqa: BLE001
                steps.append("swallowed")
                break
        await ctx.report_progress(1)
        await ctx.log("error", "too late")
        steps.append("went on")
        return "not sent"

    async with talking(server, EVERYTHING) as talk:
        from tests.server.talking import meta

        metadata = meta(
            capabilities=EVERYTHING, progressToken=1, **{"io.modelcontextprotocol/logLevel": "debug"}
        )
        result = await talk.call("stubborn", metadata=metadata)
        await talk.settle()
        assert result["resultType"] == "input_required"
        assert len(talk.said) == 1
    assert steps == ["swallowed", "went on"]


async def test_a_handler_that_asks_again_after_its_round_is_left_waiting_without_a_second_answer():
    server = quiet_server()
    times = []

    @server.tool
    async def stubborn(ctx: Context) -> str:
        while len(times) < 3:
            try:
                await ctx.elicit("Sure?")
            except asyncio.CancelledError:
                times.append(1)
        return "not sent"

    async with talking(server, EVERYTHING) as talk:
        request = talk.request("tools/call", {"name": "stubborn"})
        talk.send(request)
        await talk.answer_to(request)
        await talk.settle()
        assert len(times) == 1
        assert len(talk.said) == 1
        # It still hears the end of the connection.
        for _ in range(2):
            await asyncio.wait_for(talk.settle(), 1)
            for task in tuple(talk.connection._tasks):
                task.cancel()
        await talk.settle()
    assert len(times) == 3


async def test_the_finally_blocks_of_an_abandoned_handler_run():
    server = quiet_server()
    cleaned = asyncio.Event()

    @server.tool
    async def careful(ctx: Context) -> str:
        try:
            return (await ctx.elicit("Sure?")).action
        finally:
            await asyncio.sleep(0)
            cleaned.set()

    async with talking(server, EVERYTHING) as talk:
        await talk.call("careful")
        await asyncio.wait_for(cleaned.wait(), 5)
        await talk.settle()
        assert talk.connection.is_idle


async def test_questions_of_tasks_within_a_handler_end_its_round_too():
    server = quiet_server()

    @server.tool
    async def both(ctx: Context) -> str:
        answers = await asyncio.gather(ctx.elicit("One?", key="one"), ctx.elicit("Two?", key="two"))
        return " ".join(answer.action for answer in answers)

    async with talking(server, EVERYTHING) as talk:
        first = await talk.call("both")
        assert list(first["inputRequests"]) == ["one"]
        last = await talk.call("both", inputResponses={"one": ACCEPTED, "two": {"action": "decline"}})
    assert last["content"][0]["text"] == "accept decline"


async def test_prompts_and_resources_ask_as_well():
    server = quiet_server()

    @server.prompt
    async def greet(ctx: Context) -> str:
        return (await ctx.elicit("Name?", key="name")).action

    @server.resource("notes://secret")
    async def secret(ctx: Context) -> str:
        return (await ctx.elicit("Sure?", key="name")).action

    async with talking(server, EVERYTHING) as talk:
        for method, params in (
            ("prompts/get", {"name": "greet"}),
            ("resources/read", {"uri": "notes://secret"}),
        ):
            first = await talk.result(method, params)
            assert first["resultType"] == "input_required"
            assert "ttlMs" not in first
            answers = {
                "inputResponses": {"name": {"action": "cancel"}},
                "requestState": first["requestState"],
            }
            last = await talk.result(method, {**params, **answers})
            assert last["resultType"] == "complete"
            assert "cancel" in str(last)
