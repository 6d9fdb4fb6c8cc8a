import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero import types
from mesero.types import TextContent, UnknownContent, decode_result, decode_sampling_content

VIDEO = b'{ "type": "video", "frames": [1.50] }'
TEXT = b'{"type":"text","text":"a"}'
ENCODER = msgspec.json.Encoder(enc_hook=types.enc_hook)


def blocks(*texts: bytes) -> bytes:
    return b"[" + b",".join(texts) + b"]"


def test_one_unknown_block_does_not_lose_the_rest():
    text = b'{"content":' + blocks(TEXT, VIDEO) + b',"structuredContent":null,"isError":true,"_meta":{"k":1}}'
    read = decode_result(types.CallToolResult, text)
    assert read == types.CallToolResult(
        [TextContent("a"), UnknownContent("video", VIDEO)],
        structured_content=None,
        is_error=True,
        meta={"k": 1},
    )
    assert blocks(TEXT, VIDEO) in ENCODER.encode(read)


def test_a_prompt_keeps_its_messages_around_an_unknown_block():
    message = b'{"role":"user","content":%s}'
    text = b'{"description":"d","messages":' + blocks(message % TEXT, message % VIDEO) + b"}"
    read = decode_result(types.GetPromptResult, text)
    assert [m.content for m in read.messages] == [TextContent("a"), UnknownContent("video", VIDEO)]
    assert message % VIDEO in ENCODER.encode(read)


@pytest.mark.parametrize("content", [VIDEO, blocks(VIDEO, TEXT)])
def test_sampling_messages_keep_unknown_blocks_in_both_forms(content):
    text = b'{"messages":[{"role":"user","content":' + content + b'}],"maxTokens":1}'
    assert content in ENCODER.encode(decode_result(types.CreateMessageParams, text))


def test_an_answer_of_the_model_keeps_an_unknown_block():
    text = b'{"role":"assistant","content":' + VIDEO + b',"model":"m"}'
    assert decode_result(types.CreateMessageResult, text).content == UnknownContent("video", VIDEO)


def test_a_tool_result_keeps_an_unknown_block_inside_it():
    block = decode_sampling_content(
        b'{"type":"tool_result","toolUseId":"1","content":' + blocks(VIDEO) + b"}"
    )
    assert block == types.ToolResultContent("1", [UnknownContent("video", VIDEO)])


@pytest.mark.parametrize(
    "text",
    [b'{"type":"tool_result","content":[]}', b'{"type":"tool_result","toolUseId":"1","content":[1]}', VIDEO],
)
def test_a_sampling_block_that_does_not_fit_is_kept_as_it_came(text):
    block = decode_sampling_content(text)
    assert isinstance(block, UnknownContent)
    assert block.raw == text


@pytest.mark.parametrize(
    ("struct", "text", "complaint"),
    [
        (types.CallToolResult, b"[]", "Expected `object`"),
        (types.CallToolResult, b"{}", "missing required field `content`"),
        (types.CallToolResult, b'{"content":"hi"}', r"Expected `array`, got `str` - in `\$.content`"),
        (types.CallToolResult, b'{"content":[' + VIDEO + b',{"text":"a"}]}', "`type` - in item 1 - in `"),
        (types.CallToolResult, b'{"content":[' + VIDEO + b'],"isError":"no"}', r"`\$.isError`"),
        (types.CallToolResult, b'{"content":[],"isError":"no"}', r"`\$.isError`"),
        (types.ListToolsResult, b'{"tools":[{}]}', r"`\$.tools\[0\]`"),
        (types.GetPromptResult, b'{"messages":[{"role":"user"}]}', "`content` - in item 0 - in `"),
        (types.Root, b'{"uri":1}', r"`\$.uri`"),
    ],
)
def test_what_fails_elsewhere_is_raised_with_its_place(struct, text, complaint):
    with pytest.raises(msgspec.ValidationError, match=complaint):
        decode_result(struct, text)


@pytest.mark.parametrize("text", [b'{"content":[' + VIDEO + b"], oops}", b'{"content":[' + VIDEO, b""])
def test_broken_json_is_never_repaired(text):
    with pytest.raises(msgspec.DecodeError):
        decode_result(types.CallToolResult, text)


def test_raw_and_bytes_are_read_alike():
    text = b'{"content":[' + VIDEO + b"]}"
    assert decode_result(types.CallToolResult, msgspec.Raw(text)) == decode_result(types.CallToolResult, text)


KINDS = st.sampled_from([TEXT, VIDEO, b'{"type":"text","text":1}', b'{"type":"image"}', b'{"type":""}'])


@given(st.lists(KINDS, max_size=6))
def test_any_mixture_of_blocks_is_forwarded_exactly(texts):
    read = decode_result(types.CallToolResult, b'{"content":' + blocks(*texts) + b"}")
    written = b'{"content":' + blocks(*texts) + b',"isError":false,"resultType":"complete"}'
    assert ENCODER.encode(read) == written
