import socket

import pytest

from mesero.doctor.checks.network import check_network
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import answering, honest, saying, serving

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
