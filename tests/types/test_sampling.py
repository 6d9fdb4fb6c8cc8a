import msgspec
import pytest

from mesero import types


@pytest.mark.parametrize(
    "content",
    [
        b'{"type":"text","text":"a"}',
        b'[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"t","input":{}}]',
        b'[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"a"}],"isError":true}]',
        b"[]",
    ],
)
def test_content_is_one_block_or_several_and_stays_so(content):
    text = b'{"role":"user","content":' + content + b"}"
    assert msgspec.json.encode(types.decode_result(types.SamplingMessage, text)) == text


def test_stop_reasons_are_open():
    text = b'{"role":"assistant","content":{"type":"text","text":"a"},"model":"m","stopReason":"tired"}'
    read = types.decode_result(types.CreateMessageResult, text)
    assert (read.model, read.stop_reason) == ("m", "tired")
    assert msgspec.json.encode(read) == text


def test_a_question_to_the_model_needs_a_token_limit():
    with pytest.raises(msgspec.ValidationError, match="maxTokens"):
        types.decode_result(types.CreateMessageParams, b'{"messages":[]}')


def test_preferences_and_tools_survive():
    params = types.CreateMessageParams(
        messages=[types.SamplingMessage("user", types.TextContent("a"))],
        max_tokens=1,
        model_preferences=types.ModelPreferences(hints=[types.ModelHint("small")], cost_priority=1),
        tools=[types.Tool("t", {"type": "object"})],
        tool_choice=types.ToolChoice("required"),
        include_context="none",
    )
    assert types.decode_result(types.CreateMessageParams, msgspec.json.encode(params)) == params
