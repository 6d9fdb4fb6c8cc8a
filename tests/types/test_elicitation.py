import msgspec
import pytest

from mesero.types import ElicitFormParams, ElicitResult, ElicitUrlParams, decode_elicit_params

FORM = b'{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}'


def test_an_absent_mode_means_a_form():
    expected = ElicitFormParams("Name?", {"type": "object", "properties": {}})
    assert decode_elicit_params(FORM) == expected
    assert decode_elicit_params(b'{"mode":"form",' + FORM[1:]) == expected


def test_the_mode_is_always_written():
    assert msgspec.json.encode(ElicitFormParams("a", {})).startswith(b'{"mode":"form"')
    assert msgspec.json.encode(ElicitUrlParams("a", "https://example.com")).startswith(b'{"mode":"url"')


def test_a_url_question_holds_its_url():
    text = b'{"mode":"url","message":"Pay","url":"https://example.com/pay"}'
    assert decode_elicit_params(msgspec.Raw(text)) == ElicitUrlParams("Pay", "https://example.com/pay")


@pytest.mark.parametrize("text", [b'{"mode":"voice","message":"a"}', b'{"mode":null,"message":"a"}'])
def test_another_mode_is_refused_by_name(text):
    with pytest.raises(msgspec.ValidationError, match=r"\$\.mode"):
        decode_elicit_params(text)


def test_a_declined_question_has_no_content():
    assert msgspec.json.encode(ElicitResult("decline")) == b'{"action":"decline"}'


def test_values_keep_their_types():
    text = b'{"action":"accept","content":{"a":1,"b":1.5,"c":true,"d":["x"],"e":"y"}}'
    assert msgspec.json.encode(msgspec.json.decode(text, type=ElicitResult)) == text
