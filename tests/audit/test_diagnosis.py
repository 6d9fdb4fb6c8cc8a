"""One cause for each symptom, and none where there is no symptom."""

import pytest

from mesero.audit.diagnosis import CAUSES, SYMPTOMS, Proof, cause, diagnose, load_causes
from mesero.audit.examples import (
    answer,
    ask,
    eof,
    exited,
    fail,
    old_answer,
    old_ask,
    shake,
    spawned,
    stderr,
    tell,
    trace,
    wait,
)
from tests.audit.judging import causes_of, codes_of

HINTS = {"ttlMs": 0, "cacheScope": "private"}
TOOLS = [ask("tools/list"), answer({"tools": [{"name": "slow", "inputSchema": {"type": "object"}}], **HINTS})]


def test_loading_twice_registers_each_cause_once():
    count = len(CAUSES)
    load_causes()

    assert len(CAUSES) == count


def test_there_is_a_cause_for_every_symptom():
    assert {each.symptom for each in CAUSES.values()} == set(SYMPTOMS.values())


def test_a_code_is_given_once():
    with pytest.raises(ValueError, match="CLOSED-1"):
        cause("CLOSED-1", "Title", phase="launch", blame="client", fix="Do.", example=())(iter)


@pytest.mark.parametrize("each", causes_of(*SYMPTOMS))
def test_every_diagnosis_says_who_where_and_what_to_do(each):
    (diagnosis,) = diagnose(each.example)

    assert diagnosis.cause
    assert diagnosis.fix
    assert (diagnosis.phase, diagnosis.symptom) == (each.phase, each.symptom)
    assert diagnosis.confidence in ("certain", "likely", "possible")
    assert all(any(line.seq == seq for line in each.example) for seq in diagnosis.evidence)


def test_a_connection_that_works_has_no_diagnosis():
    healthy = trace(
        spawned("server"),
        *TOOLS,
        ask("tools/call", {"name": "slow"}, id=2),
        answer({"content": []}, id=2),
        eof("c2s"),
        eof("s2c"),
        exited(0),
    )

    assert diagnose(healthy) == []


def test_giving_up_after_its_own_minute_blames_the_client():
    (diagnosis,) = diagnose(
        trace(
            *TOOLS,
            ask("tools/call", {"name": "slow"}, id=3),
            wait(60),
            tell("notifications/cancelled", {"requestId": 3}, "c2s"),
        )
    )

    assert (diagnosis.blame, diagnosis.symptom) == ("client", "timed out (-32001)")
    assert "60 s" in diagnosis.cause


def test_four_times_the_same_error_has_four_different_causes():
    listed = {"tools": [{"name": "add", "inputSchema": {"type": "object", "required": ["a"]}}], **HINTS}
    refused = fail(-32602, "Invalid request parameters", id=2)

    assert [
        codes_of(trace(*shake()[:2], old_ask("tools/list", id=2), refused)),
        codes_of(trace(ask("tools/list"), answer(listed), ask("tools/call", {"name": "sub"}, id=2), refused)),
        codes_of(trace(ask("tools/list"), answer(listed), ask("tools/call", {"name": "add"}, id=2), refused)),
        codes_of(trace(*shake(), old_ask("ping"), old_answer({}), old_ask("tools/list", id=2), refused)),
    ] == [["PARAMS-1"], ["PARAMS-3"], ["PARAMS-4"], ["PARAMS-7"]]


def test_a_start_that_failed_explains_the_closed_connection():
    assert codes_of(
        trace(spawned("npx", "x"), ask("server/discover"), wait(30), eof("c2s"), exited(None, signal=9))
    ) == ["START-2"]


def test_an_answer_on_stderr_explains_the_time_out():
    lines = trace(
        *TOOLS,
        ask("tools/call", {"name": "slow"}, id=3),
        stderr('{"jsonrpc":"2.0","id":3,"result":{}}'),
        wait(60),
        tell("notifications/cancelled", {"requestId": 3}, "c2s"),
    )

    assert codes_of(lines) == ["SILENT-1"]


def test_a_proof_may_name_another_fix_and_another_culprit():
    assert Proof("x", fix="Do.", blame="server").blame == "server"
    (diagnosis,) = diagnose(CAUSES["S401-4"].example)
    assert diagnosis.blame == "client"
