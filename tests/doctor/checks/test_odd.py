import sys

from mesero.doctor.checks.odd import check_oddly
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit


async def test_a_second_connection_that_cannot_be_made_is_no_fault():
    recording, limits = Recording(), Limits()
    sheet = Sheet(["deep"])

    def another():
        trace = recording.link("odd", "stdio", "odd", is_judged=False)
        return Visit([sys.executable, "-c", "raise SystemExit(3)"], trace, limits)

    with sheet.check("deep") as check:
        await check_oddly(sheet, check, another, tool=None, limits=limits, recording=recording)

    assert "could not be made" in sheet.checks[0].evidence[0]
    assert sheet.diagnoses == ()
    assert [line for line in recording.judged if getattr(line, "link", "")] == []
