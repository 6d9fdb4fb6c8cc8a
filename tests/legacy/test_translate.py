"""The translator on results: what goes down fits, what is lost is told, and what can come back does."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero import types
from mesero.errors import (
    InternalError,
)
from mesero.jsonrpc import encode_value
from mesero.legacy.shapes import Loss
from mesero.legacy.translate import Translator
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.shapes import UnknownRevisionError
from tests.legacy.vocabulary import (
    JUNE_AND_LATER,
    RESULTS,
    faults_of_result,
    plain,
    results_of,
)

OLDEST, MARCH, JUNE, NOVEMBER = HANDSHAKE_REVISIONS


def test_only_the_revisions_with_a_handshake_have_a_translator():
    with pytest.raises(UnknownRevisionError):
        Translator("2026-07-28")


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
@pytest.mark.parametrize("method", RESULTS)
@settings(max_examples=40)
@given(data=st.data())
def test_any_result_fits_the_schema_of_its_revision(method, revision, data):
    result = data.draw(results_of(method))
    before = encode_value(result)

    value, losses = msgspec.structs.astuple(Translator(revision).result_down(method, result))

    assert faults_of_result(revision, method, value) == []
    assert not {"resultType", "ttlMs", "cacheScope"} & value.keys()
    assert encode_value(result) == before
    assert len(losses) == len(set(losses))


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
@pytest.mark.parametrize("method", RESULTS)
@settings(max_examples=40)
@given(data=st.data())
def test_what_went_down_comes_up_and_goes_down_again_without_a_loss(method, revision, data):
    translator = Translator(revision)
    down = translator.result_down(method, data.draw(results_of(method))).value

    up = types.decode_result(RESULTS[method], translator.result_up(method, Raw(encode_value(down))))
    again = translator.result_down(method, up)

    assert plain(again.value) == plain(with_defaults(down, again.value))
    assert again.losses == ()


def with_defaults(down, again):
    """Members that the vocabulary writes always, though the first writer left them out."""
    return {**{name: again[name] for name in ("isError",) if name in again}, **down}


@pytest.mark.parametrize("method", RESULTS)
@given(data=st.data())
def test_the_newest_of_them_loses_cache_hints_and_shapes_of_no_object_only(method, data):
    result = data.draw(results_of(method))
    translator = Translator(NOVEMBER)

    down = translator.result_down(method, result)

    for loss in down.losses:
        assert loss.path.endswith((".ttlMs", ".outputSchema", ".structuredContent"))
    if not down.losses:
        hints = {"ttl_ms": 0, "cache_scope": "private"} if hasattr(result, "ttl_ms") else {}
        kept = types.decode_result(RESULTS[method], Raw(encode_value(down.value)))
        assert without_empty_meta(kept) == without_empty_meta(msgspec.structs.replace(result, **hints))


def without_empty_meta(result):
    return result if result.meta else msgspec.structs.replace(result, meta=UNSET)


TOOL = types.Tool(
    "t",
    {"type": "object"},
    title="T",
    output_schema={"type": "array"},
    annotations=types.ToolAnnotations(read_only_hint=True),
    icons=[types.Icon("https://example.com/i")],
    meta={"a": 1},
)


@pytest.mark.parametrize(
    ("revision", "members", "lost"),
    [
        (OLDEST, {"name", "inputSchema"}, ["annotations", "title", "outputSchema", "_meta", "icons"]),
        (MARCH, {"name", "inputSchema", "annotations"}, ["title", "outputSchema", "_meta", "icons"]),
        (
            JUNE,
            {"name", "inputSchema", "annotations", "title", "outputSchema", "_meta"},
            ["icons", "outputSchema"],
        ),
        (
            NOVEMBER,
            {"name", "inputSchema", "annotations", "title", "outputSchema", "_meta", "icons"},
            ["outputSchema"],
        ),
    ],
)
def test_a_tool_has_the_members_of_its_revision_and_the_others_are_told(revision, members, lost):
    result = types.ListToolsResult(tools=[TOOL], ttl_ms=5)

    down = Translator(revision).result_down("tools/list", result)

    assert down.value["tools"][0].keys() == members
    assert [loss.path for loss in down.losses] == ["$.ttlMs", *(f"$.tools[0].{name}" for name in lost)]


def test_the_title_of_a_tool_went_among_its_annotations_once():
    titled = msgspec.structs.replace(TOOL, annotations=types.ToolAnnotations(title="Own"))
    bare = msgspec.structs.replace(TOOL, annotations=UNSET)
    result = types.ListToolsResult(tools=[TOOL, titled, bare])

    down = Translator(MARCH).result_down("tools/list", result)

    annotations = [tool["annotations"] for tool in down.value["tools"]]
    assert annotations == [{"readOnlyHint": True, "title": "T"}, {"title": "Own"}, {"title": "T"}]
    what = {loss.path: loss.what for loss in down.losses}
    assert what["$.tools[0].title"] == "title (since 2025-06-18) became annotations.title"
    assert what["$.tools[1].title"] == "title (since 2025-06-18) was dropped"


@pytest.mark.parametrize(
    ("revision", "value", "losses"),
    [
        (
            OLDEST,
            [
                {"type": "text", "text": "[audio, audio/wav, 2 characters of base64]"},
                {"type": "text", "text": "n: a:b"},
            ],
            ["$.content[0]", "$.content[1]", "$.structuredContent"],
        ),
        (MARCH, ["audio", {"type": "text", "text": "n: a:b"}], ["$.content[1]", "$.structuredContent"]),
        (JUNE, ["audio", "resource_link"], []),
        (NOVEMBER, ["audio", "resource_link"], []),
    ],
)
def test_the_result_of_a_tool_says_in_words_what_its_revision_lacks(revision, value, losses):
    audio = types.AudioContent(data="AA", mime_type="audio/wav")
    link = types.ResourceLink(uri="a:b", name="n")
    result = types.CallToolResult(content=[audio, link], structured_content=Raw(b'{"a":1}'))

    down = Translator(revision).result_down("tools/call", result, output_schema={"type": "object"})

    content = [
        one if isinstance(one, dict) else plain({"audio": audio, "resource_link": link}[one]) for one in value
    ]
    assert down.value["content"] == content
    assert ("structuredContent" in down.value) is (revision in JUNE_AND_LATER)
    assert [loss.path for loss in down.losses] == losses


def test_structured_content_alone_becomes_text_where_there_was_none():
    result = types.CallToolResult(content=[], structured_content=Raw(b"[1,2]"))

    down = Translator(MARCH).result_down("tools/call", result)

    assert down.value == {"content": [{"type": "text", "text": "[1,2]"}], "isError": False}
    assert down.losses == (Loss("$.structuredContent", "structured content (since 2025-06-18) became text"),)


@pytest.mark.parametrize("revision", JUNE_AND_LATER)
def test_an_object_is_wrapped_when_the_schema_of_its_tool_was(revision):
    schema = {"type": ["object", "null"]}
    result = types.CallToolResult(content=[], structured_content={"a": 1})
    translator = Translator(revision)

    assert translator.result_down("tools/call", result).value["structuredContent"] == {"a": 1}
    wrapped = translator.result_down("tools/call", result, output_schema=schema).value["structuredContent"]
    assert wrapped == {"result": {"a": 1}}


@pytest.mark.parametrize("schema", [None, {"type": "object"}, {"type": "array"}])
@pytest.mark.parametrize("structured", [UNSET, Raw(b'{"a":1}'), Raw(b"[1]"), Raw(b"null")])
@pytest.mark.parametrize("texts", [[], ["a"], ["a", "b"]])
@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_bare_texts_take_a_shorter_way_to_the_same_place(revision, texts, structured, schema):
    def down(**meta):
        result = types.CallToolResult(
            content=[types.TextContent(text) for text in texts], structured_content=structured, **meta
        )
        found = Translator(revision).result_down("tools/call", result, output_schema=schema)
        return encode_value(found.value), found.losses

    # An empty `_meta` changes nothing but the way.
    assert down() == down(meta={})


def test_a_block_of_an_unknown_type_becomes_its_text_everywhere():
    poem = types.UnknownContent("poem", b'{"type":"poem"}')
    prompt = types.GetPromptResult(messages=[types.PromptMessage("user", poem)])

    down = Translator(NOVEMBER).result_down("prompts/get", prompt)

    assert down.value["messages"][0]["content"] == {"type": "text", "text": '{"type":"poem"}'}
    assert [loss.path for loss in down.losses] == ["$.messages[0].content"]


def test_the_identity_of_the_server_is_told_once_and_its_other_metadata_stays():
    meta = {types.SERVER_INFO_KEY: Raw(b"{}"), "a": 1}
    kept = types.CompleteResult(completion=types.Completion([]), meta=dict(meta))
    alone = types.CompleteResult(completion=types.Completion([]), meta={types.SERVER_INFO_KEY: Raw(b"{}")})
    translator = Translator(OLDEST)

    assert translator.result_down("completion/complete", kept).value["_meta"] == {"a": 1}
    assert "_meta" not in translator.result_down("completion/complete", alone).value
    assert kept.meta.keys() == meta.keys()


@pytest.mark.parametrize(
    "method", ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
)
def test_a_result_that_says_only_done_is_a_bare_object(method):
    result = types.Result(meta={"a": 1})

    assert Translator(NOVEMBER).result_down(method, result).value == {}


def test_the_result_of_an_extension_passes_but_for_its_envelope():
    result = {"resultType": "complete", "rows": [None], "_meta": Raw(b'{"a":1}')}

    down = Translator(OLDEST).result_down("com.example/rows", result)

    assert plain(down.value) == {"rows": [None], "_meta": {"a": 1}}


def test_a_result_that_asks_has_no_shape_there():
    result = types.InputRequiredResult(request_state="s")

    with pytest.raises(InternalError, match="2025-11-25 has no results of type 'input_required'"):
        Translator(NOVEMBER).result_down("tools/call", result)
