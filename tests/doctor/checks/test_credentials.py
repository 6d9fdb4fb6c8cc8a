import base64
import json

import pytest

from mesero.doctor.checks.challenges import Challenge
from mesero.doctor.checks.credentials import diagnose_token
from mesero.doctor.fetched import Fetched
from mesero.doctor.sheet import Sheet

URL = "https://h/mcp"


def told(status, claims, *, bearer=None, resource=None):
    coded = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    sheet = Sheet([])
    diagnose_token(
        sheet,
        Fetched(method="POST", url=URL, status=status),
        {"Authorization": f"Bearer e30.{coded}.canary"},
        bearer,
        resource=resource,
        now_s=1_000_000.0,
    )
    return sheet.diagnoses[0]


@pytest.mark.parametrize(
    ("ago_s", "said"),
    [(30, "30 s ago"), (47 * 60, "47 min ago"), (5 * 3600, "5 h ago"), (3 * 86_400, "3 days ago")],
)
def test_how_long_a_token_has_been_over(ago_s, said):
    found = told(401, {"exp": 1_000_000 - ago_s})

    assert found.code == "AUTH-17"
    assert said in found.cause
    assert "canary" not in repr(found)


def test_the_resource_of_the_metadata_is_what_a_token_must_be_for():
    resource = {"resource": "https://h", "authorization_servers": ["https://a"]}

    assert told(401, {"aud": "https://h", "iss": "https://a"}, resource=resource).code == "AUTH-2"
    assert told(401, {"aud": URL}, resource=resource).code == "AUTH-18"
    assert told(401, {"aud": URL}).code == "AUTH-2"
    assert "https://a." in told(401, {"aud": "https://h", "iss": "https://b"}, resource=resource).fix


def test_scopes_are_asked_for_beside_what_the_token_has():
    bearer = Challenge("Bearer", {"error": "insufficient_scope", "scope": "a b"})

    found = told(403, {"scope": "b"}, bearer=bearer)

    assert (found.code, "lacks a (" in found.cause) == ("AUTH-9", True)
    assert "a b" in found.fix
    assert "asks for a b" in told(403, {}, bearer=bearer).cause
    assert told(403, {}, bearer=Challenge("Bearer")).code == "AUTH-9"
