import json

import pytest

from mesero.explain.handshake import CHECKS, run_checks
from tests.explain.messages import message

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}


def checks_of(raw, revision="2025-11-25", *, is_http=False):
    reports, reply = run_checks(raw, json.loads(raw), revision, is_http=is_http)
    assert [report.name for report in reports] == list(CHECKS)
    return [report.outcome for report in reports], reply


def test_a_good_request_passes_all_checks():
    assert checks_of(message(id=1, method="initialize", params=INITIALIZE)) == (["passed"] * 4, None)


@pytest.mark.parametrize(
    ("raw", "place", "code"),
    [
        (message(id=None, method="ping"), 1, -32600),
        (message(id=1, method="server/discover"), 2, -32601),
        (message(id=1, method="notifications/initialized"), 2, -32600),
        (message(id=1, method="tools/call", params={}), 3, -32602),
        (message(id=1, method="initialize", params={}), 3, -32602),
    ],
)
def test_a_fault_stops_it_with_the_answer_of_a_server(raw, place, code):
    outcomes, reply = checks_of(raw, is_http=True)
    assert outcomes.index("refused") == place
    assert json.loads(reply.body)["error"]["code"] == code
    assert reply.status == 200
    assert "free" in reply.note


def test_without_http_there_is_no_status():
    assert checks_of(message(id=1, method="x"))[1].status is None


def test_what_is_no_json_stops_at_once():
    reports, reply = run_checks(b"{", None, "2025-11-25", is_http=False)
    assert reports[0].outcome == "refused"
    assert json.loads(reply.body)["error"]["code"] == -32700


def test_many_faults_are_told_in_part():
    params = {"protocolVersion": 1, "capabilities": 2, "clientInfo": {"name": 3, "version": 4, "title": 5}}
    _, reply = checks_of(message(id=1, method="initialize", params=params))
    assert "; and 2 more" in json.loads(reply.body)["error"]["message"]


def test_the_revision_decides():
    raw = message(id="q", method="elicitation/create", params={"message": "?", "requestedSchema": {}})
    assert checks_of(raw, "2025-03-26")[0].index("refused") == 2
