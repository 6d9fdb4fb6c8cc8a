import contextlib
import socket

import pytest

from mesero.doctor.checks.network import check_network
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import answering, honest, saying, serving
from tests.transports.certificates import tls_for

NAMES = ["proxy", "dns", "tcp", "tls"]


async def test_each_step_is_told():
    sheet = Sheet(NAMES)
    with serving(honest) as root:
        assert await check_network(sheet, f"{root}/mcp", timeout_s=5)

    said = [each.evidence[0] for each in sheet.checks]
    assert said[1] == "IPv4: 127.0.0.1"
    assert said[2].endswith("connected")
    assert said[3] == "the URL says http"


async def test_what_a_proxy_does_is_not_claimed(monkeypatch):
    with answering(saying(b"")) as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        sheet = Sheet(NAMES)

        assert await check_network(sheet, "http://example.com/mcp", timeout_s=5)

    assert [each.status for each in sheet.checks] == ["ok", "skipped", "skipped", "skipped"]


@pytest.mark.parametrize(
    ("host", "order", "codes"),
    [
        ("localhost", ["127.0.0.9", "127.0.0.1"], ["NET-8"]),
        ("localhost", ["127.0.0.1", "127.0.0.9"], []),
        ("mcp.example.com", ["127.0.0.1", "127.0.0.9"], ["NET-4"]),
        ("mcp.example.com", ["127.0.0.9"], ["NET-2"]),
    ],
)
async def test_some_addresses_of_a_name_that_do_not_answer(host, order, codes, monkeypatch):
    with serving(honest) as root:
        port = int(root.rpartition(":")[2])
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in order]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        sheet = Sheet(NAMES)

        assert await check_network(sheet, f"http://{host}:{port}/mcp", timeout_s=5) is (codes != ["NET-2"])

    assert [each.code for each in sheet.diagnoses] == codes


async def test_a_family_that_the_system_does_not_have_is_an_address_that_does_not_answer(monkeypatch):
    def refuse(family, *args, **kwargs):
        if family == socket.AF_INET6:
            raise OSError(97, "Address family not supported by protocol")
        return plain(family, *args, **kwargs)

    plain = socket.socket
    with serving(honest) as root:
        port = int(root.rpartition(":")[2])
        found = [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2001:db8::1", port, 0, 0)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        monkeypatch.setattr(socket, "socket", refuse)
        sheet = Sheet(NAMES)

        assert await check_network(sheet, f"http://mcp.example.com:{port}/mcp", timeout_s=5)

    assert [each.code for each in sheet.diagnoses] == ["NET-4"]


@contextlib.contextmanager
def silence_at(host, port=0):
    """The port of a host at which connections are neither taken nor refused."""
    with socket.socket() as full:
        full.bind((host, port))
        # Nobody takes what waits there, and there is room for one.
        full.listen(0)
        with socket.create_connection(full.getsockname()):
            yield full.getsockname()[1]


async def test_an_address_that_is_silent_is_not_one_that_refuses(monkeypatch):
    with silence_at("127.0.0.9") as port:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.9", port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        sheet = Sheet(NAMES)

        assert not await check_network(sheet, f"http://mcp.example.com:{port}/mcp", timeout_s=0.5)

    assert [each.code for each in sheet.diagnoses] == ["NET-3"]


async def test_behind_an_address_that_is_silent_tls_is_looked_at_on_the_next(tmp_path, monkeypatch):
    context, _ = tls_for(tmp_path)
    with serving(honest, context=context) as root:
        port = int(root.rpartition(":")[2])
        hosts = ("127.0.0.9", "127.0.0.1")
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in hosts]
        with silence_at("127.0.0.9", port):
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
            sheet = Sheet(NAMES)

            assert not await check_network(sheet, f"https://mcp.example.com:{port}/mcp", timeout_s=1)

    assert [each.code for each in sheet.diagnoses] == ["TLS-1", "NET-4"]
