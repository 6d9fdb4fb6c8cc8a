import json

import pytest

from mesero.doctor.checks.issuers import Places, look_at_issuer
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import OpenCheck
from tests.broken.endpoints import JSON, serving

GOOD = {"code_challenge_methods_supported": ["S256"], "client_id_metadata_document_supported": True}


async def looked_at(path="", at="/.well-known/oauth-authorization-server", **document):
    def respond(method, asked, headers, body):
        if asked != at:
            return 404, {}, b""
        issuer = f"http://{headers['Host']}{path}"
        return 200, JSON, json.dumps({"issuer": issuer, **GOOD, **document}).encode()

    check = OpenCheck("authorization")
    with serving(respond) as root:
        async with Fetcher(timeout_s=5, server=f"{root}/mcp") as fetcher:
            issuer = await look_at_issuer(Places(check, fetcher), root + path)
    return issuer, check.evidence


async def test_one_in_order_has_no_problem():
    issuer, evidence = await looked_at(authorization_response_iss_parameter_supported=True)

    assert issuer.problems == ()
    assert issuer.is_usable
    assert "iss in authorization responses: announced" in evidence
    assert any("(CIMD)" in line for line in evidence)


@pytest.mark.parametrize(
    ("document", "code", "said"),
    [
        ({"issuer": "https://other"}, "AUTH-6", "the hosts differ"),
        ({"issuer": None}, "AUTH-6", "it is missing"),
        ({"code_challenge_methods_supported": "S256"}, "AUTH-13", "is not there"),
        ({"authorization_endpoint": "http://a.example/x"}, "AUTH-14", "authorization_endpoint is http"),
        ({"client_id_metadata_document_supported": "yes"}, "AUTH-7", "neither"),
        ({"token_endpoint": "http://["}, None, ""),
    ],
)
async def test_each_problem_is_one(document, code, said):
    issuer, _ = await looked_at(**document)

    assert [each.code for each in issuer.problems] == ([code] if code else [])
    assert not code or said in issuer.problems[0].cause
    assert issuer.is_usable is (code is None)


async def test_a_place_for_newer_clients_alone_is_a_note():
    issuer, _ = await looked_at(at="/.well-known/openid-configuration")

    assert [each.code for each in issuer.problems] == ["AUTH-12"]
    assert issuer.is_usable


async def test_a_page_at_every_path_is_no_metadata():
    check = OpenCheck("authorization")
    with serving(lambda *_: (200, {"Content-Type": "text/html"}, b"<html>")) as root:
        async with Fetcher(timeout_s=5, server=f"{root}/mcp") as fetcher:
            issuer = await look_at_issuer(Places(check, fetcher), root)

    assert [each.code for each in issuer.problems] == ["AUTH-8"]
    assert "is answered with a page, not metadata" in issuer.problems[0].cause


async def test_redirects_of_metadata_end():
    check = OpenCheck("authorization")
    with serving(lambda method, path, *_: (302, {"Location": f"{path}x"}, b"")) as root:
        async with Fetcher(timeout_s=5, server=f"{root}/mcp") as fetcher:
            seen = await Places(check, fetcher).ask(f"{root}/a")

    assert seen.url == f"{root}/axx"
    assert len(check.evidence) == 3


@pytest.mark.parametrize("name", ["ftp://x", "http://[", "", "https://user:pw@a.example"])
async def test_what_is_no_issuer_is_not_asked(name):
    check = OpenCheck("authorization")
    async with Fetcher(timeout_s=5, server="http://127.0.0.1:9/mcp") as fetcher:
        issuer = await look_at_issuer(Places(check, fetcher), name)

    assert [each.code for each in issuer.problems] == ["AUTH-16"]
    assert "not asked" in issuer.problems[0].cause
