"""Secrets out of lines: everywhere that one can stand, and nothing else changed."""

import base64
import json
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from mesero.trace.format import (
    EofLine,
    ExitLine,
    Http,
    HttpLine,
    Link,
    LinkLine,
    MessageLine,
    NoteLine,
    OtherLine,
    SpawnLine,
    StderrLine,
    TextLine,
    decode_line,
    encode_line,
)
from mesero.trace.redaction import Redactor
from mesero.trace.sensitive import placeholder_for

PLACE = {"seq": 1, "t": 0.5, "link": "1"}
CANARY = "c4nary-5ecret-value"
SHOWN = placeholder_for(CANARY)


def message(raw, direction="c2s", **fields):
    return MessageLine(**PLACE, dir=direction, raw=raw if isinstance(raw, str) else json.dumps(raw), **fields)


def request(**arguments):
    return message({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": arguments}})


# --- one place at a time ---

IN_MESSAGES = [
    ('{"api_key":"*"}', ["$.raw.api_key"]),
    ('{"a":{"requestState":"*"}}', ["$.raw.a.requestState"]),
    ('[{"token":"*"},{"b":["x",{"password":"*"}]}]', ["$.raw[0].token", "$.raw[1].b[1].password"]),
    ('{"tokens":["*",["*"]]}', ["$.raw.tokens[0]", "$.raw.tokens[1][0]"]),
    ('{"env":{"HOME":"*"}}', ["$.raw.env.HOME"]),
    ('{"a":{"env":{"HOME":"*"}}}', ["$.raw.a.env.HOME"]),
    ('{"list":[{"name":"API_KEY","value":"*"}]}', ["$.raw.list[0].value"]),
    (
        '{"credentials":[{"user":"*"},[{"x":"*"}]]}',
        ["$.raw.credentials[0].user", "$.raw.credentials[1][0].x"],
    ),
    ('{"value":"x password=* y","key":"token"}', None),
    ('{"text":"password=*"}', ["$.raw.text"]),
    ('{"text":"{\\"api_key\\":\\"*\\"}"}', ["$.raw.text"]),
    ('{"uri":"https://host/?token=*"}', ["$.raw.uri"]),
    ('{"uri":"https:\\/\\/user:*@host"}', ["$.raw.uri"]),
    ('{"p\\u0069n":"*"}', ["$.raw.pin"]),
    ('  {"token" :\n"*"}  ', ["$.raw.token"]),
    ('{"token":"*","token":"*"}', ["$.raw.token"]),
    ('{"text":"\\u0062earer *"}', ["$.raw.text"]),
]


@pytest.mark.parametrize(("text", "paths"), IN_MESSAGES)
def test_a_secret_in_a_message_is_replaced_and_its_path_told(text, paths):
    line = Redactor().redact_line(message(text.replace("*", CANARY), "s2c"))

    assert CANARY not in line.raw
    json.loads(line.raw)
    if paths is not None:
        assert line.raw == text.replace("*", SHOWN)
        assert list(line.redacted) == paths


def test_numbers_are_secrets_under_strict_names_only():
    raw = '{"pin":1234,"tokens":512,"password":true,"passcode":[12,null],"secret":-1}'

    line = Redactor().redact_line(message(raw))

    value = json.loads(line.raw)
    assert value["pin"] == placeholder_for("1234")
    assert value["tokens"] == 512
    assert value["password"] is True
    assert value["passcode"] == [placeholder_for("12"), None]
    assert value["secret"] == placeholder_for("-1")


HARMLESS = [
    '{"properties":{"token":{"type":"string","description":"A token"},"env":{"type":"object"}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"abc"}}}',
    '{"name":"token","arguments":{"value":7}}',
    '{"token":"","secret":null,"items":[{"value":"x"}]}',
    '"just a text with token in it"',
    "7",
]


@pytest.mark.parametrize("raw", HARMLESS)
def test_a_message_without_secrets_comes_out_as_the_same_object(raw):
    line = message(raw)

    assert Redactor().redact_line(line) is line


def test_what_is_no_json_is_redacted_as_text():
    line = Redactor().redact_line(message(f'{{"token": "{CANARY}"'))

    assert line.raw == f'{{"token": "{SHOWN}"'
    assert line.redacted == ("$.raw",)


OTHERS = [
    (TextLine(**PLACE, dir="s2c", raw="token=*"), "$.raw"),
    (StderrLine(**PLACE, raw="token=*"), "$.raw"),
    (NoteLine(**PLACE, text="token=*"), "$.text"),
    (LinkLine(**PLACE, name="n", target="https://host/mcp?x=*"), "$.target"),
    (LinkLine(**PLACE, name="token=*"), "$.name"),
    (SpawnLine(**PLACE, command=("a", "--token=*")), "$.command[1]"),
    (SpawnLine(**PLACE, command=("a", "--token", "*", "-v")), "$.command[2]"),
    (SpawnLine(**PLACE, command=("a",), cwd="/token=*"), "$.cwd"),
    (HttpLine(**PLACE, dir="s2c", http=Http(error="token=*")), "$.http.error"),
    (HttpLine(**PLACE, dir="s2c", http=Http(event_id="token=*")), "$.http.event_id"),
    (HttpLine(**PLACE, dir="s2c", http=Http(body="grant=x&refresh_token=*")), "$.http.body"),
    (HttpLine(**PLACE, dir="s2c", http=Http(body='{"access_token":"*"}')), "$.http.body.access_token"),
    (HttpLine(**PLACE, dir="c2s", http=Http(body='{"client_secret":"*"}')), "$.http.body.client_secret"),
    (HttpLine(**PLACE, dir="c2s", http=Http(url="https://host/mcp?x=*&y=1")), "$.http.url"),
    (HttpLine(**PLACE, dir="c2s", http=Http(url="https://host/abcdefghij0123456789/mcp?*")), "$.http.url"),
    (
        HttpLine(**PLACE, dir="c2s", http=Http(headers={"authorization": "Bearer *"})),
        "$.http.headers.authorization",
    ),
    (HttpLine(**PLACE, dir="c2s", http=Http(headers={"x-own": ["a", "*"]})), "$.http.headers.x-own[1]"),
    (HttpLine(**PLACE, dir="s2c", http=Http(headers={"set-cookie": "*"})), "$.http.headers.set-cookie"),
    (
        HttpLine(**PLACE, dir="s2c", http=Http(headers={"location": "https://h/?code=*"})),
        "$.http.headers.location",
    ),
    (HttpLine(**PLACE, dir="s2c", http=Http(more={"auth": "*"})), "$.http.auth"),
    (HttpLine(**PLACE, dir="c2s", http=Http(body="code=*&grant_type=x")), "$.http.body"),
    (HttpLine(**PLACE, dir="s2c", http=Http(body='{"device_code":"*"}')), "$.http.body.device_code"),
    (SpawnLine(**PLACE, command=("npx", "remote", "https://host/mcp?x=*")), "$.command[2]"),
    (EofLine(**PLACE, dir="s2c", http=Http(error="token=*")), "$.http.error"),
    (TextLine(**PLACE, dir="s2c", raw="x", http=Http(headers={"cookie": "*"})), "$.http.headers.cookie"),
    (OtherLine(**PLACE, kind="new", more={"a": {"token": "*"}}), "$.a.token"),
    (ExitLine(**PLACE, code=1, more={"token": "*"}), "$.token"),
]


@pytest.mark.parametrize(("line", "path"), OTHERS)
def test_a_secret_in_any_other_place_is_replaced_and_its_path_told(line, path):
    secret = decode_line(encode_line(line).replace(b"*", CANARY.encode()))

    redacted = Redactor().redact_line(secret)

    if "?*" not in encode_line(line).decode():
        assert CANARY.encode() not in encode_line(redacted)
    assert path in redacted.redacted
    assert Redactor().redact_line(redacted) == redacted


def test_bytes_that_are_no_text_are_searched_and_otherwise_kept():
    secret = f"\xff password={CANARY} \xfe".encode("latin-1")
    line = StderrLine(**PLACE, b64=base64.b64encode(secret).decode())

    redacted = Redactor().redact_line(line)

    assert base64.b64decode(redacted.b64) == secret.replace(CANARY.encode(), SHOWN.encode())
    assert redacted.redacted == ("$.b64",)
    assert Redactor().redact_line(redacted) == redacted
    plain = StderrLine(**PLACE, b64="//79")
    assert Redactor().redact_line(plain) == plain


def test_what_claims_to_be_base64_and_is_not_is_searched_as_it_stands():
    line = Redactor().redact_line(StderrLine(**PLACE, b64=f"token={CANARY}"))

    assert line.b64 == f"token={SHOWN}"


def test_the_scheme_of_a_credential_stays_readable():
    http = Http(headers={"authorization": f"Basic {CANARY}", "x-api-key": CANARY})

    line = Redactor().redact_line(HttpLine(**PLACE, dir="c2s", http=http))

    assert line.http.headers == {"authorization": f"Basic {SHOWN}", "x-api-key": SHOWN}


def test_the_session_of_an_address_and_short_plain_values_stay_readable():
    url = "https://host/mcp?sessionId=0123456789abcdef&debug=true&empty=&flag#top"
    link = Link(name="n", transport="sse", target=url)

    assert Redactor().redact_link(link) == link


def test_what_is_asked_of_an_authorization_server_stays_readable_but_for_its_secrets():
    asked = (
        "response_type=code&client_id=client-of-somebody&scope=files%3Aread&resource=https%3A%2F%2Fhost%2Fmcp"
    )
    line = HttpLine(**PLACE, dir="c2s", http=Http(url=f"https://auth/authorize?{asked}&state={CANARY}"))

    assert Redactor().redact_line(line).http.url == f"https://auth/authorize?{asked}&state={SHOWN}"


def test_a_link_loses_its_secrets():
    link = Link(
        target=f"npx server 'https://host/mcp?x={CANARY}'", name=f"n token={CANARY}", more={"token": CANARY}
    )

    redacted = Redactor().redact_link(link)

    assert redacted == Link(
        target=f"npx server 'https://host/mcp?x={SHOWN}'", name=f"n token={SHOWN}", more={"token": SHOWN}
    )


# --- what was seen before ---

TELLING = [
    request(api_key=CANARY),
    request(list=[{"name": "token", "value": CANARY}]),
    message("{}", http=Http(headers={"authorization": f"Bearer {CANARY}"})),
    message("{}", http=Http(headers={"x-my-own": CANARY})),
    message("{}", http=Http(url=f"https://host/mcp?x={CANARY}")),
    HttpLine(**PLACE, dir="c2s", http=Http(body=f'{{"client_secret":"{CANARY}"}}')),
    SpawnLine(**PLACE, command=("a", "--token", CANARY)),
    SpawnLine(**PLACE, command=("a", f"--token={CANARY}")),
]
ECHOES = [
    StderrLine(**PLACE, raw=f"got {CANARY}"),
    message(
        {"id": 1, "result": {"content": [{"type": "text", "text": f"I know {CANARY}!", CANARY: 1}]}}, "s2c"
    ),
    message('{"text":"\\u0063' + CANARY[1:] + '"}', "s2c"),
    HttpLine(**PLACE, dir="s2c", http=Http(headers={"x-echo": CANARY})),
    StderrLine(**PLACE, b64=base64.b64encode(b"\xff" + CANARY.encode()).decode()),
]


@pytest.mark.parametrize("telling", TELLING)
@pytest.mark.parametrize("echo", ECHOES)
def test_what_a_client_sent_under_the_name_of_a_secret_is_replaced_wherever_it_comes_back(telling, echo):
    redactor = Redactor()

    redactor.redact_line(telling)
    line = redactor.redact_line(echo)

    shown = encode_line(line).decode()
    assert line.redacted
    assert CANARY not in json.loads(shown).get("raw", "")
    assert CANARY not in shown
    assert CANARY not in str(json.loads(line.raw) if isinstance(line, MessageLine) else "")


def test_a_secret_is_replaced_in_the_whole_line_that_tells_it():
    raw = json.dumps({"text": f"see {CANARY}", "token": CANARY})

    line = Redactor().redact_line(message(raw, http=Http(headers={"mcp-param-text": f"see {CANARY}"})))

    assert json.loads(line.raw) == {"text": f"see {SHOWN}", "token": SHOWN}
    assert line.http.headers == {"mcp-param-text": f"see {SHOWN}"}


def test_a_server_cannot_have_words_struck_out():
    redactor = Redactor()

    redactor.redact_line(message({"result": {"token": "tools/call"}}, "s2c"))

    line = message({"method": "tools/call"})
    assert redactor.redact_line(line) is line


def test_plain_words_and_numbers_are_replaced_under_their_name_only():
    redactor = Redactor()

    line = redactor.redact_line(
        request(token="production", secret="12345678", password="/usr/share/x", pin="a1")
    )

    assert len(line.redacted) == 4
    echo = StderrLine(**PLACE, raw="production 12345678 /usr/share/x a1")
    assert redactor.redact_line(echo) == echo


def test_the_environment_is_learned_but_for_what_is_no_secret():
    redactor = Redactor()

    redactor.learn_environment(
        {"NODE_ENV": "production", "X": CANARY, "API_KEY": "lettersonly", "PIN": "123"}
    )

    line = redactor.redact_line(StderrLine(**PLACE, raw=f"production {CANARY} lettersonly 123"))
    assert line.raw == f"production {SHOWN} {placeholder_for('lettersonly')} 123"


def test_given_secrets_are_replaced_however_short_they_are():
    line = Redactor(["abc", ""]).redact_line(message({"text": "abc"}, "s2c"))

    assert json.loads(line.raw) == {"text": placeholder_for("abc")}


def test_only_the_latest_secrets_are_remembered():
    redactor = Redactor(["given-secret-1"])
    redactor.learn(CANARY)
    for number in range(199):
        redactor.learn(f"secret-{number:04}")
    redactor.learn("given-secret-1")

    def is_known(value):
        return bool(redactor.redact_line(StderrLine(**PLACE, raw=value)).redacted)

    assert is_known(CANARY)
    redactor.learn("secret-0000")
    redactor.learn("one-more-secret")
    assert not is_known(CANARY)
    assert is_known("secret-0000")
    assert is_known("given-secret-1")


# --- properties ---

NAMES = st.sampled_from(
    ["token", "apiKey", "a", "name", "value", "env", "text", "password", "properties", "key"]
)
VALUES = st.sampled_from(
    [CANARY, f"Bearer {CANARY}", f"api_key={CANARY}", f'{{"token":"{CANARY}"}}', "plain", "é\n", ""]
)
TREES = st.recursive(
    VALUES | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(tree=TREES, indent=st.none() | st.integers(0, 2), is_ascii=st.booleans())
def test_a_known_secret_is_nowhere_in_a_message_and_the_rest_is_as_it_was(tree, indent, is_ascii):
    raw = json.dumps(tree, indent=indent, ensure_ascii=is_ascii)

    line = Redactor([CANARY]).redact_line(message(raw, "s2c"))

    def known_hidden(text):
        return text.replace(CANARY, SHOWN)

    assert CANARY not in line.raw
    before, after = json.loads(known_hidden(raw)), json.loads(line.raw)
    assert shape_of(before) == shape_of(after)
    pieces = line.raw
    for path in line.redacted:
        assert path.startswith("$.raw")
    assert bool(line.redacted) == (pieces != raw)
    assert Redactor([CANARY]).redact_line(line) == line


def shape_of(value):
    """The structure, the names, and all values that no redaction touched."""
    if isinstance(value, dict):
        return {name: shape_of(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape_of(item) for item in value]
    return "leaf" if isinstance(value, str | int) else value


@given(before=st.text(max_size=20), after=st.text(max_size=20), is_ascii=st.booleans())
def test_splicing_leaves_every_other_byte_alone(before, after, is_ascii):
    kept = json.dumps({"a": before, "b": [after, 1.50, True]}, ensure_ascii=is_ascii)
    raw = f'{{"x":{kept} ,\t"token" : "{CANARY}","z":{kept}\n}}'

    line = Redactor().redact_line(message(raw, "s2c"))

    if len(line.redacted) == 1:
        assert line.raw == raw.replace(CANARY, SHOWN)
    assert line.redacted[0 if line.redacted[0] == "$.raw.token" else -1]


ALL_LINES = [
    request(api_key=CANARY),
    message("{}", http=Http(headers={"authorization": f"Bearer {CANARY}"})),
    message({"result": {"text": f"api_key={CANARY}"}}, "s2c"),
    StderrLine(**PLACE, raw=f"API_KEY={CANARY}"),
]


@pytest.mark.parametrize("order", list(permutations(range(len(ALL_LINES)))))
def test_labelled_secrets_are_found_in_any_order_of_the_lines(order):
    redactor = Redactor()

    for index in order:
        assert CANARY.encode() not in encode_line(redactor.redact_line(ALL_LINES[index]))


@given(
    raw=st.text() | st.text(alphabet='{}[]:,"\\token=ab1 ').filter(bool),
    direction=st.sampled_from(["c2s", "s2c"]),
    more=st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=2),
)
def test_no_text_makes_redaction_raise(raw, direction, more):
    redactor = Redactor(["ab1"])
    http = Http(url=raw, headers={"token": raw, "location": raw}, body=raw, error=raw, more=more)
    for line in (
        MessageLine(**PLACE, dir=direction, raw=raw, http=http),
        TextLine(**PLACE, dir=direction, b64=raw, more=more),
        SpawnLine(**PLACE, command=(raw, f"--token{raw}", raw), cwd=raw, env=(raw,)),
        LinkLine(**PLACE, name=raw, target=f"a://{raw}"),
        NoteLine(**PLACE, text=raw),
    ):
        redacted = redactor.redact_line(line)
        assert replace(redacted, redacted=()) == replace(line, redacted=()) or redacted.redacted
        assert getattr(redacted, "http", UNSET) is UNSET or isinstance(redacted.http, Http)
