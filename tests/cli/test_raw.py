import contextlib
import json
import sys

import pytest

from mesero.cli.raw import RawSettings, headers_for, is_answer_to, send_raw
from mesero.cli.targets import Target
from mesero.errors import ConnectError, DisconnectedError

DISCOVER = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "server/discover",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        },
    }
).encode()


def python(program):
    return Target("command", [sys.executable, "-c", program])


async def answers_from(target, raw, wait_s=20.0, **settings):
    async with contextlib.aclosing(send_raw(target, raw, RawSettings(wait_s, **settings))) as answers:
        return [answer async for answer in answers]


@pytest.mark.parametrize(
    ("raw", "is_answer"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{}}', True),
        (b'{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}', True),
        (b'{"jsonrpc":"2.0","error":{"code":1,"message":""}}', True),
        (b'{"jsonrpc":"2.0","id":8,"result":{}}', False),
        (b'{"jsonrpc":"2.0","method":"x"}', False),
        (b"noise", False),
    ],
)
def test_what_answers_the_id_or_no_id_at_all_is_the_answer(raw, is_answer):
    assert is_answer_to(raw, DISCOVER) == is_answer


def test_headers_mirror_a_valid_request_unless_they_were_given():
    assert headers_for(DISCOVER, {}) == (
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "server/discover"),
    )
    assert headers_for(DISCOVER, {"mcp-METHOD": "x"}) == (("MCP-Protocol-Version", "2026-07-28"),)
    call = json.loads(DISCOVER) | {"method": "tools/call"}
    call["params"]["name"] = "add"
    assert ("Mcp-Name", "add") in headers_for(json.dumps(call).encode(), {})


@pytest.mark.parametrize(
    "raw",
    [
        b"noise",
        b'{"jsonrpc":"2.0","method":"x"}',
        b'{"jsonrpc":"2.0","id":1,"method":"x"}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":5}}',
    ],
)
def test_what_is_no_request_with_a_revision_mirrors_nothing(raw):
    assert headers_for(raw, {}) == ()


async def test_a_command_gets_the_bytes_as_they_are_and_every_line_comes_back():
    program = (
        "import sys; raw = sys.stdin.buffer.readline(); print(repr(raw)); print('log text');"
        'print(\'{"jsonrpc":"2.0","id":7,"result":{}}\'); sys.stdout.flush(); sys.stdin.read()'
    )
    found = await answers_from(python(program), b'{"id": 7, \xff\r')
    assert [answer.raw for answer in found[:2]] == [rb"""b'{"id": 7, \xff\r\n'""", b"log text"]


async def test_it_ends_with_the_answer_and_does_not_wait_for_more():
    program = (
        'import sys; sys.stdin.readline(); print(\'{"jsonrpc":"2.0","id":7,"result":{}}\', flush=True);'
        "print('more', flush=True); sys.stdin.read()"
    )
    assert [answer.raw for answer in await answers_from(python(program), DISCOVER)] == [
        b'{"jsonrpc":"2.0","id":7,"result":{}}'
    ]


async def test_an_unfinished_line_is_shown_when_the_command_ends():
    found = await answers_from(python("import sys; sys.stdin.readline(); sys.stdout.write('half')"), b"x")
    assert [answer.raw for answer in found] == [b"half"]


async def test_a_command_that_ends_without_a_word_is_an_error():
    with pytest.raises(DisconnectedError, match="exited with code 3"):
        await answers_from(python("import sys; sys.exit(3)"), b"x")


async def test_the_wait_is_bounded():
    assert await answers_from(python("import sys; sys.stdin.read()"), b"x", wait_s=0.2) == []


async def test_a_server_of_a_file_is_sent_bytes_too(notes):
    found = await answers_from(Target("file", notes), DISCOVER)
    assert json.loads(found[0].raw)["id"] == 7


async def test_over_http_the_head_comes_first_and_then_the_body(endpoint):
    endpoint.status, endpoint.kind, endpoint.answer = 404, "text/html", b"<p>no</p>"
    head, body = await answers_from(Target("url", endpoint.url), DISCOVER, headers={"X-A": "b"})
    assert (head.status, head.raw, body.raw) == (404, b"", b"<p>no</p>")
    assert dict(head.headers)["Content-Type"] == "text/html"
    assert endpoint.body == DISCOVER
    assert endpoint.headers["X-A"] == "b"
    assert endpoint.headers["Mcp-Method"] == "server/discover"


async def test_over_http_nothing_is_mirrored_when_that_is_not_wanted(endpoint):
    endpoint.answer = b""
    found = await answers_from(Target("url", endpoint.url), DISCOVER, mirrors=False)
    assert [answer.status for answer in found] == [200]
    assert "Mcp-Method" not in endpoint.headers


async def test_events_come_one_by_one_until_the_answer(endpoint):
    endpoint.kind = "text/event-stream"
    answer = b'{"jsonrpc":"2.0","id":7,"result":{}}'
    endpoint.answer = b": comment\n\ndata: first\n\ndata: " + answer + b"\n\ndata: behind\n\n"
    found = await answers_from(Target("url", endpoint.url), DISCOVER)
    assert [answer.raw for answer in found[1:]] == [b"first", answer]


async def test_a_stream_that_ends_without_an_answer_ends(endpoint):
    endpoint.kind, endpoint.answer = "text/event-stream", b"data: first\n\n"
    found = await answers_from(Target("url", endpoint.url), DISCOVER)
    assert [answer.raw for answer in found[1:]] == [b"first"]


async def test_a_url_that_nobody_serves_is_a_connection_error():
    with pytest.raises(ConnectError):
        await answers_from(Target("url", "http://127.0.0.1:1/mcp"), DISCOVER)
