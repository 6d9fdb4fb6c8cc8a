"""The ledger of calls: nobody is answered twice, and every stray answer has a name."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule
from msgspec import UNSET, Raw

from mesero.calls import Ledger, find_owner_id
from mesero.errors import UsageError
from mesero.jsonrpc import Notification


class LedgerMachine(RuleBasedStateMachine):
    """The ledger against a plain model: what each id is, and who opened it last."""

    ids = Bundle("ids")

    def __init__(self):
        super().__init__()
        self.ledger = Ledger()
        self.states = {}
        self.owners = {}

    def is_open(self, request_id):
        return self.states.get(request_id) == "open"

    @rule(
        target=ids,
        request_id=st.integers(0, 5) | st.sampled_from("01ab"),
        owner=st.none() | st.text(max_size=2),
    )
    def open(self, request_id, owner):
        if self.is_open(request_id):
            with pytest.raises(UsageError, match="in flight already"):
                self.ledger.open(request_id, owner)
        else:
            self.ledger.open(request_id, owner)
            self.states[request_id], self.owners[request_id] = "open", owner
        return request_id

    @rule(request_id=ids, is_answered=st.booleans())
    def close(self, request_id, is_answered):
        expected = self.owners[request_id] if self.is_open(request_id) else None

        assert self.ledger.close(request_id, is_answered=is_answered) == expected
        if self.is_open(request_id):
            self.states[request_id] = "duplicate" if is_answered else "late"

    @rule(target=ids)
    def take_all(self):
        still_open = [request_id for request_id in self.ledger if self.is_open(request_id)]

        assert self.ledger.take_all() == [self.owners[request_id] for request_id in still_open]
        self.states.update(dict.fromkeys(still_open, "late"))
        return multiple()

    @invariant()
    def every_id_is_what_the_model_says(self):
        for request_id in [*range(6), *"01ab"]:
            state = self.states.get(request_id, "unknown")
            assert self.ledger.verdict_for(request_id) == state
            assert (request_id in self.ledger) == (state == "open")
            expected = self.owners[request_id] if state == "open" else None
            assert self.ledger.find(request_id) == expected

    @invariant()
    def the_open_calls_are_counted(self):
        assert len(self.ledger) == sum(state == "open" for state in self.states.values())


LedgerMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
TestLedger = LedgerMachine.TestCase


def test_ids_of_different_types_are_different_calls():
    ledger = Ledger()
    ledger.open(1, "number")
    ledger.open("1", "text")

    assert (ledger.find(1), ledger.find("1")) == ("number", "text")


def test_only_the_last_closed_ids_are_remembered():
    ledger = Ledger()
    for request_id in range(5_000):
        ledger.open(request_id, "call")
        ledger.close(request_id, is_answered=True)

    assert ledger.verdict_for(4_999) == "duplicate"
    assert ledger.verdict_for(5_000 - 4_096) == "duplicate"
    assert ledger.verdict_for(5_000 - 4_097) == "unknown"


def test_an_id_that_is_closed_again_is_remembered_from_then():
    ledger = Ledger()
    for request_id in ["again", *range(4_095), "again", "newest"]:
        ledger.open(request_id, "call")
        ledger.close(request_id, is_answered=False)

    assert ledger.verdict_for("again") == "late"
    assert ledger.verdict_for(0) == "unknown"


SUBSCRIPTION = b'{"_meta":{"io.modelcontextprotocol/subscriptionId":"s-1"}'

OWNERS = [
    ("notifications/progress", b'{"progressToken":7,"progress":1}', 7),
    ("notifications/progress", b'{"progressToken":"a","progress":1}', "a"),
    ("notifications/progress", b'{"progress":1}', None),
    ("notifications/progress", b'{"progressToken":true}', None),
    ("notifications/tools/list_changed", SUBSCRIPTION + b"}", "s-1"),
    ("notifications/cancelled", SUBSCRIPTION + b',"requestId":7}', "s-1"),
    ("notifications/cancelled", b'{"requestId":7}', 7),
    ("notifications/cancelled", b'{"_meta":{},"requestId":"a"}', "a"),
    ("notifications/cancelled", b'{"_meta":{}}', None),
    ("notifications/message", b'{"level":"info","requestId":7}', None),
    ("notifications/message", b'{"_meta":7}', None),
    ("notifications/message", b'{"x":' + b"[" * 100_000, None),
]


@pytest.mark.parametrize(("method", "params", "owner"), OWNERS)
def test_a_notification_names_the_call_that_it_belongs_to(method, params, owner):
    assert find_owner_id(Notification(method, Raw(params))) == owner


def test_a_notification_without_parameters_belongs_to_no_call():
    assert find_owner_id(Notification("notifications/progress", UNSET)) is None
