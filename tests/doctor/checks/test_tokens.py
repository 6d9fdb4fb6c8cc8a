import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.checks.tokens import Token, find_misshape, has_credentials, read_token


def sent(claims):
    coded = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return {"authorization": f"Bearer e30.{coded}.sig"}


def test_the_claims_of_a_token_are_read():
    claims = {"exp": 10, "nbf": 5.5, "iss": "https://a", "aud": ["x", 1], "scope": "a b"}

    assert read_token(sent(claims)) == Token(10.0, 5.5, "https://a", ("x",), ("a", "b"))
    assert read_token(sent({"aud": "x", "scp": ["a"], "exp": True})) == Token(audiences=("x",), scopes=("a",))


@pytest.mark.parametrize(
    "value",
    ["", "Bearer opaque", "Bearer a.b.c", "Bearer e30.WzFd.x", "Bearer e30." + "A" * 70_000 + ".x"],
)
def test_what_cannot_be_read_is_none(value):
    assert read_token({"Authorization": value}) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Bearer abc", ""),
        ("Basic abc", ""),
        ("", ""),
        ("abc", "scheme"),
        ("Bearer", "missing"),
        ("Bearer bearer abc", "twice"),
        ("Bearer <abc>", "brackets"),
        ("Bearer a b", "space"),
    ],
)
def test_a_header_of_the_wrong_form_is_told(value, said):
    found = find_misshape({"Authorization": value})

    assert (said in found) if said else (found == "")


def test_headers_that_look_like_credentials_are_named():
    assert has_credentials({"X-API-Key": "1", "Cookie": "2", "Accept": "3", "Authorization": "4"}) == [
        "X-API-Key",
        "Cookie",
        "Authorization",
    ]


CLAIMS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["exp", "nbf", "iss", "aud", "scope", "scp"])


@given(st.dictionaries(NAMES, CLAIMS, max_size=4))
def test_no_claims_are_too_odd(claims):
    token = read_token(sent(claims))

    assert all(limit is None or abs(limit) < 1e15 for limit in (token.expires_s, token.begins_s))


@given(st.text() | st.text(alphabet="Bearer .'eyJ=\n"))
def test_no_header_is_too_odd(value):
    headers = {"Authorization": value}
    read_token(headers)
    find_misshape(headers)
