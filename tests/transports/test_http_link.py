import asyncio
import json

import pytest

from mesero.errors import AuthorizationNeededError, ClosedError, HttpStatusError, ProtocolError, UsageError
from tests.transports.raw_http import (
    END,
    STREAM,
    HangUp,
    answering,
    chunk,
    event,
    full,
    head,
    open_transport,
    outgoing,
    receive_all,
    receive_from,
    result_for,
    serve_raw,
)


def redirecting_to(location, status="307 Temporary Redirect"):
    """Answers at /moved only, and sends all others to a location."""

    async def script(request, connection):
        if " /moved" in request.line:
            await connection.write(full(result_for(request.id)))
        else:
            await connection.write(full(b"", status, f"Location: {location}"))

    return script


async def test_a_post_carries_what_was_asked_for_and_nothing_else():
    _, server = await receive_from(
        answering(),
        outgoing(headers=[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call")]),
        headers={"X-Tenant": "blue"},
    )
    [request] = server.requests
    assert request.line == "POST /mcp HTTP/1.1"
    assert request.names == {
        "host",
        "user-agent",
        "accept",
        "content-type",
        "content-length",
        "mcp-protocol-version",
        "mcp-method",
        "x-tenant",
    }
    assert request.header("Accept") == "application/json, text/event-stream"
    assert request.header("Content-Type") == "application/json"
    assert request.header("User-Agent").startswith("mesero/")
    assert request.header("Mcp-Method") == "tools/call"
    assert request.json["method"] == "tools/call"


async def test_mirrored_headers_win_over_those_of_the_caller():
    _, server = await receive_from(
        answering(),
        outgoing(headers=[("Mcp-Method", "tools/call")]),
        headers={"mcp-method": "other", "User-Agent": "mine/1"},
    )
    assert server.requests[0].header("Mcp-Method") == "tools/call"
    assert server.requests[0].header("User-Agent") == "mine/1"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("content-length", "3", "is the transport's own"),
        ("Accept", "text/html", "is the transport's own"),
        ("X-A", "one\r\nX-B: two", "has a line break in it"),
    ],
)
async def test_headers_that_would_break_the_request_are_refused(name, value, text):
    with pytest.raises(UsageError, match=text):
        async with open_transport("https://example.com/mcp", headers={name: value}):
            pass


async def test_cookies_are_not_kept():
    async with (
        serve_raw(answering(None, "200 OK", "Set-Cookie: a=b")) as server,
        open_transport(server.url) as transport,
    ):
        for number in range(2):
            await receive_all(transport.exchange(outgoing(number)))
        assert server.requests[1].header("Cookie") is None
        assert server.connections == 1


async def test_a_body_over_a_megabyte_goes_through_in_both_directions():
    def big_answer(request):
        return result_for(request.id, "y" * 3_000_000)

    [received], server = await receive_from(answering(big_answer), outgoing(size=2_000_000))
    assert len(server.requests[0].json["params"]["padding"]) == 2_000_000
    assert len(json.loads(received.raw)["result"]["value"]) == 3_000_000


async def test_a_body_in_chunks_without_a_length_is_put_together():
    async def script(request, connection):
        await connection.write(head("200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked"))
        for byte in json.dumps(result_for(request.id)).encode():
            await connection.write(chunk(bytes([byte])))
        await connection.write(END)

    [received], _ = await receive_from(script)
    assert received.message.id == 1


async def never_ending(request, connection):
    await connection.write(head("200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked"))
    while True:
        await connection.write(chunk(b" " * 1000))


@pytest.mark.parametrize("script", [never_ending, answering(b"x" * 5000)])
async def test_a_body_over_the_limit_is_not_read_on(script):
    with pytest.raises(ProtocolError, match=r"longer than the limit of 4000 bytes \(max_message_bytes=\)"):
        await receive_from(script, max_bytes=4000)


async def test_of_a_page_only_the_beginning_is_read():
    async def script(request, connection):
        await connection.write(head("500 Oops", "Content-Type: text/html", "Transfer-Encoding: chunked"))
        while True:
            await connection.write(chunk(b"<br>" * 1000))

    with pytest.raises(HttpStatusError, match="500 Oops") as caught:
        await receive_from(script)
    assert len(caught.value.body) == 400


async def test_a_page_that_breaks_off_still_tells_its_status():
    async def script(request, connection):
        await connection.write(head("502 Bad Gateway", "Content-Length: 100") + b"half a page")
        raise HangUp

    with pytest.raises(HttpStatusError, match="502 Bad Gateway") as caught:
        await receive_from(script)
    assert caught.value.body == b"half a page"


async def test_a_page_that_never_ends_still_tells_its_status(monkeypatch):
    monkeypatch.setattr("mesero.transports.http_link._EXCERPT_WAIT_S", 0.05)

    async def script(request, connection):
        await connection.write(head("200 OK", "Content-Type: text/html", "Content-Length: 100") + b"Log in")
        await connection.wait_for_end()

    with pytest.raises(HttpStatusError, match="text/html instead of") as caught:
        await receive_from(script)
    assert caught.value.body == b"Log in"


@pytest.mark.parametrize("status", ["307 Temporary Redirect", "308 Permanent Redirect"])
async def test_a_redirect_within_the_origin_that_keeps_the_method_is_followed_once(status):
    [received], server = await receive_from(redirecting_to("/moved", status))
    assert received.message.id == 1
    assert [request.line for request in server.requests] == ["POST /mcp HTTP/1.1", "POST /moved HTTP/1.1"]
    assert server.requests[1].body == server.requests[0].body


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other"])
async def test_a_redirect_that_may_change_the_method_is_not_followed(status):
    with pytest.raises(HttpStatusError, match="it points to /moved, where the request was not sent"):
        await receive_from(redirecting_to("/moved", status))


@pytest.mark.parametrize("location", ["/elsewhere", "/mcp", "http://[x"])
async def test_a_redirect_in_circles_or_to_no_url_ends_with_its_status(location):
    with pytest.raises(HttpStatusError, match="307 Temporary Redirect"):
        await receive_from(redirecting_to(location))


async def test_credentials_never_go_to_another_origin():
    async with serve_raw(answering()) as other, serve_raw(redirecting_to(other.url)) as server:
        async with open_transport(server.url, headers={"Authorization": "Bearer geheim"}) as transport:
            with pytest.raises(HttpStatusError, match=f"it points to {other.url}") as caught:
                await receive_all(transport.exchange(outgoing()))
        assert other.requests == []
        assert "geheim" not in str(caught.value)


class Authorizer:
    """Adds a token, and a better one after a refusal; keeps what it was asked."""

    def __init__(self, *tokens):
        self.tokens = list(tokens)
        self.asked = []

    async def __call__(self, headers, facts):
        self.asked.append((dict(headers), facts))
        return {"Authorization": self.tokens.pop(0)} if self.tokens else None


def wanting(token, status="401 Unauthorized"):
    async def script(request, connection):
        if request.header("Authorization") == token:
            await connection.write(full(result_for(request.id)))
        else:
            await connection.write(full(b"", status, "WWW-Authenticate: Bearer", 'DPoP-Nonce: "n"'))

    return script


async def test_authorize_adds_headers_to_a_request():
    authorize = Authorizer("good")
    _, server = await receive_from(wanting("good"), authorize=authorize)
    assert len(server.requests) == 1
    [(headers, facts)] = authorize.asked
    assert headers["Content-Type"] == "application/json"
    assert facts is None


async def test_authorize_may_add_nothing():
    [received], _ = await receive_from(answering(), authorize=Authorizer())
    assert received.message.id == 1


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
async def test_a_refused_request_is_sent_once_more_with_better_headers(status):
    authorize = Authorizer("bad", "good")
    [received], server = await receive_from(wanting("good", status), authorize=authorize)
    assert received.message.id == 1
    assert [request.header("Authorization") for request in server.requests] == ["bad", "good"]
    assert server.connections == 1
    headers, facts = authorize.asked[1]
    assert headers["Authorization"] == "bad"
    assert facts.status == int(status[:3])
    assert ("dpop-nonce", '"n"') in facts.headers


@pytest.mark.parametrize("tokens", [("bad",), ("bad", "worse", "worst")])
async def test_a_request_that_stays_refused_ends_after_one_more_try(tokens):
    authorize = Authorizer(*tokens)
    with pytest.raises(AuthorizationNeededError, match="401 Unauthorized"):
        await receive_from(wanting("good"), authorize=authorize)
    assert len(authorize.asked) == 2


async def test_the_retry_goes_where_the_redirect_pointed():
    async def script(request, connection):
        if " /mcp" in request.line:
            await connection.write(full(b"", "307 Temporary Redirect", "Location: /moved"))
        else:
            await wanting("good")(request, connection)

    _, server = await receive_from(script, authorize=Authorizer("bad", "good"))
    assert [request.line.split()[1] for request in server.requests] == ["/mcp", "/moved", "/moved"]


async def test_an_authorize_that_fails_leaves_no_open_connection():
    async def authorize(headers, facts):
        if facts is not None:
            raise LookupError("no token")

    async with (
        serve_raw(wanting("good")) as server,
        open_transport(server.url, authorize=authorize) as transport,
    ):
        exchange = transport.exchange(outgoing())
        with pytest.raises(LookupError):
            await exchange.receive()
        await exchange.close()


async def test_a_plain_http_request_goes_through_the_proxy_of_the_environment(monkeypatch):
    async with serve_raw(answering()) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:pw@127.0.0.1:{proxy.port}")
        async with open_transport("http://mcp.example/mcp", allow_plain_http=True) as transport:
            await receive_all(transport.exchange(outgoing()))
        assert proxy.requests[0].line == "POST http://mcp.example/mcp HTTP/1.1"
        assert proxy.requests[0].header("Proxy-Authorization") == "Basic bWU6cHc="


async def test_a_proxy_that_refuses_the_tunnel_is_named_without_its_password(monkeypatch):
    async def script(request, connection):
        await connection.write(full(b"", "407 Proxy Authentication Required"))

    async with serve_raw(script) as proxy:
        monkeypatch.setenv("https_proxy", f"http://me:geheim@127.0.0.1:{proxy.port}")
        async with open_transport("https://mcp.example/mcp") as transport:
            exchange = transport.exchange(outgoing())
            with pytest.raises(
                Exception, match=f"the proxy http://127.0.0.1:{proxy.port} answered 407"
            ) as caught:
                await exchange.receive()
    assert "geheim" not in str(caught.value)
    assert proxy.requests[0].line == "CONNECT mcp.example:443 HTTP/1.1"


async def test_a_stream_that_goes_on_after_the_response_is_cut_off(monkeypatch):
    monkeypatch.setattr("mesero.transports.http_link._DRAIN_S", 0.05)

    async def script(request, connection):
        await connection.write(STREAM + chunk(event(result_for(request.id))))
        await connection.wait_for_end()
        raise HangUp

    async with serve_raw(script) as server, open_transport(server.url) as transport:
        await receive_all(transport.exchange(outgoing()))
        await server.wait_until(lambda: server.open_connections == 0)


async def test_closing_cuts_off_streams_that_go_on_after_the_response():
    async def script(request, connection):
        await connection.write(STREAM + chunk(event(result_for(request.id))))
        await connection.wait_for_end()
        raise HangUp

    async with serve_raw(script) as server:
        async with open_transport(server.url) as transport:
            await receive_all(transport.exchange(outgoing()))
        await server.wait_until(lambda: server.open_connections == 0)


async def test_after_closing_nothing_can_be_sent():
    async with serve_raw(answering()) as server:
        async with open_transport(server.url) as transport:
            pass
        with pytest.raises(ClosedError, match="the client is closed"):
            await transport.exchange(outgoing()).receive()
        with pytest.raises(ClosedError):
            await transport.open()
        assert server.connections == 0


async def test_a_notification_that_waits_fails_as_closed():
    async def script(request, connection):
        await connection.wait_for_end()

    async with serve_raw(script) as server, open_transport(server.url) as transport:
        waiting = asyncio.create_task(transport.notify(b'{"jsonrpc":"2.0","method":"x"}'))
        await server.wait_until(lambda: server.requests)
        await transport.aclose()
        with pytest.raises(ClosedError):
            await waiting
