"""Handshake revisions over HTTP without sessions: each request by itself, for replicas that share nothing."""

import json

import pytest

from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.server import NotAuthorizedError
from tests.legacy.http_talk import HttpTalk, build_server, events_of, messages_of, text_of


async def alone(message, *, revision=None, app=None, **changes):
    talk = HttpTalk(app or build_server().asgi(legacy_sessions=False))
    return await talk.send(message, mcp_protocol_version=revision, **changes)


ADD = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "add", "arguments": {"a": 1, "b": 2}},
}


@pytest.mark.parametrize("session_id", [None, "whatever"])
@pytest.mark.parametrize("revision", [*HANDSHAKE_REVISIONS, None])
async def test_without_sessions_each_request_is_served_by_itself(revision, session_id):
    exchange = await alone(ADD, revision=revision, mcp_session_id=session_id)

    assert exchange.status == 200
    assert text_of(exchange.json) == "3"
    assert "resultType" not in exchange.json["result"]
    assert ("structuredContent" in exchange.json["result"]) == (revision in {"2025-06-18", "2025-11-25"})


async def test_without_sessions_initialize_is_answered_and_nothing_is_agreed_on_for_others():
    app = build_server().asgi(legacy_sessions=False)
    exchange = await HttpTalk(app, "2025-11-25").initialize()

    assert exchange.json["result"]["protocolVersion"] == "2025-11-25"
    assert "mcp-session-id" not in exchange.headers
    assert (await HttpTalk(app).notify("notifications/initialized")).status == 202
    assert "structuredContent" not in (await alone(ADD, app=app)).json["result"]


async def test_without_sessions_nothing_can_be_asked():
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "confirm"}}
    exchange = await alone(call, revision="2025-11-25")

    assert "without sessions" in json.dumps(exchange.json)


async def test_without_sessions_progress_comes_on_the_stream_of_the_call():
    params = {"name": "count", "arguments": {"to": 2}, "_meta": {"progressToken": 1}}
    exchange = await alone({**ADD, "params": params}, revision="2025-06-18")

    assert [message.get("method") for message in messages_of(exchange)] == ["notifications/progress"] * 2 + [
        None
    ]


async def test_without_sessions_arrays_are_served_where_the_revision_has_them():
    app = build_server().asgi(legacy_sessions=False)
    assert [answer["id"] for answer in (await alone([ADD], app=app)).json] == [1]
    assert (await alone([{"jsonrpc": "2.0", "method": "notifications/x"}], app=app)).status == 202
    assert (await alone([ADD], app=app, revision="2025-06-18")).status == 400


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_without_sessions_there_is_neither_a_stream_nor_an_end(method):
    talk = HttpTalk(build_server().asgi(legacy_sessions=False))
    exchange = await talk.finish(talk.start(method))

    assert (exchange.status, exchange.headers["allow"]) == (405, "POST")


async def test_without_sessions_a_client_that_leaves_cancels_its_call():
    server = build_server()
    talk = HttpTalk(server.asgi(legacy_sessions=False))
    call = talk.start_call("wait", id=9, mcp_protocol_version="2025-11-25")
    await call.until(lambda: call.sent and events_of(call))
    call.disconnect()
    await talk.finish(call)

    assert server.cancelled == [9]


# -- who may begin -------------------------------------------------------------------------------------------


async def only_with_token(operation):
    if operation.find_header("authorization") == "crash":
        raise RuntimeError("the user database is down")
    if operation.find_header("authorization") != "Bearer good":
        raise NotAuthorizedError("who are you?", status=401, challenge="Bearer")
    return "somebody"


@pytest.mark.parametrize("kept", [True, False])
async def test_the_hook_is_asked_before_a_session_begins(kept):
    app = build_server(authorize=only_with_token).asgi(legacy_sessions=kept)
    refused = await HttpTalk(app).initialize()
    crashed = await HttpTalk(app).initialize(authorization="crash")
    welcome = await HttpTalk(app).initialize(authorization="Bearer good")

    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert refused.json["id"] == 1
    assert crashed.json["error"]["code"] == -32603
    assert welcome.status == 200
    assert len(app.sessions) == (1 if kept else 0)
    await app.aclose()


async def test_every_call_is_authorized_although_its_session_was():
    app = build_server(authorize=only_with_token).asgi()
    talk = HttpTalk(app)
    await talk.initialize(authorization="Bearer good")
    await talk.notify("notifications/initialized", authorization="Bearer good")
    refused = await talk.call("add", {"a": 1, "b": 2})
    welcome = await talk.call("add", {"a": 1, "b": 2}, authorization="Bearer good")

    assert refused.status == 401
    assert text_of(welcome.json) == "3"
    await app.aclose()


@pytest.mark.parametrize("revision", ["2027-01-01", "x" * 5000])
async def test_an_array_of_an_unknown_revision_is_refused_and_not_remembered(revision):
    app = build_server().asgi(legacy_sessions=False)
    exchange = await alone([ADD], app=app, revision=revision)

    assert exchange.status == 400
    assert exchange.json["error"]["code"] == -32600
