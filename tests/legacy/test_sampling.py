"""Sampling messages and answers in each revision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero import types
from mesero.legacy.sampling import fit_answer, fit_sampling
from mesero.legacy.shapes import Loss
from mesero.revisions import HANDSHAKE_REVISIONS
from tests.legacy.vocabulary import faults_of_request, faults_of_result, plain
from tests.types.test_agreement import instances_of

A, B = {"type": "text", "text": "a"}, {"type": "text", "text": "b"}
TOOL = {"name": "t", "inputSchema": {"type": "object", "properties": {"x": True}}, "outputSchema": {}}


def test_a_message_of_several_blocks_becomes_as_many_messages():
    params = {"maxTokens": 1, "messages": [{"role": "user", "content": [A, B], "_meta": {}}]}
    losses = []

    fit_sampling(params, "2025-06-18", "$", losses)

    assert params["messages"] == [{"role": "user", "content": A}, {"role": "user", "content": B}]
    assert losses == [
        Loss("$.messages[0]._meta", "_meta (since 2025-11-25) was dropped"),
        Loss("$.messages[0]", "content of 2 blocks (since 2025-11-25) became as many messages"),
    ]


def test_a_message_of_several_blocks_stays_one_where_there_may_be_several():
    params = {"maxTokens": 1, "messages": [{"role": "user", "content": [A, B]}]}
    losses = []

    fit_sampling(params, "2025-11-25", "$", losses)

    assert (params["messages"], losses) == ([{"role": "user", "content": [A, B]}], [])


def test_a_list_of_one_block_is_that_block():
    params = {"maxTokens": 1, "messages": [{"role": "user", "content": [A]}]}
    losses = []

    fit_sampling(params, "2025-03-26", "$", losses)

    assert (params["messages"], losses) == ([{"role": "user", "content": A}], [])


def test_tools_exist_in_the_newest_only_where_their_schemas_are_those_of_a_list():
    asked = {"maxTokens": 1, "messages": [], "tools": [TOOL], "toolChoice": {"mode": "auto"}}
    old, recent, losses = plain(asked), plain(asked), []

    fit_sampling(old, "2025-06-18", "$", losses)
    fit_sampling(recent, "2025-11-25", "$", [])

    assert old == {"maxTokens": 1, "messages": []}
    assert [loss.path for loss in losses] == ["$.tools", "$.toolChoice"]
    assert recent["tools"][0]["inputSchema"]["properties"] == {"x": {}}
    assert recent["tools"][0]["outputSchema"]["required"] == ["result"]


@pytest.mark.parametrize(
    ("content", "revision", "fitted", "losses"),
    [
        (A, "2024-11-05", A, 0),
        ([A], "2024-11-05", A, 0),
        ([A, B], "2025-11-25", [A, B], 0),
        ([A, B], "2025-06-18", {"type": "text", "text": "a\nb"}, 1),
        ([], "2025-06-18", {"type": "text", "text": ""}, 1),
    ],
)
def test_an_answer_has_one_block_where_there_was_one(content, revision, fitted, losses):
    answer, found = {"content": content}, []

    fit_answer(answer, revision, found)

    assert answer == {"content": fitted}
    assert [loss.path for loss in found] == ["$.content"] * losses


@given(params=instances_of(types.CreateMessageParams), revision=st.sampled_from(HANDSHAKE_REVISIONS))
def test_any_sampling_request_fits_the_schema_of_each_revision(params, revision):
    value = plain(params)

    fit_sampling(value, revision, "$", [])

    assert faults_of_request(revision, "sampling/createMessage", value) == []


@given(answer=instances_of(types.CreateMessageResult), revision=st.sampled_from(HANDSHAKE_REVISIONS))
def test_any_answer_fits_the_schema_of_each_revision(answer, revision):
    value = plain(answer)

    fit_answer(value, revision, [])

    assert faults_of_result(revision, "sampling/createMessage", value) == []
