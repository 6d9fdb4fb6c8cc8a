"""The rules of headers: their examples, and what they must let pass."""

import pytest
from msgspec import structs

from mesero.audit.examples import answered, asked, posted, replied, trace
from mesero.trace.format import Http
from tests.audit.judging import broken_by, check_examples, found_in, rules_of


@pytest.mark.parametrize("rule", rules_of("HDR"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


LISTED = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}},
}
CALL = asked("tools/call", {"name": "add", "arguments": {"a": "<redacted length=3 sha256=0>"}}, id=2)


def listed():
    result = answered({"tools": [LISTED], "ttlMs": 0, "cacheScope": "private"})
    return [posted(asked("tools/list")), replied(result)]


def test_what_was_redacted_proves_no_mismatch():
    lines = trace(*listed(), posted(CALL, exchange=2, mcp_param_a="abc"))
    call = structs.replace(lines[-1], redacted=("$.raw.params.arguments.a",))

    assert broken_by(lines) == {"HDR-009"}
    assert broken_by([*lines[:-1], call]) == set()


def test_a_recording_without_headers_proves_no_missing_one():
    http = Http(exchange=1, method="POST", url="https://example.com/mcp")
    line = structs.replace(trace(posted(CALL))[1], http=http)

    assert found_in([line]) == []


@pytest.mark.parametrize(
    "accepted", ["*/*", "application/*, text/*", "text/event-stream;q=0.5, application/json"]
)
def test_accept_may_be_written_in_many_ways(accepted):
    assert broken_by(trace(posted(asked("tools/list"), accept=accepted))) == set()


def test_the_old_transport_has_no_rule_for_accept():
    assert broken_by(trace(posted(asked("tools/list"), accept="*/json"), transport="sse")) == set()


def test_a_name_that_is_encoded_is_compared_as_it_is_meant():
    call = asked("tools/call", {"name": "größe"})
    good = posted(call, mcp_name="=?base64?Z3LDtsOfZQ==?=")

    assert broken_by(trace(good, replied(answered({"content": []})))) == set()
