import pytest

from mesero.doctor.checks.network import check_network, is_loopback, proxy_for
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import honest, serving
from tests.transports.certificates import tls_for


def codes_of(sheet):
    return [each.code for each in sheet.diagnoses]


@pytest.mark.parametrize(
    ("settings", "code"), [({}, "TLS-1"), ({"days": -1}, "TLS-2"), ({"host": "other.example"}, "TLS-3")]
)
async def test_a_refused_certificate_says_why(settings, code, tmp_path, monkeypatch):
    server, _ = tls_for(tmp_path, **settings)
    if code != "TLS-1":
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
    sheet = Sheet(["dns", "tcp", "tls"])

    with serving(honest, context=server) as root:
        assert not await check_network(sheet, f"{root}/mcp", timeout_s=5)

    assert codes_of(sheet) == [code]
    assert "mesero test" in sheet.checks[2].evidence[0]


async def test_a_certificate_that_is_trusted_passes(tmp_path, monkeypatch):
    server, _ = tls_for(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
    sheet = Sheet(["dns", "tcp", "tls"])

    with serving(honest, context=server) as root:
        assert await check_network(sheet, f"{root}/mcp", timeout_s=5)

    assert codes_of(sheet) == []


async def test_behind_a_proxy_nothing_is_claimed(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
    sheet = Sheet(["dns", "tcp", "tls"])

    assert await check_network(sheet, "https://example.com/mcp", timeout_s=5)

    assert {each.status for each in sheet.checks} == {"skipped"}
    assert "secret" not in repr(sheet.checks)


def test_this_machine_is_never_behind_a_proxy(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")

    assert proxy_for("http://127.0.0.1:80/") == ""
    assert is_loopback("localhost")
    assert not is_loopback("localhost.example.com")
