import pytest

from mesero.doctor.checks.authorization import check_authorization
from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import Sheet


@pytest.mark.parametrize(("status", "said"), [(200, "did not ask"), (403, "without a challenge")])
async def test_a_server_that_asks_for_nothing_is_passed_over(status, said):
    sheet = Sheet(["authorization"])

    async with Fetcher(timeout_s=1) as fetcher:
        seen = Fetched(method="POST", url="http://127.0.0.1:9/", status=status)
        await check_authorization(sheet, fetcher, seen, {})

    assert sheet.checks[0].status == "skipped"
    assert said in sheet.checks[0].evidence[0]


async def test_the_clock_that_is_given_judges_a_token():
    sheet = Sheet(["authorization"])
    token = "e30.eyJleHAiOiAxMDB9.x"
    seen = Fetched(method="POST", url="http://127.0.0.1:9/mcp", status=401)

    async with Fetcher(timeout_s=1, server=seen.url) as fetcher:
        await check_authorization(
            sheet, fetcher, seen, {"Authorization": f"Bearer {token}"}, clock=lambda: 220.0
        )

    assert [each.code for each in sheet.diagnoses] == ["AUTH-17"]
    assert "expired 2 min ago" in sheet.diagnoses[0].cause
