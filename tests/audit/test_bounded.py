"""A dict that forgets."""

from mesero.audit.bounded import BoundedDict


def test_the_oldest_entry_makes_room_for_a_new_one():
    kept = BoundedDict(2)
    for key in "abc":
        kept[key] = key.upper()

    assert kept == {"b": "B", "c": "C"}
    assert kept.dropped == 1


def test_a_key_that_is_there_already_drops_nothing():
    kept = BoundedDict(1)
    kept["a"] = 1
    kept["a"] = 2

    assert kept == {"a": 2}
    assert kept.dropped == 0
