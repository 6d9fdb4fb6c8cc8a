import sys

import pytest

from mesero.doctor.checks.calls import CallableTool
from mesero.doctor.checks.midcall import check_midcall, check_overlap
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Called, Visit
from mesero.errors import CallTimeoutError

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


class Losing:
    """A visit of which some of two calls are not answered."""

    left_s = 30.0

    def __init__(self, *errors):
        self._errors = list(errors)

    async def call(self, name, arguments, *, limit_s):
        return Called(name=name, arguments=arguments, error=self._errors.pop(0))


LATE = CallTimeoutError("tools/call", timeout_s=1)


@pytest.mark.parametrize(
    ("errors", "said"),
    [((LATE, LATE), "neither call was answered"), ((None, LATE), "one of them was not answered")],
)
async def test_calls_that_get_in_each_others_way_are_counted(errors, said):
    sheet = Sheet(["deep"])
    with sheet.check("deep") as check:
        await check_overlap(sheet, check, Losing(*errors), SEARCH, Limits())

    assert [each.code for each in sheet.diagnoses] == ["DEEP-4"]
    assert said in sheet.diagnoses[0].cause


def nowhere(recording):
    return lambda: Visit(["/no/such/program"], recording.link("n", "stdio", "n"), Limits())


async def test_where_no_other_connection_can_be_made_nobody_is_blamed():
    recording = Recording()
    sheet = Sheet(["deep"])
    with sheet.check("deep") as check:
        await check_midcall(sheet, check, nowhere(recording), SEARCH, recording)

    assert sheet.diagnoses == ()
    assert sheet.checks[0].evidence[0].startswith("no call was cancelled: ")
