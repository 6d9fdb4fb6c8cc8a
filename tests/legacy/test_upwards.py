"""What older peers send is put right only where it would not be understood."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mesero import types
from mesero.legacy.upwards import fit_params, fit_result
from tests.legacy.vocabulary import RESULTS, plain, results_of


@pytest.mark.parametrize(
    ("method", "raw"),
    [
        ("tools/call", b'{"content": [ ],"x":1}'),
        ("com.example/get", b'{"a":null,"resultType":"own"}'),
        ("tools/list", b"[null]"),
        ("tools/list", b'{"tools":[],"x":"null\xff"}'),
    ],
)
def test_what_needs_no_mending_passes_as_the_bytes_that_came(method, raw):
    assert bytes(fit_result(method, Raw(raw))) == raw


@pytest.mark.parametrize(
    ("method", "raw", "mended"),
    [
        (
            "tools/list",
            {"tools": [{"name": "a", "inputSchema": {"default": None}, "title": None}], "nextCursor": None},
            {"tools": [{"name": "a", "inputSchema": {"default": None}}]},
        ),
        (
            "tools/call",
            {"content": [], "structuredContent": None},
            {"content": [], "structuredContent": None},
        ),
        (
            "tools/call",
            {"content": [{"type": "text", "text": "a", "annotations": None}], "_meta": {"a": None}},
            {"content": [{"type": "text", "text": "a"}], "_meta": {"a": None}},
        ),
        ("tools/call", {"toolResult": {"a": 1}}, {"content": [{"type": "text", "text": '{"a":1}'}]}),
        ("tools/call", {"toolResult": "a"}, {"content": [{"type": "text", "text": "a"}]}),
        ("tools/call", {"structuredContent": {}}, {"structuredContent": {}, "content": []}),
        ("tools/call", {"content": None}, {"content": []}),
        ("prompts/get", {"messages": [], "resultType": "input_required"}, {"messages": []}),
    ],
)
def test_what_would_not_be_understood_is_mended(method, raw, mended):
    assert plain(fit_result(method, Raw(msgspec.json.encode(raw)))) == mended


@pytest.mark.parametrize("method", RESULTS)
@given(data=st.data())
def test_a_result_with_nulls_for_what_it_lacks_is_read_as_one_without(method, data):
    result = data.draw(results_of(method))
    known = {field.encode_name for field in msgspec.structs.fields(result)} - {"structuredContent"}
    written = plain(result)
    holey = {**dict.fromkeys(known), **written}

    mended = fit_result(method, Raw(msgspec.json.encode(holey)))

    assert types.decode_result(RESULTS[method], mended) == types.decode_result(
        RESULTS[method], msgspec.json.encode(written)
    )


@pytest.mark.parametrize(
    ("raw", "mended"),
    [
        (b'{"name": "a"}', b'{"name": "a"}'),
        (b"[null]", b"[null]"),
        (b'{"cursor":null,"_meta":{"a":null}}', b'{"_meta":{"a":null}}'),
    ],
)
def test_members_of_parameters_that_are_null_are_left_out(raw, mended):
    assert bytes(fit_params(Raw(raw))) == mended
