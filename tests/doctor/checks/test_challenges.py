import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.checks.challenges import Challenge, find_bearer, parse_challenges


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        ("Bearer", [("Bearer", {})]),
        ('Bearer realm="a, b", scope="x y"', [("Bearer", {"realm": "a, b", "scope": "x y"})]),
        ("bearer error=invalid_token", [("bearer", {"error": "invalid_token"})]),
        ('Bearer Error="a \\"b\\" \\\\"', [("Bearer", {"error": 'a "b" \\'})]),
        ("Bearer a=1,b = 2 , c=3", [("Bearer", {"a": "1", "b": "2", "c": "3"})]),
        ('Basic realm="x", Bearer scope="y"', [("Basic", {"realm": "x"}), ("Bearer", {"scope": "y"})]),
        ("Negotiate, Bearer a=1", [("Negotiate", {}), ("Bearer", {"a": "1"})]),
        ("Negotiate YWJj==, Bearer a=1", [("Negotiate", {}), ("Bearer", {"a": "1"})]),
        ("Bearer a=1, a=2", [("Bearer", {"a": "1"})]),
        ('"', []),
    ],
)
def test_a_header_is_taken_apart(value, expected):
    found = [(each.scheme, each.parameters) for each in parse_challenges(value)]

    assert found == expected


def test_of_several_the_one_that_says_the_most_counts():
    plain, rich = Challenge("Bearer"), Challenge("DPoP", {"scope": "a b"})

    assert find_bearer([Challenge("Basic", {"realm": "x", "y": "z"}), plain, rich]) is rich
    assert find_bearer([Challenge("Basic")]) is None
    assert rich.scopes == ("a", "b")
    assert plain.scopes == ()


@given(st.text() | st.text(alphabet='aB=", \\\t/'))
def test_no_header_is_too_odd(value):
    for each in parse_challenges(value):
        assert each.scheme
        assert all(name == name.lower() for name in each.parameters)


def test_a_header_of_spaces_keeps_nobody_busy():
    start = time.monotonic()

    assert parse_challenges(f"{' ' * 20_000},{' ' * 20_000}(") == []

    assert time.monotonic() - start < 5
