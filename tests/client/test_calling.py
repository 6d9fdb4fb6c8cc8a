"""One call from its parameters to its result: rounds, time-outs, progress, cancellation."""

import asyncio
import json

import pytest

from mesero import Client
from mesero.client import calling
from mesero.errors import (
    CallTimeoutError,
    ClosedError,
    DisconnectedError,
    InputNeededError,
    InvalidResultError,
    ProtocolError,
    RpcError,
    UsageError,
)
from mesero.modern.mrtr import MAX_ROUNDS
from mesero.testing import scripted_server
from tests.client.talking import TEXT, asks, form, link, requests_in, talk
from tests.transports.children import until

PROGRESS_TOKEN = "progressToken"


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


# --- errors ---


async def test_an_error_names_server_method_and_id():
    async with talk() as (client, server, _):
        server.expect("tools/call").error(-32602, "Unknown tool: any", {"hint": [1]})
        with pytest.raises(RpcError) as caught:
            await client.call_tool("any")
    assert str(caught.value) == "a scripted server: tools/call (id 2): Unknown tool: any (-32602)"
    assert caught.value.data == {"hint": [1]}


async def test_a_server_that_cancels_our_request_does_not_make_us_wait():
    async with talk() as (client, server, _):
        server.expect("tools/call").notify("notifications/cancelled", requestId=2, reason="tired")
        with pytest.raises(ProtocolError, match=r"the server cancelled a request of ours.*tired"):
            await client.call_tool("any", timeout_s=30)


async def test_a_server_that_hangs_up_fails_the_call_and_the_next_one_works():
    async with talk() as (client, server, _):
        server.expect("tools/call", name="first").hang_up()
        server.expect("tools/call", name="second").answer(content=TEXT)
        with pytest.raises(DisconnectedError, match="the server hung up"):
            await client.call_tool("first")
        assert (await client.call_tool("second")).text == "done"


# --- time-outs ---


async def test_a_timeout_says_what_was_sent_what_came_and_whose_limit_it_was():
    async with talk() as (client, server, wire):
        server.expect("tools/call").notify("notifications/message", level="info", data=1)
        server.expect("notifications/cancelled", requestId=2, reason="timed out")
        with pytest.raises(CallTimeoutError) as caught:
            await client.call_tool("slow", timeout_s=0.05)
        await until(lambda: requests_in(wire, "notifications/cancelled"))
    text = str(caught.value)
    assert "a scripted server: no answer to tools/call 'slow' within 0.05 s" in text
    assert "the limit was ours" in text
    assert "since it was sent came nothing" in text
    assert isinstance(caught.value, TimeoutError)


async def test_a_timeout_of_a_method_without_a_name_names_the_method():
    async with talk() as (client, server, _):
        server.expect("tools/list")
        with pytest.raises(CallTimeoutError, match=r"no answer to tools/list within"):
            await client.list_tools(timeout_s=0.05)


async def test_a_late_answer_is_dropped_and_recorded():
    async with talk() as (client, server, _):
        server.expect("tools/call", name="slow")
        server.expect("tools/call", name="quick").raw(
            lambda request_id: b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % (request_id - 1)
        ).answer(content=TEXT)
        with pytest.raises(CallTimeoutError):
            await client.call_tool("slow", timeout_s=0.05)
        assert (await client.call_tool("quick")).text == "done"
        assert [verdict for verdict, _ in server.dropped] == ["late"]


async def test_progress_extends_the_limit():
    seen = []

    async def report(progress):
        seen.append((progress.progress, progress.total, progress.message))
        if len(seen) < 4:
            await asyncio.sleep(0.06)
            step = {"progressToken": 2, "progress": len(seen) + 1, "message": "step"}
            client.transport._peer.send_bytes(notification(step))

    async with talk() as (client, server, _):
        server.expect("tools/call").report_progress(1, 4)
        with pytest.raises(CallTimeoutError, match=r"came \d+ notifications"):
            await client.call_tool("slow", timeout_s=0.15, on_progress=report)
    assert seen[0] == (1, 4, None)
    assert seen[1:] == [(2, None, "step"), (3, None, "step"), (4, None, "step")]


def notification(params):
    message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    return json.dumps(message).encode() + b"\n"


async def test_progress_extends_the_limit_up_to_a_total():
    async def more(progress):
        await asyncio.sleep(0.02)
        step = {"progressToken": 2, "progress": progress.progress + 1}
        client.transport._peer.send_bytes(notification(step))

    async with talk(total_timeout_s=0.25) as (client, server, _):
        server.expect("tools/call").report_progress(1)
        async with asyncio.timeout(10):
            with pytest.raises(CallTimeoutError, match=r"within 0\.25 s.*came \d+ notifications"):
                await client.call_tool("endless", timeout_s=0.1, on_progress=more)


async def test_progress_that_makes_no_sense_is_let_pass():
    seen = []
    async with talk() as (client, server, _):
        server.expect("tools/call").notify(
            "notifications/progress", progressToken=2, progress="half"
        ).report_progress(2).answer(content=TEXT)
        await client.call_tool("any", on_progress=lambda progress: seen.append(progress.progress))
    assert seen == [2]


async def test_progress_is_asked_for_only_by_who_listens():
    async with talk() as (client, server, wire):
        server.expect("tools/call").answer(content=TEXT)
        server.expect("tools/call").notify("notifications/progress", progressToken=3, progress=1).answer(
            content=TEXT
        )
        await client.call_tool("any", on_progress=print)
        await client.call_tool("any")
    with_token, without = requests_in(wire, "tools/call")
    assert with_token["params"]["_meta"][PROGRESS_TOKEN] == with_token["id"]
    assert PROGRESS_TOKEN not in without["params"]["_meta"]


async def test_a_timeout_of_a_callback_is_not_taken_for_ours():
    async def fail(_):
        raise TimeoutError("of the callback")

    async with talk() as (client, server, wire):
        server.expect("tools/call").report_progress(1)
        with pytest.raises(TimeoutError, match="of the callback") as caught:
            await client.call_tool("any", on_progress=fail)
        assert not isinstance(caught.value, CallTimeoutError)
        await until(lambda: requests_in(wire, "notifications/cancelled"))


# --- giving up ---


async def test_cancelling_the_callers_task_cancels_on_the_wire():
    async with talk() as (client, server, wire):
        server.expect("tools/call")
        server.expect("notifications/cancelled", requestId=2, reason="the caller gave up")
        task = asyncio.create_task(client.call_tool("slow"))
        await until(lambda: requests_in(wire, "tools/call"))
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        await until(lambda: requests_in(wire, "notifications/cancelled"))


async def test_a_limit_of_the_callers_own_is_the_callers_error():
    async with talk() as (client, server, _):
        server.expect("tools/call")
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.05):
                await client.call_tool("slow")
        assert not isinstance(caught.value, CallTimeoutError)


# --- logs ---


async def test_log_messages_reach_on_log_also_outside_of_a_call():
    seen = []

    async def take(params):
        seen.append((params.level, params.data))

    async with talk(on_log=take, log_level="debug") as (client, server, wire):
        server.expect("tools/call").notify("notifications/message", level="error", data={"a": 1}).notify(
            "notifications/message", level="no such level", data=2
        ).answer(content=TEXT)
        await client.call_tool("any")
        await until(lambda: seen)
    assert seen == [("error", {"a": 1})]
    meta = requests_in(wire, "tools/call")[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/logLevel"] == "debug"


async def test_a_log_message_that_is_tied_to_a_call_is_passed_on_as_well():
    seen = []
    tie = {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
    async with talk(on_log=seen.append) as (client, server, wire):
        server.expect("tools/call").notify("notifications/message", level="info", data=1, **tie).answer(
            content=TEXT
        )
        await client.call_tool("any")
    assert [params.data for params in seen] == [1]
    meta = requests_in(wire, "tools/call")[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/logLevel"] == "info"


async def test_an_on_log_that_fails_harms_nobody(caplog):
    def fail(_):
        raise ValueError

    async with talk(on_log=fail) as (client, server, _):
        server.expect("tools/call").notify("notifications/message", level="info", data=1).answer(content=TEXT)
        assert (await client.call_tool("any")).text == "done"
        await until(lambda: "on_log failed" in caplog.text)


async def test_a_closed_client_refuses_calls():
    server = scripted_server()
    client = await Client.connect(server)
    await client.aclose()
    with pytest.raises(ClosedError, match="the client is closed"):
        await client.call_tool("any")
