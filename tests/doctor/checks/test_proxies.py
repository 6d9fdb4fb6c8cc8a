import pytest

from mesero.doctor.checks.proxies import check_proxy
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import answering, saying

URL = "https://example.com/mcp"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def looked_at(url=URL):
    sheet = Sheet(["proxy"])
    return await check_proxy(sheet, url, timeout_s=5), sheet


async def test_without_a_proxy_the_way_is_straight():
    tunnel, sheet = await looked_at()

    assert (tunnel.proxy, tunnel.is_usable, sheet.checks[0].status) == (None, True, "skipped")


async def test_a_host_that_needs_none_is_told(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "example.com")

    tunnel, sheet = await looked_at()

    assert tunnel.proxy is None
    assert "NO_PROXY has example.com" in sheet.checks[0].evidence[0]


async def test_a_proxy_is_shown_without_its_password_and_asked_with_it(monkeypatch):
    heads = []

    def respond(connection, head):
        heads.append(head)
        connection.sendall(b"HTTP/1.1 200 fine\r\n\r\n")

    with answering(respond) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{port}")
        tunnel, sheet = await looked_at()

    assert tunnel.is_usable
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in heads[0]
    assert "secret" not in repr(sheet.checks)


async def test_plain_http_shows_in_the_answers_alone(monkeypatch):
    with answering(saying(b"")) as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        tunnel, sheet = await looked_at("http://example.com/mcp")

    assert (tunnel.is_usable, tunnel.open, sheet.diagnoses) == (True, None, ())


@pytest.mark.parametrize("raw", [b"HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK"])
async def test_what_is_no_answer_of_a_proxy_is_told(raw, monkeypatch):
    with answering(saying(raw)) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        tunnel, sheet = await looked_at()

    assert not tunnel.is_usable
    assert [each.code for each in sheet.diagnoses] == ["NET-7"]


@pytest.mark.parametrize("host", ["1.2.3", "999.1.1.1"])
async def test_digits_that_are_no_address_are_a_host_like_any_other(host, monkeypatch):
    with answering(saying(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        tunnel, sheet = await looked_at(f"https://{host}/mcp")

    assert not tunnel.is_usable
    assert [each.code for each in sheet.diagnoses] == ["NET-7"]


async def test_a_proxy_whose_name_is_none_is_told(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", f"http://{'a' * 70}.example:1")

    tunnel, sheet = await looked_at()

    assert not tunnel.is_usable
    assert [each.code for each in sheet.diagnoses] == ["NET-5"]
