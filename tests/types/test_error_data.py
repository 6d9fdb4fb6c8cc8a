import msgspec

from mesero import types


def test_an_unsupported_revision_names_both_sides():
    data = types.UnsupportedProtocolVersionData(["2026-07-28"], "2027-01-01")
    assert msgspec.json.encode(data) == b'{"supported":["2026-07-28"],"requested":"2027-01-01"}'


def test_a_missing_capability_is_written_as_the_client_would_declare_it():
    wanted = types.ClientCapabilities(elicitation=types.ElicitationCapability(url={}))
    assert msgspec.json.encode(types.MissingRequiredClientCapabilityData(wanted)) == (
        b'{"requiredCapabilities":{"elicitation":{"url":{}}}}'
    )
