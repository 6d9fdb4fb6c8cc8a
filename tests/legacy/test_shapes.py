"""The tables of members, row by row against the official schemas, and leaving out what came later."""

import pytest

from mesero.legacy import shapes
from mesero.legacy.contents import BLOCKS, SPOKEN
from mesero.legacy.shapes import PROMPT, RESOURCE, Loss, trim
from mesero.revisions import HANDSHAKE_REVISIONS, definitions_for

# The shape, the definition that it describes, and what that was called before it had a name of its own.
DEFINITIONS = {
    "ANNOTATIONS": ["Annotations", "Annotated.annotations"],
    "COMPLETE_PARAMS": ["CompleteRequestParams", "CompleteRequest.params"],
    "CONTENTS": ["TextResourceContents"],
    "IMPLEMENTATION": ["Implementation"],
    "PROGRESS": ["ProgressNotificationParams", "ProgressNotification.params"],
    "PROMPT": ["Prompt"],
    "PROMPT_ARGUMENT": ["PromptArgument"],
    "PROMPT_REFERENCE": ["PromptReference"],
    "RESOURCE": ["Resource"],
    "ROOT": ["Root"],
    "SAMPLING_MESSAGE": ["SamplingMessage"],
    "SAMPLING_PARAMS": ["CreateMessageRequestParams", "CreateMessageRequest.params"],
    "TEMPLATE": ["ResourceTemplate"],
    "TOOL": ["Tool"],
}
BLOCK_DEFINITIONS = {
    "text": "TextContent",
    "image": "ImageContent",
    "audio": "AudioContent",
    "resource": "EmbeddedResource",
    "resource_link": "ResourceLink",
    "tool_use": "ToolUseContent",
    "tool_result": "ToolResultContent",
}
# Members that an envelope has, or that another adaptation takes care of.
BESIDES = {"COMPLETE_PARAMS": {"_meta"}, "PROGRESS": {"_meta"}, "SAMPLING_PARAMS": {"_meta", "task"}}
NOT_IN_THE_VOCABULARY = {"TOOL": {"execution"}}
MEMBERS_OF_TODAY = "2026-07-28"


def members_of(revision, names):
    """The members of the first of these definitions that there is; None when there is none."""
    definitions = definitions_for(revision)
    for name in names:
        definition, _, member = name.partition(".")
        if definition in definitions:
            found = definitions[definition]
            if member:
                found = found["properties"][member]
            return set(found["properties"])
    return None


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_shape_keeps_exactly_the_members_that_its_revision_has(name, revision):
    left_out = BESIDES.get(name, set()) | NOT_IN_THE_VOCABULARY.get(name, set())
    ours = members_of(MEMBERS_OF_TODAY, DEFINITIONS[name]) - left_out
    official = members_of(revision, DEFINITIONS[name]) - left_out
    value = dict.fromkeys(ours, 1)
    losses = []

    trim(value, getattr(shapes, name), revision, "$", losses)

    assert set(value) == official & ours
    assert {loss.path for loss in losses} == {f"$.{member}" for member in ours - official}


@pytest.mark.parametrize("table", [BLOCKS, SPOKEN], ids=["BLOCKS", "SPOKEN"])
@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_content_block_exists_since_its_revision_with_the_members_of_the_revision(table, revision):
    for kind, (since, shape) in table.items():
        official = members_of(revision, [BLOCK_DEFINITIONS[kind]])
        is_there = HANDSHAKE_REVISIONS.index(since) <= HANDSHAKE_REVISIONS.index(revision)
        assert is_there is (official is not None), kind
        if official is not None:
            value = dict.fromkeys(members_of(MEMBERS_OF_TODAY, [BLOCK_DEFINITIONS[kind]]), 1)
            trim(value, shape, revision, "$", [])
            assert set(value) == official, kind


def test_the_members_of_lists_and_inner_objects_are_left_out_with_their_place():
    prompt = {"name": "p", "arguments": [{"name": "a"}, {"name": "b", "title": "B"}, None]}
    resource = {"uri": "a:b", "name": "r", "annotations": {"lastModified": "2025", "priority": 1}}
    losses = []

    trim(prompt, PROMPT, "2024-11-05", "$.prompts[0]", losses)
    trim(resource, RESOURCE, "2025-03-26", "$.resources[1]", losses)

    assert prompt == {"name": "p", "arguments": [{"name": "a"}, {"name": "b"}, None]}
    assert resource == {"uri": "a:b", "name": "r", "annotations": {"priority": 1}}
    assert losses == [
        Loss("$.prompts[0].arguments[1].title", "title (since 2025-06-18) was dropped"),
        Loss("$.resources[1].annotations.lastModified", "lastModified (since 2025-06-18) was dropped"),
    ]


def test_an_inner_object_that_has_nothing_left_goes_too():
    resource = {"annotations": {"lastModified": "2025"}}

    trim(resource, RESOURCE, "2024-11-05", "$", [])

    assert resource == {}


def test_what_is_no_object_is_left_alone():
    resource = {"annotations": None}

    trim(resource, RESOURCE, "2024-11-05", "$", [])

    assert resource == {"annotations": None}
