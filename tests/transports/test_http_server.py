"""The endpoint as an ASGI application: what it lets in, when it streams, what a vanished client costs."""

import asyncio
import gc

import pytest

from mesero.transports.http_gate import Gate
from mesero.transports.http_reply import HttpReply
from mesero.transports.http_server import HttpEndpoint
from tests.transports.asgi_driver import GOOD_HEADERS, Exchange


async def echo(body, headers, reply):
    await reply.answer(body or b"{}")


def endpoint(receive_post=echo, *, path="/mcp", gate=None, **options):
    return HttpEndpoint(receive_post, path=path, gate=gate or Gate(), **options)


def is_idle(app):
    return not app._fresh and not app._slow and not app._streams


async def run(receive_post=echo, *, app=None, **request):
    return await Exchange(app or endpoint(receive_post), **request).run()


# -- what comes in -----------------------------------------------------------------------------------------


async def test_a_post_gets_what_the_function_answers():
    exchange = await run(body=b'{"id":1}')

    assert (exchange.status, exchange.json) == (200, {"id": 1})


async def test_the_function_gets_the_header_lines_as_they_came():
    seen = []

    async def look(body, headers, reply):
        seen.extend(headers)
        await reply.answer(b"{}")

    headers = [*GOOD_HEADERS.items(), ("mcp-name", "a"), ("mcp-name", "b")]
    await run(look, headers=headers)

    assert seen[-2:] == [(b"mcp-name", b"a"), (b"mcp-name", b"b")]


async def test_a_body_may_come_in_pieces():
    exchange = await run(chunks=[b"[1", b"", b",2", b"]"])

    assert exchange.json == [1, 2]


@pytest.mark.parametrize("chunks", [[b"1" * 11], [b"1" * 6, b"1" * 5], [b"1" * 6, b"1" * 6, b"1" * 6]])
async def test_a_body_beyond_the_limit_is_refused_wherever_it_shows(chunks):
    exchange = await run(app=endpoint(gate=Gate(max_body_bytes=10)), chunks=chunks)

    assert exchange.status == 413
    assert "10 bytes" in exchange.json["error"]["message"]


async def test_a_body_of_just_the_limit_passes():
    exchange = await run(app=endpoint(gate=Gate(max_body_bytes=10)), chunks=[b"12345", b"67890"])

    assert exchange.json == 1234567890


async def test_a_body_that_breaks_off_reaches_nobody():
    seen = []

    async def look(body, headers, reply):
        seen.append(body)

    app = endpoint(look)
    exchange = Exchange(app, chunks=[b"{", b"}"])
    exchange._events.pop()
    exchange.disconnect()
    await exchange.run()
    partial = Exchange(app, chunks=[b"{", b"}"])
    partial._events.pop()
    partial.start()
    await asyncio.sleep(0)
    partial.disconnect()
    await partial.task

    assert seen == []


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
async def test_other_methods_are_405_with_allow(method):
    exchange = await run(method=method, headers={**GOOD_HEADERS, "last-event-id": "7", "mcp-session-id": "x"})

    assert (exchange.status, exchange.headers["allow"]) == (405, "POST")


async def test_a_preflight_is_answered_where_cors_is_on():
    app = endpoint(gate=Gate(cors_origins=["https://app.example"]))
    exchange = await run(
        app=app, method="OPTIONS", headers={"host": "localhost", "origin": "https://app.example"}
    )

    assert (exchange.status, exchange.body) == (204, b"")


async def test_what_the_gate_refuses_is_not_read():
    exchange = Exchange(endpoint(), body=b"{}", headers={**GOOD_HEADERS, "host": "evil.example"})
    await exchange.run()

    assert exchange.status == 421
    assert len(exchange._events) == 1


@pytest.mark.parametrize(
    ("path", "root_path", "own_path", "status"),
    [
        ("/mcp", "", "/mcp", 200),
        ("/mcp/", "", "/mcp", 404),
        ("/", "", "/mcp", 404),
        ("/other", "", "/mcp", 404),
        ("/api/mcp", "/api", "/mcp", 200),
        ("/api/mcp", "/api/", "/mcp", 200),
        ("/api", "/api", "/", 200),
        ("/api/", "/api", "/", 200),
        ("/api/x", "/api", "/", 404),
    ],
)
async def test_the_path_is_exact_below_the_mount(path, root_path, own_path, status):
    exchange = await run(app=endpoint(path=own_path), body=b"{}", path=path, root_path=root_path)

    assert exchange.status == status


async def test_another_path_is_told_where_the_endpoint_is():
    exchange = await run(path="/", root_path="/api")

    assert b"the MCP endpoint is /api/mcp" in exchange.body
    assert exchange.headers["content-type"].startswith("text/plain")


# -- what takes longer -------------------------------------------------------------------------------------


async def test_what_takes_long_becomes_a_stream_with_comments():
    go_on = asyncio.Event()

    async def slowly(body, headers, reply):
        await go_on.wait()
        await reply.answer(b'{"late":true}', status=400)

    app = endpoint(slowly, stream_after_s=0.1, keep_alive_s=0.05)
    exchange = Exchange(app, body=b"{}").start()
    await exchange.until(lambda: exchange.sent and exchange.comments > 2)
    go_on.set()
    await exchange.task

    assert exchange.status == 200
    assert exchange.events == [{"late": True}]
    assert is_idle(app)


async def test_what_is_answered_before_that_is_json():
    async def briefly(body, headers, reply):
        await asyncio.sleep(0.15)
        await reply.answer(b"{}")

    app = endpoint(briefly)
    exchange = await run(app=app)

    assert exchange.json == {}
    assert is_idle(app)


async def test_a_client_that_accepts_no_stream_waits_for_json():
    async def slowly(body, headers, reply):
        await asyncio.sleep(0.25)
        await reply.answer(b"{}")

    headers = {**GOOD_HEADERS, "accept": "application/json"}
    exchange = await run(app=endpoint(slowly, stream_after_s=0.05), headers=headers)

    assert exchange.json == {}


async def test_a_stream_that_has_begun_gets_no_comment_before_its_time():
    async def notifying(body, headers, reply):
        await reply.notify(b"1")
        await asyncio.sleep(0.25)
        await reply.answer(b"2")

    exchange = await run(app=endpoint(notifying, stream_after_s=0.05))

    assert (exchange.events, exchange.comments) == ([1, 2], 0)


async def test_one_timer_serves_all_streams_and_rests_when_there_are_none():
    end = asyncio.Event()

    async def listening(body, headers, reply):
        await reply.notify(b"1")
        await end.wait()
        await reply.answer(b"2")

    app = endpoint(listening, keep_alive_s=0.05)
    exchanges = [Exchange(app).start() for _ in range(250)]
    await exchanges[0].until(lambda: all(len(exchange.sent) > 3 for exchange in exchanges))
    end.set()
    await asyncio.gather(*(exchange.task for exchange in exchanges))
    await exchanges[0].until(lambda: app._beat is None and app._clock is None)

    assert all(exchange.events == [1, 2] and exchange.comments >= 2 for exchange in exchanges)


async def test_a_reader_that_does_not_read_stops_nobody_else():
    done = asyncio.Event()

    async def listening(body, headers, reply):
        await reply.notify(b"1")
        await done.wait()
        await reply.answer(b"2")

    app = endpoint(listening, keep_alive_s=0.03)
    stuck = Exchange(app).start()
    await stuck.until(lambda: len(stuck.sent) > 1)
    stuck.room.clear()
    other = Exchange(app).start()
    await other.until(lambda: len(other.sent) > 5)
    done.set()
    await other.task

    assert other.events == [1, 2]
    assert not stuck.task.done()
    stuck.room.set()
    await stuck.task
    assert stuck.events == [1, 2]


# -- clients that go ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("notifies", [False, True])
async def test_a_client_that_vanishes_cancels_its_request_and_leaves_nothing(notifies):
    cancelled = asyncio.Event()

    async def forever(body, headers, reply):
        if notifies:
            await reply.notify(b"1")
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
            await reply.notify(b"2")
            await reply.answer(b"3")

    app = endpoint(forever)
    before = len(asyncio.all_tasks())
    exchange = Exchange(app).start()
    await asyncio.sleep(0)
    sent = len(exchange.sent)
    exchange.disconnect()
    await exchange.task

    assert cancelled.is_set()
    assert exchange.task.cancelling() == 0
    assert len(exchange.sent) == sent
    assert is_idle(app)
    await exchange.until(lambda: len(asyncio.all_tasks()) == before)


async def test_a_client_whose_reading_end_breaks_cancels_its_request():
    cancelled = asyncio.Event()

    async def telling(body, headers, reply):
        try:
            while True:
                await reply.notify(b"1")
                await asyncio.sleep(0.01)
        finally:
            cancelled.set()

    exchange = Exchange(endpoint(telling)).start()
    await exchange.until(lambda: exchange.sent)
    exchange.broken_with = BrokenPipeError("gone")
    await exchange.task

    assert cancelled.is_set()


async def test_somebody_elses_cancellation_is_not_swallowed():
    async def forever(body, headers, reply):
        await asyncio.Event().wait()

    app = endpoint(forever)
    exchange = Exchange(app).start()
    await asyncio.sleep(0)
    exchange.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await exchange.task
    assert is_idle(app)


def count_replies():
    gc.collect()
    return sum(type(thing) is HttpReply for thing in gc.get_objects())


async def test_finished_requests_are_not_kept():
    app = endpoint()
    before = count_replies()
    for _ in range(20):
        exchange = await run(app=app)
    await exchange.until(lambda: app._clock is None)

    assert is_idle(app)
    assert count_replies() <= before


async def test_closing_cancels_what_is_open_in_good_order():
    async def waiting(body, headers, reply):
        if body == b"stream":
            await reply.notify(b"1")
        if body == b"answered":
            await reply.answer(b"1")
            await asyncio.sleep(0.05)
            return
        await asyncio.Event().wait()

    app = endpoint(waiting)
    silent, streaming, answered = (
        Exchange(app, body=body).start() for body in (b"silent", b"stream", b"answered")
    )
    await asyncio.sleep(0)
    app.cancel_open()
    await asyncio.gather(silent.task, streaming.task, answered.task)

    assert silent.status == 503
    assert streaming.events == [1]
    assert streaming.is_complete
    assert answered.json == 1


def test_an_application_outlives_an_event_loop():
    cancelled = []

    async def forever(body, headers, reply):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(body)

    app = endpoint(forever)

    async def cut_short():
        Exchange(app, body=b"1").start()
        await asyncio.sleep(0)

    async def vanish():
        exchange = Exchange(app, body=b"2").start()
        await asyncio.sleep(0)
        exchange.disconnect()
        async with asyncio.timeout(5):
            await exchange.task

    asyncio.run(cut_short())
    asyncio.run(vanish())

    assert cancelled == [b"1", b"2"]


# -- what is no HTTP ---------------------------------------------------------------------------------------


async def scope_of(app, kind, *incoming):
    sent, events = [], list(incoming)

    async def receive():
        return {"type": events.pop(0)}

    async def send(event):
        sent.append(event)

    await app({"type": kind}, receive, send)
    return [event["type"] for event in sent]


@pytest.mark.parametrize("has_hook", [True, False])
async def test_the_lifespan_is_answered_and_its_end_heard(has_hook):
    ended = []
    app = endpoint(on_shutdown=(lambda: ended.append(True)) if has_hook else None)

    assert await scope_of(app, "lifespan", "lifespan.startup", "lifespan.shutdown") == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert ended == [True] * has_hook


async def test_a_web_socket_is_refused():
    assert await scope_of(endpoint(), "websocket", "websocket.connect") == ["websocket.close"]


async def test_scopes_that_nobody_knows_are_left_alone():
    assert await scope_of(endpoint(), "tomorrow") == []


# -- more methods and paths --------------------------------------------------------------------------------


OTHERS = {("/mcp", "GET"), ("/messages", "POST"), ("/sse", "GET")}


async def name(scope, body, reply):
    await reply.answer(f'"{scope["method"]} {scope["path"]} {body.decode()}"'.encode())


def wider():
    gate = Gate(methods=("GET", "POST"))
    return HttpEndpoint(echo, path="/mcp", gate=gate, receive_other=name, others=OTHERS)


@pytest.mark.parametrize(("path", "method"), sorted(OTHERS))
async def test_what_was_asked_for_goes_to_the_second_function(path, method):
    exchange = await run(app=wider(), path=path, method=method, body=b"1")

    assert exchange.json == f"{method} {path} 1"


async def test_it_does_so_wherever_the_application_is_mounted():
    exchange = await run(app=wider(), path="/apps/sse", root_path="/apps", method="GET")

    assert exchange.json == "GET /apps/sse "


async def test_a_post_to_the_path_goes_to_the_first_function_all_the_same():
    exchange = await run(app=wider(), body=b"1")

    assert exchange.json == 1


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [("/mcp", "DELETE", "GET, POST"), ("/sse", "POST", "GET"), ("/messages", "GET", "POST")],
)
async def test_each_path_says_which_methods_it_has(path, method, allowed):
    exchange = await run(app=wider(), path=path, method=method)

    assert (exchange.status, exchange.headers["allow"]) == (405, allowed)


async def test_other_paths_are_still_404():
    exchange = await run(app=wider(), path="/other", method="GET")

    assert exchange.status == 404


async def test_the_gate_and_the_limit_are_for_the_second_function_too():
    gate = Gate(max_body_bytes=10)
    app = HttpEndpoint(echo, path="/mcp", gate=gate, receive_other=name, others=OTHERS)
    too_long = await run(app=app, path="/messages", body=b"1" * 11)
    elsewhere = await run(app=app, path="/sse", method="GET", headers={"host": "evil.example"})

    assert (too_long.status, elsewhere.status) == (413, 421)
