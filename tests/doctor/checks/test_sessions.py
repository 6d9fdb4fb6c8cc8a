import itertools

import pytest

from mesero.doctor.checks.sessions import Loss, RawSession, check_sessions, find_loss, has_session_in
from mesero.doctor.fetching import Fetcher
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.transports import HttpFacts
from tests.broken.endpoints import SESSION, honest, serving

OURS = (("mcp-session-id", "ours-and-nobody-elses"),)


def recorded(*statuses, method="POST", body=b""):
    recording = Recording()
    link = recording.link("a", "http", "http://h/")
    for number, status in enumerate(statuses, 1):
        link("c2s", b"{}", HttpFacts(method=method, exchange=number, headers=OURS))
        if body:
            link("s2c", body, HttpFacts(exchange=number, status=status))
        else:
            link.http("s2c", HttpFacts(exchange=number, status=status))
    return recording.lines


def test_a_session_is_seen_in_the_recording():
    recording = Recording()
    link = recording.link("a", "http", "http://h/")
    link("c2s", b"{}", HttpFacts(headers=OURS))
    assert not has_session_in(recording.lines)

    link("s2c", b"{}", HttpFacts(status=200, headers=OURS))

    assert has_session_in(recording.lines)


@pytest.mark.parametrize(
    ("statuses", "loss"),
    [
        ((), None),
        ((202, 200), None),
        ((404,), Loss(OURS[0][1], 404, 0)),
        ((202, 200, 503, 200), Loss(OURS[0][1], 503, 2)),
        ((202, 405), None),
        ((202, 429), None),
    ],
)
def test_the_first_loss_is_found(statuses, loss):
    assert find_loss(recorded(*statuses)) == loss


def test_other_refusals_are_no_loss():
    unknown = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "x"}}'
    gone = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Session not found"}}'

    assert find_loss(recorded(404, body=unknown)) is None
    assert find_loss(recorded(404, method="DELETE")) is None
    assert find_loss(recorded(404, body=gone)) == Loss(OURS[0][1], 404, 0)


async def looked_at(respond):
    sheet = Sheet(["sessions"])
    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            await check_sessions(sheet, fetcher, f"{root}/mcp", {})
    return sheet


async def test_without_a_session_nothing_more_is_asked():
    assert (await looked_at(honest)).checks[0].status == "skipped"
    assert (await looked_at(lambda *_: (500, {}, b""))).checks[0].status == "skipped"


async def test_a_session_that_lasts_is_fine():
    sheet = await looked_at(lambda *asked: honest(*asked, session=SESSION))

    assert sheet.diagnoses == ()
    assert "answered 7 of 7" in sheet.checks[0].evidence[0]


@pytest.mark.parametrize(
    ("lost", "status", "codes"),
    [
        ({3, 4, 5, 6, 7, 8}, 404, ["SESSION-4"]),
        ({3, 4, 5, 6, 7, 8}, 503, ["SESSION-1"]),
        ({3, 6}, 404, ["SESSION-2"]),
        ({1, 2, 3, 4, 5, 6}, 400, ["SESSION-2"]),
        ({5}, 429, []),
    ],
)
async def test_a_loss_for_good_is_no_matter_of_replicas(lost, status, codes):
    pings = itertools.count(1)

    def respond(method, path, headers, body):
        is_ping = b'"ping"' in body and headers["Mcp-Session-Id"] == SESSION
        if is_ping and next(pings) in lost:
            return status, {}, b""
        return honest(method, path, headers, body, session=SESSION)

    sheet = await looked_at(respond)

    assert [each.code for each in sheet.diagnoses] == codes


async def test_a_session_of_our_own_carries_what_its_server_chose():
    with serving(lambda *asked: honest(*asked, session=SESSION)) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            session = RawSession(fetcher, f"{root}/mcp", {"X-Own": "1"})
            await session.open()
            answer = await session.ping()

    assert session.headers == {
        "X-Own": "1",
        "MCP-Protocol-Version": "2025-06-18",
        "Mcp-Session-Id": SESSION,
    }
    assert answer.status == 200


def test_a_session_that_the_client_ended_is_not_lost():
    recording = Recording()
    link = recording.link("a", "http", "http://h/")
    for number, (method, status) in enumerate((("POST", 200), ("DELETE", 204), ("POST", 404)), 1):
        link("c2s", b"{}", HttpFacts(method=method, exchange=number, headers=OURS))
        link.http("s2c", HttpFacts(exchange=number, status=status))

    assert find_loss(recording.lines) is None
