import msgspec
from msgspec import UNSET

from mesero.types import InputRequest, InputRequiredResult, InputResponseParams


def test_a_result_that_asks_says_so():
    assert msgspec.json.encode(InputRequiredResult(request_state="s")) == (
        b'{"resultType":"input_required","requestState":"s"}'
    )


def test_questions_pass_through_exactly_even_of_unknown_methods():
    text = b'{"inputRequests":{"q":{"method":"x/ask","params":{ "a": 1.0 }}},"resultType":"input_required"}'
    read = msgspec.json.decode(text, type=InputRequiredResult)
    assert read.input_requests is not UNSET
    assert read.input_requests["q"].method == "x/ask"
    assert msgspec.json.encode(read.input_requests["q"]) == b'{"method":"x/ask","params":{ "a": 1.0 }}'


def test_a_question_may_have_no_parameters():
    assert msgspec.json.encode(InputRequest("roots/list")) == b'{"method":"roots/list"}'


def test_the_first_round_carries_nothing():
    assert msgspec.json.encode(InputResponseParams()) == b"{}"
