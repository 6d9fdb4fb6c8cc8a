import asyncio
import gzip
import json
import socket
import threading

import pytest

from mesero.doctor.fetching import Fetcher, discover_request, initialize_request, stateless_request
from tests.broken.endpoints import answering, begin_stream, honest, saying, serving


async def test_a_redirect_is_not_followed():
    with serving(lambda *_: (307, {"Location": "/elsewhere"}, b"")) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            seen = await fetcher.fetch("POST", root)

    assert (seen.status, seen.headers["location"]) == (307, "/elsewhere")


async def test_what_fails_is_a_fact():
    async with Fetcher(timeout_s=5) as fetcher:
        seen = await fetcher.fetch("GET", "http://127.0.0.1:9/")

    assert seen.status == 0
    assert seen.error


async def test_an_answer_of_mcp_is_known():
    headers, body = discover_request()
    with serving(honest) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            seen, page = await asyncio.gather(
                fetcher.fetch("POST", f"{root}/mcp", headers=headers, body=body),
                fetcher.fetch("POST", f"{root}/other", headers=headers, body=body),
            )

    assert (seen.is_mcp, page.is_mcp) == (True, False)


async def test_of_a_body_without_end_the_beginning_is_read():
    raw = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000_000
    with answering(saying(raw)) as port:
        async with Fetcher(timeout_s=5) as fetcher:
            seen = await fetcher.fetch("GET", f"http://127.0.0.1:{port}/")

    assert 65_536 <= len(seen.body) < 400_000


async def test_what_is_wrong_with_a_body_is_told():
    chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"
    coding = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"
    with answering(saying(chunk)) as cut, answering(saying(coding)) as coded:
        async with Fetcher(timeout_s=5) as fetcher:
            first = await fetcher.fetch("GET", f"http://127.0.0.1:{cut}/")
            second = await fetcher.fetch("GET", f"http://127.0.0.1:{coded}/")

    assert (first.status, first.fault, first.body) == (200, "cut", b"abc")
    assert (second.status, second.fault) == (200, "encoding")


async def test_headers_that_come_twice_are_one_list():
    raw = (
        b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n"
    )
    with answering(saying(raw)) as port:
        async with Fetcher(timeout_s=5) as fetcher:
            seen = await fetcher.fetch("GET", f"http://127.0.0.1:{port}/")

    assert seen.headers["www-authenticate"] == "Basic, Bearer"


async def test_a_server_that_asks_to_wait_is_not_asked_again():
    count = 0

    def respond(method, path, headers, body):
        nonlocal count
        count += 1
        return 429, {}, b""

    with serving(respond) as root, serving(honest) as other:
        async with Fetcher(timeout_s=5) as fetcher:
            await fetcher.fetch("GET", root)
            seen = await fetcher.fetch("GET", f"{root}/other")
            elsewhere = await fetcher.fetch("GET", other)

    assert (count, seen.status) == (1, 0)
    assert "wants us to wait" in seen.error
    assert elsewhere.status == 404


async def test_a_stream_is_held_until_something_came_it_ended_or_the_time_is_over():
    over = threading.Event()

    def respond(method, path, headers, body):
        begin_stream(headers.raw)
        headers.raw.wfile.write(b"data: 1\n\n")
        headers.raw.wfile.flush()
        over.wait(0.0 if path == "/ends" else 5.0)

    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            came = await fetcher.hold("GET", root, headers={}, for_s=3, until=b"data: 1")
            left = await fetcher.hold("GET", root, headers={}, for_s=0.3)
            ended = await fetcher.hold("GET", f"{root}/ends", headers={}, for_s=3)
            head = await fetcher.hold("GET", root, headers={}, for_s=3, is_head_enough=True)
            nobody = await fetcher.hold("GET", "http://127.0.0.1:9/", headers={}, for_s=3)
        over.set()

    assert (came.end, came.body, came.last_s) == ("ours", b"data: 1\n\n", came.end_s)
    assert (left.end, left.end_s >= 0.3) == ("ours", True)
    assert (ended.end, head.pieces) == ("server", ())
    assert (nobody.end, nobody.head.status) == ("cut", 0)


# -- what a server names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "url", "said"),
    [
        ("https://93.184.216.34/mcp", "https://127.0.0.1/x", "not public"),
        ("https://93.184.216.34/mcp", "https://10.0.0.1/x", "not public"),
        ("https://93.184.216.34/mcp", "https://[::1]/x", "not public"),
        ("https://93.184.216.34/mcp", "https://localhost/x", "not public"),
        ("https://93.184.216.34/mcp", "https://2852039166/x", "not a canonical IPv4 address"),
        ("https://93.184.216.34/mcp", "http://a.example/x", "plain HTTP"),
        ("https://10.0.0.1/mcp", "https://127.0.0.1/x", "not public"),
        ("http://127.0.0.1:9/mcp", "https://169.254.169.254/x", "not public"),
        ("http://127.0.0.1:9/mcp", "http://10.0.0.1/x", "plain HTTP"),
        ("http://127.0.0.1:9/mcp", "https://me:pw@a.example/x", "credentials"),
        ("http://127.0.0.1:9/mcp", "file:///etc/passwd", "no http(s) URL"),
        ("http://127.0.0.1:9/mcp", "http://[", "no http(s) URL"),
    ],
)
async def test_no_server_sends_us_further_inwards(server, url, said, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", _leading_to("169.254.169.254"))
    async with Fetcher(timeout_s=5, server=server) as fetcher:
        seen = await fetcher.fetch_named(url)

    assert seen.status == 0
    assert said in seen.error


def _leading_to(address):
    """A resolver for which every name means one address; addresses mean themselves."""
    real = socket.getaddrinfo

    def resolve(host, port, *args, **kwargs):
        try:
            socket.inet_pton(socket.AF_INET, host)
        except OSError:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port or 0))]
        return real(host, port, *args, **kwargs)

    return resolve


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254"])
async def test_a_public_name_that_leads_inwards_is_not_followed(address, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", _leading_to(address))
    async with Fetcher(timeout_s=5, server="https://93.184.216.34/mcp") as fetcher:
        seen = await fetcher.fetch_named("https://innocent.example/.well-known/x")

    assert seen.status == 0
    assert seen.error == f"not asked: the name leads to {address}, an address that is not public"


async def test_a_server_on_this_machine_may_name_another_one_there():
    with serving(honest) as root, serving(honest) as other:
        async with Fetcher(timeout_s=5, server=f"{root}/mcp") as fetcher:
            assert (await fetcher.fetch_named(f"{other}/x")).status == 404
            assert (await fetcher.fetch_named(f"{root}/x")).status == 404


def test_requests_say_the_same_in_head_and_body():
    headers, body = stateless_request("subscriptions/listen", 7, notifications={})

    assert headers["Mcp-Method"] == json.loads(body)["method"] == "subscriptions/listen"
    assert json.loads(body)["id"] == 7
    assert json.loads(initialize_request()[1])["method"] == "initialize"


@pytest.mark.parametrize("host", ["\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021"])
async def test_an_address_in_other_digits_leads_no_further_inwards(host, monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    asked = []
    with answering(lambda connection, head: asked.append(head)) as port:
        async with Fetcher(timeout_s=5, server="https://mcp.example.com/mcp") as fetcher:
            seen = await fetcher.fetch_named(f"https://{host}:{port}/")

    assert seen.error == "not asked: 127.0.0.1 is an address that is not public"
    assert asked == []


async def test_a_header_that_is_no_utf_8_can_be_written_down():
    with answering(saying(b"HTTP/1.1 200 OK\r\nServer: a\xff\r\nContent-Length: 0\r\n\r\n")) as port:
        async with Fetcher(timeout_s=5) as fetcher:
            seen = await fetcher.fetch("GET", f"http://127.0.0.1:{port}/")

    assert seen.headers["server"] == "a\ufffd"


async def test_of_what_was_compressed_no_more_is_kept():
    body = gzip.compress(bytes(20_000_000))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    with answering(saying(head.encode() + body)) as port:
        async with Fetcher(timeout_s=5) as fetcher:
            seen = await fetcher.fetch("GET", f"http://127.0.0.1:{port}/")

    assert len(seen.body) < 400_000
