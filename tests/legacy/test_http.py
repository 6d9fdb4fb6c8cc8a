"""Sessions over HTTP: how they begin, what names them, how they end, and what does not belong to them."""

import asyncio

import pytest

from mesero.revisions import HANDSHAKE_REVISIONS
from tests.legacy.http_talk import (
    HttpTalk,
    build_server,
    messages_of,
    talking,
    text_of,
    until,
)
from tests.server.talking import meta
from tests.transports.asgi_driver import GOOD_HEADERS, Exchange


def open_sessions(app):
    return len(app.sessions)


# -- the beginning ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_the_answer_to_initialize_names_a_session(revision):
    app = build_server().asgi()
    talk = HttpTalk(app, revision)
    exchange = await talk.initialize()

    assert exchange.status == 200
    assert exchange.json["result"]["protocolVersion"] == revision
    assert len(talk.session_id) == 32
    assert all("!" <= sign <= "~" for sign in talk.session_id)
    await app.aclose()


async def test_the_session_is_named_on_an_event_stream_as_well():
    app = build_server().asgi()
    exchange = await HttpTalk(app).initialize(accept="text/event-stream")

    assert exchange.events[0]["result"]["protocolVersion"] == "2025-11-25"
    assert exchange.headers["mcp-session-id"]
    await app.aclose()


async def test_two_sessions_have_two_ids():
    app = build_server().asgi()
    one, other = HttpTalk(app), HttpTalk(app)
    await one.open()
    await other.open()

    assert one.session_id != other.session_id
    assert open_sessions(app) == 2
    await app.aclose()


async def test_an_initialize_that_is_refused_opens_nothing():
    app = build_server().asgi()
    exchange = await HttpTalk(app).send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})

    assert exchange.json["error"]["code"] == -32602
    assert "mcp-session-id" not in exchange.headers
    assert open_sessions(app) == 0


async def test_a_second_initialize_is_refused_and_the_session_goes_on():
    async with talking() as talk:
        first = talk.session_id
        exchange = await talk.initialize()

        assert exchange.json["error"]["code"] == -32600
        talk.session_id = first
        assert text_of((await talk.call("add", {"a": 1, "b": 2})).json) == "3"


async def test_a_request_before_initialized_is_refused_and_a_ping_is_not():
    app = build_server().asgi()
    talk = HttpTalk(app)
    await talk.initialize()

    assert (await talk.send(talk.request("tools/list"))).json["error"]["code"] == -32600
    assert (await talk.send(talk.request("ping"))).json["result"] == {}
    await app.aclose()


# -- which session ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["tools/list", "ping"])
async def test_a_request_without_an_id_of_a_session_is_400_and_told_the_ways_in(method):
    async with talking() as talk:
        exchange = await talk.send(talk.request(method, id=7), mcp_session_id=None)

        assert exchange.status == 400
        assert exchange.json["id"] == 7
        for word in ("2026-07-28", "initialize", "Mcp-Session-Id"):
            assert word in exchange.json["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_other_methods_without_an_id_of_a_session_are_400(method):
    async with talking() as talk:
        exchange = await talk.finish(talk.start(method, mcp_session_id=None))

        assert exchange.status == 400
        assert "Mcp-Session-Id" in exchange.json["error"]["message"]


@pytest.mark.parametrize("changes", [{}, {"mcp_protocol_version": None}])
async def test_initialized_without_an_id_of_a_session_is_400(changes):
    async with talking() as talk:
        exchange = await talk.notify("notifications/initialized", mcp_session_id=None, **changes)

        assert exchange.status == 400


@pytest.mark.parametrize("session_id", ["0" * 32, "", "é", "../../etc/passwd"])
async def test_an_unknown_session_is_404_for_everything(session_id):
    async with talking() as talk:
        talk.session_id = session_id
        found = [
            await talk.call("add", {"a": 1, "b": 2}),
            await talk.initialize(),
            await talk.notify("notifications/initialized", mcp_session_id=session_id),
            await talk.send({"jsonrpc": "2.0", "id": 1, "result": {}}, mcp_session_id=session_id),
            await talk.finish(talk.listen(mcp_session_id=session_id)),
            await talk.delete(mcp_session_id=session_id),
        ]

        assert [exchange.status for exchange in found] == [404] * 6
        assert open_sessions(talk.app) == 1


async def test_after_a_restart_the_session_is_unknown():
    async with talking() as talk:
        await talk.app.aclose()
        again = build_server().asgi()
        talk.app = again

        assert (await talk.call("add", {"a": 1, "b": 2})).status == 404


async def test_two_sessions_know_nothing_of_each_other():
    server = build_server()
    async with talking(server=server) as one:
        other = await HttpTalk(one.app).open()
        calls = [talk.start_call("wait", id=5) for talk in (one, other)]
        await until(lambda: all(call.sent and messages_of(call) for call in calls))
        await one.notify("notifications/cancelled", {"requestId": 5})
        await one.finish(calls[0])
        server.gate.set()
        await other.finish(calls[1])

        assert [message for message in messages_of(calls[0]) if "id" in message] == []
        assert text_of(messages_of(calls[1])[-1]) == "waited"
        assert server.cancelled == [5]


# -- the revision in the header --------------------------------------------------------------------------


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_the_header_may_be_left_out_since_the_session_knows(revision):
    async with talking(revision) as talk:
        exchange = await talk.call("add", {"a": 1, "b": 2}, mcp_protocol_version=None)

        assert text_of(exchange.json) == "3"


@pytest.mark.parametrize("version", ["2099-01-01", "nonsense", "2025-11-25, 2025-11-25"])
async def test_a_revision_that_nobody_knows_is_400(version):
    async with talking() as talk:
        found = [
            await talk.call("add", {"a": 1, "b": 2}, mcp_protocol_version=version),
            await talk.notify("notifications/initialized", mcp_protocol_version=version),
            await talk.finish(talk.listen(mcp_protocol_version=version)),
            await talk.delete(mcp_protocol_version=version),
        ]

        assert [exchange.status for exchange in found] == [400] * 4
        assert text_of((await talk.call("add", {"a": 1, "b": 2})).json) == "3"


async def test_a_revision_that_this_server_does_not_speak_is_400():
    server = build_server(revisions=["2025-11-25"])
    async with talking(server=server) as talk:
        exchange = await talk.call("add", {"a": 1, "b": 2}, mcp_protocol_version="2025-03-26")

        assert exchange.status == 400
        assert "2025-11-25" in exchange.json["error"]["message"]


# -- requests that need no session, beside one -----------------------------------------------------------


def stateless(**changes):
    params = {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": meta()}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": "add"}
    return message, headers | changes


@pytest.mark.parametrize("named", [True, False])
async def test_a_request_that_declares_its_revision_is_served_as_such_beside_a_session(named):
    async with talking() as talk:
        message, headers = stateless(**({} if named else {"mcp_session_id": None}))
        exchange = await talk.send(message, **headers)

        assert exchange.json["result"]["resultType"] == "complete"
        assert "mcp-session-id" not in exchange.headers


@pytest.mark.parametrize("version", [*HANDSHAKE_REVISIONS, None])
async def test_one_that_declares_its_revision_under_an_older_header_is_a_mismatch(version):
    async with talking() as talk:
        message, headers = stateless(mcp_protocol_version=version)
        exchange = await talk.send(message, **headers)

        assert (exchange.status, exchange.json["error"]["code"]) == (400, -32020)


async def test_get_and_delete_are_405_in_the_revision_that_has_neither():
    async with talking() as talk:
        for method in ("GET", "DELETE"):
            exchange = await talk.finish(talk.start(method, mcp_protocol_version="2026-07-28"))

            assert (exchange.status, exchange.headers["allow"]) == (405, "POST")
        assert text_of((await talk.call("add", {"a": 1, "b": 2})).json) == "3"


async def test_a_server_of_handshake_revisions_only_refuses_the_others_with_their_names():
    server = build_server(revisions=["2025-06-18", "2025-11-25"])
    async with talking(server=server) as talk:
        message, headers = stateless()
        exchange = await talk.send(message, **headers)

        assert exchange.status == 400
        assert exchange.json["error"]["data"] == {"supported": ["2025-06-18", "2025-11-25"]}


async def test_a_server_without_handshake_revisions_opens_no_session():
    app = build_server(revisions=["2026-07-28"]).asgi()
    exchange = await HttpTalk(app).initialize()

    assert (exchange.status, exchange.json["error"]["code"]) == (400, -32602)
    refused = await HttpTalk(app).finish(HttpTalk(app).listen())
    assert (refused.status, refused.headers["allow"]) == (405, "POST")


# -- what is never answered ------------------------------------------------------------------------------


async def test_notifications_and_responses_are_202_without_a_body():
    async with talking() as talk:
        found = [
            await talk.notify("notifications/cancelled", {"requestId": "nobody"}),
            await talk.notify("notifications/unheard_of"),
            await talk.send({"jsonrpc": "2.0", "id": 99, "result": {}}),
            await talk.send({"jsonrpc": "2.0", "id": 99, "error": {"code": -1, "message": "no"}}),
        ]

        assert [(exchange.status, exchange.body) for exchange in found] == [(202, b"")] * 4


async def test_a_response_outside_of_any_session_is_refused():
    exchange = await HttpTalk(build_server().asgi()).send({"jsonrpc": "2.0", "id": 1, "result": {}})

    assert (exchange.status, exchange.json["error"]["code"]) == (400, -32600)


async def test_what_is_no_message_is_400_and_the_session_goes_on():
    async with talking() as talk:
        for raw in (b"", b"{", b"7", b'{"jsonrpc":"1.0","id":1,"method":"ping"}'):
            assert (await talk.send(raw)).status == 400
        assert (await talk.send(talk.request("ping"))).json["result"] == {}


# -- questions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_a_question_comes_on_the_stream_of_its_call_and_its_answer_by_post(revision):
    async with talking(revision, capabilities={"elicitation": {}}) as talk:
        call = talk.start_call("confirm")
        await call.until(lambda: call.sent and messages_of(call))
        question = messages_of(call)[0]
        assert question["method"] == "elicitation/create"
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
        assert (await talk.send(answer)).status == 202
        await talk.finish(call)

        assert text_of(messages_of(call)[-1]) == "decline"


async def test_who_accepts_no_event_stream_is_406_since_no_question_could_be_asked():
    async with talking() as talk:
        exchange = await talk.call("add", {"a": 1, "b": 2}, accept="application/json")

        assert exchange.status == 406


# -- arrays of messages ----------------------------------------------------------------------------------


async def test_an_array_is_answered_with_an_array_in_the_revision_that_has_them():
    async with talking("2025-03-26") as talk:
        batch = [
            talk.call_of("add", {"a": 1, "b": 2}, id=1),
            {"jsonrpc": "2.0", "method": "notifications/unheard_of"},
            talk.request("ping", id=2),
            {"jsonrpc": "2.0", "id": 3},
        ]
        answers = {answer["id"]: answer for answer in (await talk.send(batch)).json}

        assert sorted(answers) == [1, 2, 3]
        assert text_of(answers[1]) == "3"
        assert answers[3]["error"]["code"] == -32600


async def test_an_array_without_requests_is_202():
    async with talking("2025-03-26") as talk:
        exchange = await talk.send([{"jsonrpc": "2.0", "method": "notifications/unheard_of"}])

        assert (exchange.status, exchange.body) == (202, b"")


async def test_an_array_whose_calls_say_something_is_a_stream_that_ends_with_the_array():
    async with talking("2025-03-26") as talk:
        exchange = await talk.send([talk.call_of("count", {"to": 2}), talk.call_of("add", {"a": 1, "b": 2})])
        *before, last = messages_of(exchange)

        assert [message["method"] for message in before] == ["notifications/progress"] * 2
        assert len(last) == 2


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
async def test_an_array_in_another_revision_is_400(revision):
    async with talking(revision) as talk:
        exchange = await talk.send([talk.request("ping")])

        assert (exchange.status, exchange.json["error"]["code"]) == (400, -32600)


# -- the end ---------------------------------------------------------------------------------------------


async def test_delete_ends_the_session_and_what_runs_in_it():
    server = build_server()
    async with talking(server=server) as talk:
        begun, silent = talk.start_call("wait", id=1), talk.start_call("silent", id=2)
        listener = talk.listen()
        await until(lambda: begun.sent and messages_of(begun) and listener.sent)
        deleted = await talk.delete()
        for exchange in (begun, silent, listener):
            await talk.finish(exchange)

        assert (deleted.status, deleted.body) == (204, b"")
        assert sorted(server.cancelled) == [1, 2]
        assert [message["method"] for message in messages_of(begun)] == ["notifications/progress"]
        assert (silent.status, silent.body) == (200, b"")
        assert (await talk.send(talk.request("ping"))).status == 404
        assert (await talk.delete()).status == 404
        assert open_sessions(talk.app) == 0


async def test_a_session_that_nobody_uses_is_ended_and_one_with_a_listener_is_not():
    server = build_server()
    async with talking(server=server, session_idle_s=0.2) as idle:
        busy = await HttpTalk(idle.app).open()
        abandoned = await HttpTalk(idle.app).open()
        listener = busy.listen()
        call = abandoned.start_call("silent", id=3)
        await call.until(lambda: not call._events)
        call.disconnect()
        await until(lambda: open_sessions(idle.app) == 1)

        assert (await idle.send(idle.request("ping"))).status == 404
        assert (await busy.send(busy.request("ping"))).status == 200
        assert server.cancelled == [3]
        listener.disconnect()
        await until(lambda: open_sessions(idle.app) == 0)


async def test_one_session_too_many_pushes_out_the_one_that_was_unused_for_longest():
    async with talking(max_sessions=2) as first:
        second = await HttpTalk(first.app).open()
        assert (await first.send(first.request("ping"))).status == 200
        third = await HttpTalk(first.app).open()

        statuses = [(await one.send(one.request("ping"))).status for one in (first, second, third)]
        assert statuses == [200, 404, 200]


async def test_where_all_sessions_are_in_use_there_is_no_more():
    async with talking(max_sessions=1) as talk:
        listener = talk.listen()
        await listener.until(lambda: listener.sent)
        exchange = await HttpTalk(talk.app).initialize()

        assert (exchange.status, exchange.headers["retry-after"]) == (503, "5")
        listener.disconnect()
        await talk.finish(listener)


async def test_the_end_of_the_application_ends_its_sessions():
    server = build_server()
    async with talking(server=server) as talk:
        call, listener = talk.start_call("wait", id=1), talk.listen()
        await until(lambda: call.sent and messages_of(call) and listener.sent)
        talk.app.end_streams()
        await talk.finish(listener)
        assert not call.is_complete
        assert (await HttpTalk(talk.app).initialize()).status == 503
        await talk.app.aclose()
        await talk.finish(call)

        assert messages_of(call)[-1]["error"]["code"] == -32603
        assert server.cancelled == [1]
        assert open_sessions(talk.app) == 0


async def test_many_sessions_and_their_streams_leave_nothing_behind():
    server = build_server()
    server.gate.set()
    before = len(asyncio.all_tasks())
    async with talking(server=server) as first:
        for _ in range(30):
            talk = await HttpTalk(first.app).open()
            listener = talk.listen()
            await talk.call("wait")
            assert (await talk.delete()).status == 204
            await talk.finish(listener)
        assert open_sessions(first.app) == 1
        assert len(server.subscriptions) == 1
    assert len(server.subscriptions) == 0
    await until(lambda: len(asyncio.all_tasks()) == before)


# -- who may come in -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize(
    ("changes", "status"), [({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403)]
)
async def test_the_gate_is_for_every_method(method, changes, status):
    async with talking() as talk:
        exchange = await talk.finish(talk.start(method, body=b"{}", **changes))

        assert exchange.status == status
        assert open_sessions(talk.app) == 1


async def test_pages_in_browsers_may_send_and_read_the_headers_of_sessions():
    app = build_server().asgi(cors_origins=["https://app.example"])
    talk = HttpTalk(app)
    begun = await talk.initialize(origin="https://app.example")
    asked = {"access-control-request-method": "DELETE", "origin": "https://app.example"}
    preflight = Exchange(app, method="OPTIONS", headers={**GOOD_HEADERS, **asked})
    await preflight.run()

    assert "Mcp-Session-Id" in begun.headers["access-control-expose-headers"]
    assert preflight.headers["access-control-allow-methods"] == "GET, POST, DELETE"
    for name in ("Mcp-Session-Id", "Last-Event-ID", "MCP-Protocol-Version"):
        assert name in preflight.headers["access-control-allow-headers"]
    await app.aclose()


async def test_a_get_that_accepts_no_event_stream_is_406():
    async with talking() as talk:
        exchange = await talk.finish(talk.start("GET", accept="application/json"))

        assert exchange.status == 406
