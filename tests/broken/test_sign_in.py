"""Each way of asking for credentials wrongly, and of sending wrong ones: the right diagnosis comes first."""

import base64
import json
import time

import pytest

from mesero.doctor import examine
from tests.broken.endpoints import JSON, SESSION, honest, serving
from tests.broken.examining import QUICK_S, check, codes_of

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
HTML = {"Content-Type": "text/html"}


def protected(
    *,
    places=(f"{RESOURCE}/mcp",),
    named=f"{RESOURCE}/mcp",
    resource="/mcp",
    issuer="",
    issuers=None,
    called=None,
    issuer_places=(SERVER,),
    more=None,
    challenge="",
    kind=None,
    **document,
):
    """A server that wants a token, and the metadata that it publishes.

    Args:
        places: Where the metadata of the resource is.
        named: What the 401 names of it, None for nothing.
        resource: What the metadata says; a path is completed.
        issuer: The path of the authorization server.
        issuers: All of them, in place of that one.
        called: What its document calls it, in place of the truth.
        issuer_places: Where that document is.
        more: More for the document of the resource.
        challenge: More for WWW-Authenticate.
        kind: The content type of all documents, to spoil them.
        document: More for the document of the authorization server; None takes a member away.
    """

    def respond(method, path, headers, body):
        root = f"http://{headers['Host']}"
        if path in places:
            own = root + resource if resource.startswith("/") or not resource else resource
            about = {"resource": own, "authorization_servers": issuers or [root + issuer], **(more or {})}
        elif path in issuer_places:
            about = {
                "issuer": root + issuer if called is None else called.replace("ROOT", root),
                "registration_endpoint": f"{root}/register",
                "code_challenge_methods_supported": ["S256"],
                **document,
            }
            about = {name: value for name, value in about.items() if value is not None}
        elif path == "/mcp":
            where = f'resource_metadata="{named if "://" in named else root + named}"' if named else ""
            return 401, {"WWW-Authenticate": f"Bearer {where}{challenge}".rstrip(", ")}, b""
        else:
            return 404, {}, b""
        if kind is not None:
            return 200, {"Content-Type": kind}, b"<html><title>App</title></html>"
        return 200, JSON, json.dumps(about).encode()

    return respond


ROOT_PLACE = {"places": (RESOURCE,), "named": RESOURCE}
CASES = [
    ("in order", protected(), ["AUTH-1"]),
    ("P93 root", protected(**ROOT_PLACE), ["AUTH-1"]),
    ("P93 root, not named", protected(places=(RESOURCE,), named=None), ["AUTH-1", "AUTH-4"]),
    ("P93 appended", protected(places=(f"/mcp{RESOURCE}",), named=None), ["AUTH-3"]),
    ("P93 appended and named", protected(places=(f"/mcp{RESOURCE}",), named=f"/mcp{RESOURCE}"), ["AUTH-1"]),
    ("P93 older", protected(places=(), named=None), ["AUTH-3"]),
    ("P93 wrong name", protected(named=f"{RESOURCE}/other"), ["AUTH-11", "AUTH-1"]),
    ("P93 issuer inserted", protected(issuer="/t", issuer_places=(f"{SERVER}/t",)), ["AUTH-1"]),
    ("P93 issuer openid", protected(issuer_places=(OPENID,)), ["AUTH-1", "AUTH-12"]),
    (
        "P93 issuer openid appended",
        protected(issuer="/t", issuer_places=(f"/t{OPENID}",)),
        ["AUTH-1", "AUTH-12"],
    ),
    ("P93 issuer appended", protected(issuer="/t", issuer_places=(f"/t{SERVER}",)), ["AUTH-8", "AUTH-1"]),
    ("P93 issuer without path", protected(issuer="/t", issuer_places=(SERVER,)), ["AUTH-8", "AUTH-1"]),
    ("P94", protected(named=None), ["AUTH-1", "AUTH-4"]),
    ("P96 other", protected(resource="/other"), ["AUTH-5", "AUTH-1"]),
    ("P96 host", protected(resource="https://other.example/mcp"), ["AUTH-5", "AUTH-1"]),
    ("P96 origin", protected(resource=""), ["AUTH-1", "AUTH-5"]),
    ("P97", protected(resource="/mcp/"), ["AUTH-1", "AUTH-5"]),
    (
        "P98 path dropped",
        protected(issuer="/t", called="ROOT", issuer_places=(f"{SERVER}/t",)),
        ["AUTH-6", "AUTH-1"],
    ),
    ("P98 path added", protected(called="ROOT/tenant"), ["AUTH-6", "AUTH-1"]),
    ("P98 host", protected(called="https://other.example"), ["AUTH-6", "AUTH-1"]),
    ("P98 slash", protected(called="ROOT/"), ["AUTH-6", "AUTH-1"]),
    ("P99", protected(registration_endpoint=None), ["AUTH-7", "AUTH-1"]),
    (
        "P99 CIMD",
        protected(registration_endpoint=None, client_id_metadata_document_supported=True),
        ["AUTH-1"],
    ),
    ("no PKCE", protected(code_challenge_methods_supported=None), ["AUTH-13", "AUTH-1"]),
    ("plain PKCE", protected(code_challenge_methods_supported=["plain"]), ["AUTH-13", "AUTH-1"]),
    ("plain http", protected(token_endpoint="http://auth.example/token"), ["AUTH-14", "AUTH-1"]),
    ("plain http issuer", protected(issuers=["http://auth.example"]), ["AUTH-14", "AUTH-1"]),
    ("no issuer", protected(more={"authorization_servers": []}), ["AUTH-15", "AUTH-1"]),
    ("a page", protected(kind="text/html"), ["AUTH-3"]),
    ("not JSON", protected(kind="application/json"), ["AUTH-3"]),
    ("special address", protected(issuers=["https://169.254.169.254"]), ["AUTH-16", "AUTH-1"]),
    ("special address named", protected(places=(), named="http://169.254.169.254/latest"), ["AUTH-16"]),
]


@pytest.mark.parametrize(
    ("respond", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
async def test_what_stands_before_signing_in_is_diagnosed(respond, expected):
    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, expected)
    table = next(one for one in report.checks if one.name == "authorization").evidence
    assert any("oauth-protected-resource" in line and ("200" in line or "404" in line) for line in table)


async def examined(**how):
    with serving(protected(**how)) as root:
        return root, await examine(f"{root}/mcp", timeout_s=QUICK_S)


async def test_each_place_is_a_line_with_what_was_compared():
    root, report = await examined(
        challenge=', scope="notes:read"',
        more={"scopes_supported": ["notes:read", "offline_access"]},
        authorization_response_iss_parameter_supported=True,
    )

    table = "\n".join(next(one for one in report.checks if one.name == "authorization").evidence)
    assert f"GET {root}{RESOURCE}/mcp → 200 application/json: resource '{root}/mcp' = URL" in table
    assert f"GET {root}{RESOURCE} → 404" in table
    assert f"GET {root}{SERVER} → 200 application/json: issuer '{root}' as the resource names it" in table
    assert "iss in authorization responses: announced" in table
    assert "dynamic registration" in table
    assert "offline_access" in table
    assert "scopes notes:read" in report.diagnoses[0].cause


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ({"resource": "/mcp/"}, "AUTH-5", "only a slash at the end differs"),
        ({"resource": "https://other.example/mcp"}, "AUTH-5", "the hosts differ"),
        ({"called": "ROOT/tenant"}, "AUTH-6", "one has a path, the other has none"),
        ({"places": (f"/mcp{RESOURCE}",), "named": None}, "AUTH-3", f"/mcp{RESOURCE}, where no client looks"),
        ({"issuer": "/t", "issuer_places": (f"/t{SERVER}",)}, "AUTH-8", f"/t{SERVER}, where no client looks"),
        ({"code_challenge_methods_supported": ["plain"]}, "AUTH-13", "names plain alone"),
    ],
)
async def test_the_first_difference_is_pointed_out(how, code, said):
    _, report = await examined(**how)

    assert said in next(each for each in report.diagnoses if each.code == code).cause


@pytest.mark.parametrize(
    ("how", "code", "place"),
    [
        ({"places": (f"/mcp{RESOURCE}",), "named": None}, "AUTH-3", f"{RESOURCE}/mcp"),
        ({"places": (), "named": None}, "AUTH-3", f"{RESOURCE}/mcp"),
        ({"issuer": "/t", "issuer_places": (f"/t{SERVER}",)}, "AUTH-8", f"{SERVER}/t"),
        ({"issuer_places": (OPENID,)}, "AUTH-12", SERVER),
    ],
)
async def test_the_place_that_is_missing_is_named(how, code, place):
    root, report = await examined(**how)

    assert f"{root}{place}" in next(each for each in report.diagnoses if each.code == code).fix


async def test_one_of_several_authorization_servers_is_enough():
    with serving(protected()) as other:
        inner = protected(issuers=["ROOT", other])

        def respond(method, path, headers, body):
            status, named, content = inner(method, path, headers, body)
            return status, named, content.replace(b'"ROOT"', f'"http://{headers["Host"]}/gone"'.encode())

        with serving(respond) as root:
            report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["AUTH-1", "AUTH-8"])
    assert report.diagnoses[1].severity == "degraded"
    assert other in report.diagnoses[0].cause


async def test_metadata_is_followed_without_credentials_when_it_moves():
    seen = []
    inner = protected(places=("/about",))

    def respond(method, path, headers, body):
        seen.append((method, headers.get("Authorization")))
        if path == f"{RESOURCE}/mcp":
            return 302, {"Location": "/about"}, b""
        return inner(method, path, headers, body)

    with serving(respond) as root:
        report = await examine(
            f"{root}/mcp", headers={"Authorization": "Bearer canary-1234567890"}, timeout_s=QUICK_S
        )

    check(report, ["AUTH-2"])
    assert {token for method, token in seen if method == "GET"} == {None}
    table = "\n".join(next(one for one in report.checks if one.name == "authorization").evidence)
    assert "302, to /about" in table
    assert "/about → 200" in table


async def test_other_schemes_are_told():
    with serving(lambda *_: (401, {"WWW-Authenticate": 'Basic realm="x"'}, b"")) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["AUTH-3"])
    assert "Basic" in report.diagnoses[0].fix


async def test_a_401_without_anything_is_told():
    """P105, honest about its status at least."""
    with serving(lambda *_: (401, {}, b"Unauthorized")) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["AUTH-3"])


# -- in another dress ----------------------------------------------------------------------------------------

LOGIN = b"<html><title>Sign in - Lunch</title><form><input type='password'></form></html>"
DISGUISES = [
    ("500", (500, {"Content-Type": "text/plain"}, b"Error: Unauthorized request")),
    ("500 JSON", (500, JSON, b'{"error": "Invalid API key"}')),
    ("200 text", (200, {"Content-Type": "text/plain"}, b"Unauthorized")),
    ("200 page", (200, HTML, LOGIN)),
    ("403 page", (403, HTML, LOGIN)),
    ("302", (302, {"Location": "/login?next=/mcp"}, b"")),
    ("302 away", (302, {"Location": "https://accounts.example/o/authorize?x=1"}, b"")),
    ("400 JSON", (400, JSON, b'{"message": "missing access token"}')),
]


@pytest.mark.parametrize("answer", [case[1] for case in DISGUISES], ids=[case[0] for case in DISGUISES])
async def test_a_sign_in_in_another_dress_is_told(answer):
    with serving(lambda *_: answer) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["AUTH-10"])


async def test_a_redirect_whose_page_is_a_login_is_told():
    def respond(method, path, headers, body):
        return (200, HTML, LOGIN) if path == "/start" else (303, {"Location": "/start"}, b"")

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["AUTH-10"])


# -- credentials that were sent ------------------------------------------------------------------------------


def token(**claims):
    parts = ({"alg": "none"}, claims)
    coded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return ".".join((*coded, "canary1234567890"))


def refusing(status, challenge):
    def respond(method, path, headers, body):
        root = f"http://{headers['Host']}"
        if path == f"{RESOURCE}/mcp":
            about = {"resource": f"{root}/mcp", "authorization_servers": ["https://auth.example"]}
            return 200, JSON, json.dumps(about).encode()
        return status, {"WWW-Authenticate": challenge}, b""

    return respond


INVALID = 'Bearer error="invalid_token", error_description="The token is not for us"'
LACKING = 'Bearer error="insufficient_scope", scope="notes:read notes:write"'
SENT = [
    ("P102", 401, INVALID, {"exp": -47 * 60}, "AUTH-17", "expired 47 min ago"),
    ("not yet", 401, INVALID, {"nbf": 600}, "AUTH-2", "valid in 10 min only"),
    ("P97 audience", 401, INVALID, {"aud": "ROOT/mcp/"}, "AUTH-18", "only a slash at the end differs"),
    ("audiences", 401, INVALID, {"aud": ["https://a.example", "b"]}, "AUTH-18", "'https://a.example', 'b'"),
    ("issuer", 401, INVALID, {"aud": "ROOT/mcp", "iss": "https://other.example"}, "AUTH-18", "other.example"),
    ("fits", 401, INVALID, {"aud": "ROOT/mcp", "exp": 3600}, "AUTH-2", "The token is not for us"),
    ("P103", 403, LACKING, {"scope": "notes:read"}, "AUTH-9", "the token lacks notes:write"),
    ("P103 names all", 403, LACKING, {"scp": ["notes:read", "notes:write"]}, "AUTH-9", "names all of them"),
]


@pytest.mark.parametrize(
    ("status", "challenge", "claims", "code", "said"),
    [case[1:] for case in SENT],
    ids=[case[0] for case in SENT],
)
async def test_a_token_that_can_be_read_says_why_it_is_refused(status, challenge, claims, code, said):
    with serving(refusing(status, challenge)) as root:
        told = {
            name: value + time.time()
            if name in ("exp", "nbf")
            else (value.replace("ROOT", root) if isinstance(value, str) else value)
            for name, value in claims.items()
        }
        secret = token(**told)
        report = await examine(
            f"{root}/mcp", headers={"Authorization": f"Bearer {secret}"}, timeout_s=QUICK_S
        )

    check(report, [code])
    assert said in report.diagnoses[0].cause
    assert "canary" not in repr(report)
    assert secret.split(".")[1] not in repr(report)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Authorization": "Bearer canary-1234567890"}, "it says invalid_token: The token is not for us"),
        ({"Authorization": "canary-1234567890"}, "the scheme"),
        ({"Authorization": "Bearer Bearer canary-1234567890"}, "twice"),
        ({"Authorization": 'Bearer "canary-1234567890"'}, "quotes"),
        ({"X-API-Key": "canary-1234567890"}, "invalid_token"),
    ],
)
async def test_credentials_that_are_refused_are_told_and_not_shown(headers, said):
    with serving(refusing(401, INVALID)) as root:
        report = await examine(f"{root}/mcp", headers=headers, timeout_s=QUICK_S)

    check(report, ["AUTH-2"])
    assert said in report.diagnoses[0].cause
    assert "canary" not in repr(report)


async def test_a_403_without_words_is_told():
    with serving(lambda *_: (403, {}, b"no")) as root:
        bare = await examine(f"{root}/mcp", timeout_s=QUICK_S)
        sent = await examine(f"{root}/mcp", headers={"Authorization": "Bearer canary-1"}, timeout_s=QUICK_S)

    check(bare, ["HTTP-17"])
    check(sent, ["AUTH-9"])


async def test_a_server_that_wants_to_be_left_alone_is_not_blamed_for_what_it_did_not_say():
    def respond(method, path, headers, body):
        if method == "POST":
            return 401, {"WWW-Authenticate": "Bearer"}, b""
        return 429, {"Retry-After": "60"}, b""

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["HTTP-8"])


async def test_an_authorization_server_that_wants_to_be_left_alone_is_not_blamed_either():
    good = protected()

    def respond(method, path, headers, body):
        return (429, {}, b"") if path.startswith(SERVER) else good(method, path, headers, body)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["AUTH-1"])


async def test_a_token_that_nobody_filled_in_is_named():
    with serving(lambda *_: (401, {"WWW-Authenticate": "Bearer"}, b"")) as root:
        report = await examine(f"{root}/mcp", headers={"Authorization": "Bearer ${TOKEN}"}, timeout_s=QUICK_S)

    assert codes_of(report)[0] == "LAUNCH-6"


# -- pages that want to sign in ------------------------------------------------------------------------------


async def test_a_page_that_cannot_read_the_refusal_is_told():
    def respond(method, path, headers, body):
        if method == "OPTIONS":
            allowed = "content-type, mcp-protocol-version, mcp-method, mcp-name, authorization"
            allow = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": allowed}
            return 204, allow, b""
        return protected()(method, path, headers, body)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["AUTH-1", "CORS-4"])


async def test_a_preflight_that_wants_a_token_is_told():
    def respond(method, path, headers, body):
        if method == "OPTIONS":
            return 401, {"Access-Control-Allow-Origin": "*"}, b""
        return honest(method, path, headers, body, session=SESSION)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", timeout_s=QUICK_S)

    check(report, ["CORS-3"])
