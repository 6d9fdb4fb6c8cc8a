import asyncio
from typing import Annotated

import msgspec
import pytest

from mesero.legacy.questions import UnansweredError
from mesero.server import Context, ToolError
from mesero.types import InputRequest
from tests.legacy.session_talk import EVERYTHING, HANDSHAKE_REVISIONS, in_session
from tests.server.talking import quiet_server

OLDEST, MARCH, JUNE, NOVEMBER = HANDSHAKE_REVISIONS
ACCEPTED = {"action": "accept", "content": {"name": "Ana"}}


class Person(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(description="Yours")]


def curious_server():
    """Its tools ask, and count how often they ran."""
    server = quiet_server()
    server.runs = []
    server.caught = []

    @server.tool
    async def greet(ctx: Context) -> str:
        server.runs.append("greet")
        answer = await ctx.elicit("Who are you?", Person)
        return f"Hello, {answer.content.name}" if answer.is_accepted else answer.action

    @server.tool
    async def visit(ctx: Context) -> str:
        return (await ctx.elicit_url("Please look", "https://example.com/")).action

    @server.tool
    async def think(ctx: Context) -> str:
        return (await ctx.sample("2 + 2?")).content.text

    @server.tool
    async def where(ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    @server.tool
    async def try_it(ctx: Context) -> str:
        try:
            await ctx.elicit("Sure?")
        except ToolError as error:
            server.caught.append(error)
        return "went on"

    @server.tool
    async def hurry(ctx: Context) -> str:
        try:
            async with asyncio.timeout(0.01):
                await ctx.elicit("Quick!")
        except TimeoutError:
            return "too late"
        return "in time"

    @server.tool
    async def count(ctx: Context) -> list[int]:
        made = []

        async def make():
            made.append(len(made))
            return made

        first = await ctx.once("it", make)
        await ctx.elicit("Go on?")
        return [*first, len(made)]

    @server.tool
    def in_a_thread(ctx: Context) -> str:
        return ctx.wait_for(ctx.elicit("Sure?")).action

    return server


def call(talk, name):
    request = talk.request("tools/call", {"name": name})
    talk.send(request)
    return request


async def text_of(talk, request):
    return (await talk.answer_to(request))["result"]["content"][0]["text"]


@pytest.mark.parametrize("revision", [JUNE, NOVEMBER])
async def test_a_handler_waits_for_the_answer_and_runs_once(revision):
    server = curious_server()
    async with in_session(server, revision) as talk:
        request = call(talk, "greet")
        question = await talk.question("elicitation/create")
        assert question["params"]["message"] == "Who are you?"
        assert ("mode" in question["params"]) is (revision == NOVEMBER)
        talk.reply(question, ACCEPTED)
        assert await text_of(talk, request) == "Hello, Ana"
    assert server.runs == ["greet"]


async def test_a_question_can_be_asked_from_a_thread():
    async with in_session(curious_server()) as talk:
        request = call(talk, "in_a_thread")
        talk.reply(await talk.question("elicitation/create"), {"action": "decline"})
        assert await text_of(talk, request) == "decline"


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_the_model_and_the_roots_of_the_client_are_asked_in_every_revision(revision):
    async with in_session(curious_server(), revision) as talk:
        thinking, looking = call(talk, "think"), call(talk, "where")
        talk.reply(await talk.question("roots/list"), {"roots": [{"uri": "file:///home"}]})
        sampled = {"role": "assistant", "content": {"type": "text", "text": "4"}, "model": "m"}
        talk.reply(await talk.question("sampling/createMessage"), sampled)
        assert await text_of(talk, thinking) == "4"
        assert "file:///home" in await text_of(talk, looking)


async def test_questions_of_several_calls_wait_side_by_side_and_find_their_own_answers():
    async with in_session(curious_server()) as talk:
        requests = [call(talk, "greet") for _ in range(5)]
        await talk.question("elicitation/create", 4)
        questions = [await talk.question("elicitation/create", number) for number in range(5)]
        assert len({question["id"] for question in questions}) == 5
        for number in (3, 0, 4, 1, 2):
            talk.reply(questions[number], {"action": "accept", "content": {"name": f"N{number}"}})
        assert [await text_of(talk, request) for request in requests] == [f"Hello, N{n}" for n in range(5)]


async def test_other_requests_are_served_while_a_question_is_open():
    async with in_session(curious_server()) as talk:
        request = call(talk, "greet")
        question = await talk.question("elicitation/create")
        assert await talk.result("ping") == {}
        talk.reply(question, ACCEPTED)
        await talk.answer_to(request)


async def test_a_second_answer_to_the_same_question_is_dropped():
    async with in_session(curious_server()) as talk:
        request = call(talk, "greet")
        question = await talk.question("elicitation/create")
        talk.reply(question, ACCEPTED)
        talk.reply(question, {"action": "cancel"})
        assert await text_of(talk, request) == "Hello, Ana"


async def test_a_client_that_refuses_fails_the_tool_in_words():
    async with in_session(curious_server()) as talk:
        request = call(talk, "think")
        question = await talk.question("sampling/createMessage")
        talk.reply(question, error={"code": -1, "message": "User rejected sampling request"})
        result = (await talk.answer_to(request))["result"]
        assert result["isError"] is True
        assert "User rejected sampling request (-1)" in result["content"][0]["text"]


async def test_a_handler_can_go_on_without_an_answer():
    server = curious_server()
    async with in_session(server) as talk:
        request = call(talk, "try_it")
        error = {"code": -32601, "message": "no", "data": [1]}
        talk.reply(await talk.question("elicitation/create"), error=error)
        assert await text_of(talk, request) == "went on"
    (caught,) = server.caught
    assert isinstance(caught, UnansweredError)
    assert (caught.code, caught.data) == (-32601, [1])


async def test_an_answer_that_does_not_fit_is_an_error_of_the_call():
    async with in_session(curious_server()) as talk:
        request = call(talk, "greet")
        talk.reply(await talk.question("elicitation/create"), {"action": "shrug"})
        assert (await talk.answer_to(request))["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("revision", "capabilities", "tool"),
    [
        (NOVEMBER, {}, "greet"),
        (NOVEMBER, {"elicitation": {}}, "visit"),
        (NOVEMBER, {"sampling": {}}, "where"),
        (JUNE, EVERYTHING[NOVEMBER], "visit"),
        (MARCH, EVERYTHING[NOVEMBER], "greet"),
        (OLDEST, {}, "think"),
    ],
)
async def test_what_the_client_did_not_declare_is_not_asked(revision, capabilities, tool):
    async with in_session(curious_server(), revision, capabilities) as talk:
        error = (await talk.answer_to(call(talk, tool)))["error"]
        assert error["code"] == -32600
        assert not [one for one in talk.said if "method" in one]


async def test_a_page_to_visit_is_identified_in_the_revision_that_has_them():
    async with in_session(curious_server(), NOVEMBER) as talk:
        request = call(talk, "visit")
        question = await talk.question("elicitation/create")
        assert question["params"]["mode"] == "url"
        assert question["params"]["elicitationId"]
        talk.reply(question, {"action": "accept"})
        assert await text_of(talk, request) == "accept"


async def test_an_empty_capability_means_forms():
    async with in_session(curious_server(), NOVEMBER, {"elicitation": {}}) as talk:
        request = call(talk, "greet")
        talk.reply(await talk.question("elicitation/create"), ACCEPTED)
        assert await text_of(talk, request) == "Hello, Ana"


async def test_a_thread_that_waits_is_let_go_when_its_call_is_cancelled():
    async with in_session(curious_server()) as talk:
        request = call(talk, "in_a_thread")
        question = await talk.question("elicitation/create")
        talk.cancel(request)
        (withdrawn,) = await talk.notified("notifications/cancelled")
        assert withdrawn["requestId"] == question["id"]


async def test_a_cancelled_call_stops_waiting_and_withdraws_its_question():
    async with in_session(curious_server()) as talk:
        request = call(talk, "greet")
        question = await talk.question("elicitation/create")
        talk.cancel(request)
        (withdrawn,) = await talk.notified("notifications/cancelled")
        assert withdrawn["requestId"] == question["id"]
        talk.reply(question, ACCEPTED)
        assert await talk.result("ping") == {}
        assert not [one for one in talk.said if one.get("id") == request["id"] and "method" not in one]


async def test_a_handler_that_gives_up_withdraws_its_question():
    async with in_session(curious_server()) as talk:
        request = call(talk, "hurry")
        question = await talk.question("elicitation/create")
        assert await text_of(talk, request) == "too late"
        assert talk.notifications("notifications/cancelled")[0]["requestId"] == question["id"]


async def test_a_client_that_never_answers_is_given_up_at_the_limit():
    async with in_session(curious_server()) as talk:
        talk.connection._session._answer_wait_s = 0.01
        request = call(talk, "greet")
        question = await talk.question("elicitation/create")
        assert "no answer within 0.01 s" in await text_of(talk, request)
        assert talk.notifications("notifications/cancelled")[0]["requestId"] == question["id"]


async def test_when_the_client_has_said_its_last_word_nobody_waits_for_its_answers():
    async with in_session(curious_server()) as talk:
        open_call = call(talk, "greet")
        await talk.question("elicitation/create")
        talk.connection.receive_eof()
        assert "ended before the client answered" in await text_of(talk, open_call)
        late = call(talk, "greet")
        assert "the session has ended" in await text_of(talk, late)


async def test_several_questions_of_one_call_are_asked_at_once():
    server = quiet_server()

    @server.tool
    async def both(ctx: Context) -> list[str]:
        first, second = await asyncio.gather(ctx.roots(), ctx.elicit("Sure?"))
        return [first[0].uri, second.action]

    async with in_session(server) as talk:
        request = call(talk, "both")
        sure = await talk.question("elicitation/create")
        talk.reply(await talk.question("roots/list"), {"roots": [{"uri": "file:///a"}]})
        talk.reply(sure, {"action": "cancel"})
        result = (await talk.answer_to(request))["result"]
        assert result["structuredContent"] == {"result": ["file:///a", "cancel"]}


async def test_one_refusal_withdraws_the_other_questions_of_the_round():
    server = quiet_server()

    @server.tool
    async def both(ctx: Context) -> int:
        question = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
        raw = msgspec.Raw(msgspec.json.encode(question))
        answers = await ctx.ask({key: InputRequest("elicitation/create", raw) for key in "abc"})
        return len(answers)

    async with in_session(server) as talk:
        request = call(talk, "both")
        last = await talk.question("elicitation/create", 2)
        talk.reply(last, error={"code": -5, "message": "no"})
        assert "no (-5)" in await text_of(talk, request)
        assert len(talk.notifications("notifications/cancelled")) == 2


async def test_no_questions_have_no_answers():
    server = quiet_server()

    @server.tool
    async def nothing(ctx: Context) -> int:
        return len(await ctx.ask({}))

    async with in_session(server) as talk:
        assert (await talk.answer_to(call(talk, "nothing")))["result"]["structuredContent"] == {"result": 0}


async def test_a_value_is_made_once():
    async with in_session(curious_server()) as talk:
        request = call(talk, "count")
        talk.reply(await talk.question("elicitation/create"), {"action": "accept", "content": {}})
        result = (await talk.answer_to(request))["result"]
        assert result["structuredContent"] == {"result": [0, 1]}
