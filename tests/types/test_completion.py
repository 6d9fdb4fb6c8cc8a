import msgspec
import pytest

from mesero import types


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        (b'{"type":"ref/prompt","name":"greet"}', types.PromptReference("greet")),
        (b'{"type":"ref/resource","uri":"notes://{id}"}', types.ResourceTemplateReference("notes://{id}")),
    ],
)
def test_a_reference_is_read_by_its_type(text, ref):
    params = msgspec.json.decode(
        b'{"ref":' + text + b',"argument":{"name":"a","value":""}}', type=types.CompleteParams
    )
    assert params.ref == ref
    assert msgspec.json.encode(params.ref) == text


def test_a_reference_of_another_type_is_refused():
    text = b'{"ref":{"type":"ref/tool","name":"a"},"argument":{"name":"a","value":""}}'
    with pytest.raises(msgspec.ValidationError, match="ref/tool"):
        msgspec.json.decode(text, type=types.CompleteParams)


def test_settled_arguments_travel_as_context():
    params = types.CompleteParams(
        types.PromptReference("greet"),
        types.CompletionArgument("name", "A"),
        context=types.CompletionContext({"language": "es"}),
    )
    assert msgspec.json.decode(msgspec.json.encode(params), type=types.CompleteParams) == params


def test_has_more_is_written_only_when_there_is_more():
    assert msgspec.json.encode(types.Completion(["a"])) == b'{"values":["a"]}'
    result = types.CompleteResult(types.Completion(["a"], total=200, has_more=True))
    assert types.decode_result(types.CompleteResult, msgspec.json.encode(result)) == result
