import json
from dataclasses import dataclass

import msgspec
import pytest
from msgspec import Raw

from mesero.errors import InternalError, InvalidParamsError, UsageError
from mesero.server.state import RoundState, Sealer, binding_for

PARAMS = b'{"name":"pay","arguments":{"a":1,"b":[2]},"_meta":{"x":1}}'
BINDING = binding_for("ana", "tools/call", PARAMS)
STATE = RoundState({"sure": Raw(b'{"action":"accept"}')}, {"ticket": 7})


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class User(msgspec.Struct):
    name: str
    roles: list[str] = []


@dataclass
class Account:
    number: int


class Shown:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Shown({self.name!r})"


class Bare:
    """Shows nothing but where it lies."""


def assert_refused(sealer, text, binding=BINDING):
    with pytest.raises(InvalidParamsError, match="start the operation again") as caught:
        sealer.open(text, binding)
    assert caught.value.code == -32602


def test_what_was_sealed_opens():
    sealer = Sealer()
    opened = sealer.open(sealer.seal(STATE, BINDING), BINDING)
    assert bytes(opened.answers["sure"]) == b'{"action":"accept"}'
    assert opened.made == {"ticket": 7}


def test_nothing_of_it_can_be_read():
    text = Sealer().seal(STATE, BINDING)
    assert "accept" not in text
    assert text.isascii()


def test_a_change_of_any_character_is_noticed():
    sealer = Sealer()
    text = sealer.seal(STATE, BINDING)
    for place in range(0, len(text) - 2, 7):
        other = "A" if text[place] != "A" else "B"
        assert_refused(sealer, text[:place] + other + text[place + 1 :])


@pytest.mark.parametrize("text", ["", "A", "!!!", "\ud800", "A" * 16, "A" * 40_000, "é"])
def test_what_was_never_sealed_does_not_open(text):
    assert_refused(Sealer(), text)


def test_a_state_expires():
    clock = Clock()
    sealer = Sealer(ttl_s=60, clock=clock)
    text = sealer.seal(STATE, BINDING)
    clock.now += 60
    assert sealer.open(text, BINDING).made == {"ticket": 7}
    clock.now += 0.5
    assert_refused(sealer, text)


@pytest.mark.parametrize(
    ("principal", "method", "params"),
    [
        ("ben", "tools/call", PARAMS),
        (None, "tools/call", PARAMS),
        ("ana", "prompts/get", PARAMS),
        ("ana", "tools/call", PARAMS.replace(b"[2]", b"[3]")),
        ("ana", "tools/call", PARAMS.replace(b"pay", b"buy")),
    ],
)
def test_a_state_is_bound_to_who_asked_for_what(principal, method, params):
    sealer = Sealer()
    assert_refused(sealer, sealer.seal(STATE, BINDING), binding_for(principal, method, params))


def test_metadata_and_answers_and_the_order_of_members_do_not_matter():
    retry = {
        "requestState": "s",
        "inputResponses": {"sure": {}},
        "_meta": {"y": 2},
        "arguments": {"b": [2], "a": 1},
        "name": "pay",
    }
    assert binding_for("ana", "tools/call", json.dumps(retry).encode()) == BINDING


@pytest.mark.parametrize(
    "make",
    [lambda: "ana", lambda: User("ana", ["a"]), lambda: Account(1), lambda: Shown("ana"), lambda: None],
)
def test_equal_principals_are_one_whatever_their_place_in_memory(make):
    kept = [make(), make()]
    first, second = (binding_for(one, "tools/call", PARAMS) for one in kept)
    assert first == second


def test_different_principals_are_different_whatever_their_kind():
    principals = ["1", 1, None, User("1"), User("1", ["a"]), Account(1), Shown("1"), {"name": "1"}]
    assert len({binding_for(one, "tools/call", PARAMS) for one in principals}) == len(principals)


def test_a_principal_that_shows_nothing_of_itself_is_the_servers_mistake():
    with pytest.raises(InternalError, match="Bare looks different in every request"):
        binding_for(Bare(), "tools/call", PARAMS)


def test_keys_are_shared_and_changed_without_losing_states():
    old, new = b"1" * 32, b"2" * 16
    before, after = Sealer([old]), Sealer([new, old])
    assert after.open(before.seal(STATE, BINDING), BINDING).made == {"ticket": 7}
    assert_refused(before, after.seal(STATE, BINDING))
    assert_refused(Sealer([new]), before.seal(STATE, BINDING))


def test_without_keys_each_process_has_its_own():
    assert_refused(Sealer(), Sealer().seal(STATE, BINDING))


def test_a_key_has_the_length_of_one():
    with pytest.raises(UsageError, match="16, 24 or 32 bytes"):
        Sealer([b"short"])


def test_a_state_larger_than_the_limit_is_refused_with_advice():
    with pytest.raises(InternalError, match="keep it in a store"):
        Sealer().seal(RoundState({}, {"big": "x" * 33_000}), BINDING)


def test_a_set_in_a_principal_has_no_order():
    one, other = set([0, 8]), set([8, 0])  # noqa: C405  (a literal would not keep the order of insertion)
    assert list(one) != list(other)
    principals = [{"name": "ana", "scopes": scopes} for scopes in (one, other)]
    assert len({binding_for(principal, "tools/call", PARAMS) for principal in principals}) == 1
