from mesero.explain.glossary.headers import HEADERS
from mesero.modern.headers import MARK, METHOD_HEADER, NAME_HEADER, PARAM_PREFIX, VERSION_HEADER


def test_the_headers_of_our_own_code_are_explained():
    names = {entry.name.lower() for entry in HEADERS}
    assert {VERSION_HEADER, METHOD_HEADER, NAME_HEADER, f"{PARAM_PREFIX}*", MARK} <= names
    assert {"mcp-session-id", "last-event-id", "accept", "authorization", "www-authenticate"} <= names


def test_a_header_is_one_for_both_eras_or_says_for_which():
    by_name = {entry.name: entry for entry in HEADERS}
    assert by_name["Mcp-Session-Id"].era.startswith("handshake")
    assert by_name["Mcp-Method"].era.startswith("stateless")
    assert by_name["MCP-Protocol-Version"].era.startswith("both")
