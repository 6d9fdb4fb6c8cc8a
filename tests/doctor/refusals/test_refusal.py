import pytest

from mesero.doctor.refusals.kinds import NoProperties
from mesero.doctor.refusals.refusal import Refusal

FACT = {
    "id": "a",
    "by": "A host",
    "what": "something",
    "kind": NoProperties(),
    "code": "MODEL-1",
    "consequence": "the whole request",
    "source": "https://example.com",
}


@pytest.mark.parametrize(
    ("changed", "is_grave"),
    [
        ({}, True),
        ({"consequence": "every tool of the server"}, True),
        ({"sure": "likely"}, True),
        ({"consequence": "this tool"}, False),
        ({"sure": "possible"}, False),
        ({"softened": "some hosts"}, False),
    ],
)
def test_grave_is_what_costs_a_request_or_a_server_for_sure(changed, is_grave):
    assert Refusal(**{**FACT, **changed}).is_grave is is_grave
