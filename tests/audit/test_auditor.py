"""The engine: streaming, bounded, and at peace with whatever comes."""

import json
import sys
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mesero
from mesero.audit.auditor import MAX_FINDINGS_PER_LINE, Auditor, audit, phase_of
from mesero.audit.diagnosis import diagnose
from mesero.audit.evidence import Evidence
from mesero.audit.examples import (
    answer,
    answered,
    ask,
    asked,
    c2s,
    eof,
    exited,
    fail,
    hello,
    http_answer,
    http_request,
    note,
    old_answer,
    old_ask,
    posted,
    replied,
    s2c,
    shake,
    spawned,
    stderr,
    tell,
    trace,
    wait,
    welcome,
    wrote,
)
from mesero.audit.link import LinkState
from mesero.audit.rules import RULES, Rule
from mesero.demo.notes import server
from mesero.trace.format import Header, Link, LinkLine, MessageLine, decode_header, decode_line
from mesero.trace.recorder import Recorder
from tests.audit.judging import broken_by, found_in
from tests.http_serving import serving

HINTS = {"ttlMs": 0, "cacheScope": "private"}


# -- what the first lessons ask for --------------------------------------------------------------------------


def test_the_messages_of_the_lesson_get_no_era_that_is_not_there():
    lesson = trace(
        c2s({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "read_file"}}),
        s2c({"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "hola"}]}}),
        tell("notifications/resources/updated"),
        fail(-32601, "Method not found", id=7),
    )
    findings = found_in(lesson)

    assert [(each.rule, each.seq) for each in findings] == [("ERA-001", 2), ("ID-005", 5)]
    assert {each.revision for each in findings} == {""}


def test_two_links_of_different_eras_are_judged_each_by_its_own():
    def on(link, lines):
        return [type(line)(**{**fields_of(line), "link": link}) for line in lines]

    old = trace(*shake("2025-06-18"), old_ask("ping"), fail(-32601))
    new = trace(ask("ping"), fail(-32601))
    both = [
        line for pair in zip(on("a", old), [*on("b", new), *[None] * len(old)], strict=False) for line in pair
    ]
    findings = list(audit([line for line in both if line is not None]))

    assert [(each.link, each.rule, each.revision) for each in findings] == [
        ("b", "ERA-006", "2026-07-28"),
        ("a", "LIFE-011", "2025-06-18"),
    ]


def fields_of(line):
    return {name: getattr(line, name) for name in line.__struct_fields__}


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ([*shake(), old_ask("ping"), old_answer({})], [ask("ping"), fail(-32601)]),
        (
            [*shake(server={"tools": {"listChanged": True}}), tell("notifications/tools/list_changed")],
            [ask("a"), tell("notifications/tools/list_changed")],
        ),
        ([*shake(), old_ask("x"), fail(-32002)], [ask("x"), fail(-32002)]),
        (
            [*shake(client={"roots": {}}), old_ask("roots/list", id="s", direction="s2c")],
            [ask("a"), old_ask("roots/list", id="s", direction="s2c")],
        ),
    ],
)
def test_what_is_right_in_one_era_and_wrong_in_the_other_is_never_mixed(good, bad):
    assert broken_by(trace(*good)) == set()
    assert broken_by(trace(*bad))


# -- conforming exchanges ------------------------------------------------------------------------------------

LEGAL = {
    "2024-11-05": {"tools": {}},
    "2025-03-26": {"tools": {}, "completions": {}},
    "2025-06-18": {"tools": {"listChanged": True}},
    "2025-11-25": {"tools": {}, "logging": {}},
}


@pytest.mark.parametrize("revision", LEGAL)
def test_a_conforming_session_of_the_older_era_breaks_nothing(revision):
    tools = [{"name": "add", "inputSchema": {"type": "object"}}]
    lines = trace(
        *shake(revision, client={"roots": {}}, server=LEGAL[revision]),
        old_ask("ping"),
        old_answer({}),
        old_ask("tools/list", id=2),
        old_answer({"tools": tools}, id=2),
        old_ask("tools/call", {"name": "add", "arguments": {}, "_meta": {"progressToken": 3}}, id=3),
        old_ask("roots/list", id="s1", direction="s2c"),
        old_answer({"roots": [{"uri": "file:///home"}]}, id="s1", direction="c2s"),
        tell("notifications/progress", {"progressToken": 3, "progress": 0.5, "total": 1}),
        old_answer({"content": [{"type": "text", "text": "3"}]}, id=3),
        eof("c2s"),
        eof("s2c"),
    )

    assert found_in(lines) == []


def test_a_conforming_session_over_the_older_http_breaks_nothing():
    initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello("2025-06-18")}
    more = {"mcp_session_id": "1868a90c-46a2-4b5f-9d1e-0c3a5b7d9e11", "mcp_protocol_version": "2025-06-18"}
    lines = trace(
        posted(initialize, exchange=1),
        replied(
            {"jsonrpc": "2.0", "id": 0, "result": welcome("2025-06-18")},
            exchange=1,
            mcp_session_id=more["mcp_session_id"],
        ),
        posted({"jsonrpc": "2.0", "method": "notifications/initialized"}, exchange=2, **more),
        http_answer(202, exchange=2),
        http_request("GET", exchange=3, accept="text/event-stream", **more),
        http_answer(200, exchange=3, content_type="text/event-stream"),
        posted({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, exchange=4, **more),
        replied({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}, exchange=4, sse=True, event_id="1"),
        eof("s2c", exchange=4),
        http_request("DELETE", exchange=5, **more),
        http_answer(200, exchange=5),
        transport="http",
    )

    assert found_in(lines) == []


def recorded(lines):
    header, *rest = b"".join(lines).splitlines()
    return [decode_header(header), *map(decode_line, rest)]


async def use_the_demo(target, **settings):
    async with mesero.Client(target, **settings) as client:
        await client.list_tools()
        await client.list_resources()
        await client.list_prompts()
        await client.list_resource_templates()
        note_ = await client.call_tool("notes_add", {"title": "a", "body": "b", "notebook": "größe"})
        await client.read_resource(f"notes://{note_.structured_content['id']}")


async def test_our_client_and_the_demo_break_nothing_over_stdio():
    written = []
    recorder = Recorder(written.append)
    command = [sys.executable, "-m", "mesero.demo"]
    await use_the_demo(command, trace=recorder.link("notes", "stdio", "demo"))

    findings = found_in(recorded(written))
    assert len(written) > 10
    assert findings == []


async def test_our_client_and_the_demo_break_nothing_over_http():
    written = []
    recorder = Recorder(written.append)
    async with serving(server.asgi()) as url:
        await use_the_demo(url, trace=recorder.link("notes", "http", url))

    findings = found_in(recorded(written))
    assert len(written) > 10
    assert findings == []


# -- streaming -----------------------------------------------------------------------------------------------


def test_findings_come_as_soon_as_they_are_found():
    auditor = Auditor()
    *before, last = trace(ask("tools/list"), answer({"tools": [], "ttlMs": -1, "cacheScope": "private"}))

    assert [auditor.receive(line) for line in before] == [[], []]
    assert [finding.rule for finding in auditor.receive(last)] == ["CACHE-003"]
    assert auditor.receive_end() == []


def test_a_header_names_the_links_and_whether_the_beginning_is_elsewhere():
    auditor = Auditor()
    auditor.receive(Header(links={"1": Link(name="notes", transport="stdio")}, part=2))
    findings = [each for line in trace(answer(id=9))[1:] for each in auditor.receive(line)]

    assert auditor.links["1"].title == "notes"
    assert findings == []


@pytest.mark.parametrize(("raw", "rule"), [("42", "ENV-011"), ("{}", "ENV-003"), ("[]", "ENV-011")])
def test_what_is_no_message_is_told_without_any_revision(raw, rule):
    (finding,) = found_in(trace(s2c(raw)))

    assert (finding.rule, finding.revision) == (rule, "")


def test_only_the_rules_that_are_asked_for_judge():
    lines = trace(ask("ping"), fail(-32601), answer(id=77))

    assert [each.rule for each in audit(lines, rules=[RULES["ID-005"]])] == ["ID-005"]


def test_a_violation_that_no_given_rule_claims_is_not_told():
    assert list(audit(trace(ask("tools/call", {"name": 7})), rules=[RULES["ID-005"]])) == []


def test_a_line_with_very_many_findings_tells_the_first_of_them():
    tools = [{"name": "a", "inputSchema": {}}] * 500

    assert len(found_in(trace(ask("tools/list"), answer({"tools": tools, **HINTS})))) == MAX_FINDINGS_PER_LINE


def calls(count):
    yield LinkLine(seq=1, t=0.0, link="1", transport="stdio")
    for number in range(1, count // 2 + 1):
        question = json.dumps(asked("tools/call", {"name": "x"}, id=number, progress=number))
        reply = json.dumps(answered({"content": [{"type": "text", "text": "y" * 50}]}, id=number))
        yield MessageLine(seq=2 * number, t=number / 10, link="1", dir="c2s", raw=question)
        yield MessageLine(seq=2 * number + 1, t=number / 10, link="1", dir="s2c", raw=reply)


def test_memory_does_not_grow_with_the_length_of_the_trace():
    def peak_after(count):
        tracemalloc.start()
        assert sum(1 for _ in audit(calls(count))) == 0
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    peak_after(100)
    assert peak_after(12_000) < 1.5 * peak_after(6_000)


def test_a_long_trace_is_read_in_seconds():
    begun = time.process_time()
    assert sum(1 for _ in audit(calls(10_000))) == 0

    # Ten times as long as it takes on a slow machine: this notices what is not linear.
    assert time.process_time() - begun < 20


# -- whatever comes ------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
METHODS = st.sampled_from(
    [
        *["initialize", "ping", "tools/list", "tools/call", "server/discover", "subscriptions/listen"],
        *["notifications/initialized", "notifications/cancelled", "notifications/progress", "resources/read"],
        *["notifications/tools/list_changed", "notifications/message", "elicitation/create", "roots/list"],
    ]
)
KEYS = st.sampled_from(
    [
        *[
            "_meta",
            "name",
            "uri",
            "cursor",
            "requestId",
            "progressToken",
            "progress",
            "total",
            "tools",
            "content",
        ],
        *["resultType", "inputRequests", "inputResponses", "requestState", "nextCursor", "capabilities"],
        *["protocolVersion", "contents", "roots", "notifications", "arguments", "level", "completion"],
        *[
            "io.modelcontextprotocol/protocolVersion",
            "io.modelcontextprotocol/clientCapabilities",
            "url",
            "mode",
        ],
    ]
)
VALUES = JSON | st.sampled_from(["input_required", "complete", "2026-07-28", "2025-11-25", "x"])
MEMBERS = st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=3), max_size=5)
IDS = st.sampled_from([1, 2, "1", None, 1.5, True])
URLS = st.sampled_from(
    [
        *["http://[", "", "https://example.com/mcp", "http://localhost/mcp?access_token=1", "//a@b/c"],
        *["https://a/.well-known/oauth-protected-resource", "https://a/.well-known/openid-configuration"],
    ]
)
MESSAGES = (
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": METHODS, "params": MEMBERS}, optional={"id": IDS}
    )
    | st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": IDS, "result": MEMBERS | JSON})
    | st.fixed_dictionaries({"jsonrpc": JSON, "error": MEMBERS | JSON}, optional={"id": IDS})
    | st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": IDS, "error": st.just({"code": -32602})})
    | st.builds(
        asked,
        METHODS,
        MEMBERS,
        id=st.sampled_from([1, 2]),
        capabilities=MEMBERS | st.just({"elicitation": {}}),
        progress=IDS,
        log_level=VALUES,
    )
    | JSON
)
STEPS = (
    st.builds(c2s, MESSAGES)
    | st.builds(s2c, MESSAGES)
    | st.builds(wrote, st.text(max_size=30))
    | st.builds(stderr, st.text(max_size=30))
    | st.builds(c2s, st.text(max_size=10))
    | st.builds(
        posted,
        st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": IDS, "method": METHODS}),
        exchange=st.integers(0, 3),
        url=URLS,
        origin=URLS,
        authorization=st.sampled_from(["Bearer t", ""]),
        mcp_name=st.text(max_size=5),
        mcp_session_id=st.sampled_from(["a", "b", ""]),
    )
    | st.builds(
        replied,
        MESSAGES,
        exchange=st.integers(0, 3),
        status=st.sampled_from([200, 202, 404]),
        sse=st.booleans(),
    )
    | st.builds(
        http_request,
        st.sampled_from(["GET", "POST", "OPTIONS"]),
        url=URLS,
        exchange=st.integers(0, 3),
        body=st.text(),
    )
    | st.builds(
        http_answer,
        st.sampled_from([200, 401, 404, 307]),
        exchange=st.integers(0, 3),
        body=JSON,
        location=URLS,
    )
    | st.builds(eof, st.sampled_from(["c2s", "s2c"]), exchange=st.none() | st.integers(0, 3))
    | st.builds(note, st.text(max_size=10))
    | st.builds(wait, st.floats(0, 100))
    | st.builds(exited, st.none() | st.integers(0, 9))
)


@given(st.lists(STEPS, max_size=12))
def test_nothing_that_is_recorded_makes_the_audit_fail(steps):
    able = {"elicitation": {}, "sampling": {}, "roots": {}}
    lines = trace(spawned("npx"), *shake(client=able)[:2], *steps)
    for finding in audit(lines):
        assert finding.message.isprintable()
    for diagnosis in diagnose(lines):
        assert diagnosis.cause.isprintable()


# -- phases --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "phase"),
    [
        ([spawned("a"), wrote("banner")], "launch"),
        ([ask("server/discover"), answer({"supportedVersions": []})], "discover"),
        ([shake()[0], wrote("late"), old_answer(None, id=0)], "initialize"),
        ([*shake()[:2], old_ask("tools/list")], "initialize"),
        ([ask("tools/list"), old_answer({})], "operation"),
        ([ask("tools/list"), eof("s2c")], "shutdown"),
    ],
)
def test_a_finding_says_in_which_phase_it_happened(steps, phase):
    assert found_in(trace(*steps))[-1].phase == phase


def test_before_anything_happened_a_process_is_being_launched():
    assert phase_of(Evidence(LinkState("1"), None, "spawn")) == "launch"


def test_a_rule_may_say_its_phase_itself():
    assert isinstance(RULES["ERA-001"], Rule)
    assert found_in(RULES["ERA-001"].fails)[0].phase == "select era"
