import asyncio
import threading

import pytest

from mesero.doctor import examine
from mesero.doctor.remote import REMOTE_CHECKS, secrets_of_url, shown_target
from tests.broken.endpoints import honest, serving
from tests.broken.test_streams import Listened


def test_each_check_has_one_place():
    assert len(set(REMOTE_CHECKS)) == len(REMOTE_CHECKS)


KEY = "0f5b1c9e7d3a4b6c8e2f"


def test_what_of_a_url_is_not_shown():
    found = secrets_of_url(f"https://me:pass%20word@h/s/{KEY}/mcp?key=abc%2Fdef123&mode=streamable&x={KEY}-2")

    assert set(found) == {"pass%20word", "pass word", "abc%2Fdef123", "abc/def123", KEY, f"{KEY}-2"}


def test_words_in_a_url_are_shown():
    url = "https://h/enterprise-database-v2-production/mcp?mode=streamable&version=2025"

    assert secrets_of_url(url) == []
    assert shown_target(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "https://me:canary@h/mcp?key=canary",
        "https://h:x/mcp?key=canary",
        "https://h/s/canary-0f5b1c9e7d3a4b6c8e2f/mcp",
        "https://h/mcp?k=canary-0f5b1c9e7d3a4b6c8e2f",
    ],
)
def test_a_target_is_shown_without_secrets(url):
    assert "canary" not in shown_target(url)
    assert "/mcp" in shown_target(url)


async def test_nothing_survives_an_examination_that_is_cancelled():
    """Streams and connections that are held open go with it."""
    watching = asyncio.Event()
    loop = asyncio.get_running_loop()
    asked = threading.Event()
    before = asyncio.all_tasks()

    with Listened() as server:

        def respond(method, path, headers, body):
            if b"subscriptions/listen" in (body or b""):
                asked.set()
                loop.call_soon_threadsafe(watching.set)
            return server.respond(method, path, headers, body)

        with serving(respond) as root:
            examining = loop.create_task(examine(f"{root}/mcp", watch_s=30.0))
            await asyncio.wait_for(watching.wait(), 10)
            examining.cancel()
            with pytest.raises(asyncio.CancelledError):
                await examining

    assert asked.is_set()
    assert asyncio.all_tasks() == before


async def test_a_redirect_to_a_name_that_is_none_is_told_and_not_followed():
    asked = []

    def respond(method, path, headers, body):
        asked.append(path)
        if len(asked) == 1:
            return 307, {"Location": "http://xn--a/"}, b""
        return honest(method, path, headers, body)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=10)

    assert [each.code for each in report.diagnoses] == ["HTTP-1"]
