"""Answering what the server asks: each question once, at any time, with the error that it deserves."""

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesero.errors import CallTimeoutError, ClosedError, RpcError
from mesero.legacy import answering
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from mesero.types import CreateMessageResult, ElicitResult, TextContent
from tests.legacy.scripted import CALL, TEXT, Script, open_session
from tests.transports.children import until

FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 9}


async def say_hello(_):
    return "hello"


ASKED = {"elicit": lambda _: {"name": "Ada"}, "sample": say_hello, "roots": ["file:///a"]}
QUESTIONS = {
    "ping": ({}, {}),
    "roots/list": ({}, {"roots": [{"uri": "file:///a"}]}),
    "sampling/createMessage": (SAMPLE, None),
    "elicitation/create": (FORM, {"action": "accept", "content": {"name": "Ada"}}),
}


async def ask(server, request_id, method, **params):
    server.side.ask(request_id, method, **params)
    await until(lambda: request_id in server.answers)
    return server.answers[request_id]


# --- answers ---


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_every_question_of_a_revision_is_answered_in_its_shape(revision):
    async with open_session(Script(revision), asked=ASKED) as (_, server):
        for method, (params, expected) in QUESTIONS.items():
            if method == "elicitation/create" and revision < "2025-06-18":
                continue
            answer = await ask(server, method, method, **params)
            assert check_message(revision, answer, answers=method) == []
            assert expected is None or answer["result"] == expected


async def test_a_whole_sampling_result_is_sent_in_the_shape_of_the_revision():
    async def sample(_):
        blocks = [TextContent("one"), TextContent("two")]
        return CreateMessageResult(role="assistant", content=blocks, model="m")

    async with open_session(Script("2025-06-18"), asked={"sample": sample}) as (_, server):
        answer = await ask(server, 1, "sampling/createMessage", **SAMPLE)
    assert answer["result"]["content"] == {"type": "text", "text": "one\ntwo"}


async def test_a_person_may_decline_or_turn_away():
    answers = iter([None, ElicitResult("cancel")])
    async with open_session(asked={"elicit": lambda _: next(answers)}) as (_, server):
        assert (await ask(server, 1, "elicitation/create", **FORM))["result"] == {"action": "decline"}
        assert (await ask(server, 2, "elicitation/create", **FORM))["result"] == {"action": "cancel"}


async def test_ping_is_answered_with_nothing_while_everything_else_waits():
    never = asyncio.Event()
    async with open_session(
        Script(tools__call=lambda *_: None), asked={"elicit": lambda _: never.wait()}
    ) as (
        caller,
        server,
    ):
        call = asyncio.create_task(caller.call(CALL, {"name": "slow"}))
        await server.wait_for("tools/call")
        server.side.ask("form", "elicitation/create", **FORM)
        assert (await ask(server, "alive?", "ping"))["result"] == {}
        assert "form" not in server.answers
        call.cancel()
        await asyncio.wait({call})


# --- refusals ---


@pytest.mark.parametrize("method", ["roots/list", "sampling/createMessage", "elicitation/create"])
async def test_a_capability_that_was_never_declared_is_method_not_found_and_the_session_goes_on(method):
    async with open_session() as (caller, server):
        answer = await ask(server, 7, method, **QUESTIONS[method][0])
        assert answer["error"]["code"] == -32601
        assert method.split("/")[0] in answer["error"]["message"]
        await caller.ping()


@pytest.mark.parametrize("method", ["tools/list", "no/such", "tasks/get"])
async def test_what_no_client_answers_is_method_not_found(method):
    async with open_session(asked=ASKED) as (_, server):
        assert (await ask(server, 7, method))["error"]["code"] == -32601


async def test_what_a_younger_revision_brought_is_method_not_found_in_an_older_one():
    async with open_session(Script("2025-03-26"), asked=ASKED) as (_, server):
        assert (await ask(server, 7, "elicitation/create", **FORM))["error"]["code"] == -32601


async def test_a_mode_that_was_never_declared_is_invalid_params():
    page = {"mode": "url", "message": "Go", "url": "https://example.com", "elicitationId": "e"}
    async with open_session(asked=ASKED) as (_, server):
        answer = await ask(server, 7, "elicitation/create", **page)
    assert answer["error"]["code"] == -32602


async def test_a_malformed_question_is_invalid_params():
    async with open_session(asked=ASKED) as (_, server):
        answer = await ask(server, 7, "sampling/createMessage", messages="none")
    assert answer["error"]["code"] == -32602
    assert "malformed" in answer["error"]["message"]


async def test_a_function_may_answer_with_an_error_of_its_own():
    def refuse(_):
        raise RpcError("User rejected sampling request", code=-1)

    async with open_session(asked={"sample": refuse}) as (_, server):
        answer = await ask(server, 7, "sampling/createMessage", **SAMPLE)
    assert answer["error"] == {"code": -1, "message": "User rejected sampling request"}


async def test_a_function_that_fails_is_an_internal_error_that_tells_nothing(caplog):
    def fail(_):
        raise RuntimeError("secret")

    async with open_session(asked={"elicit": fail}) as (caller, server):
        answer = await ask(server, 7, "elicitation/create", **FORM)
        await caller.ping()
    assert answer["error"]["code"] == -32603
    assert "secret" not in answer["error"]["message"]
    assert "secret" in caplog.text


async def test_an_answer_that_does_not_fit_the_form_is_never_sent():
    async with open_session(asked={"elicit": lambda _: {"name": 1}}) as (_, server):
        answer = await ask(server, 7, "elicitation/create", **FORM)
    assert answer["error"]["code"] == -32603


async def test_an_id_that_is_in_flight_already_is_refused_and_the_first_question_is_answered():
    go = asyncio.Event()

    async def fill(_):
        await go.wait()
        return {"name": "Ada"}

    async with open_session(asked={"elicit": fill}) as (_, server):
        server.side.ask(7, "elicitation/create", **FORM)
        server.side.ask(7, "ping")
        await server.wait_for("answer")
        go.set()
        await server.wait_for("answer", 2)
    first, second = server.sent("answer")
    assert first["error"]["code"] == -32600
    assert second["result"]["action"] == "accept"


async def test_a_server_that_asks_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(answering, "_MAX_OPEN", 2)
    never = asyncio.Event()
    async with open_session(asked={"elicit": lambda _: never.wait()}) as (_, server):
        for number in range(3):
            server.side.ask(number, "elicitation/create", **FORM)
        await until(lambda: 2 in server.answers)
    assert server.answers[2]["error"]["code"] == -32603


async def test_a_server_that_floods_us_is_not_answered_any_more(monkeypatch):
    monkeypatch.setattr(answering, "_MAX_TASKS", 2)
    never = asyncio.Event()
    async with open_session(asked={"elicit": lambda _: never.wait()}) as (caller, server):
        for number in range(2):
            server.side.ask(number, "elicitation/create", **FORM)
        server.side.ask(2, "ping")
        await caller.ping()
        assert server.answers == {}
        server.side.note("notifications/cancelled", requestId=0)
        await caller.ping()
        server.side.ask(3, "ping")
        await until(lambda: 3 in server.answers)


# --- its end ---


async def test_a_question_that_the_server_took_back_is_not_answered():
    started, ended = asyncio.Event(), asyncio.Event()

    async def fill(_):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with open_session(asked={"elicit": fill}) as (caller, server):
        server.side.ask(1, "elicitation/create", **FORM)
        await started.wait()
        server.side.note("notifications/cancelled", requestId=99)
        server.side.note("notifications/cancelled", requestId=1, reason="too slow")
        await asyncio.wait_for(ended.wait(), 5)
        await caller.ping()
    assert 1 not in server.answers


async def test_a_cancellation_by_the_server_does_not_touch_a_call_of_ours_with_the_same_id():
    async with open_session(Script(tools__call=lambda *_: None), asked=ASKED) as (caller, server):
        call = asyncio.create_task(caller.call(CALL, {"name": "slow"}))
        sent = await server.wait_for("tools/call")
        server.side.note("notifications/cancelled", requestId=sent["id"])
        await caller.ping()
        assert not call.done()
        server.side.answer(sent, TEXT)
        assert (await call).text == "done"


async def test_the_end_of_the_connection_ends_the_function_that_was_asked():
    ended = asyncio.Event()

    async def fill(_):
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with open_session(asked={"elicit": fill}) as (caller, server):
        server.side.ask(1, "elicitation/create", **FORM)
        await caller.ping()
        server.side.hang_up()
        await asyncio.wait_for(ended.wait(), 5)
        await caller.ping()
    assert server.sides[1].received[-1]["method"] == "ping"


async def test_a_function_may_close_the_client_that_asks_it():
    async def close(_):
        await caller.aclose()
        return {"name": "Ada"}

    async with open_session(Script(tools__call=lambda *_: None), asked={"elicit": close}) as (caller, server):
        server.side.ask(1, "elicitation/create", **FORM)
        await until(lambda: caller.is_closed and not caller._answering._tasks)
        with pytest.raises(ClosedError):
            await caller.ping()


async def test_a_function_may_call_the_server_that_asks_it():
    async def fill(_):
        return {"name": (await caller.call(CALL, {"name": "inner"})).text}

    async with open_session(asked={"elicit": fill}) as (caller, server):
        answer = await ask(server, 1, "elicitation/create", **FORM)
    assert answer["result"]["content"] == {"name": "done"}


# --- clocks ---


async def test_the_clock_of_a_call_does_not_run_while_a_person_is_asked():
    def ask_first(side, message):
        side.script.call = message
        side.ask("form", "elicitation/create", **FORM)

    def finish(side, _):
        side.answer(side.script.call, TEXT)

    async def fill(_):
        await asyncio.sleep(0.3)
        return {"name": "Ada"}

    script = Script(tools__call=ask_first, answer=finish)
    async with open_session(script, asked={"elicit": fill}) as (caller, _):
        assert (await caller.call(CALL, {"name": "asks"}, timeout_s=0.15)).text == "done"


async def test_the_clock_runs_again_afterwards():
    def ask_first(side, _):
        side.ask("form", "elicitation/create", **FORM)

    script = Script(tools__call=ask_first)
    async with open_session(script, asked=ASKED) as (caller, server):
        with pytest.raises(CallTimeoutError):
            await caller.call(CALL, {"name": "asks"}, timeout_s=0.1)
        assert "form" in server.answers


# --- any order ---


@settings(max_examples=40)
@given(
    questions=st.lists(st.sampled_from([*QUESTIONS, "no/such"]), max_size=8),
    calls=st.integers(0, 5),
    seed=st.integers(0, 2**32),
)
def test_any_order_of_questions_and_answers_leaves_nobody_waiting(questions, calls, seed):
    asyncio.run(check_order(questions, calls, random.Random(seed)))


async def check_order(questions, calls, rng):
    async def fill(_):
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        return {"name": "Ada"}

    script = Script(tools__call=lambda *_: None)
    async with open_session(script, asked={**ASKED, "elicit": fill}) as (caller, server):
        waiting = [asyncio.create_task(caller.call(CALL, {"name": str(n)})) for n in range(calls)]
        if calls:
            await server.wait_for("tools/call", calls)
        steps = [("ask", number) for number in range(len(questions))]
        steps += [("answer", number) for number in range(calls)]
        rng.shuffle(steps)
        for what, number in steps:
            if what == "ask":
                server.side.ask(f"q{number}", questions[number], **QUESTIONS.get(questions[number], ({},))[0])
            else:
                sent = server.sent("tools/call")[number]
                text = [{"type": "text", "text": sent["params"]["name"]}]
                server.side.answer(sent, {"content": text})
            if rng.random() < 0.3:
                await asyncio.sleep(0)
        async with asyncio.timeout(10):
            results = await asyncio.gather(*waiting)
        assert [result.text for result in results] == [str(number) for number in range(calls)]
        if questions:
            await server.wait_for("answer", len(questions))
        assert sorted(message["id"] for message in server.sent("answer")) == sorted(
            f"q{number}" for number in range(len(questions))
        )
        for number, method in enumerate(questions):
            assert ("error" in server.answers[f"q{number}"]) == (method == "no/such")
