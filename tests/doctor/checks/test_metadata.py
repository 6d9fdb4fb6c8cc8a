import pytest

from mesero.doctor.checks.metadata import (
    difference,
    first_issuer_place_of,
    is_parent,
    issuer_places_of,
    odd_issuer_places_of,
    odd_resource_places_of,
    reading_of,
    resource_places_of,
    strings_in,
)
from mesero.doctor.fetched import Fetched


def test_the_metadata_of_a_resource_is_looked_for_with_its_path_first():
    assert resource_places_of("https://h/mcp") == [
        "https://h/.well-known/oauth-protected-resource/mcp",
        "https://h/.well-known/oauth-protected-resource",
    ]
    assert len(resource_places_of("https://h/")) == 1
    assert odd_resource_places_of("https://h/mcp") == ["https://h/mcp/.well-known/oauth-protected-resource"]
    assert odd_resource_places_of("https://h") == []


def test_an_issuer_with_a_path_has_three_places():
    assert issuer_places_of("https://a/t") == [
        "https://a/.well-known/oauth-authorization-server/t",
        "https://a/.well-known/openid-configuration/t",
        "https://a/t/.well-known/openid-configuration",
    ]
    assert len(issuer_places_of("https://a")) == 2
    assert first_issuer_place_of("https://a/t") == issuer_places_of("https://a/t")[0]
    assert odd_issuer_places_of("https://a/t") == [
        "https://a/t/.well-known/oauth-authorization-server",
        "https://a/.well-known/oauth-authorization-server",
    ]
    assert odd_issuer_places_of("https://a") == []


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("https://h/mcp", "https://h/mcp", ""),
        ("https://h/", "https://h", "only a slash at the end differs"),
        ("https://H/mcp", "https://h/mcp", "only upper and lower case differ: they part at character 9"),
        ("https://a/mcp", "https://b/mcp", "the hosts differ: they part at character 9, 'a/mcp' and 'b/mcp'"),
        ("http://h/mcp", "https://h/mcp", "scheme or port differ: they part at character 5"),
        ("https://h:1/mcp", "https://h/mcp", "scheme or port differ"),
        ("https://h", "https://h/mcp", "one has a path, the other has none: they part at character 10"),
        ("https://h/a", "https://h/ab", "the paths differ: they part at character 12, '' and 'b'"),
        (None, "https://h", "it is missing"),
        (3, "https://h", "it is no string"),
    ],
)
def test_where_two_strings_part(one, other, said):
    found = difference(one, other)

    assert found.startswith(said)
    assert bool(found) == bool(said)


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("https://h/a/b", True),
        ("https://h/a/", True),
        ("https://H", True),
        ("https://h/a/b/c", False),
        ("https://h/a/bc", False),
        ("https://h/x", False),
        ("https://other/a", False),
        (None, False),
    ],
)
def test_what_stands_above_a_url(resource, expected):
    assert is_parent(resource, "https://h/a/b") is expected


@pytest.mark.parametrize(
    ("status", "kind", "body", "said"),
    [
        (200, "application/json", b"{}", ""),
        (404, "text/html", b"<html>", ""),
        (200, "text/html", b"<html>", "a page, not metadata"),
        (200, "application/json", b" <!doctype", "a page, not metadata"),
        (200, "application/json", b"[]", "not a JSON object"),
        (200, "", b"", "nothing"),
    ],
)
def test_what_stands_in_place_of_a_document(status, kind, body, said):
    seen = Fetched(method="GET", url="u", status=status, headers={"content-type": kind}, body=body)

    assert reading_of(seen) == said


def test_only_strings_of_a_list_count():
    assert strings_in({"a": ["x", 1]}, "a") == ["x"]
    assert strings_in({"a": "x"}, "a") == []
