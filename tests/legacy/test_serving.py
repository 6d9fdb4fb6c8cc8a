import asyncio

import pytest

from mesero.server import Context, NotAuthorizedError, Operation
from tests.legacy.session_talk import HANDSHAKE_REVISIONS, ME, in_session, notes_server, notification
from tests.server.talking import quiet_server

OLDEST, MARCH, JUNE, NOVEMBER = HANDSHAKE_REVISIONS


# --- the handshake ---


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_the_offered_revision_is_answered_when_it_is_spoken(revision):
    async with in_session(notes_server(), revision, is_open=False) as talk:
        result = await talk.initialize(revision)
        assert result["protocolVersion"] == revision
        assert result["serverInfo"]["name"] == "testing"
        assert result["instructions"] == "Be kind."
        assert result["capabilities"]["tools"] == {"listChanged": True}
        assert result["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
        assert "extensions" not in result["capabilities"]
        assert not {"resultType", "_meta", "ttlMs"} & result.keys()


@pytest.mark.parametrize("offered", ["2023-01-01", "2026-07-28", "2099-01-01", "", "soon"])
async def test_another_revision_is_answered_with_the_newest_that_has_a_handshake(offered):
    async with in_session(notes_server(), is_open=False) as talk:
        assert (await talk.initialize(offered))["protocolVersion"] == NOVEMBER


async def test_a_server_that_speaks_one_older_revision_answers_with_that_one():
    server = notes_server(revisions=[OLDEST])
    async with in_session(server, OLDEST, is_open=False) as talk:
        assert (await talk.initialize(NOVEMBER))["protocolVersion"] == OLDEST


async def test_initialize_without_a_revision_is_refused_and_may_be_sent_again():
    async with in_session(notes_server(), is_open=False) as talk:
        assert (await talk.error("initialize", {"capabilities": {}}))["code"] == -32602
        await talk.open()
        assert "tools" in await talk.result("tools/list")


async def test_a_request_before_initialized_is_refused_and_the_session_goes_on():
    async with in_session(notes_server(), is_open=False) as talk:
        await talk.initialize()
        error = await talk.error("tools/list")
        assert error["code"] == -32600
        assert "notifications/initialized" in error["message"]
        talk.send(notification("notifications/initialized"))
        assert "tools" in await talk.result("tools/list")


async def test_a_ping_is_answered_before_initialized():
    async with in_session(notes_server(), is_open=False) as talk:
        await talk.initialize()
        assert await talk.result("ping") == {}


async def test_a_second_initialize_is_refused_and_the_session_goes_on():
    async with in_session(notes_server(), JUNE) as talk:
        request = talk.initialize_request(NOVEMBER)
        talk.send(request)
        assert (await talk.answer_to(request))["error"]["code"] == -32600
        assert (await talk.result("tools/call", {"name": "who"}))["structuredContent"]["revision"] == JUNE


async def test_a_handshake_and_a_request_that_come_in_one_chunk_are_taken_in_order():
    async with in_session(notes_server(), is_open=False) as talk:
        listing = talk.request("tools/list")
        talk.send(talk.initialize_request(), notification("notifications/initialized"), listing)
        assert "result" in await talk.answer_to(listing)
        assert [min(one["result"]) for one in talk.said] == ["capabilities", "tools"]


async def test_initialize_cannot_be_cancelled():
    async with in_session(notes_server(), is_open=False) as talk:
        request = talk.initialize_request()
        talk.send(request, notification("notifications/cancelled", {"requestId": request["id"]}))
        assert "result" in await talk.answer_to(request)


# --- what each revision has ---


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_every_method_is_answered_in_the_shape_of_the_revision(revision):
    async with in_session(notes_server(), revision) as talk:
        requests = [
            ("tools/list", {}),
            ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
            ("resources/list", {}),
            ("resources/templates/list", {}),
            ("resources/read", {"uri": "notes://one"}),
            ("prompts/list", {}),
            ("prompts/get", {"name": "greet", "arguments": {"name": "Ana"}}),
            (
                "completion/complete",
                {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "A"}},
            ),
            ("resources/subscribe", {"uri": "notes://one"}),
            ("resources/unsubscribe", {"uri": "notes://one"}),
            ("logging/setLevel", {"level": "error"}),
            ("ping", {}),
        ]
        for method, params in requests:
            result = await talk.result(method, params)
            assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & result.keys(), method


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_what_has_nothing_to_say_is_a_bare_object(revision):
    async with in_session(notes_server(), revision) as talk:
        assert await talk.result("ping") == {}
        assert await talk.result("logging/setLevel", {"level": "info"}) == {}
        assert await talk.result("resources/subscribe", {"uri": "notes://one"}) == {}


@pytest.mark.parametrize("revision", [OLDEST, MARCH, JUNE])
async def test_wrong_arguments_are_an_error_up_to_june_2025(revision):
    async with in_session(notes_server(), revision) as talk:
        error = await talk.error("tools/call", {"name": "add", "arguments": {"a": "x"}})
        assert error["code"] == -32602
        assert "add" in error["message"]


async def test_wrong_arguments_are_a_result_since_november_2025():
    async with in_session(notes_server(), NOVEMBER) as talk:
        result = await talk.result("tools/call", {"name": "add", "arguments": {"a": "x"}})
        assert result["isError"] is True


async def test_a_tool_that_fails_on_right_arguments_is_a_result_in_every_revision():
    async with in_session(notes_server(), OLDEST) as talk:
        result = await talk.result("tools/call", {"name": "fail", "arguments": {"code": 0}})
        assert result["isError"] is True
        assert "no code" in result["content"][0]["text"]


async def test_an_error_that_a_tool_asks_for_is_that_error():
    async with in_session(notes_server()) as talk:
        error = await talk.error("tools/call", {"name": "fail", "arguments": {"code": -5}})
        assert (error["code"], error["message"]) == (-5, "so it is")


async def test_an_unknown_tool_is_named():
    async with in_session(notes_server()) as talk:
        error = await talk.error("tools/call", {"name": "dance"})
        assert (error["code"], error["message"]) == (-32602, "Unknown tool: dance")


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_an_unknown_resource_has_its_own_code(revision):
    async with in_session(notes_server(), revision) as talk:
        error = await talk.error("resources/read", {"uri": "notes://none"})
        assert (error["code"], error["data"]) == (-32002, {"uri": "notes://none"})


@pytest.mark.parametrize(
    "method",
    [
        "tasks/list",
        "tasks/get",
        "server/dance",
        "elicitation/create",
        "notifications/initialized",
        "roots/list",
    ],
)
async def test_what_is_no_request_of_a_client_is_not_found(method):
    async with in_session(notes_server()) as talk:
        error = await talk.error(method, {"taskId": "1"})
        assert error["code"] == -32601
        assert method in error["message"]


async def test_a_capability_that_was_not_declared_is_not_found():
    server = quiet_server()
    async with in_session(server) as talk:
        for method in ("tools/list", "prompts/list", "resources/read", "resources/subscribe"):
            error = await talk.error(method, {"uri": "notes://one"})
            assert error["code"] == -32601
            assert "not declared" in error["message"]


async def test_a_task_is_not_made_of_a_call_that_asks_for_one():
    async with in_session(notes_server()) as talk:
        params = {"name": "add", "arguments": {"a": 1, "b": 2}, "task": {"ttl": 1000}}
        assert (await talk.result("tools/call", params))["structuredContent"] == {"result": 3}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("logging/setLevel", {"level": "loud"}),
        ("logging/setLevel", {}),
        ("resources/subscribe", {}),
        ("resources/read", {"uri": 5}),
        ("tools/call", {"arguments": {}}),
        ("tools/call", {"name": "add", "_meta": 5}),
        ("tools/call", {"name": "add", "_meta": {"progressToken": {}}}),
        ("tools/list", {"cursor": "made up"}),
    ],
)
async def test_parameters_that_do_not_fit_are_refused(method, params):
    async with in_session(notes_server()) as talk:
        assert (await talk.error(method, params))["code"] == -32602
        assert await talk.result("ping") == {}


async def test_members_that_are_null_count_as_absent():
    async with in_session(notes_server()) as talk:
        params = {"cursor": None, "_meta": {"progressToken": None}}
        assert "tools" in await talk.result("tools/list", params)


async def test_lists_come_in_pages():
    async with in_session(notes_server(page_size=2)) as talk:
        first = await talk.result("tools/list")
        rest = await talk.result("tools/list", {"cursor": first["nextCursor"]})
        assert [tool["name"] for tool in first["tools"] + rest["tools"]] == ["add", "fail", "wait", "who"]


async def test_a_handler_sees_the_client_that_the_handshake_introduced():
    async with in_session(notes_server(), JUNE) as talk:
        result = await talk.result("tools/call", {"name": "who"})
        assert result["structuredContent"] == {"name": ME["name"], "revision": JUNE}


# --- progress, logs, cancellation ---


async def test_progress_goes_to_the_token_of_the_request():
    async with in_session(notes_server()) as talk:
        await talk.result("tools/call", {"name": "work"}, metadata={"progressToken": "p"})
        first, second = talk.notifications("notifications/progress")
        assert first == {"progressToken": "p", "progress": 1, "total": 2, "message": "half"}
        assert second["progress"] == 2


async def test_the_oldest_revision_has_no_message_with_progress():
    async with in_session(notes_server(), OLDEST) as talk:
        await talk.result("tools/call", {"name": "work"}, metadata={"progressToken": 7})
        assert talk.notifications("notifications/progress")[0] == {
            "progressToken": 7,
            "progress": 1,
            "total": 2,
        }


async def test_logs_come_from_the_level_that_the_client_set():
    async with in_session(notes_server()) as talk:
        await talk.result("logging/setLevel", {"level": "debug"})
        await talk.result("tools/call", {"name": "work"})
        logged = talk.notifications("notifications/message")
        assert [one["level"] for one in logged] == ["debug", "warning"]
        await talk.result("logging/setLevel", {"level": "error"})
        await talk.result("tools/call", {"name": "work"})
        assert len(talk.notifications("notifications/message")) == 2


async def test_without_a_level_logs_come_from_info_on():
    async with in_session(notes_server()) as talk:
        await talk.result("tools/call", {"name": "work"})
        assert talk.notifications("notifications/message") == [
            {"level": "warning", "data": {"is": "odd"}, "logger": "here"}
        ]


async def test_a_level_holds_for_calls_that_run_already():
    server = notes_server()

    @server.tool
    async def late(ctx: Context) -> None:
        await server.gate.wait()
        await ctx.log("debug", "late")

    async with in_session(server) as talk:
        call = talk.request("tools/call", {"name": "late"})
        talk.send(call)
        await talk.result("logging/setLevel", {"level": "debug"})
        server.gate.set()
        await talk.answer_to(call)
        assert [one["data"] for one in talk.notifications("notifications/message")] == ["late"]


async def test_a_cancelled_call_is_not_answered():
    server = notes_server()
    async with in_session(server) as talk:
        call = talk.request("tools/call", {"name": "wait"})
        talk.send(call)
        await talk.result("ping")
        talk.cancel(call)
        await talk.result("ping")
        assert server.ended == ["cancelled"]
        assert not [one for one in talk.said if one.get("id") == call["id"]]


@pytest.mark.parametrize("params", [None, {}, {"requestId": 99}, {"requestId": []}, {"requestId": None}])
async def test_a_cancellation_of_nothing_is_ignored(params):
    async with in_session(notes_server()) as talk:
        said = len(talk.said)
        talk.send(notification("notifications/cancelled", params))
        await talk.result("ping")
        assert len(talk.said) == said + 1


async def test_an_id_in_flight_cannot_be_used_again():
    server = notes_server()
    async with in_session(server) as talk:
        talk.send(talk.request("tools/call", {"name": "wait"}, id="twin"))
        assert (await talk.error("ping", id="twin"))["code"] == -32600
        server.gate.set()
        await talk.until(lambda said: [one for one in said if one.get("id") == "twin" and "result" in one])


@pytest.mark.parametrize("answer", [{"result": {}}, {"error": {"code": -1, "message": "no"}}])
async def test_a_reply_to_nothing_is_dropped_and_the_session_goes_on(answer):
    async with in_session(notes_server()) as talk:
        said = len(talk.said)
        talk.send({"jsonrpc": "2.0", "id": 1, **answer})
        assert await talk.result("ping") == {}
        assert len(talk.said) == said + 1


@pytest.mark.parametrize("method", ["notifications/roots/list_changed", "notifications/dance", "tools/list"])
async def test_a_notification_is_never_answered(method):
    async with in_session(notes_server()) as talk:
        said = len(talk.said)
        talk.send(notification(method, {}))
        assert await talk.result("ping") == {}
        assert len(talk.said) == said + 1


# --- who may ---


async def test_the_authorization_hook_is_asked_before_every_operation():
    asked: list[Operation] = []

    async def authorize(operation):
        asked.append(operation)
        if operation.name == "notes://one":
            raise NotAuthorizedError("not yours", status=403)
        return "ana"

    async with in_session(notes_server(authorize=authorize)) as talk:
        await talk.result("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
        await talk.result("logging/setLevel", {"level": "info"})
        for method in ("resources/read", "resources/subscribe"):
            assert (await talk.error(method, {"uri": "notes://one"}))["message"] == "not yours"
        await talk.result("ping")
    assert [(one.method, one.name) for one in asked] == [
        ("tools/call", "add"),
        ("logging/setLevel", None),
        ("resources/read", "notes://one"),
        ("resources/subscribe", "notes://one"),
    ]
    assert asked[0].client_info.name == ME["name"]


async def test_a_hook_that_fails_is_an_internal_error_in_the_log():
    async def authorize(operation):
        raise KeyError(operation.method)

    server = notes_server(authorize=authorize)
    async with in_session(server) as talk:
        assert (await talk.error("tools/list"))["code"] == -32603
        assert await talk.result("ping") == {}
    assert "KeyError" in server.lines[0]


async def test_a_handler_that_cancels_itself_is_answered_all_the_same():
    server = quiet_server()

    @server.tool
    async def give_up() -> None:
        raise asyncio.CancelledError

    async with in_session(server) as talk:
        assert (await talk.error("tools/call", {"name": "give_up"}))["code"] == -32603
