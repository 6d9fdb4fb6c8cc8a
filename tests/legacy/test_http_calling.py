"""A session over HTTP, the client's side: its id, its headers, its streams, its loss and its end."""

import asyncio

import pytest

from mesero.errors import CallTimeoutError, DisconnectedError, HttpStatusError, ProtocolError, RpcError
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.transports.http_client import HttpTransport
from tests.legacy.scripted import (
    CALL,
    TEXT,
    HttpScript,
    caller_over,
    introduction,
    open_http_session,
    requests_of,
    sse,
    stream,
    verbs_of,
)
from tests.transports.children import until
from tests.transports.raw_http import END, STREAM, chunk, error_for, full, serve_raw

FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
ASKED = {"elicit": lambda _: {}, "roots": ["file:///a"]}


def question(method="roots/list", request_id="q", **params):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def note(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(request, value=None):
    return {"jsonrpc": "2.0", "id": request.id, "result": TEXT if value is None else value}


async def call(caller, **options):
    return (await caller.call(CALL, {"name": "a"}, **options)).text


# --- headers ---


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_the_session_and_from_one_revision_on_the_revision_stand_in_every_later_request(revision):
    async with open_http_session(HttpScript(revision)) as (caller, server):
        await call(caller)
        await server.wait_until(lambda: "GET" in verbs_of(server))
    first, *others = server.requests
    assert first.header("Mcp-Session-Id") is None
    assert first.header("MCP-Protocol-Version") is None
    assert first.header("Mcp-Method") is None
    assert sorted(verbs_of(server)) == sorted(
        ["initialize", "notifications/initialized", "tools/call", "GET", "DELETE"]
    )
    expected = None if revision < "2025-06-18" else revision
    for request in others:
        assert request.header("Mcp-Session-Id") == "s-1"
        assert request.header("MCP-Protocol-Version") == expected
        assert request.header("Mcp-Method") is None
        assert "text/event-stream" in request.header("Accept")


async def test_nothing_is_asked_for_before_initialized_was_accepted():
    verbs = []

    async def accept_late(request, connection):
        await asyncio.sleep(0.05)
        verbs.extend(verbs_of(server))
        await connection.write(full(b"", "202 Accepted", content_type=""))

    script = HttpScript(notifications__initialized=accept_late)
    async with serve_raw(script) as server:
        transport = HttpTransport(server.url)
        caller = caller_over(transport)
        await caller.begin(offer="2025-11-25", timeout_s=5)
        await caller.aclose()
        await transport.aclose()
    assert verbs == ["initialize", "notifications/initialized"]


async def test_a_server_without_session_ids_is_given_none_and_nothing_to_delete():
    async with open_http_session(HttpScript(session_id="")) as (caller, server):
        await call(caller)
    assert all(request.header("Mcp-Session-Id") is None for request in server.requests)
    assert "DELETE" not in verbs_of(server)


async def test_an_id_that_no_header_may_have_is_refused():
    with pytest.raises(ProtocolError, match="visible ASCII"):
        async with open_http_session(HttpScript(session_id="a b")):
            pass


async def test_an_answer_in_a_stream_names_the_session_as_well():
    async def introduce(request, connection):
        head = STREAM.replace(b"\r\n\r\n", b"\r\nMcp-Session-Id: s-2\r\n\r\n")
        await connection.write(head + chunk(sse(result(request, introduction()))) + END)

    async with open_http_session(HttpScript(initialize=introduce)) as (caller, server):
        await call(caller)
    assert requests_of(server, "tools/call")[0].header("Mcp-Session-Id") == "s-2"


async def test_an_initialized_that_is_not_accepted_is_an_error():
    async def refuse(request, connection):
        await connection.write(full(b"no", "400 Bad Request", content_type="text/plain"))

    with pytest.raises(HttpStatusError, match="400"):
        async with open_http_session(HttpScript(notifications__initialized=refuse)):
            pass


async def test_an_initialized_that_nobody_accepts_is_a_time_out():
    async def be_silent(request, connection):
        await connection.wait_for_end()

    async with serve_raw(HttpScript(notifications__initialized=be_silent)) as server:
        transport = HttpTransport(server.url)
        caller = caller_over(transport)
        with pytest.raises(CallTimeoutError, match="notifications/initialized"):
            await caller.begin(offer="2025-11-25", timeout_s=0.1)
        await transport.aclose()


# --- questions ---


async def test_a_question_on_the_stream_of_a_call_is_answered_by_a_post_of_its_own():
    answered = asyncio.Event()

    async def ask_first(request, connection):
        await connection.write(STREAM + chunk(sse(question())) + chunk(sse(note("notifications/message"))))
        await answered.wait()
        await connection.write(chunk(sse(result(request))) + END)

    async def take(request, connection):
        answered.set()
        await connection.write(full(b"", "202 Accepted", content_type=""))

    script = HttpScript(tools__call=ask_first, answer=take)
    async with open_http_session(script, asked=ASKED) as (caller, server):
        assert await asyncio.wait_for(call(caller), 5) == "done"
    [answer] = requests_of(server, "answer")
    assert answer.json == {"jsonrpc": "2.0", "id": "q", "result": {"roots": [{"uri": "file:///a"}]}}
    assert answer.header("Mcp-Session-Id") == "s-1"


async def test_a_question_on_the_listening_stream_is_answered_too_and_changes_are_told():
    async def listen(request, connection):
        await connection.write(STREAM + chunk(sse(question("ping"))))
        await connection.write(chunk(sse(note("notifications/tools/list_changed"))))
        await connection.wait_for_end()

    seen = []
    script = HttpScript(GET=listen)
    async with open_http_session(script, on_notification=seen.append) as (_, server):
        await server.wait_until(lambda: "answer" in verbs_of(server))
        await until(lambda: seen)
    assert requests_of(server, "answer")[0].json["result"] == {}


async def test_an_answer_that_is_not_accepted_harms_nothing():
    async def refuse(request, connection):
        await connection.write(full(b"", "400 Bad Request", content_type=""))

    async def listen(request, connection):
        await connection.write(STREAM + chunk(sse(question("ping"))))
        await connection.wait_for_end()

    async with open_http_session(HttpScript(GET=listen, answer=refuse)) as (caller, server):
        await server.wait_until(lambda: "answer" in verbs_of(server))
        assert await call(caller) == "done"


async def test_progress_on_the_listening_stream_reaches_its_call():
    streams = asyncio.Queue()
    told = asyncio.Event()

    async def listen(request, connection):
        await connection.write(STREAM)
        streams.put_nowait(connection)
        await connection.wait_for_end()

    async def report_elsewhere(request, connection):
        other = await streams.get()
        token = request.json["params"]["_meta"]["progressToken"]
        await other.write(chunk(sse(note("notifications/progress", progressToken=token, progress=1))))
        await told.wait()
        return TEXT

    async with open_http_session(HttpScript(GET=listen, tools__call=report_elsewhere)) as (caller, _):
        text = await asyncio.wait_for(call(caller, on_progress=lambda _: told.set()), 5)
    assert text == "done"


async def test_a_batch_may_come_as_one_event():
    async def answer_in_batch(request, connection):
        both = b"[%s,%s]" % (
            b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}',
            b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % request.id,
        )
        await stream(connection, b"data: " + both + b"\n\n")

    script = HttpScript("2025-03-26", tools__call=answer_in_batch)
    logged = []
    async with open_http_session(script, on_log=logged.append) as (caller, _):
        await call(caller)
        await until(lambda: logged)


# --- cancellation ---


async def test_giving_up_closes_the_stream_and_says_so_in_a_message():
    async def be_silent(request, connection):
        await connection.wait_for_end()

    async with open_http_session(HttpScript(tools__call=be_silent)) as (caller, server):
        with pytest.raises(CallTimeoutError):
            await call(caller, timeout_s=0.1)
        await server.wait_until(lambda: "notifications/cancelled" in verbs_of(server))
        task = asyncio.create_task(call(caller))
        await server.wait_until(lambda: len(requests_of(server, "tools/call")) == 2)
        task.cancel()
        await asyncio.wait({task})
        await server.wait_until(lambda: len(requests_of(server, "notifications/cancelled")) == 2)
    first, second = requests_of(server, "notifications/cancelled")
    calls = requests_of(server, "tools/call")
    assert first.json["params"]["requestId"] == calls[0].id
    assert second.json["params"]["requestId"] == calls[1].id


# --- resumption ---


async def test_a_stream_that_ends_early_is_resumed_after_the_time_that_the_server_says():
    loop = asyncio.get_running_loop()
    times = {}

    async def end_early(request, connection):
        script.call = request
        await stream(connection, sse(None, event_id="e1", retry_ms=300))
        times["closed"] = loop.time()

    async def resume(request, connection):
        if request.header("Last-Event-ID") is None:
            await connection.write(full(b"", "405 Method Not Allowed", content_type=""))
            return
        times["resumed"] = loop.time()
        await stream(connection, sse(result(script.call), event_id="e2"))

    script = HttpScript(tools__call=end_early, GET=resume)
    async with open_http_session(script) as (caller, server):
        assert await asyncio.wait_for(call(caller), 10) == "done"
    assert times["resumed"] - times["closed"] >= 0.27
    [resumed] = [request for request in requests_of(server, "GET") if request.header("Last-Event-ID")]
    assert resumed.header("Last-Event-ID") == "e1"
    assert resumed.header("Mcp-Session-Id") == "s-1"
    assert len(requests_of(server, "tools/call")) == 1


async def test_a_stream_that_breaks_again_and_again_is_resumed_behind_the_last_event():
    async def end_early(request, connection):
        script.call = request
        await stream(connection, sse(note("notifications/message"), event_id="0", retry_ms=1), ends=False)

    async def resume(request, connection):
        last = request.header("Last-Event-ID")
        if last is None:
            await connection.write(full(b"", "405 Method Not Allowed", content_type=""))
        elif last == "3":
            await stream(connection, sse(result(script.call)))
        else:
            await stream(connection, sse(None, event_id=str(int(last) + 1)), ends=last != "1")

    script = HttpScript(tools__call=end_early, GET=resume)
    async with open_http_session(script) as (caller, server):
        assert await asyncio.wait_for(call(caller), 10) == "done"
    ids = [request.header("Last-Event-ID") for request in requests_of(server, "GET")]
    assert [one for one in ids if one is not None] == ["0", "1", "2", "3"]


async def test_without_event_ids_a_broken_stream_is_the_end_of_its_call():
    async def end_early(request, connection):
        await stream(connection, sse(note("notifications/message")))

    async with open_http_session(HttpScript(tools__call=end_early)) as (caller, _):
        with pytest.raises(DisconnectedError, match="ended without the response"):
            await call(caller)


async def test_a_stream_that_cannot_be_resumed_says_why():
    async def end_early(request, connection):
        await stream(connection, sse(None, event_id="e1", retry_ms=1))

    async with open_http_session(HttpScript(tools__call=end_early)) as (caller, _):
        with pytest.raises(DisconnectedError, match=r"could not be resumed: GET .* 405"):
            await asyncio.wait_for(call(caller), 10)


async def test_a_time_out_while_waiting_to_resume_is_the_callers():
    async def end_early(request, connection):
        await stream(connection, sse(None, event_id="e1", retry_ms=60_000))

    async with open_http_session(HttpScript(tools__call=end_early)) as (caller, server):
        with pytest.raises(CallTimeoutError):
            await call(caller, timeout_s=0.1)
        await server.wait_until(lambda: "notifications/cancelled" in verbs_of(server))


# --- loss ---


def forgetting(body=None, status="404 Not Found", **options):
    """A server that forgets its session once: the next request is refused, as it should be with 404."""

    async def act(request, connection):
        if request.header("Mcp-Session-Id") == "s-1":
            script.session_id = "s-2"
            answer = b"" if body is None else body(request)
            await connection.write(full(answer, status))
            return None
        return TEXT

    script = HttpScript(tools__call=act, **options)
    return script


@pytest.mark.parametrize(
    "body",
    [
        None,
        lambda _: error_for(None, -32001, "Session not found"),
        lambda request: error_for(request.id, -32600, "Session not found"),
        lambda _: error_for("server-error", -32600, "Session not found"),
    ],
)
async def test_a_session_that_the_server_forgot_is_begun_anew_once_and_the_request_sent_again(body):
    async with open_http_session(forgetting(body)) as (caller, server):
        assert await call(caller) == "done"
        _, second = requests_of(server, "initialize")
        assert second.header("Mcp-Session-Id") is None
        assert second.header("MCP-Protocol-Version") is None
        assert requests_of(server, "tools/call")[-1].header("Mcp-Session-Id") == "s-2"


@pytest.mark.parametrize(
    "body",
    [
        lambda _: b"Bad Request: No valid session ID provided",
        lambda _: error_for(None, -32000, "Bad Request: No valid session ID provided"),
    ],
)
async def test_a_400_that_speaks_of_the_session_is_the_same_loss(body):
    async with open_http_session(forgetting(body, "400 Bad Request")) as (caller, server):
        assert await call(caller) == "done"
        assert len(requests_of(server, "initialize")) == 2


async def test_another_400_is_no_loss():
    async with open_http_session(forgetting(lambda _: b"no", "400 Bad Request")) as (caller, server):
        with pytest.raises(HttpStatusError, match="400"):
            await call(caller)
        assert len(requests_of(server, "initialize")) == 1


async def test_many_calls_that_meet_the_loss_share_one_new_session():
    async with open_http_session(forgetting()) as (caller, server):
        async with asyncio.timeout(10):
            texts = await asyncio.gather(*(call(caller) for _ in range(10)))
        assert texts == ["done"] * 10
        assert len(requests_of(server, "initialize")) == 2


async def test_a_server_that_forgets_every_session_does_not_make_us_try_for_ever():
    async def forget(request, connection):
        await connection.write(full(b"", "404 Not Found"))

    async with open_http_session(HttpScript(tools__call=forget)) as (caller, server):
        with pytest.raises(HttpStatusError, match="404"):
            await call(caller)
    assert len(requests_of(server, "initialize")) == 2


async def test_a_404_that_forgets_every_session_in_a_message_is_raised_as_that_message():
    async def forget(request, connection):
        await connection.write(full(error_for(None, -32001, "Session not found"), "404 Not Found"))

    async with open_http_session(HttpScript(tools__call=forget)) as (caller, _):
        with pytest.raises(RpcError, match="Session not found"):
            await call(caller)


async def test_a_404_about_a_method_or_without_a_session_is_no_loss():
    async def refuse(request, connection):
        await connection.write(full(error_for(request.id, -32601, "Method not found"), "404 Not Found"))

    async with open_http_session(HttpScript(tools__call=refuse)) as (caller, server):
        with pytest.raises(RpcError, match="Method not found"):
            await call(caller)
    assert len(requests_of(server, "initialize")) == 1
    async with open_http_session(forgetting(session_id="")) as (caller, server):
        assert await call(caller) == "done"


async def test_whoever_only_listens_hears_of_the_loss_and_of_the_new_session():
    forget = asyncio.Event()

    async def listen(request, connection):
        if request.header("Mcp-Session-Id") == "s-1" and forget.is_set():
            script.session_id = "s-2"
            await connection.write(full(b"", "404 Not Found"))
            return
        await connection.write(STREAM + chunk(b"retry: 1\n\n"))
        if request.header("Mcp-Session-Id") == "s-1":
            await forget.wait()
            await connection.write(END)
        else:
            await connection.wait_for_end()

    script = HttpScript(GET=listen)
    async with open_http_session(script) as (caller, server):
        wanted = {"resourceSubscriptions": ["file:///a"]}
        async with caller.listen(wanted, acknowledge_s=5, reconnect=True, on_gap=lambda: None) as changes:
            await server.wait_until(lambda: "GET" in verbs_of(server))
            forget.set()
            change = await asyncio.wait_for(anext(changes), 5)
            assert change.kind == "reconnected"
            assert requests_of(server, "resources/subscribe")[-1].header("Mcp-Session-Id") == "s-2"


async def test_a_server_that_answers_404_to_listening_keeps_its_session():
    async def refuse(request, connection):
        await connection.write(full(b"Cannot GET /mcp", "404 Not Found", content_type="text/html"))

    async with open_http_session(HttpScript(GET=refuse)) as (caller, server):
        await server.wait_until(lambda: "GET" in verbs_of(server))
        assert [await call(caller) for _ in range(3)] == ["done"] * 3
        assert len(requests_of(server, "initialize")) == 1


# --- the end ---


@pytest.mark.parametrize("status", ["200 OK", "405 Method Not Allowed", "500 Oh"])
async def test_the_session_is_deleted_and_what_the_server_says_to_that_does_not_matter(status):
    async def delete(request, connection):
        await connection.write(full(b"", status, content_type=""))

    async with open_http_session(HttpScript(DELETE=delete)) as (caller, server):
        await call(caller)
        await asyncio.gather(caller.aclose(), caller.aclose())
    [deleted] = requests_of(server, "DELETE")
    assert deleted.header("Mcp-Session-Id") == "s-1"


async def test_a_server_that_does_not_answer_to_that_is_left():
    async def be_silent(request, connection):
        await connection.wait_for_end()

    async with open_http_session(HttpScript(DELETE=be_silent, tools__call=be_silent)) as (caller, server):
        waiting = asyncio.create_task(call(caller))
        await server.wait_until(lambda: "tools/call" in verbs_of(server))
        async with asyncio.timeout(5):
            await caller.aclose()
            await caller.transport.aclose()
            with pytest.raises(Exception, match="closed"):
                await waiting
