"""What a secret looks like, by name and by shape, and what only looks like one."""

import hashlib
import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.trace.sensitive import (
    find_placeholder_spans,
    is_hidden_url_part,
    is_secret_header,
    is_secret_name,
    is_secret_query_name,
    is_strictly_secret_name,
    is_suspect,
    placeholder_for,
    secret_spans,
)


def words(text):
    return text.split()


SECRET_NAMES = words("""
    token access_token accessToken refresh-token id_token auth_token Token2 tokens tokenValue password
    Password2 userPassword passwd passphrase secret client_secret CLIENT.SECRET secretKey api_key apiKey
    X-API-Key apikey OPENAI_API_KEY access_key AWS_ACCESS_KEY_ID privateKey signing_key encryption-key
    authorization auth Proxy-Authorization cookie Set-Cookie credentials client_assertion code_verifier jwt
    bearerToken pin OTP pwd requestState sharedKey authHeader dpop cvv totp pass
""")
HARMLESS_NAMES = words("""
    progressToken maxTokens max_tokens inputTokens name key id method tokenizer tokenCount author
    authenticate keyboard pinned shipping passenger url uri text www-authenticate authorization_servers
    authorization_endpoint
    protocolVersion nextCursor compass
""")


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_name_of_a_secret_is_known_however_it_is_written(name):
    assert is_secret_name(name)


def test_the_end_of_a_very_long_name_decides():
    assert is_secret_name("x" * 100_000 + "_token")


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_name_that_only_sounds_like_a_secret_is_left_alone(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_the_cheap_test_lets_no_name_of_a_secret_pass(name):
    for written in (name, name.upper(), name.lower()):
        for separators in ((",", ":"), (", ", ": "), (" , ", " : ")):
            assert is_suspect(json.dumps({written: "x"}, separators=separators))
            assert is_suspect(json.dumps(json.dumps({written: "x"}, separators=separators)))


@pytest.mark.parametrize(
    ("name", "is_strict"),
    [("password", True), ("pin", True), ("api_key", True), ("token", False), ("name", False)],
)
def test_only_some_names_make_secrets_of_numbers(name, is_strict):
    assert is_strictly_secret_name(name) is is_strict


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [("key", True), ("code", True), ("access_token", True), ("page", False), ("q", False)],
)
def test_a_query_parameter_is_known_by_its_name(name, is_secret):
    assert is_secret_query_name(name) is is_secret


HEADERS = [
    ("authorization", True, True),
    ("Authorization", True, True),
    ("x-api-key", True, True),
    ("x-my-own", True, False),
    ("mcp-param-token", True, True),
    ("mcp-param-region", False, False),
    ("mcp-session-id", False, False),
    ("mcp-protocol-version", False, False),
    ("content-type", False, False),
    ("www-authenticate", True, False),
    ("set-cookie", True, True),
    ("server", True, False),
]


@pytest.mark.parametrize(("name", "in_request", "in_answer"), HEADERS)
def test_of_a_request_all_headers_are_secret_that_are_not_known_to_be_harmless(name, in_request, in_answer):
    assert is_secret_header(name, is_request=True) is in_request
    assert is_secret_header(name, is_request=False) is in_answer


@pytest.mark.parametrize(
    ("part", "is_hidden"),
    [("mcp", False), ("v2", False), ("Ab12Cd34Ef56Gh78Ij90", True), ("a-very-long-name-of-a-server", False)],
)
def test_a_random_segment_of_a_path_is_hidden(part, is_hidden):
    assert is_hidden_url_part(part) is is_hidden


TEXTS = [
    ("Authorization: Bearer abc.def-123", "abc.def-123"),
    ("authorization=Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ('{"header": "Bearer abcdefghij="}', "abcdefghij="),
    ("sent bearer 0123456789abcdef to it", "0123456789abcdef"),
    ("API_KEY=abc123 python server.py", "abc123"),
    ("My api key: abc123", "abc123"),
    ('config {"apiKey": "abc123", "port": 80}', "abc123"),
    ('text {\\"client_secret\\": \\"abc123\\"}', "abc123"),
    ("password => hunter2", "hunter2"),
    ("pin: 1234", "1234"),
    ("--api-key abc123 --verbose", "abc123"),
    ("--my-token abc123", "abc123"),
    ("postgres://user:hunter2@db/x", "hunter2"),
    ("https://0123456789abcdef@host/x", "0123456789abcdef"),
    ("GET /x?a=1&api_key=abc123&b=2", "abc123"),
    ("GET /x?key=abc123#top", "abc123"),
    ("key sk-abcdefghijklmnop0123", "sk-abcdefghijklmnop0123"),
    ("ghp_abcdefghijklmnop0123", "ghp_abcdefghijklmnop0123"),
    ("AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
    ("jwt eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END", "\nMIIE\n"),
    ("\u0130 token=abc123", "abc123"),
]


@pytest.mark.parametrize(("text", "secret"), TEXTS)
def test_a_secret_in_a_text_is_found_without_what_is_around_it(text, secret):
    assert [text[start:end] for start, end in secret_spans(text)] == [secret]
    assert secret_spans(text.replace(secret, placeholder_for(secret))) == []


HARMLESS_TEXTS = [
    "invalid token: expired",
    "Bearer token missing",
    'Bearer resource_metadata="https://host/.well-known/oauth-protected-resource", scope="files:read"',
    'Bearer error_description="x", error="invalid_token"',
    "Basic authentication is needed",
    "max_tokens=4096 and tokens: 512",
    '{"progressToken": "p-1", "uri": "https://host/a?page=2"}',
    "ssh://git@host/repository and someone@host",
    "https://host/a@b",
    "compassion: endless; passing: yes",
    "The tokenizer: fast",
    "task-1 and desk-lamp",
    "author: somebody",
]


@pytest.mark.parametrize("text", HARMLESS_TEXTS)
def test_a_text_without_secrets_stays(text):
    assert secret_spans(text) == []


def test_a_secret_that_was_seen_before_is_found_wherever_it_stands():
    text = "one canary, two canary"

    assert secret_spans(text, known=["canary"]) == [(4, 10), (16, 22)]


def test_secrets_that_overlap_are_one():
    text = "token=abc123def"

    assert secret_spans(text, known=["c123defx", "en=abc"]) == [(3, 15)]


def test_a_placeholder_keeps_length_and_hash_and_is_never_a_secret():
    shown = placeholder_for("abc")

    assert shown == f"<redacted length=3 sha256={hashlib.sha256(b'abc').hexdigest()[:16]}>"
    assert find_placeholder_spans(f"a {shown}") == [(2, 2 + len(shown))]
    assert secret_spans(f"password={shown} {shown}", known=["redacted"]) == []
    assert find_placeholder_spans("<redacted by hand>") == []
    assert placeholder_for("\ud800").startswith("<redacted length=1 ")


@given(text=st.text() | st.text(alphabet='token=:/@?&-. bearer\\"eyJ'))
def test_any_text_gives_spans_in_order_without_overlap(text):
    spans = secret_spans(text, known=["a", "be"])

    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize(
    "part", ["token=", "a://b:", "&k=", "bearer ", "--token", "eyJ", "token", "-----BEGIN "]
)
def test_the_time_does_not_grow_with_the_square_of_the_length(part):
    def seconds(times):
        start = time.perf_counter()
        secret_spans(part * times)
        return time.perf_counter() - start

    assert seconds(40_000) < max(0.5, 50 * min(seconds(4_000) for _ in range(3)))
