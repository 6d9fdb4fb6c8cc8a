from mesero.doctor.checks.sessions import check_sessions, has_session_in, is_forgotten_in
from mesero.doctor.fetching import Fetcher
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.transports import HttpFacts


def test_a_session_is_seen_in_the_recording():
    recording = Recording()
    link = recording.link("a", "http", "http://h/")
    link("c2s", b"{}", HttpFacts(headers=(("Mcp-Session-Id", "ours"),)))
    assert not has_session_in(recording.lines)

    link("s2c", b"{}", HttpFacts(status=200, headers=(("Mcp-Session-Id", "1"),)))

    assert has_session_in(recording.lines)


async def test_without_a_session_nothing_is_asked():
    sheet = Sheet(["sessions"])

    async with Fetcher(timeout_s=1) as fetcher:
        await check_sessions(sheet, fetcher, "http://h/", {}, revision="2025-06-18", has_session=False)

    assert sheet.checks[0].status == "skipped"


def test_a_session_that_is_lost_at_once_is_seen():
    recording = Recording()
    link = recording.link("a", "http", "http://h/")
    link("c2s", b"{}", HttpFacts(exchange=2, headers=(("mcp-session-id", "1"),)))
    assert not is_forgotten_in(recording.lines)

    link.http("s2c", HttpFacts(exchange=2, status=404))

    assert is_forgotten_in(recording.lines)
