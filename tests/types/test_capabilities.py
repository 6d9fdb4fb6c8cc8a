import msgspec
import pytest

from mesero.types import ClientCapabilities, ElicitationCapability, ServerCapabilities, ToolsCapability


@pytest.mark.parametrize(
    ("text", "may_form", "may_url"),
    [
        (b"{}", True, False),
        (b'{"form":{}}', True, False),
        (b'{"url":{}}', False, True),
        (b'{"form":{},"url":{}}', True, True),
    ],
)
def test_an_empty_elicitation_capability_means_forms_only(text, may_form, may_url):
    capability = msgspec.json.decode(text, type=ElicitationCapability)
    assert (capability.may_form, capability.may_url) == (may_form, may_url)


def test_a_declared_capability_is_written_even_when_it_is_empty():
    assert msgspec.json.encode(ServerCapabilities(tools=ToolsCapability(), completions={})) == (
        b'{"completions":{},"tools":{}}'
    )


def test_no_capability_is_an_empty_object():
    assert msgspec.json.encode(ClientCapabilities()) == b"{}"


def test_capabilities_of_later_revisions_are_ignored():
    read = msgspec.json.decode(b'{"telepathy":{},"roots":{"listChanged":true}}', type=ClientCapabilities)
    assert read == ClientCapabilities(roots={"listChanged": True})
