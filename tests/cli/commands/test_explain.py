import json

import pytest

from mesero.trace.format import encode_header, encode_line
from tests.cli.programs import invoke
from tests.diagram.recordings import handshake, stateless

REQUEST = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'


@pytest.fixture
def trace(tmp_path):
    made = stateless()
    path = tmp_path / "trace.jsonl"
    path.write_bytes(encode_header(made.header) + b"".join(map(encode_line, made.lines)))
    return str(path)


@pytest.mark.parametrize("term", ["-32602", "-1", "tools/call", "Mcp-Name", "404", "progressToken"])
def test_a_word_of_the_protocol_is_explained(term):
    result = invoke(["explain", term])
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{term} · ")


def test_a_word_as_json_is_a_list_of_entries():
    (entry,) = json.loads(invoke(["explain", "-32022", "--json"]).stdout)
    assert (entry["name"], entry["kind"], entry["revisions"]) == ("-32022", "error code", ["2026-07-28"])
    assert entry["link"].startswith("https://")


def test_an_unknown_word_is_a_usage_error_with_neighbours():
    result = invoke(["explain", "tool/call"])
    assert result.exit_code == 2
    assert "tools/call" in result.stderr
    assert invoke(["explain", "xyzzy"]).exit_code == 2
    assert "xyzzy" in invoke(["explain", "xyzzy"]).stderr


def test_a_message_comes_as_a_word_from_stdin_or_from_a_file(tmp_path):
    path = tmp_path / "message.json"
    path.write_text(REQUEST + "\n")
    shown = {
        invoke(["explain", REQUEST]).stdout,
        invoke(["explain", "-"], stdin=REQUEST).stdout,
        invoke(["explain"], stdin=REQUEST).stdout,
        invoke(["explain", str(path)]).stdout,
    }
    assert len(shown) == 1
    assert "STOP metadata" in shown.pop()


def test_headers_bring_the_status_with_them():
    message = invoke(["compose", "tools/call", "name=add"]).stdout
    headers = ["-H", "MCP-Protocol-Version: 2026-07-28", "--header", "Mcp-Method:tools/call"]
    result = invoke(["explain", "-", *headers], stdin=message)
    assert "STOP headers" in result.stdout
    assert "HTTP 400" in result.stdout
    passed = invoke(["explain", "-", *headers, "-H", "Mcp-Name: add"], stdin=message)
    assert "Nothing stops it" in passed.stdout
    assert "MCP-Protocol-Version is missing" in invoke(["explain", "-", "--http"], stdin=message).stdout


def test_json_holds_steps_and_answer():
    found = json.loads(invoke(["explain", REQUEST, "--json"]).stdout)
    assert found["stops_at"] == "metadata"
    assert [step["outcome"] for step in found["steps"]][:3] == ["passed", "passed", "refused"]
    assert json.loads(found["reply"]["body"])["error"]["code"] == -32602


def test_a_revision_may_be_asked_for():
    assert "judged by 2025-06-18" in invoke(["explain", REQUEST, "--revision", "2025-06-18"]).stdout
    assert invoke(["explain", REQUEST, "--revision", "2027-01-01"]).exit_code == 2


def test_a_line_of_a_trace_is_explained_with_its_headers(trace):
    result = invoke(["explain", trace, "--seq", "7"])
    assert "ok   headers" in result.stdout
    assert "most likely of server/discover" in invoke(["explain", trace, "--seq", "2"]).stdout
    assert invoke(["explain", trace, "--seq", "99"]).exit_code == 2
    assert invoke(["explain", REQUEST, "--seq", "1"]).exit_code == 2


def test_what_came_before_tells_where_the_message_does_not(tmp_path):
    made = handshake()
    path = tmp_path / "trace.jsonl"
    path.write_bytes(encode_header(made.header) + b"".join(map(encode_line, made.lines)))
    shown = invoke(["explain", str(path), "--seq", "8"]).stdout
    assert "handshake, judged by 2025-11-25: what came before it is of 2025-11-25" in shown
    assert (
        "judged by 2025-06-18"
        in invoke(["explain", str(path), "--seq", "8", "--revision", "2025-06-18"]).stdout
    )


def test_a_trace_without_a_number_asks_for_one(trace):
    result = invoke(["explain", trace])
    assert result.exit_code == 2
    assert "--seq" in result.stderr


def test_what_is_no_header_is_a_usage_error():
    for header in ("nothing", ": value"):
        assert invoke(["explain", REQUEST, "-H", header]).exit_code == 2


def test_nothing_in_a_message_steers_the_terminal():
    result = invoke(["explain", '{"jsonrpc": "2.0", "id": "\\u001b[31m\\u202e", "method": "\\u001b[2J"}'])
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
