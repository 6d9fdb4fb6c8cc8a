import json

import msgspec
import pytest

from mesero.eras import choose_on_server
from mesero.explain.choice import choose_era, kind_of
from mesero.jsonrpc import decode_message
from tests.explain.messages import META, PREFIX, message, request


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"method": "x", "id": 1}, "request"),
        ({"method": "x"}, "notification"),
        ({"id": 1, "result": {}}, "result"),
        ({"id": 1, "error": {}}, "error"),
        ([{}], "batch"),
        ({}, "no message"),
        (5, "no message"),
    ],
)
def test_the_kind_follows_from_the_members(value, kind):
    assert kind_of(value) == kind


def era_of(raw, headers=None, revision=None):
    chosen = choose_era(json.loads(raw), headers or {}, revision)
    assert chosen.why
    return chosen.era, chosen.revision


@pytest.mark.parametrize(
    ("raw", "era"),
    [
        (request("tools/list"), ("stateless", "2026-07-28")),
        (request("initialize"), ("stateless", "2026-07-28")),
        (request("server/discover", meta=None), ("stateless", "2026-07-28")),
        (request("initialize", {"protocolVersion": "2025-03-26"}, meta=None), ("handshake", "2025-03-26")),
        (request("initialize", {"protocolVersion": "1999-01-01"}, meta=None), ("handshake", "2025-11-25")),
        (request("ping", meta=None), ("handshake", "2025-11-25")),
        (request("elicitation/create", meta=None), ("handshake", "2025-11-25")),
        (request("tools/list", meta=None), ("unknown", "")),
        (message(id=1, method=5), ("unknown", "")),
        (message(method="notifications/initialized"), ("handshake", "2025-11-25")),
        (message(method="notifications/progress"), ("unknown", "")),
        (message(method=[]), ("unknown", "")),
        (
            message(method="notifications/x", params={"_meta": {f"{PREFIX}subscriptionId": 1}}),
            ("stateless", "2026-07-28"),
        ),
        (message(id=1, result={"resultType": "complete"}), ("stateless", "2026-07-28")),
        (message(id=1, result={"_meta": {f"{PREFIX}serverInfo": {}}}), ("stateless", "2026-07-28")),
        (message(id=1, result={"supportedVersions": []}), ("stateless", "2026-07-28")),
        (message(id=1, result={"protocolVersion": "2024-11-05"}), ("handshake", "2024-11-05")),
        (message(id=1, result={}), ("unknown", "")),
        (message(id=1, result=5), ("unknown", "")),
        (message(id=1, error={"code": -32022}), ("stateless", "2026-07-28")),
        (message(id=1, error={"code": -32042}), ("handshake", "2025-11-25")),
        (message(id=1, error={"code": -32601}), ("unknown", "")),
        (b"[]", ("handshake", "2025-03-26")),
        (b"{}", ("unknown", "")),
    ],
)
def test_the_era_follows_from_the_message_alone(raw, era):
    assert era_of(raw) == era


@pytest.mark.parametrize(
    ("headers", "era"),
    [
        ({"mcp-protocol-version": "2026-07-28"}, "stateless"),
        ({"mcp-protocol-version": "2027-01-01"}, "stateless"),
        ({"mcp-protocol-version": "2025-06-18"}, "handshake"),
        ({"mcp-session-id": "s"}, "handshake"),
        ({}, "unknown"),
    ],
)
def test_headers_tell_where_the_body_does_not(headers, era):
    assert era_of(request("tools/list", meta=None), headers)[0] == era


def test_who_asks_decides():
    assert era_of(request("ping"), revision="2025-03-26") == ("handshake", "2025-03-26")
    assert era_of(request("ping", meta=None), revision="2026-07-28") == ("stateless", "2026-07-28")


@pytest.mark.parametrize("version", [None, "2026-07-28", "2025-06-18", "1"])
@pytest.mark.parametrize("method", ["initialize", "server/discover", "subscriptions/listen", "tools/call"])
@pytest.mark.parametrize("meta", [None, META, {f"{PREFIX}protocolVersion": 5}])
def test_it_is_the_choice_of_a_server(version, method, meta):
    raw = request(method, meta=meta)
    headers = {} if version is None else {"mcp-protocol-version": version}
    selected = choose_on_server(decode_message(raw), version_header=version, has_session=False)
    eras = {"modern": "stateless", "opens": "handshake"}
    if selected in eras:
        assert era_of(raw, headers)[0] == eras[selected]
    else:
        assert era_of(raw, headers)[0] in ("unknown", "handshake")
    assert msgspec.json.decode(raw)["method"] == method
