import asyncio
from types import SimpleNamespace

import pytest

from mesero.doctor.checks.protocol import check_errors, check_lists
from mesero.doctor.sheet import Sheet
from mesero.errors import MeseroError, TransportError
from mesero.jsonrpc import ErrorResponse, ResultResponse
from mesero.trace.format import MessageLine
from mesero.types import ListToolsResult, ServerCapabilities, Tool

CHANGE = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'


def tool(name, **members):
    return Tool(name=name, input_schema={"type": "object"}, **members)


class ScriptedVisit:
    """A connection that answers one request after the other with what was given."""

    def __init__(self, *answers, era="legacy", capabilities=None, unannounced=None):
        self.asked = []
        self.facts = SimpleNamespace(era=era, capabilities=capabilities or ServerCapabilities(tools={}))
        self.client = self
        self._answers = list(answers)
        self._unannounced = unannounced or {}

    async def request(self, method, params=None):
        self.asked.append((method, params or {}))
        answer = self._answers.pop(0)
        if isinstance(answer, MeseroError):
            raise answer
        return answer

    async def try_call(self, call):
        try:
            return await call()
        except MeseroError as error:
            return error

    async def ask(self, method):
        self.asked.append((method, None))
        error = ErrorResponse(id=1, code=-32601, message="Method not found")
        return self._unannounced.get(method, error)


def page(*tools, **members):
    return ListToolsResult(
        tools=[each if isinstance(each, Tool) else tool(each) for each in tools], **members
    )


async def look(visit, lines=()):
    sheet = Sheet(["lists"])
    tools, failures = await check_lists(sheet, visit, lines)
    return sheet, [each.name for each in tools], failures


async def test_the_first_page_is_read_once_more_and_no_other():
    visit = ScriptedVisit(page("a", next_cursor="2"), page("b"), page("a", next_cursor="3"))

    sheet, names, failures = await look(visit)

    assert (names, failures) == (["a", "b"], [])
    assert [each.code for each in sheet.diagnoses] == ["LIST-6"]
    assert [params for method, params in visit.asked if params is not None] == [{}, {"cursor": "2"}, {}]


async def test_an_empty_list_is_not_read_again():
    visit = ScriptedVisit(page())

    sheet, _, _ = await look(visit)

    assert sheet.diagnoses == ()


async def test_a_slow_list_is_not_read_again(monkeypatch):
    now = iter([0.0, 3.5])
    monkeypatch.setattr("mesero.doctor.checks.protocol.time", SimpleNamespace(monotonic=lambda: next(now)))

    sheet, names, _ = await look(ScriptedVisit(page("a")))

    assert names == ["a"]
    assert "tools were not read a second time: the first took 3.5 s" in sheet.checks[0].evidence


@pytest.mark.parametrize(
    ("second", "severity", "words"),
    [
        (page("b", "a"), "note", "in another order"),
        (page("a", "b", "c"), "degraded", "1 came: 'c'"),
        (page("a"), "degraded", "1 went: 'b'"),
        (page("a", tool("b", description="12:03")), "note", "differs in: description"),
    ],
)
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_list_that_differs_the_second_time_is_told(second, severity, words, era):
    sheet, _, _ = await look(ScriptedVisit(page("a", "b"), second, era=era))

    assert [(each.code, each.severity) for each in sheet.diagnoses] == [("LIST-3", severity)]
    assert words in sheet.diagnoses[0].cause


async def test_a_change_that_is_announced_is_right():
    lines = []

    class Announcing(ScriptedVisit):
        async def request(self, method, params=None):
            lines.append(MessageLine(seq=1, t=0.0, link="1", dir="s2c", raw=CHANGE))
            return await super().request(method, params)

    sheet, _, _ = await look(Announcing(page("a"), page("a", "b")), lines)

    assert sheet.diagnoses == ()


async def test_a_change_that_was_announced_long_ago_explains_nothing():
    lines = [MessageLine(seq=1, t=0.0, link="1", dir="s2c", raw=CHANGE)]

    sheet, _, _ = await look(ScriptedVisit(page("a"), page("a", "b")), lines)

    assert [each.code for each in sheet.diagnoses] == ["LIST-3"]


async def test_a_list_that_can_be_had_only_once_is_a_failure():
    sheet, names, failures = await look(ScriptedVisit(page("a"), MeseroError("only once")))

    assert names == ["a"]
    assert failures == ["tools, read a second time: only once"]
    assert sheet.checks[0].status == "failed"


async def test_what_is_no_list_is_a_failure():
    _, names, failures = await look(ScriptedVisit(object()))

    assert names == []
    assert "something else than a list" in failures[0]


async def test_an_entry_twice_on_a_page_is_told_with_its_page():
    sheet, _, _ = await look(ScriptedVisit(page("a", "b", "a"), page("a", "b", "a")))

    assert [each.code for each in sheet.diagnoses] == ["LIST-4"]
    assert "'a' is on page 1 2 times" in sheet.diagnoses[0].cause


@pytest.mark.parametrize(
    ("noun", "entries", "codes"),
    [
        ("prompts", b'[{"name": "a"}]', ["CAP-2"]),
        ("resources", b'[{"name": "a", "uri": "a://b"}]', ["CAP-2"]),
        ("prompts", b"[]", []),
        ("prompts", b"3", []),
    ],
)
async def test_what_is_there_and_not_announced_is_told(noun, entries, codes):
    answer = ResultResponse(id=1, result=b'{"%s": %s}' % (noun.encode(), entries))
    visit = ScriptedVisit(page(), unannounced={f"{noun}/list": answer})

    sheet, _, _ = await look(visit)

    assert [each.code for each in sheet.diagnoses] == codes


async def test_a_server_that_is_silent_is_not_asked_for_more_that_it_does_not_announce():
    visit = ScriptedVisit(page(), unannounced={"resources/list": MeseroError("no answer")})

    await look(visit)

    assert ("prompts/list", None) not in visit.asked


async def test_a_list_that_is_not_announced_is_not_waited_for_long(monkeypatch):
    monkeypatch.setattr("mesero.doctor.checks.protocol._PATIENCE_S", 0.01)

    class Deaf(ScriptedVisit):
        async def ask(self, method):
            await super().ask(method)
            await asyncio.Event().wait()

    visit = Deaf(page())
    sheet, _, _ = await look(visit)

    assert [method for method, params in visit.asked if params is None] == ["resources/list"]
    assert "no answer to resources/list within 0.01 s" in sheet.checks[0].evidence[-1]


async def test_nobody_is_asked_for_ping_where_there_is_none():
    sheet = Sheet(["ping"])

    await check_errors(sheet, ScriptedVisit(era="modern"))

    assert sheet.checks[0].status == "skipped"


@pytest.mark.parametrize(
    ("answer", "status", "codes"),
    [
        (ResultResponse(id=1, result=b"{}"), "ok", []),
        (TransportError("gone"), "skipped", []),
        (MeseroError("silence"), "failed", ["PING-1"]),
        (ErrorResponse(id=1, code=-32601, message="Method not found"), "failed", ["PING-1"]),
    ],
)
async def test_the_answer_to_ping_is_judged(answer, status, codes):
    sheet = Sheet(["ping"])

    await check_errors(sheet, ScriptedVisit(unannounced={"ping": answer}))

    assert sheet.checks[0].status == status
    assert [each.code for each in sheet.diagnoses] == codes
