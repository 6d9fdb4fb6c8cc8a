"""The seam itself: plain data, and a contract that the transports of this package keep."""

import pytest

from mesero.jsonrpc import Notification
from mesero.transports import HttpFacts, Outgoing, Received, Transport
from mesero.transports.memory import MemoryTransport
from mesero.transports.stdio import StdioTransport


@pytest.mark.parametrize("kind", [MemoryTransport, StdioTransport])
def test_our_transports_have_every_member_of_the_contract(kind):
    wanted = {name for name in vars(Transport) if not name.startswith("_")} | set(Transport.__annotations__)
    transport = kind(["server"])
    assert {name for name in wanted if not hasattr(transport, name)} == set()


def test_messages_of_the_seam_cannot_be_changed():
    received = Received(b"{}", Notification("any"), HttpFacts(status=200))
    with pytest.raises(AttributeError):
        received.raw = b""
    with pytest.raises(AttributeError):
        received.http.status = 500


def test_a_request_without_mirrored_headers_has_none():
    assert Outgoing(1, "any", b"{}").headers == ()


def test_the_facts_of_http_show_the_names_of_headers_alone():
    facts = HttpFacts(url="https://a.example/mcp", headers=(("authorization", "Bearer geheim"), ("x", "y")))
    assert repr(facts) == "HttpFacts(POST https://a.example/mcp, status=0, headers: authorization, x)"
