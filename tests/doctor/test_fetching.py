import asyncio
import json

from mesero.doctor.fetching import Fetched, Fetcher, discover_request
from tests.broken.endpoints import honest, serving


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


def test_only_a_good_answer_is_a_document():
    good = json.dumps({"a": 1}).encode()

    assert Fetched(method="GET", url="", status=200, body=good).find_document() == {"a": 1}
    assert Fetched(method="GET", url="", status=404, body=good).find_document() is None
    assert Fetched(method="GET", url="", status=200, body=b"<html>").find_document() is None
    assert Fetched(method="GET", url="", status=200, body=b"[]").find_document() is None
