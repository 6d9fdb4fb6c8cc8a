import pytest

from mesero.doctor.report import Diagnosis, verdict_for


def diagnosis(severity, code="X-1"):
    return Diagnosis(
        code=code, severity=severity, phase="launch", title="t", cause="c", blame="server", fix="f"
    )


@pytest.mark.parametrize(
    ("severities", "is_connected", "verdict"),
    [
        ([], True, "ok"),
        (["note"], True, "ok"),
        (["note", "degraded"], True, "degraded"),
        (["degraded", "broken"], True, "broken"),
        ([], False, "broken"),
    ],
)
def test_the_weightiest_diagnosis_makes_the_verdict(severities, is_connected, verdict):
    found = tuple(diagnosis(each) for each in severities)

    assert verdict_for(found, is_connected=is_connected) == verdict


def test_our_own_limit_says_nothing_about_a_server_that_was_not_reached():
    late = diagnosis("degraded", "TIME-1")

    assert verdict_for((late, diagnosis("note")), is_connected=False) == "unknown"
    assert verdict_for((late, diagnosis("degraded")), is_connected=False) == "broken"
    assert verdict_for((late,), is_connected=True) == "degraded"
