import msgspec
import pytest

from mesero import types
from mesero.types import InputRequest, decode_input_params, decode_input_response, input_request_from

MESSAGE = types.SamplingMessage("user", types.UnknownContent("video", b'{"type": "video"}'))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (types.ELICIT_METHOD, types.ElicitFormParams("a", {"type": "object"})),
        (types.ELICIT_METHOD, types.ElicitUrlParams("a", "https://example.com")),
        (types.CREATE_MESSAGE_METHOD, types.CreateMessageParams(messages=[MESSAGE], max_tokens=5)),
        (types.LIST_ROOTS_METHOD, types.ListRootsParams()),
    ],
)
def test_a_question_survives_the_way_there(method, params):
    request = input_request_from(params)
    assert request.method == method
    assert decode_input_params(msgspec.json.decode(msgspec.json.encode(request), type=InputRequest)) == params


def test_a_question_without_parameters_is_read_as_an_empty_one():
    assert decode_input_params(InputRequest(types.LIST_ROOTS_METHOD)) == types.ListRootsParams()


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        (types.ELICIT_METHOD, types.ElicitResult("accept", {"name": "Ana"})),
        (types.CREATE_MESSAGE_METHOD, types.CreateMessageResult("assistant", MESSAGE.content, "m")),
        (types.LIST_ROOTS_METHOD, types.ListRootsResult([types.Root("file:///a")])),
    ],
)
def test_an_answer_survives_the_way_back(method, answer):
    assert decode_input_response(method, types.encode_input_response(answer)) == answer


def test_a_method_that_nobody_knows_is_named_with_those_that_are_known():
    expected = "'x/ask'; known questions are elicitation/create, roots/list, sampling/createMessage"
    with pytest.raises(msgspec.ValidationError, match=expected):
        decode_input_params(InputRequest("x/ask"))
    with pytest.raises(msgspec.ValidationError, match=expected):
        decode_input_response("x/ask", b"{}")


def test_an_answer_to_another_question_is_refused():
    with pytest.raises(msgspec.ValidationError, match="action"):
        decode_input_response(types.ELICIT_METHOD, b'{"roots":[]}')
