import asyncio
import enum
import threading
from dataclasses import dataclass
from typing import Annotated

import msgspec
import pydantic
import pytest

from mesero.server import Context
from mesero.types import SamplingMessage, TextContent, Tool
from tests.server.talking import EVERYTHING, PREFIX, meta, quiet_server, talking

LOG_LEVEL = f"{PREFIX}logLevel"


async def outcome(handler, *, capabilities=EVERYTHING, metadata=None, **params):
    """What a client is told by a tool with this handler: the answer, and the notifications."""
    server = quiet_server()
    server.tool(name="tool")(handler)
    metadata = meta(capabilities=capabilities) if metadata is None else metadata
    async with talking(server) as talk:
        answer = await talk.ask("tools/call", {"name": "tool", "arguments": {}, **params}, metadata=metadata)
        await talk.settle()
    return answer, [one for one in talk.said if "method" in one], server.lines


async def test_progress_is_told_under_the_clients_token_and_only_grows():
    async def work(ctx: Context) -> str:
        for step in (1, 0.5, 1, 2, float("nan")):
            await ctx.report_progress(step, 3, f"step {step}")
        return "done"

    answer, told, _ = await outcome(work, metadata=meta(progressToken="p"))
    assert answer["result"]["content"][0]["text"] == "done"
    assert [one["params"] for one in told] == [
        {"progressToken": "p", "progress": step, "total": 3, "message": f"step {step}"} for step in (1, 2)
    ]
    assert {one["method"] for one in told} == {"notifications/progress"}


async def test_progress_without_a_token_is_not_told():
    async def work(ctx: Context) -> str:
        await ctx.report_progress(1)
        return "done"

    assert (await outcome(work))[1] == []


async def test_nothing_is_told_after_the_end():
    kept = []

    async def work(ctx: Context) -> str:
        kept.append(ctx)
        await ctx.report_progress(1)
        return "done"

    server = quiet_server()
    server.tool(work)
    async with talking(server) as talk:
        metadata = meta(progressToken=1, **{LOG_LEVEL: "debug"})
        await talk.call("work", metadata=metadata)
        assert kept[0].cancelled is True
        await kept[0].report_progress(2)
        await kept[0].log("error", "late")
        with pytest.raises(ValueError, match="answered already"):
            await kept[0].elicit("Sure?")
        assert len(talk.said) == 2


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
async def test_progress_is_finite(value):
    async def work(ctx: Context) -> str:
        await ctx.report_progress(1, value)
        return "done"

    answer, told, _ = await outcome(work, metadata=meta(progressToken=1))
    assert answer["result"]["isError"] is True
    assert told == []


@pytest.mark.parametrize(
    ("level", "heard"),
    [(None, []), ("debug", ["debug", "warning", "error"]), ("warning", ["warning", "error"]), ("alert", [])],
)
async def test_a_client_hears_the_log_levels_that_its_request_asks_for(level, heard):
    async def work(ctx: Context) -> str:
        await ctx.log("debug", "a")
        await ctx.log("warning", {"b": 1}, logger="shop")
        await ctx.log("error", ["c"])
        return "done"

    _, told, lines = await outcome(work, metadata=meta(**{LOG_LEVEL: level}))
    assert [one["params"]["level"] for one in told] == heard
    assert lines == ["debug: a", 'warning: {"b":1}', 'error: ["c"]']
    if "warning" in heard:
        params = next(one["params"] for one in told if one["params"]["level"] == "warning")
        assert params == {"level": "warning", "data": {"b": 1}, "logger": "shop"}


async def test_a_log_level_that_does_not_exist_is_refused_in_a_request_and_in_a_handler():
    async def work(ctx: Context) -> str:
        await ctx.log("loud", "a")
        return "done"

    answer, _, _ = await outcome(work)
    assert "'loud' is no log level" in answer["result"]["content"][0]["text"]
    answer, _, _ = await outcome(work, metadata=meta(**{LOG_LEVEL: "loud"}))
    assert answer["error"]["code"] == -32602


async def test_a_handler_sees_what_the_client_of_this_request_says_of_itself():
    seen = {}

    async def work(ctx: Context) -> None:
        seen.update(
            info=ctx.client.info,
            revision=ctx.client.revision,
            roots=ctx.client.capabilities.roots,
            trace=ctx.trace,
            principal=ctx.principal,
            is_cancelled=ctx.cancelled,
        )

    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "baggage": "a=1"}
    await outcome(work, metadata=meta(capabilities={"roots": {}}, **trace))
    assert seen["info"].name == "test"
    assert seen["revision"] == "2026-07-28"
    assert seen["roots"] == {}
    assert seen["trace"] == trace
    assert seen["principal"] is None
    assert seen["is_cancelled"] is False
    await outcome(work, metadata=meta(**{f"{PREFIX}clientInfo": None}))
    assert seen["info"] is None
    assert seen["trace"] == {}


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Order:
    size: Size
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


class Address(pydantic.BaseModel):
    street: str


def answered(content):
    return {"inputResponses": {"elicitation/create-1": {"action": "accept", "content": content}}}


async def test_a_form_is_read_as_its_class():
    async def work(ctx: Context) -> str:
        answer = await ctx.elicit("What?", Order)
        assert answer.is_accepted
        return f"{answer.content!r}"

    answer, _, _ = await outcome(work, **answered({"size": "large"}))
    assert "Order(size=<Size.LARGE: 'large'>, count=1)" in answer["result"]["content"][0]["text"]
    answer, _, _ = await outcome(work, **answered({"size": "huge"}))
    assert answer["error"]["code"] == -32602
    assert "does not fit its form" in answer["error"]["message"]


async def test_a_form_may_be_a_pydantic_model():
    async def work(ctx: Context) -> str:
        return (await ctx.elicit("Where?", Address)).content.street

    answer, _, _ = await outcome(work)
    assert answer["result"]["inputRequests"]["elicitation/create-1"]["params"]["requestedSchema"] == {
        "type": "object",
        "properties": {"street": {"title": "Street", "type": "string"}},
        "required": ["street"],
    }
    answer, _, _ = await outcome(work, **answered({"street": "Main St"}))
    assert answer["result"]["content"][0]["text"] == "Main St"
    answer, _, _ = await outcome(work, **answered({}))
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_may_say_no(action):
    async def work(ctx: Context) -> str:
        answer = await ctx.elicit("Sure?", Order)
        assert answer.content is None
        assert not answer.is_accepted
        return answer.action

    answer, _, _ = await outcome(work, inputResponses={"elicitation/create-1": {"action": action}})
    assert answer["result"]["content"][0]["text"] == action


async def test_a_plain_yes_has_an_empty_form():
    async def work(ctx: Context) -> str:
        return str((await ctx.elicit("Sure?")).content)

    answer, _, _ = await outcome(work)
    params = answer["result"]["inputRequests"]["elicitation/create-1"]["params"]
    assert params == {
        "mode": "form",
        "message": "Sure?",
        "requestedSchema": {"type": "object", "properties": {}},
    }
    answer, _, _ = await outcome(work, inputResponses={"elicitation/create-1": {"action": "accept"}})
    assert answer["result"]["content"][0]["text"] == "{}"


async def test_a_user_may_be_sent_to_a_url():
    async def work(ctx: Context) -> str:
        return (await ctx.elicit_url("Log in", "https://example.com/login", key="login")).action

    answer, _, _ = await outcome(work)
    assert answer["result"]["inputRequests"]["login"]["params"] == {
        "mode": "url",
        "message": "Log in",
        "url": "https://example.com/login",
    }
    answer, _, _ = await outcome(work, inputResponses={"login": {"action": "accept"}})
    assert answer["result"]["content"][0]["text"] == "accept"


async def test_the_clients_model_may_be_asked():
    async def work(ctx: Context) -> str:
        answer = await ctx.sample("Capital of France?", max_tokens=9, systemPrompt="Be brief.")
        return answer.content.text

    answer, _, _ = await outcome(work)
    request = answer["result"]["inputRequests"]["sampling/createMessage-1"]
    assert request == {
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "Capital of France?"}}],
            "maxTokens": 9,
            "systemPrompt": "Be brief.",
        },
    }
    said = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
    answer, _, _ = await outcome(work, inputResponses={"sampling/createMessage-1": said})
    assert answer["result"]["content"][0]["text"] == "Paris"


async def test_roots_may_be_asked_for():
    async def work(ctx: Context) -> str:
        return (await ctx.roots())[0].uri

    answer, _, _ = await outcome(work)
    assert answer["result"]["inputRequests"] == {"roots/list-1": {"method": "roots/list"}}
    answer, _, _ = await outcome(work, inputResponses={"roots/list-1": {"roots": [{"uri": "file:///a"}]}})
    assert answer["result"]["content"][0]["text"] == "file:///a"


async def form(ctx: Context) -> str:
    return (await ctx.elicit("Sure?")).action


async def url(ctx: Context) -> str:
    return (await ctx.elicit_url("Go", "https://example.com")).action


async def model(ctx: Context) -> str:
    return (await ctx.sample([SamplingMessage("user", TextContent("hi"))])).model


async def model_with_tools(ctx: Context) -> str:
    return (await ctx.sample("hi", tools=[Tool("t", {"type": "object"})])).model


async def places(ctx: Context) -> str:
    return str(await ctx.roots())


@pytest.mark.parametrize(
    ("handler", "declared", "missing"),
    [
        (form, {}, {"elicitation": {"form": {}}}),
        (form, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        (url, {"elicitation": {}}, {"elicitation": {"url": {}}}),
        (model, {"roots": {}}, {"sampling": {}}),
        (model_with_tools, {"sampling": {}}, {"sampling": {"tools": {}}}),
        (places, {"sampling": {}}, {"roots": {}}),
    ],
)
async def test_what_the_client_did_not_declare_is_not_asked(handler, declared, missing):
    answer, _, _ = await outcome(handler, capabilities=declared)
    assert answer["error"]["code"] == -32021
    assert answer["error"]["data"] == {"requiredCapabilities": missing}


@pytest.mark.parametrize(
    ("handler", "declared"),
    [(form, {"elicitation": {}}), (model, {"sampling": {}}), (model_with_tools, EVERYTHING)],
)
async def test_what_the_client_declared_is_asked(handler, declared):
    answer, _, _ = await outcome(handler, capabilities=declared)
    assert answer["result"]["resultType"] == "input_required"


async def test_a_question_that_the_protocol_does_not_have_is_the_handlers_mistake():
    from mesero.types import InputRequest

    async def work(ctx: Context) -> str:
        return str(await ctx.ask({"a": InputRequest("tools/list")}))

    answer, _, _ = await outcome(work)
    assert "this question cannot be asked: tools/list" in answer["result"]["content"][0]["text"]


async def test_nothing_can_be_asked_where_no_rounds_are():
    server = quiet_server()

    @server.prompt
    async def greet(name: str) -> str:
        return name

    problems = []

    @server.completion("greet", "name")
    async def names(value: str, ctx: Context) -> list[str]:
        for ask in (ctx.elicit("Sure?"), ctx.once("a", lambda: 1)):
            with pytest.raises(ValueError, match="nowhere else") as caught:
                await ask
            problems.append(caught.value)
        return []

    async with talking(server, EVERYTHING) as talk:
        ref = {"type": "ref/prompt", "name": "greet"}
        await talk.result("completion/complete", {"ref": ref, "argument": {"name": "name", "value": ""}})
    assert len(problems) == 2


async def test_a_plain_function_in_a_thread_tells_and_asks():
    def work(ctx: Context) -> str:
        ctx.wait_for(ctx.report_progress(1))
        return ctx.wait_for(ctx.elicit("Sure?")).action

    answer, told, _ = await outcome(
        work,
        metadata=meta(capabilities=EVERYTHING, progressToken=1),
        inputResponses={"elicitation/create-1": {"action": "accept"}},
    )
    assert answer["result"]["content"][0]["text"] == "accept"
    assert [one["params"]["progress"] for one in told] == [1]


async def test_the_end_of_a_round_lets_the_thread_go():
    ended = threading.Event()
    seen = []

    def work(ctx: Context) -> str:
        try:
            return ctx.wait_for(ctx.elicit("Sure?")).action
        except BaseException as error:
            seen.append((type(error), ctx.cancelled))
            raise
        finally:
            ended.set()

    answer, _, _ = await outcome(work)
    assert answer["result"]["resultType"] == "input_required"
    assert await asyncio.to_thread(ended.wait, 5)
    assert seen == [(asyncio.CancelledError, True)]


async def test_a_thread_that_swallows_the_end_cannot_ask_again():
    ended = threading.Event()
    seen = []

    def work(ctx: Context) -> str:
        for _ in range(3):
            try:
                ctx.wait_for(ctx.elicit("Sure?"))
            except BaseException as error:  # noqa: BLE001
                seen.append(type(error))
        ended.set()
        return "not sent"

    answer, _, _ = await outcome(work)
    assert answer["result"]["resultType"] == "input_required"
    assert await asyncio.to_thread(ended.wait, 5)
    assert seen == [asyncio.CancelledError] * 3


async def test_a_cancelled_thread_that_waits_is_let_go():
    server = quiet_server()
    started, ended = threading.Event(), threading.Event()

    @server.tool
    def work(ctx: Context) -> str:
        started.set()
        try:
            ctx.wait_for(asyncio.sleep(60))
        finally:
            ended.set()
        return "not sent"

    async with talking(server) as talk:
        request = talk.request("tools/call", {"name": "work", "arguments": {}})
        talk.send(request)
        assert await asyncio.to_thread(started.wait, 5)
        talk.cancel(request)
        assert await asyncio.to_thread(ended.wait, 5)
        assert talk.said == []


async def test_an_error_inside_of_wait_for_reaches_the_function():
    def work(ctx: Context) -> str:
        with pytest.raises(ValueError, match="is no log level"):
            ctx.wait_for(ctx.log("loud", "a"))
        return "caught"

    answer, _, _ = await outcome(work)
    assert answer["result"]["content"][0]["text"] == "caught"


async def test_wait_for_is_refused_where_it_would_block_the_loop():
    async def work(ctx: Context) -> str:
        ctx.wait_for(ctx.report_progress(1))
        return "not reached"

    answer, _, _ = await outcome(work)
    assert "in the event loop, await" in answer["result"]["content"][0]["text"]
