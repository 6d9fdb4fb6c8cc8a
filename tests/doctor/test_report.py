import pytest

from mesero.doctor.report import Diagnosis, verdict_for


def diagnosis(severity):
    return Diagnosis(
        code="X-1", severity=severity, phase="launch", title="t", cause="c", blame="server", fix="f"
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
