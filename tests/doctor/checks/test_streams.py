import threading
import types

import pytest

from mesero.doctor.checks.streams import Listening, between, check_streams, diagnose_silence
from mesero.doctor.fetched import Fetched, Streamed
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import OpenCheck, Sheet
from tests.broken.endpoints import begin_stream, say_event, serving

ACKNOWLEDGED = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}


def test_what_stands_in_between_is_named_by_its_headers():
    assert between({"server": "nginx", "cf-ray": "1"}) == "server: nginx; cf-ray: 1; no X-Accel-Buffering"
    assert between({"x-accel-buffering": "no"}) == "X-Accel-Buffering: no"


def test_silence_is_told_with_its_time():
    sheet, check = Sheet([]), OpenCheck("streams")
    head = Fetched(method="GET", url="u", status=200, headers={"via": "1.1 x"}, head_s=0.2)

    diagnose_silence(sheet, check, Streamed(head=head, end_s=3.04), "GET")

    assert sheet.diagnoses[0].cause == (
        "after GET its head came after 0.2 s, and no event within 3.0 s; in between: via: 1.1 x; "
        "no X-Accel-Buffering"
    )


@pytest.mark.parametrize(("late_s", "codes"), [(0.0, []), (1.3, ["SSE-1"])])
async def test_a_first_event_that_is_late_is_told(late_s, codes):
    def respond(method, path, headers, body):
        begin_stream(headers.raw)
        # A proxy that empties its buffer now and then is meant.
        pause.wait(late_s)
        say_event(headers.raw, ACKNOWLEDGED)

    pause = threading.Event()
    sheet = Sheet(["streams"])
    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            way = Listening("POST", {}, b"{}")
            await check_streams(sheet, fetcher, root, way, usual_s=0.01, limit_s=3.0)

    assert [each.code for each in sheet.diagnoses] == codes
    assert not codes or "came after 1." in sheet.diagnoses[0].cause


async def test_without_a_way_nothing_is_asked():
    sheet = Sheet(["streams"])

    await check_streams(sheet, types.SimpleNamespace(), "", "no stream there", usual_s=0, limit_s=1)

    assert (sheet.checks[0].status, sheet.checks[0].evidence) == ("skipped", ("no stream there",))
