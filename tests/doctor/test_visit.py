import sys

from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.visit import Visit
from mesero.jsonrpc import ErrorResponse, ResultResponse

DEMO = [sys.executable, "-m", "mesero.demo"]


async def test_a_request_is_sent_whatever_is_announced():
    visit = Visit(DEMO, Recording().link("demo", "stdio", "demo"), Limits())
    try:
        assert await visit.connect()
        answers = [await visit.ask("tools/list"), await visit.ask("no/such/method")]
    finally:
        await visit.aclose()

    assert isinstance(answers[0], ResultResponse)
    assert isinstance(answers[1], ErrorResponse)
    assert answers[1].code == -32601


async def test_a_failure_is_kept():
    visit = Visit(
        [sys.executable, "-c", "raise SystemExit(3)"], Recording().link("x", "stdio", "x"), Limits()
    )

    assert not await visit.connect()
    await visit.aclose()

    assert "code 3" in str(visit.error)
