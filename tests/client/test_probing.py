"""What each outcome of the two messages is evidence of."""

import asyncio

import pytest

from mesero.client.asking import Asked
from mesero.client.calling import Caller
from mesero.client.probing import begin, probe
from mesero.eras import Discovered, Initialized, OtherResult, Refused
from mesero.errors import (
    CallTimeoutError,
    ClosedError,
    ConnectError,
    DisconnectedError,
    InternalError,
    NoCommonRevisionError,
    ProtocolError,
    UnsupportedRevisionError,
)
from mesero.modern import methods
from mesero.modern.client import Stamp
from mesero.testing import Wire, scripted_server
from mesero.types import Implementation, ServerCapabilities

SPEC = methods.METHODS[methods.DISCOVER]


async def probed(server, *, timeout_s=5.0):
    await server.open()
    caller = Caller(
        server,
        Asked(),
        stamp=Stamp("2026-07-28", {}, None),
        result_types={},
        timeout_s=1.0,
        total_timeout_s=1.0,
        on_log=None,
    )
    try:
        return await probe(caller, SPEC, timeout_s=timeout_s)
    finally:
        await server.aclose()


def answering(say):
    server = scripted_server(answers_discover=False)
    say(server.expect("server/discover"))
    return server


async def test_a_discovery_is_told_with_its_revisions_and_how_long_it_took():
    outcome = await probed(scripted_server())
    assert outcome.answer == Discovered(("2026-07-28",))
    assert outcome.result.supported_versions == ["2026-07-28"]
    assert outcome.took.endswith(" ms")
    assert outcome.error is None


REFUSALS = [
    ((-32601, "no"), Refused(-32601)),
    ((-32022, "no", {"supported": ["a", 7, "b"]}), Refused(-32022, ("a", "b"))),
    ((-32022, "no", {"supported": "a"}), Refused(-32022)),
    ((-32022, "no", ["a"]), Refused(-32022)),
]


@pytest.mark.parametrize(("error", "answer"), REFUSALS)
async def test_an_error_is_told_with_what_it_lists(error, answer):
    outcome = await probed(answering(lambda line: line.error(*error)))
    assert (outcome.happening, outcome.answer) == ("answered", answer)
    assert outcome.error.code == error[0]


async def test_another_result_is_no_discovery():
    outcome = await probed(answering(lambda line: line.answer(tools=[])))
    assert outcome.answer == OtherResult()


async def test_an_answer_in_no_valid_form_is_an_answer():
    outcome = await probed(answering(lambda line: line.raw(b'{"jsonrpc":"1.0","id":1,"result":{}}\n')))
    assert outcome.answer == OtherResult()
    assert isinstance(outcome.error, ProtocolError)


async def test_the_end_of_the_pipe_is_told_as_one():
    outcome = await probed(answering(lambda line: line.hang_up()))
    assert (outcome.happening, outcome.answer) == ("ended", None)


async def test_what_comes_before_the_answer_is_no_answer():
    def say(line):
        line.report_progress(1).notify("notifications/message", level="info", data="x").error(-32601, "no")

    assert (await probed(answering(say))).answer == Refused(-32601)


async def test_no_answer_within_the_limit_is_told_and_the_probe_is_given_up():
    server, wire = answering(lambda line: line), Wire()
    server._observer = wire.see
    outcome = await probed(server, timeout_s=0.05)
    assert outcome.happening == "unreachable"
    assert isinstance(outcome.error, CallTimeoutError)
    assert "server/discover within 0.05 s" in str(outcome.error)
    assert [message["method"] for message in wire.sent] == ["server/discover", "notifications/cancelled"]


class Session:
    """A session that comes to what a test wants."""

    def __init__(self, outcome, *, mirrors_headers=False):
        self.transport = scripted_server()
        self.transport.mirrors_headers = mirrors_headers
        self.outcome = outcome
        self.was_closed = False

    async def begin(self, *, offer, timeout_s):
        assert (offer, timeout_s) == ("2025-11-25", 1.0)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    async def aclose(self):
        self.was_closed = True


class Introduced:
    protocol_version = "2025-06-18"
    capabilities = ServerCapabilities()
    server_info = Implementation("old", "1")
    instructions = None


async def begun(session):
    return await begin(session, offer="2025-11-25", timeout_s=1.0)


async def test_a_session_that_began_is_told_and_left_open():
    session = Session(Introduced())
    outcome = await begun(session)
    assert outcome.answer == Initialized("2025-06-18")
    assert outcome.result is session.outcome
    assert not session.was_closed


FAILURES = [
    (InternalError("no"), False, "answered", Refused(-32603)),
    (UnsupportedRevisionError("no", data={"supported": ["a"]}), True, "answered", Refused(-32022, ("a",))),
    (NoCommonRevisionError(("a",), ("b",)), False, "answered", Initialized("b")),
    (DisconnectedError("gone"), False, "ended", None),
    (DisconnectedError("gone"), True, "unreachable", None),
    (ConnectError("nobody"), True, "unreachable", None),
    (CallTimeoutError("initialize", timeout_s=1.0), False, "silent", None),
    (CallTimeoutError("initialize", timeout_s=1.0), True, "unreachable", None),
    (ProtocolError("garbage"), False, "answered", OtherResult()),
    (ProtocolError("garbage"), True, "answered", None),
]


@pytest.mark.parametrize(("error", "over_http", "happening", "answer"), FAILURES)
async def test_a_session_that_did_not_begin_is_told_and_closed(error, over_http, happening, answer):
    session = Session(error, mirrors_headers=over_http)
    outcome = await begun(session)
    assert (outcome.happening, outcome.answer, outcome.error) == (happening, answer, error)
    assert session.was_closed


@pytest.mark.parametrize("error", [ClosedError("closed"), asyncio.CancelledError(), ZeroDivisionError()])
async def test_what_is_no_evidence_is_raised_and_the_session_closed(error):
    session = Session(error)
    with pytest.raises(type(error)):
        await begun(session)
    assert session.was_closed
