import asyncio

import pytest

from mesero.doctor.checks.certificates import check_certificate, speaks_tls
from mesero.doctor.sheet import Sheet
from tests.broken.authorities import Authority
from tests.broken.endpoints import answering, honest, saying, serving


def way_to(root):
    port = int(root.rpartition(":")[2])
    return port, lambda: asyncio.open_connection("127.0.0.1", port)


async def test_a_certificate_that_is_trusted_passes(tmp_path, monkeypatch):
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    sheet = Sheet(["tls"])
    with serving(honest, context=authority.issue()) as root:
        port, connect = way_to(root)
        assert await check_certificate(sheet, "https", "127.0.0.1", port, connect, timeout_s=5)

    assert sheet.diagnoses == ()


async def test_a_trusted_interceptor_is_told_and_no_fault(tmp_path, monkeypatch):
    authority = Authority(tmp_path, "mitmproxy")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    sheet = Sheet(["tls"])
    with serving(honest, context=authority.issue()) as root:
        port, connect = way_to(root)
        assert await check_certificate(sheet, "https", "127.0.0.1", port, connect, timeout_s=5)

    assert "reads what passes" in sheet.checks[0].evidence[1]
    assert sheet.diagnoses == ()


@pytest.mark.parametrize(
    ("days", "since", "codes"),
    [(2, -1, []), (2, -30, ["TLS-6"]), (0.5, -30, ["TLS-6"]), (60, -30, [])],
)
async def test_short_lived_certificates_are_no_reason_to_worry(days, since, codes, tmp_path, monkeypatch):
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    sheet = Sheet(["tls"])
    with serving(honest, context=authority.issue(days=days, since=since)) as root:
        port, connect = way_to(root)
        await check_certificate(sheet, "https", "127.0.0.1", port, connect, timeout_s=5)

    assert [each.code for each in sheet.diagnoses] == codes


async def test_tls_is_known_whoever_signed(tmp_path):
    with serving(honest, context=Authority(tmp_path).issue()) as root:
        assert await speaks_tls(way_to(root)[1], "127.0.0.1", timeout_s=5)


async def test_other_ports_speak_no_tls():
    with answering(saying(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        assert not await speaks_tls(
            lambda: asyncio.open_connection("127.0.0.1", port), "127.0.0.1", timeout_s=1
        )


@pytest.mark.parametrize(("scheme", "connect"), [("http", True), ("https", False)])
async def test_where_there_is_no_tls_of_ours_nothing_is_asked(scheme, connect):
    sheet = Sheet(["tls"])
    way = (lambda: asyncio.open_connection("127.0.0.1", 9)) if connect else None

    assert await check_certificate(sheet, scheme, "h", 9, way, timeout_s=1)
    assert sheet.checks[0].status == "skipped"
