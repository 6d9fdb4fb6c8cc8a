from mesero.cli.contents import lines_of_block, lines_of_contents, lines_of_result
from mesero.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    UnknownContent,
)


def test_text_is_its_lines():
    assert lines_of_block(TextContent("a\nb")) == ["a", "b"]
    assert lines_of_block(TextContent("")) == [""]


def test_what_is_no_text_is_described_by_type_and_size():
    assert lines_of_block(ImageContent("AAAA", "image/png")) == ["[image image/png, 3 bytes]"]
    assert lines_of_block(AudioContent("AAA=", "audio/wav")) == ["[audio audio/wav, 2 bytes]"]
    assert lines_of_block(ResourceLink("file:///a", "a")) == ["[resource file:///a a]"]
    assert lines_of_block(UnknownContent("odd\x1b", b"{}")) == ["[content of the unknown type odd\\x1b]"]


def test_an_embedded_resource_shows_its_contents():
    block = EmbeddedResource(TextResourceContents("file:///a", "x\ny"))
    assert lines_of_block(block) == ["[resource file:///a]", "x", "y"]


def test_contents_are_text_or_a_size():
    assert lines_of_contents(TextResourceContents("file:///a", "")) == [""]
    blob = BlobResourceContents("file:///a", b"abcd", mime_type="image/png")
    assert lines_of_contents(blob) == ["[image/png, 4 bytes; --output FILE saves it]"]
    assert lines_of_contents(BlobResourceContents("a:b", b"")) == ["[0 bytes; --output FILE saves it]"]


def test_structured_content_is_shown_unless_a_text_says_the_same():
    assert lines_of_result(CallToolResult([TextContent('{"a": 1}')], {"a": 1})) == ['{"a": 1}']
    assert lines_of_result(CallToolResult([TextContent("same")], "same")) == ["same"]
    assert lines_of_result(CallToolResult([TextContent("5")], {"result": 5})) == ["5"]
    assert lines_of_result(CallToolResult([TextContent("done")], {"a": 1})) == ["done", "{", '  "a": 1', "}"]
    assert lines_of_result(CallToolResult([ImageContent("", "image/png")], None))[-1] == "null"


def test_nothing_is_shown_as_nothing():
    assert lines_of_result(CallToolResult([])) == ["(nothing)"]
