import msgspec
import pytest

from mesero import types


def test_discovery_tells_revisions_and_capabilities():
    result = types.DiscoverResult(
        ["2026-07-28"], types.ServerCapabilities(logging={}), instructions="Be kind."
    )
    assert types.decode_result(types.DiscoverResult, msgspec.json.encode(result)) == result


def test_a_handshake_answer_is_no_discovery():
    text = b'{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}'
    with pytest.raises(msgspec.ValidationError, match="supportedVersions"):
        types.decode_result(types.DiscoverResult, text)


def test_discovery_needs_no_parameters():
    assert msgspec.json.decode(b'{"_meta":{}}', type=types.DiscoverParams) == types.DiscoverParams()
