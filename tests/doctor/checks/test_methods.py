import functools

from mesero.doctor import examine
from mesero.doctor.checks.methods import check_methods
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import SESSION, honest, serving


async def looked_at(respond):
    sheet = Sheet(["methods"])
    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            await check_methods(sheet, fetcher, root, {"X-Own": "1"})
    return sheet


async def test_each_method_is_a_line_with_status_and_content_type():
    def respond(method, path, headers, body):
        assert headers["X-Own"] == "1"
        if method == "GET":
            return 200, {"Content-Type": "text/html; charset=utf-8"}, b"<html>"
        return 405, {"Allow": "POST"} if method == "DELETE" else {}, b""

    sheet = await looked_at(respond)

    assert sheet.checks[0].evidence == (
        "GET gets 200 text/html",
        "DELETE gets 405, Allow: POST",
        "OPTIONS gets 405, without the Allow that belongs to it",
    )
    assert sheet.diagnoses == ()


async def test_a_session_that_nobody_asked_for_is_told():
    """P78: each of them piles up."""
    ended = []

    def respond(method, path, headers, body):
        if method == "DELETE":
            ended.append(headers.get("Mcp-Session-Id"))
            return 405, {}, b""
        if method == "GET" and headers.get("Mcp-Session-Id") is None:
            return 400, {"Mcp-Session-Id": SESSION}, b""
        return honest(method, path, headers, body, at="/mcp", session=SESSION)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp")

    assert [each.code for each in report.diagnoses] == ["SESSION-5"], report
    assert SESSION in ended


async def test_nothing_is_asked_of_a_server_that_wants_us_to_wait():
    sheet = Sheet(["methods"])
    count = 0

    def respond(method, path, headers, body):
        nonlocal count
        count += 1
        return 429, {}, b""

    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            await fetcher.fetch("GET", root)
            await check_methods(sheet, fetcher, root, {})

    assert count == 1


async def test_a_healthy_server_of_either_era_has_no_fault():
    for era in ("old", "now"):
        with serving(functools.partial(honest, era=era)) as root:
            report = await examine(f"{root}/mcp")
        assert report.verdict == "ok", report
