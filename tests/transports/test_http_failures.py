import asyncio
import errno
import socket

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from mesero.errors import ConnectError, DisconnectedError, ProtocolError
from mesero.transports.http_failures import body_failure_for, send_failure_for
from tests.transports.certificates import tls_for
from tests.transports.raw_http import (
    HangUp,
    answering,
    open_transport,
    outgoing,
    receive_all,
    receive_from,
    serve_raw,
)

KEY = ConnectionKey("x.example", 443, True, True, None, None, None)


def failure_for(error, **options):
    return send_failure_for(error, "POST https://x.example/mcp", connect_timeout_s=30.0, **options)


async def failure_at(url, **options):
    """What a request to a URL fails with."""
    async with open_transport(url, **options) as transport:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - each test looks at what it is
            await receive_all(transport.exchange(outgoing()))
    return caught.value


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def test_a_refused_connection_is_named():
    url = f"http://127.0.0.1:{free_port()}/mcp"
    error = await failure_at(url)
    assert isinstance(error, ConnectError)
    assert str(error) == f"POST {url} → connection refused"


async def test_a_name_that_cannot_be_resolved_is_named():
    def fail(*_args, **_options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    loop = asyncio.get_running_loop()
    loop.getaddrinfo = fail
    error = await failure_at("https://nowhere.example/mcp")
    assert isinstance(error, ConnectError)
    assert "the name 'nowhere.example' cannot be resolved: Name or service not known" in str(error)


async def test_tls_works_with_a_certificate_that_the_client_knows(tmp_path):
    server_tls, client_tls = tls_for(tmp_path)
    async with (
        serve_raw(answering(), tls=server_tls) as server,
        open_transport(server.url, tls=client_tls) as transport,
    ):
        received = await receive_all(transport.exchange(outgoing()))
    assert received[-1].message.id == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"trusted": False}, "self-signed certificate"),
        ({"days": -1}, "certificate has expired"),
        ({"host": "other.example"}, "certificate is not valid for '127.0.0.1'"),
    ],
)
async def test_a_refused_certificate_says_why(tmp_path, options, text):
    server_tls, client_tls = tls_for(tmp_path, **options)
    async with serve_raw(answering(), tls=server_tls) as server:
        error = await failure_at(server.url, tls=client_tls)
    assert isinstance(error, ConnectError)
    assert "the certificate of 127.0.0.1 was refused" in str(error)
    assert text in str(error)


async def test_plain_http_where_tls_is_expected_is_told():
    async def script(reader, writer):
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(script, "127.0.0.1", 0)
    async with server:
        error = await failure_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
    assert isinstance(error, ConnectError)
    assert "TLS failed: " in str(error)
    assert "Does the server speak TLS at this port, or plain HTTP?" in str(error)


async def test_what_is_not_http_is_told():
    async def script(request, connection):
        await connection.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        raise HangUp

    async with serve_raw(script) as server:
        error = await failure_at(server.url)
    assert isinstance(error, ProtocolError)
    assert "what came back is not HTTP" in str(error)


async def test_a_connection_that_ends_before_the_response_is_told():
    async def script(request, connection):
        raise HangUp

    async with serve_raw(script) as server:
        error = await failure_at(server.url)
    assert isinstance(error, DisconnectedError)
    assert "the connection ended before a response came: Server disconnected" in str(error)


async def test_a_body_that_cannot_be_decompressed_is_told():
    script = answering(b"this is not gzip", "200 OK", "Content-Encoding: gzip")
    with pytest.raises(DisconnectedError, match="the body cannot be decompressed"):
        await receive_from(script)


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (aiohttp.ConnectionTimeoutError(), ConnectError, "no connection within 30 s; the limit was ours"),
        (
            aiohttp.ClientConnectorError(KEY, OSError(errno.ENETUNREACH, "Network is unreachable")),
            ConnectError,
            "→ network is unreachable",
        ),
        (
            aiohttp.ClientConnectorError(KEY, OSError(errno.EHOSTUNREACH, "[Errno 113] Connect call failed")),
            ConnectError,
            "→ [Errno 113] Connect call failed",
        ),
        (
            aiohttp.ClientConnectorCertificateError(KEY, ValueError("no such thing")),
            ConnectError,
            "the certificate of x.example was refused: no such thing",
        ),
        (
            aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer"),
            DisconnectedError,
            "ended before a response came: connection reset by the peer",
        ),
        (aiohttp.ClientOSError(), DisconnectedError, "before a response came: ClientOSError"),
    ],
)
def test_each_failure_has_its_own_sentence(error, kind, text):
    failure = failure_for(error)
    assert type(failure) is kind
    assert text in str(failure)


def test_a_slow_proxy_is_named():
    error = failure_for(aiohttp.ConnectionTimeoutError(), proxy="http://proxy:3128")
    assert "no connection through the proxy http://proxy:3128 within 30 s" in str(error)


def test_a_dead_proxy_is_named():
    cause = aiohttp.ClientProxyConnectionError(KEY, OSError(errno.ECONNREFUSED, "refused"))
    error = failure_for(cause, proxy="http://proxy:3128")
    assert isinstance(error, ConnectError)
    assert "the proxy http://proxy:3128: connection refused" in str(error)
    assert "NO_PROXY" in str(error)


@pytest.mark.parametrize(("status", "fix"), [(407, "wants credentials"), (403, "NO_PROXY")])
def test_a_proxy_that_refuses_is_named(status, fix):
    cause = aiohttp.ClientHttpProxyError(None, (), status=status, message="No")
    error = failure_for(cause, proxy="http://proxy:3128")
    assert isinstance(error, ConnectError)
    assert f"the proxy http://proxy:3128 answered {status} No" in str(error)
    assert fix in str(error)


def test_a_connection_lost_in_the_body_names_its_cause():
    error = body_failure_for(
        ConnectionResetError(errno.ECONNRESET, "x"), "POST u", came="2 messages had come"
    )
    assert str(error) == "POST u → the connection ended: connection reset by the peer; 2 messages had come"


async def test_a_connect_timeout_covers_tls():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/mcp"
        error = await failure_at(url, connect_timeout_s=0.2)
    assert isinstance(error, ConnectError)
    assert "no connection within 0.2 s; the limit was ours (connect_timeout_s=)" in str(error)
