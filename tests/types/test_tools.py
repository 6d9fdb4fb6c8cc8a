import msgspec
import pytest
from msgspec import UNSET

from mesero import types
from mesero.types import CallToolParams, CallToolResult, TextContent, Tool

ENCODER = msgspec.json.Encoder(enc_hook=types.enc_hook)


def test_a_null_structured_content_is_a_value():
    text = b'{"content":[],"structuredContent":null,"isError":false,"resultType":"complete"}'
    read = types.decode_result(CallToolResult, text)
    assert read.structured_content is None
    assert ENCODER.encode(read) == text


def test_an_absent_structured_content_stays_absent():
    read = types.decode_result(CallToolResult, b'{"content":[]}')
    assert read.structured_content is UNSET
    assert ENCODER.encode(read) == b'{"content":[],"isError":false,"resultType":"complete"}'


def test_is_error_is_always_written():
    assert b'"isError":false' in ENCODER.encode(CallToolResult([]))
    assert b'"isError":true' in ENCODER.encode(CallToolResult([], is_error=True))


def test_text_joins_the_text_blocks_only():
    unknown = types.UnknownContent("video", b'{"type":"video"}')
    image = types.ImageContent("", "image/png")
    assert CallToolResult([TextContent("a"), image, unknown, TextContent("b")]).text == "a\nb"
    assert CallToolResult([]).text == ""


def test_arguments_stay_raw_until_the_tool_reads_them():
    params = msgspec.json.decode(b'{"name":"add","arguments":{"a": 1.0},"_meta":{}}', type=CallToolParams)
    assert params.arguments is not UNSET
    assert bytes(params.arguments) == b'{"a": 1.0}'
    assert msgspec.json.decode(b'{"name":"add"}', type=CallToolParams).arguments is UNSET


def test_answers_come_with_the_retry():
    params = msgspec.json.decode(
        b'{"name":"add","inputResponses":{"k":{"action":"decline"}},"requestState":"s"}', type=CallToolParams
    )
    assert params.request_state == "s"
    assert params.input_responses is not UNSET
    assert bytes(params.input_responses["k"]) == b'{"action":"decline"}'


def test_a_tool_without_an_input_schema_is_refused():
    with pytest.raises(msgspec.ValidationError, match="inputSchema"):
        msgspec.json.decode(b'{"name":"add"}', type=Tool)


def test_schemas_are_forwarded_member_by_member():
    schema = {"type": "object", "properties": {"a": {"type": "integer", "x-mcp-header": "A"}}, "$defs": {}}
    tool = Tool("add", schema, output_schema={"type": ["null", "string"]})
    assert msgspec.json.decode(msgspec.json.encode(tool), type=Tool) == tool
