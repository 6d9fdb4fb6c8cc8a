"""How a URL is decided on: every row of the table, against servers made of bytes."""

import json
import re

import msgspec
import pytest

from mesero import Client
from mesero.client import Decision
from mesero.errors import (
    AuthorizationNeededError,
    CallTimeoutError,
    ConnectError,
    HeaderMismatchError,
    HttpStatusError,
    NoCommonRevisionError,
)
from tests.transports.raw_http import HangUp, error_for, full, head, serve_raw

NEWEST = "2025-11-25"


def discovery(request, *revisions):
    result = {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "capabilities": {"tools": {}},
        "supportedVersions": revisions or ("2026-07-28",),
    }
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def introduction(request, revision="2025-06-18"):
    info = {"name": "old", "version": "1"}
    result = {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": info}
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def answer(body="", status="200 OK", *lines, **options):
    return lambda _request: full(body, status, *lines, **options)


def serving(probe, initialize=None):
    """A script: what answers the probe (a list: each time another), and what answers the handshake."""
    left = list(probe) if isinstance(probe, (list, tuple)) else None

    async def script(request, connection):
        if not request.line.startswith("POST"):
            await connection.write(full("", "405 Method Not Allowed"))
            return
        method = request.json["method"]
        if method == "server/discover":
            found = probe if left is None else left.pop(0)
            await connection.write(found(request))
        elif method == "initialize":
            await connection.write((initialize or session)(request))
        elif method == "tools/call":
            result = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
            await connection.write(full({"jsonrpc": "2.0", "id": request.id, "result": result}))
        else:
            await connection.write(full("", "202 Accepted"))

    return script


def session(request):
    return full(introduction(request))


def methods_of(server):
    return [
        request.json["method"] if request.body else request.line.split()[0] for request in server.requests
    ]


async def works(client):
    return (await client.call_tool("any")).text == "done"


# -- modern --------------------------------------------------------------------------------------------------


async def test_a_discover_result_is_modern():
    async with (
        serve_raw(serving(lambda request: full(discovery(request)))) as server,
        Client(server.url) as client,
    ):
        assert (client.server.era, client.server.revision) == ("modern", "2026-07-28")
        assert await works(client)
    assert methods_of(server) == ["server/discover", "tools/call"]


async def test_a_discover_result_counts_whatever_its_status():
    script = serving(lambda request: full(discovery(request), "404 Not Found"))
    async with serve_raw(script) as server, Client(server.url) as client:
        assert client.server.era == "modern"


async def test_a_refused_revision_is_tried_again_under_another_id():
    def refusal(request):
        data = {"supported": ["2026-07-28"], "requested": "2026-07-28"}
        error = {"code": -32022, "message": "no", "data": data}
        return full({"jsonrpc": "2.0", "id": request.id, "error": error}, "400 Bad Request")

    script = serving([refusal, lambda request: full(discovery(request))])
    async with serve_raw(script) as server, Client(server.url) as client:
        assert client.server.era == "modern"
    first, second = server.requests
    assert first.id != second.id


async def test_a_header_mismatch_is_reported_and_nothing_else_is_tried():
    script = serving(lambda request: full(error_for(request.id, -32020, "mismatch"), "400 Bad Request"))
    async with serve_raw(script) as server:
        with pytest.raises(HeaderMismatchError):
            await Client.connect(server.url)
    assert methods_of(server) == ["server/discover"]


# -- no verdict ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("401 Unauthorized", AuthorizationNeededError),
        ("403 Forbidden", AuthorizationNeededError),
        ("407 Proxy Authentication Required", HttpStatusError),
        ("429 Too Many Requests", HttpStatusError),
    ],
)
@pytest.mark.parametrize("body", [b"", discovery, lambda request: error_for(request.id)])
async def test_a_status_that_asks_for_something_first_is_raised_whatever_the_body(status, kind, body):
    script = serving(lambda request: full(body(request) if callable(body) else body, status))
    async with serve_raw(script) as server:
        with pytest.raises(kind) as caught:
            await Client.connect(server.url)
    assert str(caught.value.status) == status.split()[0]
    assert methods_of(server) == ["server/discover"]


async def test_a_handshake_that_wants_an_authorization_says_so():
    script = serving(answer("", "400 Bad Request"), answer("", "401 Unauthorized"))
    async with serve_raw(script) as server:
        with pytest.raises(AuthorizationNeededError):
            await Client.connect(server.url)


async def test_silence_is_an_outage_and_no_handshake_is_tried():
    async def silent(_request, connection):
        await connection.wait_for_end()

    async with serve_raw(silent) as server:
        with pytest.raises(CallTimeoutError, match="no answer to server/discover"):
            await Client.connect(server.url, connect_timeout_s=0.2)
    assert methods_of(server) == ["server/discover"]


async def test_a_connection_that_is_cut_off_is_an_outage():
    async def cut(_request, _connection):
        raise HangUp

    async with serve_raw(cut) as server:
        with pytest.raises(Exception, match="the connection ended before a response came"):
            await Client.connect(server.url)
    assert methods_of(server) == ["server/discover"]


async def test_nobody_at_the_port_is_an_outage():
    with pytest.raises(ConnectError, match="connection refused"):
        await Client.connect("http://127.0.0.1:9/mcp")


@pytest.mark.parametrize("status", ["301 Moved Permanently", "307 Temporary Redirect"])
async def test_a_redirect_that_is_not_followed_is_an_outage(status):
    script = serving(lambda _request: head(status, "Content-Length: 0", "Location: https://example.com/mcp"))
    async with serve_raw(script) as server:
        with pytest.raises(HttpStatusError, match=r"it points to https://example\.com/mcp"):
            await Client.connect(server.url)
    assert methods_of(server) == ["server/discover"]


# -- the handshake -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status",
    [
        "400 Bad Request",
        "404 Not Found",
        "405 Method Not Allowed",
        "406 Not Acceptable",
        "410 Gone",
        "415 Unsupported Media Type",
        "422 Unprocessable Entity",
        "500 Internal Server Error",
        "501 Not Implemented",
        "200 OK",
    ],
)
@pytest.mark.parametrize(
    "body", ["", "<html>", error_for(None, -32000, "Bad Request"), error_for(99, -32022)]
)
async def test_a_status_without_an_answer_to_us_leads_to_the_handshake(status, body):
    script = serving(answer(body, status))
    async with serve_raw(script) as server, Client(server.url) as client:
        assert (client.server.era, client.server.revision) == ("legacy", "2025-06-18")
        assert re.match(rf"the probe was answered HTTP {status.split()[0]} in \d+ ms", client.server.verdict)
        assert await works(client)
    assert methods_of(server)[:3] == ["server/discover", "initialize", "notifications/initialized"]


@pytest.mark.parametrize("code", [-32601, -32000, -32600, -32022])
@pytest.mark.parametrize(
    "status", ["200 OK", "400 Bad Request", "404 Not Found", "500 Internal Server Error"]
)
async def test_an_error_that_answers_us_leads_to_the_handshake_whatever_its_code(code, status):
    script = serving(lambda request: full(error_for(request.id, code), status))
    async with serve_raw(script) as server, Client(server.url) as client:
        assert client.server.era == "legacy"
        assert re.match(rf"the probe was answered {code} in \d+ ms", client.server.verdict)


async def test_older_revisions_in_a_refusal_are_offered():
    def refusal(request):
        error = {"code": -32022, "message": "no", "data": {"supported": ["2025-03-26", "2024-11-05"]}}
        return full({"jsonrpc": "2.0", "id": request.id, "error": error}, "400 Bad Request")

    def echo(request):
        return full(introduction(request, request.json["params"]["protocolVersion"]))

    async with serve_raw(serving(refusal, echo)) as server, Client(server.url) as client:
        assert client.server.revision == "2025-03-26"


async def test_a_verdict_is_kept_for_the_process_and_asked_for_again_when_it_stops_fitting():
    is_old = True

    def probe(request):
        return full("", "400 Bad Request") if is_old else full(discovery(request))

    def initialize(request):
        return full(introduction(request)) if is_old else full(error_for(request.id), "404 Not Found")

    async with serve_raw(serving(probe, initialize)) as server:
        for _ in range(2):
            async with Client(server.url) as client:
                assert client.server.era == "legacy"
        assert methods_of(server).count("server/discover") == 1
        is_old = False
        for _ in range(2):
            async with Client(server.url) as client:
                assert client.server.era == "modern"
        assert methods_of(server).count("initialize") == 3
        assert methods_of(server)[-2:] == ["server/discover", "server/discover"]


async def test_an_outage_does_not_make_it_forget():
    mode = "up"

    def probe(_request):
        return full("", "400 Bad Request")

    def initialize(request):
        return full("", "401 Unauthorized") if mode == "locked" else full(introduction(request))

    async with serve_raw(serving(probe, initialize)) as server:
        async with Client(server.url):
            pass
        mode = "locked"
        with pytest.raises(AuthorizationNeededError):
            await Client.connect(server.url)
        mode = "up"
        async with Client(server.url) as client:
            assert client.server.era == "legacy"
        assert methods_of(server).count("server/discover") == 1


async def test_a_server_that_refuses_both_is_quoted_with_both():
    def refuse(request):
        return full(error_for(request.id, -32601, f"no {request.json['method']}"), "404 Not Found")

    async with serve_raw(serving(refuse, refuse)) as server:
        with pytest.raises(
            NoCommonRevisionError, match=r"no server/discover \(-32601\); .*no initialize \(-32601\)"
        ):
            await Client.connect(server.url)


@pytest.mark.parametrize("second", ["500 Internal Server Error", "404 Not Found"])
async def test_after_5xx_the_handshake_is_tried_once_and_both_errors_are_reported(second):
    script = serving(answer("one", "502 Bad Gateway"), answer("two", second))
    async with serve_raw(script) as server:
        with pytest.raises(HttpStatusError) as caught:
            await Client.connect(server.url)
    assert caught.value.status == 502
    assert re.search(
        r"502 Bad Gateway.*initialize, tried after it, failed too: .*" + second, str(caught.value)
    )
    assert methods_of(server) == ["server/discover", "initialize"]


async def test_a_decision_can_be_stored_and_passed_in():
    script = serving(answer("", "400 Bad Request"))
    async with serve_raw(script) as server:
        async with Client(server.url, remember=False) as client:
            stored = msgspec.json.encode(client.server.decision)
        async with Client(
            server.url, remember=False, era=msgspec.json.decode(stored, type=Decision)
        ) as client:
            assert client.server.era == "legacy"
    assert methods_of(server).count("server/discover") == 1


# -- the transport of 2024-11-05 -----------------------------------------------------------------------------


class EventsServer:
    """The two addresses of the oldest transport: a stream of events, and posts that are answered there."""

    def __init__(self):
        self.posts = []
        self._stream = None

    async def events(self, _request, connection):
        self._stream = connection
        await connection.write(head("200 OK", "Content-Type: text/event-stream"))
        await connection.write(b"event: endpoint\ndata: /messages?id=1\n\n")
        await connection.wait_for_end()

    async def script(self, request, connection):
        if request.line.startswith("GET"):
            await self.events(request, connection)
        elif "/messages" not in request.line:
            await connection.write(full("", "405 Method Not Allowed"))
        else:
            self.posts.append(request.json["method"])
            await connection.write(full("", "202 Accepted"))
            if request.json["method"] == "initialize":
                await self._send(introduction(request, "2024-11-05"))
            elif request.json["method"] == "tools/call":
                result = {"content": [{"type": "text", "text": "done"}]}
                await self._send({"jsonrpc": "2.0", "id": request.id, "result": result})

    async def _send(self, message):
        await self._stream.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")


async def test_a_handshake_that_gets_4xx_too_leads_to_the_oldest_transport_and_is_remembered():
    old = EventsServer()
    async with serve_raw(old.script) as server:
        async with Client(server.url) as client:
            assert (client.server.era, client.server.revision) == ("legacy", "2024-11-05")
            assert client.transport.kind == "sse"
            assert client.server.decision.first_step == "sse"
            assert "the probe was answered HTTP 405" in client.server.verdict
            assert await works(client)
        before = len(server.requests)
        async with Client(server.url) as client:
            assert client.server.revision == "2024-11-05"
            assert await works(client)
        assert server.requests[before].line.startswith("GET")
    assert old.posts == ["initialize", "notifications/initialized", "tools/call"] * 2


async def test_when_nothing_is_there_all_three_tries_are_told():
    async def nothing(_request, connection):
        await connection.write(full("nothing here", "404 Not Found", content_type="text/plain"))

    async with serve_raw(nothing) as server:
        with pytest.raises(HttpStatusError) as caught:
            await Client.connect(server.url)
    text = str(caught.value)
    assert text.startswith(f"POST {server.url} → 404 Not Found")
    assert text.index("initialize, tried after it, failed too") < text.index(
        "HTTP+SSE, tried after it, failed"
    )
    assert [request.line.split()[0] for request in server.requests] == ["POST", "POST", "GET"]


@pytest.mark.parametrize("era", ["legacy", "2024-11-05"])
async def test_a_pin_to_the_older_era_finds_the_oldest_transport_without_a_probe(era):
    old = EventsServer()
    async with serve_raw(old.script) as server, Client(server.url, era=era) as client:
        assert await works(client)
    assert [request.line.split()[0] for request in server.requests][:2] == ["POST", "GET"]
