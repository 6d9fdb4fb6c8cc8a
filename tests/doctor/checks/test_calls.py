import sys
from types import SimpleNamespace

import pytest

from mesero.doctor.checks.calls import check_calls
from mesero.doctor.limits import Limits
from mesero.doctor.questions import SamplingRefusedError
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Called, Visit
from mesero.errors import (
    CallTimeoutError,
    DisconnectedError,
    InputNeededError,
    MissingClientCapabilityError,
    ProtocolError,
    RpcError,
)
from mesero.types import CallToolResult, Tool

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


class Answering:
    """A visit whose calls come to what was said before.

    Args:
        called: What each call comes to.
        answer: What anything else is answered with.
        era: Of the server.
        kind: Of its transport.
    """

    pid = None
    left_s = 30.0
    stderr = ("UnicodeDecodeError",)

    def __init__(self, *called, answer=None, era="legacy", kind="stdio"):
        self.facts = SimpleNamespace(era=era)
        self.harmless = "ping"
        self.client = SimpleNamespace(transport=SimpleNamespace(kind=kind))
        self.questions = SimpleNamespace(action="decline")
        self.actions = []
        self._called = list(called)
        self._answer = answer

    def find_kin(self):
        return []

    async def call(self, name, arguments, *, limit_s):
        self.actions.append(self.questions.action)
        given = self._called.pop(0)
        return Called(name=name, arguments=arguments, **given)

    async def ask(self, method, *, limit_s):
        return self._answer


GONE = DisconnectedError("the server exited with code 1")
LATE = CallTimeoutError("tools/call", timeout_s=1)
GOOD = {"result": CallToolResult(content=[])}
TRACEBACK = "Traceback (most recent call last)"
FORM = "elicitation/create 'Which city?': declined"


async def what_comes_of(visit, *, is_deep=False):
    sheet = Sheet(["calls"])
    limits = Limits(is_deep=is_deep, may_call=True)
    tool = Tool("find", {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    seen = await check_calls(sheet, visit, [tool], limits, calls={"find": None}, lines=[])
    return sheet, seen


@pytest.mark.parametrize(
    ("visit", "codes", "is_over"),
    [
        (Answering({"error": GONE}), [], True),
        (Answering({"error": GONE}, kind="http"), ["CALL-7"], True),
        (Answering({"error": GONE, "asked": (FORM,)}), ["CALL-5"], True),
        (Answering({"error": LATE}, answer=object()), ["CALL-3"], False),
        (Answering({"error": LATE, "reports": 3}, answer=object()), ["CALL-3"], False),
        (Answering({"error": LATE}, answer=LATE), ["CALL-4"], True),
        (Answering({"error": LATE}, answer=GONE), [], True),
        (Answering({"error": LATE, "asked": (FORM,)}, answer=object()), ["CALL-5"], False),
        (Answering({"error": InputNeededError("no"), "asked": (FORM,) * 9}), ["CALL-5"], False),
        (Answering({"error": SamplingRefusedError("no")}), [], False),
        (Answering({"error": MissingClientCapabilityError("no", data={})}), [], False),
        (Answering({"error": RpcError("no", code=-32603, data=TRACEBACK)}), ["CALL-6"], False),
        (Answering({"error": RpcError("no", code=-32602, data=TRACEBACK)}), [], False),
        (Answering({"error": ProtocolError("nonsense")}), [], False),
        (Answering(GOOD, GOOD, {"error": GONE}), ["CALL-1"], True),
        (Answering(GOOD, GOOD, {"error": LATE}), ["CALL-1"], True),
        (Answering(GOOD, GOOD, {"error": RpcError("no", code=-32603)}), ["CALL-1"], False),
        (Answering(GOOD, GOOD, {"error": RpcError("no such city", code=-1)}), [], False),
        (Answering(GOOD, {"error": RpcError("no", code=-1)}), [], False),
        (Answering(GOOD, GOOD, GOOD), [], False),
    ],
)
async def test_what_a_call_came_to_is_explained(visit, codes, is_over):
    sheet, seen = await what_comes_of(visit)

    assert [each.code for each in sheet.diagnoses] == codes
    assert seen.is_over == is_over


async def test_a_question_is_turned_down_in_both_ways():
    visit = Answering({**GOOD, "asked": (FORM,)}, GOOD, GOOD, GOOD)

    await what_comes_of(visit, is_deep=True)

    assert visit.actions[:2] == ["decline", "cancel"]
    assert visit.questions.action == "decline"


async def test_of_many_questions_a_few_are_told():
    sheet, _ = await what_comes_of(Answering({**GOOD, "asked": (FORM,) * 5_000}, GOOD, GOOD))

    assert sum("Which city?" in text for text in sheet.checks[0].evidence) == 5
    assert "'find' asked 5000 times in all" in sheet.checks[0].evidence


async def test_a_call_for_which_there_is_no_time_is_said_to_be_left_out():
    visit = Answering()
    visit.left_s = 1.0

    sheet, seen = await what_comes_of(visit)

    assert "no time is left for it" in sheet.checks[0].evidence[0]
    assert seen.good is None
