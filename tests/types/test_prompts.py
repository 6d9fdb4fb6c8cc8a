import msgspec
import pytest

from mesero import types


def test_an_argument_is_optional_unless_it_says_otherwise():
    assert msgspec.json.encode(types.PromptArgument("topic")) == b'{"name":"topic"}'
    assert msgspec.json.decode(b'{"name":"topic","required":true}', type=types.PromptArgument).required


def test_prompt_arguments_are_texts():
    with pytest.raises(msgspec.ValidationError, match=r"\$\.arguments"):
        msgspec.json.decode(b'{"name":"a","arguments":{"n":1}}', type=types.GetPromptParams)


def test_a_message_has_one_block_and_a_role():
    message = types.PromptMessage("user", types.TextContent("hi"))
    assert msgspec.json.encode(message) == b'{"role":"user","content":{"type":"text","text":"hi"}}'


def test_a_role_that_does_not_exist_is_refused():
    text = b'{"messages":[{"role":"system","content":{"type":"text","text":"a"}}]}'
    with pytest.raises(msgspec.ValidationError, match="system"):
        types.decode_result(types.GetPromptResult, text)


def test_prompts_are_listed_in_pages():
    result = types.ListPromptsResult([types.Prompt("a", arguments=[])], next_cursor="a")
    assert types.decode_result(types.ListPromptsResult, msgspec.json.encode(result)) == result
