import sys

from mesero.doctor.checks.shutdown import check_shutdown
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit


async def test_an_orderly_end_is_timed():
    recording = Recording()
    command = [sys.executable, "-m", "mesero.demo"]
    visit = Visit(command, recording.link("demo", "stdio", "demo"), Limits())
    sheet = Sheet(["shutdown", "survivors"])
    assert await visit.connect()

    await check_shutdown(sheet, visit, recording.lines)

    assert [each.status for each in sheet.checks] == ["ok", "ok"]
    assert "exited" in sheet.checks[0].evidence[0]
