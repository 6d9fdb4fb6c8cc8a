import sys

from mesero.doctor.checks.calls import CallableTool
from mesero.doctor.checks.midcall import check_midcall, check_overlap
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit

DEMO = [sys.executable, "-m", "mesero.demo"]
SEARCH = CallableTool(name="notes_search", arguments={}, schema={}, is_made_up=True)


async def test_a_sound_server_stands_calls_that_overlap_and_calls_that_are_given_up():
    recording, limits = Recording(), Limits()
    sheet = Sheet(["deep"])

    def another():
        return Visit(DEMO, recording.link("demo", "stdio", "demo"), limits)

    visit = another()
    try:
        assert await visit.connect()
        with sheet.check("deep") as check:
            await check_overlap(sheet, check, visit, SEARCH, limits)
            await check_midcall(sheet, check, another, SEARCH, recording)
    finally:
        await visit.aclose()
        visit.end_kin()

    assert sheet.diagnoses == ()
    assert len(sheet.checks[0].evidence) == 3
    assert "the server ended" in sheet.checks[0].evidence[2]
