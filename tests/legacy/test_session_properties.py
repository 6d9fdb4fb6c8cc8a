"""Whatever comes, in whatever order: a request gets one answer, nothing else any; the session goes on."""

import asyncio
import json
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mesero.server import Context
from tests.legacy.session_talk import EVERYTHING, HANDSHAKE_REVISIONS, ME, SessionTalk
from tests.server.talking import meta, quiet_server


def server_for_anything():
    server = quiet_server()

    @server.tool
    async def echo(text: str) -> str:
        return text

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Sure?")).action

    @server.resource("notes://one")
    async def one() -> str:
        return "first"

    return server


ids = st.integers(1, 6) | st.sampled_from(["a", "b", ""])
methods = st.sampled_from(
    [
        *("initialize", "ping", "tools/list", "tools/call", "resources/read", "resources/subscribe"),
        *("logging/setLevel", "completion/complete", "tasks/list", "server/discover", "nonsense"),
    ]
)
introductions = st.sampled_from(HANDSHAKE_REVISIONS).map(
    lambda revision: {"protocolVersion": revision, "capabilities": EVERYTHING[revision], "clientInfo": ME}
)
params = st.one_of(
    introductions,
    st.sampled_from(
        [
            {},
            {"name": "echo", "arguments": {"text": "hi"}},
            {"name": "echo", "arguments": {"text": 5}},
            {"name": "ask"},
            {"uri": "notes://one"},
            {"uri": 5},
            {"level": "debug"},
            {"_meta": meta()},
            {"_meta": {"progressToken": 1}},
            {"_meta": None},
        ]
    ),
)
requests = st.builds(
    lambda owner, method, given: {"jsonrpc": "2.0", "id": owner, "method": method, "params": given},
    ids,
    methods,
    params,
)
notifications = st.builds(
    lambda method, given: {"jsonrpc": "2.0", "method": method, "params": given},
    st.sampled_from(["notifications/initialized", "notifications/cancelled", "tools/call", "x"]),
    params | st.builds(lambda owner: {"requestId": owner}, ids),
)
answers = st.builds(
    lambda owner, rest: {"jsonrpc": "2.0", "id": owner, **rest},
    ids,
    st.sampled_from(
        [
            {"result": {"action": "accept", "content": {}}},
            {"result": 5},
            {"error": {"code": -1, "message": "no"}},
            {"error": {"code": -1, "message": "no", "data": {"a": []}}},
        ]
    ),
)
messages = requests | notifications | answers
openings = st.sampled_from(HANDSHAKE_REVISIONS).map(
    lambda revision: [
        {
            "jsonrpc": "2.0",
            "id": "open",
            "method": "initialize",
            "params": {"protocolVersion": revision, "capabilities": EVERYTHING[revision], "clientInfo": ME},
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
)


def members_of(line):
    return line if isinstance(line, list) else [line]


def requests_in(lines):
    return Counter(one["id"] for line in lines for one in members_of(line) if "id" in one and "method" in one)


def answers_in(said):
    return Counter(
        one["id"] for line in said for one in members_of(line) if "id" in one and "method" not in one
    )


async def say(lines, turns):
    """The lines, some turns of the loop after each; gives what was said once nothing runs any more."""
    talk = SessionTalk(server_for_anything())
    try:
        for line, count in zip(lines, turns, strict=True):
            talk.send_bytes(line)
            await talk.settle(count)
        # What waits for an answer is let go, and so everything ends.
        talk.connection.receive_eof()
        await talk.connection.finish(10)
        assert talk.connection.is_idle
    finally:
        await talk.connection.aclose()
    talk.connection.flush()
    return talk.said


def encoded(lines):
    return [json.dumps(line).encode() + b"\n" for line in lines]


bounded = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@bounded
@given(
    opening=openings | st.just([]),
    rest=st.lists(messages | st.lists(messages, max_size=4), max_size=8),
    data=st.data(),
)
def test_a_request_is_answered_at_most_once_and_nothing_else_at_all(opening, rest, data):
    lines = [*opening, *rest]
    turns = [data.draw(st.integers(0, 5)) for _ in lines]
    said = asyncio.run(say(encoded(lines), turns))
    asked, answered = requests_in(lines), answers_in(said)
    for owner, count in answered.items():
        assert count <= asked[owner], owner


@bounded
@given(
    opening=openings,
    rest=st.lists(requests, max_size=8, unique_by=lambda one: repr(one["id"])),
    data=st.data(),
)
def test_a_request_that_nobody_cancels_is_answered_exactly_once(opening, rest, data):
    lines = [*opening, *rest]
    said = asyncio.run(say(encoded(lines), [data.draw(st.integers(0, 5)) for _ in lines]))
    assert answers_in(said) == requests_in(lines)


@bounded
@given(opening=openings, rest=st.lists(messages, min_size=1, max_size=4), data=st.data())
def test_bytes_changed_anywhere_break_no_session(opening, rest, data):
    lines = encoded([*opening, *rest])
    for number in range(len(opening), len(lines)):
        line = bytearray(lines[number])
        place = data.draw(st.integers(0, len(line) - 2))
        line[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != 10))
        lines[number] = bytes(line)
    ping = {"jsonrpc": "2.0", "id": "still here?", "method": "ping"}
    said = asyncio.run(say([*lines, *encoded([ping])], [2] * (len(lines) + 1)))
    assert answers_in(said)["still here?"] == 1
