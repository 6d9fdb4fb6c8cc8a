"""From a result that asks to the parameters of the retry."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero.modern.mrtr import MAX_ROUNDS, params_for_retry
from mesero.types import InputRequest, InputRequiredResult

PARAMS = {"name": "add", "arguments": {"a": 1}}
ASKED = {"who": InputRequest("elicitation/create")}
ANSWERS = {"who": Raw(b'{"action":"accept"}')}


def test_the_retry_has_the_original_parameters_the_answers_and_the_state():
    asked = InputRequiredResult(input_requests=ASKED, request_state="s")

    assert params_for_retry(PARAMS, asked, ANSWERS) == {
        **PARAMS,
        "inputResponses": ANSWERS,
        "requestState": "s",
    }


def test_a_state_without_questions_is_echoed_alone():
    assert params_for_retry(PARAMS, InputRequiredResult(request_state="s"), {}) == {
        **PARAMS,
        "requestState": "s",
    }


def test_without_a_state_none_is_sent_not_even_that_of_the_round_before():
    before = {**PARAMS, "_meta": {"x": 1}, "inputResponses": {"old": Raw(b"{}")}, "requestState": "old"}

    retry = params_for_retry(before, InputRequiredResult(input_requests=ASKED), ANSWERS)

    assert retry == {**PARAMS, "inputResponses": ANSWERS}


@given(st.text())
def test_the_state_is_echoed_exactly_whatever_it_is(state):
    retry = params_for_retry(PARAMS, InputRequiredResult(request_state=state), {})

    assert retry["requestState"] == state


def test_the_parameters_of_the_round_before_are_not_changed():
    before = {**PARAMS, "requestState": "old"}
    params_for_retry(before, InputRequiredResult(request_state="s"), {})

    assert before == {**PARAMS, "requestState": "old"}
    assert InputRequiredResult().request_state is UNSET


def test_the_rounds_are_limited():
    assert MAX_ROUNDS == 10
