import msgspec
import pytest
from msgspec import UNSET

from mesero import types
from mesero.types import UnknownContent, decode_content, enc_hook

ENCODER = msgspec.json.Encoder(enc_hook=enc_hook)


@pytest.mark.parametrize(
    ("text", "block"),
    [
        (b'{"type":"text","text":"hi"}', types.TextContent("hi")),
        (b'{"type":"image","data":"AA==","mimeType":"image/png"}', types.ImageContent("AA==", "image/png")),
        (b'{"type":"audio","data":"AA==","mimeType":"audio/wav"}', types.AudioContent("AA==", "audio/wav")),
        (b'{"type":"resource_link","uri":"a:b","name":"b"}', types.ResourceLink("a:b", "b")),
        (
            b'{"type":"resource","resource":{"uri":"a:b","text":"hi"}}',
            types.EmbeddedResource(types.TextResourceContents("a:b", "hi")),
        ),
    ],
)
def test_each_block_is_read_by_its_type_and_written_the_same(text, block):
    assert decode_content(text) == block
    assert ENCODER.encode(block) == text


def test_meta_and_annotations_are_kept():
    text = b'{"type":"text","text":"a","annotations":{"audience":["user"]},"_meta":{"x":null}}'
    assert ENCODER.encode(decode_content(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        b'{ "type": "video",  "frames": [1.50, 2e3, null] }',
        b'{"type":"text","text":7}',
        b'{"type":"image","data":"AA=="}',
        b'{"type":"tool_use","id":"1","name":"a","input":{}}',
    ],
)
def test_a_block_that_we_can_not_read_is_forwarded_exactly(text):
    block = decode_content(msgspec.Raw(text))
    assert isinstance(block, UnknownContent)
    assert block.type == msgspec.json.decode(text)["type"]
    assert ENCODER.encode([block]) == b"[" + text + b"]"


@pytest.mark.parametrize("text", [b"{}", b"[]", b"null", b'{"type":1}', b'"text"'])
def test_what_has_no_type_is_no_block(text):
    with pytest.raises(msgspec.ValidationError):
        decode_content(text)


def test_broken_json_is_not_taken_for_an_unknown_block():
    with pytest.raises(msgspec.DecodeError):
        decode_content(b'{"type":"video", oops')


def test_unknown_blocks_compare_by_their_text_and_do_not_print_it():
    one, same, other = (UnknownContent("video", raw) for raw in (b"{1}", b"{1}", b"{2}"))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "video"
    assert repr(one) == "UnknownContent(type='video', raw=<3 bytes>)"


def test_the_encoding_hook_names_what_it_can_not_write():
    with pytest.raises(TypeError, match="type complex has no JSON form"):
        ENCODER.encode(1j)


def test_text_contents_know_their_bytes():
    contents = types.TextResourceContents("a:b", "ñ", mime_type="text/plain")
    assert (contents.is_text, contents.is_blob, contents.data) == (True, False, b"\xc3\xb1")
    assert contents.mime_type == "text/plain"


def test_binary_contents_are_built_from_bytes_or_from_base64():
    contents = types.BlobResourceContents("a:b", b"\x00\xff", meta={"k": 1})
    assert contents == types.BlobResourceContents("a:b", "AP8=", meta={"k": 1})
    assert (contents.is_text, contents.is_blob, contents.data) == (False, True, b"\x00\xff")


def test_a_blob_that_is_no_base64_is_refused_when_its_bytes_are_asked_for():
    with pytest.raises(ValueError, match=r"base64|padding|characters"):
        _ = types.BlobResourceContents("a:b", "not base64!").data


def test_contents_with_neither_text_nor_blob_have_no_bytes():
    contents = types.ResourceContents("a:b")
    assert (contents.text, contents.data) == (UNSET, b"")
