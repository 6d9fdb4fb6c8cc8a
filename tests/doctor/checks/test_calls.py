import sys

from mesero.doctor.checks.calls import check_calls
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit
from mesero.types import Tool

DEMO = [sys.executable, "-m", "mesero.demo"]


async def calls_of_demo(limits, calls):
    """The check, and what it came to."""
    recording = Recording()
    visit = Visit(DEMO, recording.link("demo", "stdio", "demo"), limits)
    sheet = Sheet(["calls"])
    try:
        assert await visit.connect()
        tools = await visit.client.list_tools()
        seen = await check_calls(sheet, visit, tools, limits, calls=calls, lines=recording.lines)
    finally:
        await visit.aclose()
        visit.end_kin()
    assert sheet.diagnoses == ()
    return sheet.checks[0], seen


async def test_only_what_says_that_it_changes_nothing_is_called_unasked():
    check, seen = await calls_of_demo(Limits(is_deep=True, may_call=True), {})

    assert all(text.startswith("'notes_search'") for text in check.evidence)
    assert seen.good.name == "notes_search"


async def test_what_is_asked_for_is_called_with_what_was_given():
    arguments = {"title": "tea", "body": "green"}
    check, seen = await calls_of_demo(Limits(may_call=True), {"notes_add": arguments})

    assert len(check.evidence) == 1
    assert seen.good.arguments == arguments
    assert not seen.is_over


async def test_a_tool_that_is_not_there_is_said_to_be_missing():
    check, seen = await calls_of_demo(Limits(may_call=True), {"notes.drop": None})

    assert check.status == "warning"
    assert "notes_add" in check.evidence[0]
    assert seen.good is None


async def test_without_time_nothing_is_called():
    check, seen = await calls_of_demo(Limits(may_call=True), {})
    assert check.status == "skipped"
    assert seen.good is None


async def test_arguments_that_cannot_be_made_up_are_asked_for():
    schema = {"properties": {"a": {"pattern": "^[q-s]{40}x$"}}, "required": ["a"]}
    recording = Recording()
    limits = Limits(may_call=True)
    visit = Visit(DEMO, recording.link("demo", "stdio", "demo"), limits)
    sheet = Sheet(["calls"])

    await check_calls(sheet, visit, [Tool("picky", schema)], limits, calls={"picky": None}, lines=[])
    await visit.aclose()

    assert "--call 'picky {…}'" in sheet.checks[0].evidence[0]
