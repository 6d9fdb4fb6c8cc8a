import sys

from mesero.doctor.limits import Limits
from mesero.doctor.processes import alive_of
from mesero.doctor.recording import Recording
from mesero.doctor.visit import Visit
from mesero.jsonrpc import ErrorResponse, ResultResponse

DEMO = [sys.executable, "-m", "mesero.demo"]


async def test_a_request_is_sent_whatever_is_announced():
    visit = Visit(DEMO, Recording().link("demo", "stdio", "demo"), Limits())
    try:
        assert await visit.connect()
        assert isinstance(await visit.ask(visit.harmless), ResultResponse)
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


AWAY = """
import os, sys
sys.path.insert(0, {folder!r})
from lines import serve
if os.fork() == 0:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.execlp("sleep", "sleep", "60")
serve()
"""


async def test_what_left_the_server_does_not_outlive_the_visit(request):
    script = AWAY.format(folder=str(request.config.rootpath / "tests/broken"))
    visit = Visit([sys.executable, "-c", script], Recording().link("x", "stdio", "x"), Limits())
    async with visit.ending():
        assert await visit.connect()
        kin = visit.find_kin()

    assert len(kin) == 1
    assert alive_of(kin) == []
