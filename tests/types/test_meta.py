import msgspec
import pytest
from msgspec import UNSET

from mesero import types
from mesero.types import RequestMeta


def test_the_reserved_keys_are_written_with_their_prefix():
    meta = RequestMeta(
        protocol_version="2026-07-28",
        client_capabilities=types.ClientCapabilities(),
        client_info=types.Implementation("c", "1"),
        progress_token=1,
        traceparent="00-a-b-01",
    )
    assert msgspec.json.decode(msgspec.json.encode(meta)) == {
        types.PROTOCOL_VERSION_KEY: "2026-07-28",
        types.CLIENT_CAPABILITIES_KEY: {},
        types.CLIENT_INFO_KEY: {"name": "c", "version": "1"},
        types.PROGRESS_TOKEN_KEY: 1,
        types.TRACEPARENT_KEY: "00-a-b-01",
    }


def test_the_identity_of_the_client_is_optional():
    text = b'{"io.modelcontextprotocol/protocolVersion":"x","io.modelcontextprotocol/clientCapabilities":{}}'
    assert msgspec.json.decode(text, type=RequestMeta).client_info is UNSET


@pytest.mark.parametrize("missing", [types.PROTOCOL_VERSION_KEY, types.CLIENT_CAPABILITIES_KEY])
def test_revision_and_capabilities_are_required_each_time(missing):
    whole = {types.PROTOCOL_VERSION_KEY: "2026-07-28", types.CLIENT_CAPABILITIES_KEY: {}}
    del whole[missing]
    with pytest.raises(msgspec.ValidationError, match=missing):
        msgspec.json.decode(msgspec.json.encode(whole), type=RequestMeta)


def test_a_log_level_that_does_not_exist_is_refused():
    whole = {types.PROTOCOL_VERSION_KEY: "x", types.CLIENT_CAPABILITIES_KEY: {}, types.LOG_LEVEL_KEY: "loud"}
    with pytest.raises(msgspec.ValidationError, match="loud"):
        msgspec.json.decode(msgspec.json.encode(whole), type=RequestMeta)


def test_the_keys_of_answers_differ_from_those_of_requests():
    assert types.SERVER_INFO_KEY == "io.modelcontextprotocol/serverInfo"
    assert (types.TRACESTATE_KEY, types.BAGGAGE_KEY) == ("tracestate", "baggage")
