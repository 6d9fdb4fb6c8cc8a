"""Content blocks in each revision: kept, trimmed, or said in words."""

import pytest

from mesero.legacy.contents import SPOKEN, fit_block, fit_blocks, words_of
from mesero.legacy.shapes import Loss
from mesero.types import UnknownContent

AUDIO = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a", "icons": []}
TOOL_USE = {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}}
TOOL_RESULT = {
    "type": "tool_result",
    "toolUseId": "1",
    "content": [{"type": "text", "text": "3"}],
    "structuredContent": 3,
}


@pytest.mark.parametrize(
    ("block", "revision", "fitted", "loss"),
    [
        (
            AUDIO,
            "2024-11-05",
            {"type": "text", "text": "[audio, audio/wav, 4 characters of base64]"},
            "audio content (since 2025-03-26) became text",
        ),
        (AUDIO, "2025-03-26", AUDIO, None),
        (
            LINK,
            "2025-03-26",
            {"type": "text", "text": "a: file:///a"},
            "resource_link content (since 2025-06-18) became text",
        ),
        (
            {"type": "poem", "lines": ["a"]},
            "2025-11-25",
            {"type": "text", "text": '{"type":"poem","lines":["a"]}'},
            "content of the unknown type 'poem' became text",
        ),
        (
            UnknownContent("poem", b'{"type":"poem", "lines":[]}'),
            "2025-11-25",
            {"type": "text", "text": '{"type":"poem", "lines":[]}'},
            "content of the unknown type 'poem' became text",
        ),
        (TOOL_USE, "2025-11-25", TOOL_USE, None),
        (
            TOOL_USE,
            "2025-06-18",
            {"type": "text", "text": '[call of the tool add: {"a":1}]'},
            "tool_use content (since 2025-11-25) became text",
        ),
        (
            TOOL_RESULT,
            "2025-06-18",
            {"type": "text", "text": "3"},
            "tool_result content (since 2025-11-25) became text",
        ),
    ],
)
def test_a_block_is_kept_or_becomes_text(block, revision, fitted, loss):
    losses = []
    known = SPOKEN if block in (TOOL_USE, TOOL_RESULT) else {}
    given = dict(block) if isinstance(block, dict) else block

    found = fit_block(given, revision, "$.content[2]", losses, **({"known": known} if known else {}))

    assert found == fitted
    assert losses == ([Loss("$.content[2]", loss)] if loss else [])


def test_annotations_and_metadata_go_with_the_words_as_far_as_the_revision_has_them():
    block = {**AUDIO, "annotations": {"priority": 1, "lastModified": "2025"}, "_meta": {"a": 1}}
    losses = []

    found = fit_block(block, "2024-11-05", "$", losses)

    assert found["annotations"] == {"priority": 1}
    assert "_meta" not in found
    assert [loss.path for loss in losses] == ["$", "$._meta", "$.annotations.lastModified"]


def test_a_resource_inside_a_block_loses_its_metadata_where_it_had_none():
    resource = {"uri": "a:b", "text": "x", "_meta": {"a": 1}}
    losses = []

    [found] = fit_blocks([{"type": "resource", "resource": resource}], "2025-03-26", "$.content", losses)

    assert found == {"type": "resource", "resource": {"uri": "a:b", "text": "x"}}
    assert losses == [Loss("$.content[0].resource._meta", "_meta (since 2025-06-18) was dropped")]


def test_the_result_of_a_tool_inside_a_conversation_is_made_to_fit_too():
    losses = []
    block = {**TOOL_RESULT, "content": [UnknownContent("x", b'{"type":"x"}')]}

    found = fit_block(block, "2025-11-25", "$", losses, known=SPOKEN)

    assert found["content"] == [{"type": "text", "text": '{"type":"x"}'}]
    assert found["structuredContent"] == {"result": 3}
    assert [loss.path for loss in losses] == ["$.content[0]", "$.structuredContent"]


def test_the_result_of_a_tool_without_structure_stays_without():
    block = {"type": "tool_result", "toolUseId": "1", "content": []}

    assert fit_block(dict(block), "2025-11-25", "$", [], known=SPOKEN) == block


def test_words_are_made_of_every_kind_of_block():
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "AA", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "x"}},
        UnknownContent("x", b'{"type":"x"}'),
    ]

    assert words_of(blocks).splitlines() == [
        "a",
        "[image, image/png, 2 characters of base64]",
        '{"type":"resource","resource":{"uri":"a:b","text":"x"}}',
        '{"type":"x"}',
    ]
