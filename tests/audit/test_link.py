"""What is remembered of a link."""

import pytest

from mesero.audit.link import Handshake, LinkState, find_id_key


@pytest.mark.parametrize(("value", "key"), [(1, ("int", 1)), ("1", ("str", "1")), (True, None), (1.0, None)])
def test_an_id_is_known_by_its_value_and_its_type(value, key):
    assert find_id_key(value) == key


def test_a_session_is_never_taken_for_another():
    link = LinkState("1")
    link.current = Handshake(asked="2025-11-25", seq=1, revision="2025-11-25", session="a")
    link.handshakes["a"] = link.current

    assert link.handshake_for("a") is link.current
    assert link.handshake_for("b") is None
    assert link.handshake_for("") is link.current


def test_a_link_without_its_beginning_may_have_forgotten():
    link = LinkState("1")
    assert not link.is_forgetful()

    link.may_lack_start = True
    assert link.is_forgetful()


def test_a_listing_is_made_once():
    link = LinkState("1")

    assert link.listing_of("tools/list") is link.listing_of("tools/list")
