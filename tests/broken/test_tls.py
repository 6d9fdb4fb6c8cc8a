"""P82: certificates and proxies between a client and a URL: the right diagnosis, and no wrong one."""

import asyncio
import json
import os
import socket
import ssl
import sys

import pytest

from mesero.doctor import examine
from tests.broken.authorities import Authority
from tests.broken.endpoints import answering, honest, saying, serving, tunnelling_to
from tests.broken.examining import QUICK_S, check, codes_of
from tests.transports.certificates import tls_for

EXAMINE = """
import asyncio, json, sys
from mesero.doctor import examine
report = asyncio.run(examine(sys.argv[1], timeout_s=30))
print(json.dumps([report.verdict, [each.code for each in report.diagnoses], repr(report)]))
"""


async def examine_elsewhere(url, **variables):
    """The verdict, the codes and the whole of a report, by a process with these variables.

    Which authorities count is read once in a process.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", EXAMINE, url),
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    return json.loads(out)


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


async def test_a_private_authority_that_is_trusted_is_fine(authority):
    with serving(honest, context=authority.issue()) as root:
        verdict, codes, report = await examine_elsewhere(f"{root}/mcp", SSL_CERT_FILE=str(authority.file))

    assert (verdict, codes) == ("ok", []), report
    assert "certificate of Lunch Root" in report


async def test_a_certificate_that_expires_within_days_is_a_note(authority):
    with serving(honest, context=authority.issue(days=3)) as root:
        verdict, codes, report = await examine_elsewhere(f"{root}/mcp", SSL_CERT_FILE=str(authority.file))

    assert (verdict, codes) == ("ok", ["TLS-6"]), report


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ({"days": -2}, "TLS-2", "expired on"),
        ({"since": 5}, "TLS-2", "not valid before"),
        ({"host": "other.example"}, "TLS-3", "it is for other.example"),
    ],
)
async def test_a_wrong_certificate_of_a_trusted_authority_is_told(
    settings, code, said, authority, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    with serving(honest, context=authority.issue(**settings)) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, [code])
    assert said in report.diagnoses[0].cause
    assert "Lunch Root" in report.diagnoses[0].cause


async def test_a_private_authority_is_named_with_the_way_to_trust_it(authority):
    with serving(honest, context=authority.issue()) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-1"])
    assert "'Lunch Root'" in report.diagnoses[0].cause
    assert "SSL_CERT_FILE" in report.diagnoses[0].fix
    assert report.diagnoses[0].blame == "intermediary"


async def test_a_certificate_that_signed_itself_is_the_servers_matter(tmp_path):
    server, _ = tls_for(tmp_path)
    with serving(honest, context=server) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-1"])
    assert "signed by itself" in report.diagnoses[0].cause
    assert report.diagnoses[0].blame == "server"


async def test_an_intercepting_proxy_is_guessed_by_its_name(tmp_path):
    context = Authority(tmp_path, "Zscaler Root CA").issue()
    with serving(honest, context=context) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-1"])
    assert "in place of the server's" in report.diagnoses[0].cause
    assert "Zscaler Root CA" in report.diagnoses[0].fix


async def test_a_chain_that_is_not_complete_is_told(authority):
    context = authority.issue(issuer_url="http://authority.example/ca.der")
    with serving(honest, context=context) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-7"])


@pytest.mark.parametrize("place", ["ldap:///CN=Lunch", "http://pki.corp/ca.crt", "http://pki.lunch.local/ca"])
async def test_an_authority_of_a_company_is_no_missing_link(place, authority):
    with serving(honest, context=authority.issue(issuer_url=place)) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-1"])


async def test_a_variable_that_names_no_file_is_told(authority, monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    with serving(honest, context=authority.issue()) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-8"])
    assert "gone.pem" in report.diagnoses[0].cause


async def test_http_that_is_spoken_at_a_tls_port_is_told(authority):
    with serving(honest, context=authority.issue()) as root:
        report = await examine(root.replace("https:", "http:") + "/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-5"])


async def test_a_handshake_that_is_refused_is_not_taken_for_silence(authority, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    context = authority.issue()
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-ECDSA-AES256-GCM-SHA384")
    monkeypatch.setattr(ssl, "create_default_context", _only_newest)
    with serving(honest, context=context) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["TLS-9"])


def _only_newest(*args, **kwargs):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


async def test_a_redirect_to_plain_http_is_refused(authority):
    """P71, with the real client behind it: nothing is sent in the clear."""
    seen = []

    def downgrading(method, path, headers, body):
        seen.append(path)
        port = headers["Host"].rpartition(":")[2]
        return 307, {"Location": f"http://127.0.0.1:{port}/mcp/"}, b""

    with serving(downgrading, context=authority.issue()) as root:
        verdict, codes, report = await examine_elsewhere(f"{root}/mcp", SSL_CERT_FILE=str(authority.file))

    assert (verdict, codes) == ("broken", ["HTTP-2"]), report
    assert set(seen) == {"/mcp"}


async def test_a_redirect_to_https_is_offered_as_the_url(authority):
    with serving(honest, context=authority.issue()) as secure:
        moved = f"{secure}/mcp"
        with serving(lambda *_: (301, {"Location": moved}, b"")) as root:
            verdict, codes, report = await examine_elsewhere(f"{root}/mcp", SSL_CERT_FILE=str(authority.file))

    assert (verdict, codes) == ("broken", ["HTTP-9"]), report
    assert f'"url": "{moved}"' in report


# -- proxies -------------------------------------------------------------------------------------------------

URL = "https://mcp.example.net/mcp"


@pytest.mark.parametrize(
    ("raw", "url", "code", "fix"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", URL, "NET-6", "user:password"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", URL, "NET-7", "NO_PROXY"),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", "https://10.1.2.3/mcp", "NET-7", "10.1.2.3"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "https://tools.internal/mcp", "NET-7", "tools.internal"),
        (b"", URL, "NET-7", "NO_PROXY"),
    ],
)
async def test_a_proxy_that_does_not_let_us_through_is_named(raw, url, code, fix, monkeypatch):
    with answering(saying(raw)) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://someone:canary-secret@127.0.0.1:{port}")
        report = await examine(url, timeout_s=QUICK_S)

    check(report, [code])
    assert f"127.0.0.1 port {port}" in report.diagnoses[0].cause
    assert fix in report.diagnoses[0].fix
    assert "canary" not in repr(report)


async def test_a_proxy_that_is_not_there_is_named(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{taken.getsockname()[1]}")
        report = await examine(URL, timeout_s=QUICK_S)

    check(report, ["NET-5"])


async def test_a_proxy_that_is_no_proxy_is_named(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1080")

    report = await examine(URL, timeout_s=QUICK_S)

    check(report, ["NET-5"])


async def test_a_server_is_examined_through_a_proxy(authority):
    asked = []
    context = authority.issue("mcp.example.net")
    with (
        serving(honest, context=context) as root,
        answering(tunnelling_to(int(root.rpartition(":")[2]), asked=asked)) as port,
    ):
        verdict, codes, report = await examine_elsewhere(
            URL, SSL_CERT_FILE=str(authority.file), HTTPS_PROXY=f"http://127.0.0.1:{port}"
        )

    assert (verdict, codes) == ("ok", []), report
    assert set(asked) == {"CONNECT mcp.example.net:443 HTTP/1.1"}
    assert "certificate of Lunch Root" in report


async def test_the_certificate_of_a_server_is_judged_through_a_proxy(authority, monkeypatch):
    with (
        serving(honest, context=authority.issue("mcp.example.net")) as root,
        answering(tunnelling_to(int(root.rpartition(":")[2]))) as port,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        report = await examine(URL, timeout_s=QUICK_S)

    check(report, ["TLS-1"])


async def test_this_machine_missing_in_no_proxy_is_a_note(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(honest) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        listed = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["NET-9"])
    check(listed, [])


async def test_the_name_of_this_machine_that_leads_elsewhere_first_is_a_note(monkeypatch):
    def both(host, port, *args, **kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in order]

    with serving(honest) as root:
        order = ["127.0.0.9", "127.0.0.1"]
        monkeypatch.setattr(socket, "getaddrinfo", both)
        report = await examine(root.replace("127.0.0.1", "localhost") + "/mcp", timeout_s=QUICK_S)
        order.reverse()
        other = await examine(root.replace("127.0.0.1", "localhost") + "/mcp", timeout_s=QUICK_S)

    check(report, ["NET-8"])
    assert "127.0.0.9 first" in report.diagnoses[0].cause
    assert codes_of(other) == []


async def test_a_port_that_takes_a_connection_and_says_nothing_is_named():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        report = await examine(f"https://127.0.0.1:{silent.getsockname()[1]}/mcp", timeout_s=2.0)

    check(report, ["NET-3"])
    assert "accepts a connection and does not answer with TLS" in report.diagnoses[0].cause
