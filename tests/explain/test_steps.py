import json

import pytest

from mesero.explain.steps import CHECKED, as_header_lines, run_steps
from tests.explain.messages import META, PREFIX, message, request

HEADERS = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "add")]
CALL = {"name": "add", "arguments": {}}


def stop_of(raw, headers=None):
    reports, reply = run_steps(raw, headers)
    assert [report.name for report in reports] == list(CHECKED)
    assert reply is not None
    refused = [report.name for report in reports if report.outcome == "refused"]
    assert len(refused) == 1
    place = CHECKED.index(refused[0])
    assert {report.outcome for report in reports[:place]} <= {"passed", "skipped"}
    assert all(report.outcome == "not reached" for report in reports[place + 1 :])
    return refused[0], json.loads(reply.body)["error"]["code"], reply.status


def test_a_good_request_passes_all_six():
    reports, reply = run_steps(request("tools/call", CALL), HEADERS)
    assert [report.outcome for report in reports] == ["passed"] * 6
    assert reply is None


def test_without_headers_their_step_is_skipped():
    reports, reply = run_steps(request("tools/call", CALL), None)
    assert [report.outcome for report in reports] == ["passed"] * 3 + ["skipped"] + ["passed"] * 2
    assert reply is None


@pytest.mark.parametrize(
    ("raw", "step", "code", "status"),
    [
        (b'{"jsonrpc": "2.0", "id"', "parse", -32700, 400),
        (b"\xff", "parse", -32700, 400),
        (message(id=1.5, method="tools/call"), "envelope", -32600, 400),
        (message(id=1, result={}), "envelope", -32600, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "x"}', "envelope", -32600, 400),
        (request("tools/call", CALL, meta=None), "metadata", -32602, 400),
        (request("tools/call", {**CALL, "name": "sub"}), "headers", -32020, 400),
        (
            request("tools/call", CALL, meta={**META, f"{PREFIX}protocolVersion": "2027-01-01"}),
            "headers",
            -32020,
            400,
        ),
        (request("tools/call", {"name": 5}), "headers", -32020, 400),
    ],
)
def test_a_fault_stops_it_at_its_step_with_the_answer_of_a_server(raw, step, code, status):
    assert stop_of(raw, HEADERS) == (step, code, status)


def test_an_unknown_revision_stops_it_behind_the_headers():
    raw = request("tools/call", CALL, meta={**META, f"{PREFIX}protocolVersion": "2027-01-01"})
    headers = [("mcp-protocol-version", "2027-01-01"), *HEADERS[1:]]
    assert stop_of(raw, headers) == ("revision", -32022, 400)


def test_an_unknown_method_is_404_over_http_and_has_no_status_elsewhere():
    raw = request("tools/fly")
    headers = [HEADERS[0], ("Mcp-Method", "tools/fly")]
    assert stop_of(raw, headers) == ("route", -32601, 404)
    assert stop_of(raw) == ("route", -32601, None)


def test_header_lines_are_bytes_whatever_is_in_them():
    assert as_header_lines([("A", "é"), ("B", "☃")]) == [(b"A", b"\xe9"), (b"B", b"?")]
