import pytest

from mesero.doctor.checks.redirects import diagnose_redirect, follow
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import Sheet
from tests.broken.endpoints import honest, serving


def turning(places):
    """A server that redirects by a table from path to status and place."""
    seen = []

    def respond(method, path, headers, body):
        seen.append((method, path))
        if path in places:
            status, to = places[path]
            return status, {"Location": to}, b""
        return honest(method, path, headers, body, at="/end")

    respond.seen = seen
    return respond


@pytest.mark.parametrize(
    ("places", "way", "is_circle"),
    [
        ({"/a": (307, "/end")}, [("POST", "/end")], False),
        ({"/a": (302, "/end")}, [("GET", "/end")], False),
        ({"/a": (308, "/b"), "/b": (303, "/end")}, [("POST", "/b"), ("GET", "/end")], False),
        ({"/a": (307, "/b"), "/b": (307, "/a")}, [("POST", "/b")], True),
        ({"/a": (302, "/b"), "/b": (307, "/a")}, [("GET", "/b"), ("GET", "/a")], True),
        ({"/a": (307, "https://other.example/")}, [], False),
        ({"/a": (307, "http://[")}, [], False),
    ],
)
async def test_a_redirect_is_followed_as_clients_do(places, way, is_circle):
    respond = turning(places)
    with serving(respond) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            first = await fetcher.fetch("POST", f"{root}/a")
            hops, circles = await follow(fetcher, first)

    assert respond.seen[1:] == way
    assert len(hops) == len(way)
    assert circles is is_circle


async def test_the_end_of_the_way_is_what_is_offered():
    with serving(turning({"/a": (307, "/b"), "/b": (308, "/end")})) as root:
        sheet = Sheet([])
        async with Fetcher(timeout_s=5) as fetcher:
            first = await fetcher.fetch("POST", f"{root}/a")
            await diagnose_redirect(sheet, fetcher, first, is_connected=False)

    assert [each.code for each in sheet.diagnoses] == ["HTTP-1"]
    assert sheet.diagnoses[0].fix == f'"url": "{root}/end"'


async def test_another_port_is_another_server():
    with serving(honest) as other, serving(turning({"/a": (307, f"{other}/end")})) as root:
        async with Fetcher(timeout_s=5) as fetcher:
            first = await fetcher.fetch("POST", f"{root}/a")
            hops, circles = await follow(fetcher, first)

    assert (hops, circles) == ([], False)
