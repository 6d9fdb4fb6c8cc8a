import pytest

from mesero.doctor.checks.endpoint import check_endpoint, diagnose_refusal, find_neighbour
from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import honest, serving

URL = "https://h.example/mcp"


@pytest.mark.parametrize(
    ("status", "headers", "body", "code"),
    [
        (307, {"location": "http://h.example/mcp/"}, b"", "HTTP-2"),
        (308, {"location": "/mcp/"}, b"", "HTTP-1"),
        (400, {}, b"The plain HTTP request was sent to HTTPS port", "TLS-5"),
        (504, {"server": "cloudflare"}, b"", "HTTP-6"),
        (500, {"content-type": "text/plain"}, b"boom", "HTTP-7"),
        (429, {"retry-after": "3"}, b"", "HTTP-8"),
    ],
)
async def test_an_answer_alone_says_why(status, headers, body, code):
    sheet = Sheet(["neighbours"])
    seen = Fetched(method="POST", url=URL, status=status, headers=headers, body=body)

    async with Fetcher(timeout_s=1) as fetcher:
        await diagnose_refusal(sheet, fetcher, seen, is_connected=False)

    assert [each.code for each in sheet.diagnoses] == [code]


async def test_a_redirect_to_plain_http_offers_the_https_address():
    sheet = Sheet([])
    seen = Fetched(method="POST", url=URL, status=307, headers={"location": "http://h.example/mcp/"})

    async with Fetcher(timeout_s=1) as fetcher:
        await diagnose_refusal(sheet, fetcher, seen, is_connected=False)

    assert "https://h.example/mcp/" in sheet.diagnoses[0].fix


async def test_credentials_do_not_go_to_neighbours():
    seen = []

    def respond(method, path, headers, body):
        seen.append(headers.get("Authorization"))
        return honest(method, path, headers, body, at="/api/mcp")

    sheet = Sheet(["http"])
    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            await check_endpoint(sheet, fetcher, f"{root}/x", {"Authorization": "Bearer t"})
            found = await find_neighbour(fetcher, f"{root}/x")

    assert found is not None
    assert seen[0] == "Bearer t"
    assert not any(seen[1:])
