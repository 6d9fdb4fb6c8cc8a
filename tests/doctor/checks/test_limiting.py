from mesero.doctor.checks.limiting import check_limits
from mesero.doctor.fetched import Fetched
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.transports import HttpFacts


def limited_at(number, **headers):
    recording = Recording()
    link = recording.link("a", "http", "http://h/")
    for each in range(1, number + 1):
        link("c2s", b"{}", HttpFacts(method="POST", exchange=each))
        status = 429 if each == number else 202
        link.http("s2c", HttpFacts(exchange=each, status=status, headers=tuple(headers.items())))
    return recording.lines


def test_the_request_that_was_too_many_is_named():
    sheet = Sheet(["limits"])

    check_limits(sheet, limited_at(3, **{"retry-after": "7"}), None)

    assert [(each.code, each.severity) for each in sheet.diagnoses] == [("HTTP-8", "degraded")]
    assert "request 3" in sheet.diagnoses[0].cause
    assert "Retry-After: 7" in sheet.diagnoses[0].cause


def test_without_a_connection_it_is_the_reason():
    sheet = Sheet(["limits"])

    check_limits(sheet, limited_at(1), None, is_connected=False)

    assert sheet.is_broken
    assert "no Retry-After" in sheet.diagnoses[0].cause


def test_single_requests_that_were_too_many_are_a_note():
    sheet = Sheet(["limits"])

    check_limits(sheet, [], Fetched(method="GET", url="http://h/", status=429))

    assert [each.severity for each in sheet.diagnoses] == ["note"]


def test_a_patient_server_has_no_limit():
    sheet = Sheet(["limits"])

    check_limits(sheet, [], None)

    assert (sheet.checks[0].status, sheet.diagnoses) == ("ok", ())
