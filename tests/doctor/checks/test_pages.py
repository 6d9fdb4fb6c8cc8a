import time

import pytest

from mesero.doctor.checks.pages import find_login, find_title, find_wall, guards_host, quote
from mesero.doctor.fetched import Fetched


def seen(status=200, body=b"", kind="text/html", **headers):
    named = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Fetched(method="POST", url="https://h/mcp", status=status, headers=named, body=body)


@pytest.mark.parametrize(
    "answer",
    [
        seen(302, location="/login?x=1"),
        seen(302, location="https://login.example/x"),
        seen(303, location="https://h/cdn-cgi/access/login/x"),
        seen(200, b"<title>Log in to Lunch</title>"),
        seen(403, b"<input name=p type='password'>"),
        seen(500, b"Unauthorized", "text/plain"),
        seen(200, b'{"jsonrpc": "2.0", "error": {"message": "Invalid API key"}}', "application/json"),
    ],
)
def test_a_login_is_known_in_every_dress(answer):
    assert find_login(answer)


@pytest.mark.parametrize(
    "answer",
    [
        seen(302, location="/mcp/"),
        seen(307, location="/blog/authors"),
        seen(200, b"<title>Lunch</title>"),
        seen(500, b"the database is gone", "text/plain"),
        seen(401, b"Unauthorized", "text/plain"),
        seen(400, b"Bad Request: No valid session ID provided", "text/plain"),
        seen(400, b"Unexpected token '<' in JSON", "text/plain"),
        seen(200, b'{"result": "unauthorized use is forbidden"}', "application/json"),
    ],
)
def test_other_answers_are_no_login(answer):
    assert find_login(answer) == ""


def test_a_wall_is_known_by_header_and_by_words():
    assert find_wall(seen(403, cf_mitigated="challenge")) == "the header cf-mitigated: challenge"
    assert "Just a moment" in find_wall(seen(503, b"<title>Just a moment...</title>"))
    assert find_wall(seen(404, b"<title>Just a moment...</title>")) == ""
    assert find_wall(seen(200, b"captcha", "application/json")) == ""


def test_a_guard_of_host_names_is_known():
    assert guards_host(seen(403, b'{"error": "Invalid Host: x"}', "application/json"))
    assert guards_host(seen(400, b"Host not allowed"))
    assert not guards_host(seen(500, b"invalid host"))
    assert not guards_host(seen(403, b"no"))


def test_the_words_of_an_answer():
    assert find_title(seen(body=b"<TITLE lang=en>\n Hello </TITLE>")) == "Hello"
    assert find_title(seen(body=b"Hello")) == ""
    assert quote(seen(body=b" boom ", kind="text/plain")) == ": boom"
    assert quote(seen(body=b"<html>")) == ""


@pytest.mark.parametrize("begun", [b"<title>", b"<title ", b"<input ", b"<input type="])
def test_what_is_begun_and_never_ended_keeps_nobody_busy(begun):
    start = time.monotonic()

    assert find_login(seen(200, begun * (400_000 // len(begun)))) == ""

    assert time.monotonic() - start < 5
