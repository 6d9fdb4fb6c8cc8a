"""Sessions over HTTP belong to the principal who began them, whoever knows their names."""

import asyncio

import pytest

from mesero.errors import InternalError
from mesero.legacy.owners import check_owner, owner_for, refusal_of, unknown_session
from mesero.server import NotAuthorizedError
from tests.legacy.http_talk import HttpTalk, build_server, text_of, until
from tests.legacy.test_sse import PATHS, SseTalk

ANA, BEN = "Bearer ana", "Bearer ben"
MINE = {"authorization": ANA}
PING = {"jsonrpc": "2.0", "id": 70, "method": "ping"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
OTHERS = [({"authorization": BEN}, 404), ({"authorization": "Bearer eve"}, 403), ({}, 401)]
"""Who else may come, and what they get."""


async def by_token(operation):
    said = operation.find_header("authorization")
    if said is None:
        raise NotAuthorizedError("who are you?", status=401, challenge="Bearer")
    if said == "Bearer eve":
        raise NotAuthorizedError("not you")
    if said == "Bearer crash":
        raise RuntimeError("no connection to postgres://admin:hunter2@db")
    return {"name": said}


async def opened(app, revision="2025-11-25", capabilities=None):
    talk = HttpTalk(app, revision)
    assert (await talk.initialize(capabilities, **MINE)).status == 200
    assert (await talk.notify("notifications/initialized", **MINE)).status == 202
    return talk


@pytest.mark.parametrize(("others", "status"), OTHERS)
async def test_nobody_else_listens_to_a_session_or_ends_it(others, status):
    app = build_server(authorize=by_token).asgi()
    talk = await opened(app)
    for method in ("GET", "DELETE"):
        exchange = await talk.finish(talk.start(method, content_type=None, **others))
        assert exchange.status == status
        assert exchange.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)

    assert len(app.sessions) == 1
    assert (await talk.delete(**MINE)).status == 204
    assert len(app.sessions) == 0
    await app.aclose()


@pytest.mark.parametrize(("others", "status"), OTHERS)
async def test_nobody_else_says_anything_in_a_session(others, status):
    app = build_server(authorize=by_token).asgi()
    talk = await opened(app)
    call = await talk.call("add", {"a": 1, "b": 2}, **others)
    ping = await talk.send(PING, **others)
    note = await talk.notify("notifications/cancelled", {"requestId": 1}, **others)
    response = await talk.send({"jsonrpc": "2.0", "id": "q1", "result": {}}, **others)
    level = await talk.send(talk.request("logging/setLevel", {"level": "error"}), **others)

    assert {one.status for one in (call, ping, note, response, level)} == {status}
    assert text_of((await talk.call("add", {"a": 1, "b": 2}, **MINE)).json) == "3"
    assert (await talk.send(PING, **MINE)).json["result"] == {}
    await app.aclose()


async def test_to_somebody_else_a_session_looks_like_one_that_is_not_there():
    app = build_server(authorize=by_token).asgi()
    talk = await opened(app)
    theirs = await talk.delete(authorization=BEN)
    talk.session_id = "0" * 32
    nobodys = await talk.delete(authorization=BEN)

    assert (theirs.status, theirs.body) == (nobodys.status, nobodys.body)
    await app.aclose()


async def test_nobody_else_cancels_a_call():
    server = build_server(authorize=by_token)
    app = server.asgi()
    talk = await opened(app)
    call = talk.start_call("silent", id=9, **MINE)
    await talk.notify("notifications/cancelled", {"requestId": 9}, authorization=BEN)
    server.gate.set()

    assert text_of((await talk.finish(call)).json) == "silent"
    assert server.cancelled == []
    await app.aclose()


@pytest.mark.parametrize(("others", "status"), OTHERS)
async def test_an_array_of_somebody_else_is_refused_as_a_whole(others, status):
    app = build_server(authorize=by_token).asgi()
    talk = await opened(app, "2025-03-26")

    assert (await talk.send([PING], **others)).status == status
    assert (await talk.send([PING], **MINE)).status == 200
    await app.aclose()


async def test_a_hook_that_fails_tells_the_caller_nothing_of_its_reasons():
    logged = []
    server = build_server(authorize=by_token)
    server.log = logged.append
    app = server.asgi()
    talk = await opened(app)
    crash = {"authorization": "Bearer crash"}
    answers = [
        await HttpTalk(app).initialize(**crash),
        await talk.call("add", {"a": 1, "b": 2}, **crash),
        await talk.delete(**crash),
    ]

    assert all(b"hook failed" in one.body and b"hunter2" not in one.body for one in answers)
    assert answers[-1].status == 500
    assert len([text for text in logged if "hunter2" in text]) == 3
    await app.aclose()


async def test_a_session_that_ends_while_the_hook_thinks_is_not_there_any_more():
    thinking, go_on = asyncio.Event(), asyncio.Event()

    async def authorize(operation):
        if operation.find_header("x-slow"):
            thinking.set()
            await go_on.wait()
        return "somebody"

    app = build_server(authorize=authorize).asgi()
    talk = await HttpTalk(app).open()
    slow = talk.listen(x_slow="1")
    await thinking.wait()
    assert (await talk.delete()).status == 204
    go_on.set()

    assert (await talk.finish(slow)).status == 404
    await app.aclose()


async def test_without_a_hook_nobody_is_told_apart():
    app = build_server().asgi()
    talk = await HttpTalk(app).open()

    assert (await talk.delete(authorization=BEN)).status == 204
    await app.aclose()


# -- the transport of 2024-11-05 -----------------------------------------------------------------------------


@pytest.mark.parametrize(("others", "status"), OTHERS)
async def test_nobody_else_posts_to_a_stream(others, status):
    app = build_server(authorize=by_token).asgi(**PATHS)
    talk = await SseTalk(app).connect()
    assert (await talk.send(INITIALIZE, **MINE)).status == 202
    await talk.answer_to(0)
    for message in (PING, [PING], {"jsonrpc": "2.0", "method": "notifications/initialized"}, INITIALIZE):
        assert (await talk.send(message, **others)).status == status
    await talk.send({**PING, "id": 71}, **MINE)
    await talk.answer_to(71)

    assert [message["id"] for message in talk.said] == [0, 71]
    await talk.leave()


async def test_the_hook_is_asked_before_a_stream_becomes_a_session():
    app = build_server(authorize=by_token).asgi(**PATHS)
    talk = await SseTalk(app).connect()

    assert (await talk.send(INITIALIZE)).status == 401
    assert (await talk.send({**INITIALIZE, "params": {}}, **MINE)).status == 202
    await until(lambda: talk.said)
    assert "error" in talk.said[0]
    await talk.leave()


# -- the parts -----------------------------------------------------------------------------------------------


async def test_a_server_without_a_hook_has_no_owners():
    assert await owner_for(build_server(), None, ()) is None
    check_owner(None, ["str", "ana"])


def test_only_the_owner_is_the_owner():
    check_owner(["str", "ana"], ["str", "ana"])
    with pytest.raises(NotAuthorizedError, match="no such session"):
        check_owner(["str", "ana"], ["str", "ben"])


def test_what_has_no_id_is_refused_in_the_words_of_the_error():
    refused = refusal_of(NotAuthorizedError("no", status=401, challenge="Bearer"))

    assert (refused.status, refused.headers[-1]) == (401, (b"www-authenticate", b"Bearer"))
    assert b'"no"' in refused.body
    assert refusal_of(InternalError("broken")).status == 500
    assert refusal_of(NotAuthorizedError("x", status=404)) == unknown_session()
