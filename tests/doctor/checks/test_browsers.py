from mesero.doctor.checks.browsers import check_browsers
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import JSON, serving


async def test_a_session_id_that_pages_cannot_read_is_named():
    def respond(method, path, headers, body):
        allow = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
        return (204, allow, b"") if method == "OPTIONS" else (403, {**JSON, **allow}, b"{}")

    sheet = Sheet(["origin", "cors"])
    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            await check_browsers(sheet, fetcher, root, has_session=True)

    assert [each.code for each in sheet.diagnoses] == ["CORS-2"]


async def test_a_star_does_not_stand_for_authorization():
    def respond(method, path, headers, body):
        allow = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
        return (204, allow, b"") if method == "OPTIONS" else (401, {**JSON, **allow}, b"{}")

    sheet = Sheet(["origin", "cors"])
    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            await check_browsers(sheet, fetcher, root, has_session=False, is_protected=True)

    assert [each.code for each in sheet.diagnoses] == ["CORS-1"]
    assert sheet.diagnoses[0].cause.endswith("does not allow authorization")
