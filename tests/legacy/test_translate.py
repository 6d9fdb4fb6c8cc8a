"""The translator: what goes down fits its revision, what is lost is told, and what can come back does."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero import types
from mesero.errors import (
    HeaderMismatchError,
    InternalError,
    InvalidParamsError,
    MissingClientCapabilityError,
    ResourceNotFoundError,
    RpcError,
    UnsupportedRevisionError,
)
from mesero.jsonrpc import encode_value
from mesero.legacy.shapes import Loss
from mesero.legacy.translate import Translator
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from mesero.revisions.shapes import UnknownRevisionError
from tests.legacy.vocabulary import (
    JUNE_AND_LATER,
    RESULTS,
    faults_of_request,
    faults_of_result,
    forms,
    plain,
    results_of,
)
from tests.types.test_agreement import instances_of

OLDEST, MARCH, JUNE, NOVEMBER = HANDSHAKE_REVISIONS
URL = types.input_request_from(types.ElicitUrlParams("Pay", "https://example.com/pay"))
ROOTS = types.input_request_from(types.ListRootsParams())


def form(schema):
    return types.input_request_from(types.ElicitFormParams("?", schema))


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

    assert plain(again.value) == plain(types_default_filled(down, again.value))
    assert again.losses == ()


def types_default_filled(down, again):
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


# --- questions and answers ---


@given(schema=forms(), revision=st.sampled_from(JUNE_AND_LATER))
def test_any_form_can_be_asked_since_there_are_forms(schema, revision):
    question = Translator(revision).question_down(form(schema))

    assert faults_of_request(revision, question.method, question.params) == []
    assert ("mode" in plain(question.params)) is (revision == NOVEMBER)


@given(params=instances_of(types.CreateMessageParams), revision=st.sampled_from(HANDSHAKE_REVISIONS))
def test_any_sampling_question_can_be_asked_everywhere(params, revision):
    question = Translator(revision).question_down(types.input_request_from(params))

    assert faults_of_request(revision, question.method, question.params) == []


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_roots_can_be_asked_for_everywhere_with_or_without_parameters(revision):
    translator = Translator(revision)

    assert plain(translator.question_down(ROOTS).params) == {}
    assert translator.question_down(types.InputRequest("roots/list")).params is UNSET


@pytest.mark.parametrize(
    ("question", "revision", "words"),
    [
        (form({}), MARCH, "elicitation/create cannot be asked: the client speaks 2025-03-26"),
        (URL, OLDEST, "elicitation/create cannot be asked"),
        (URL, JUNE, "elicitation/create with a URL cannot be asked"),
        (types.InputRequest("com.example/ask"), NOVEMBER, "com.example/ask cannot be asked"),
    ],
)
def test_a_question_that_the_revision_does_not_have_is_not_asked(question, revision, words):
    with pytest.raises(MissingClientCapabilityError, match=words):
        Translator(revision).question_down(question)


def test_a_page_to_visit_has_an_id_there_which_is_the_same_for_the_same_question():
    translator = Translator(NOVEMBER)
    given_id = plain(translator.question_down(URL, elicitation_id="e1").params)
    first, second = (plain(translator.question_down(URL).params) for _ in range(2))
    own = types.InputRequest(URL.method, Raw(encode_value({**first, "elicitationId": "mine"})))

    assert given_id == {
        "mode": "url",
        "message": "Pay",
        "url": "https://example.com/pay",
        "elicitationId": "e1",
    }
    assert first == second
    assert len(first["elicitationId"]) == 32
    assert plain(translator.question_down(own).params)["elicitationId"] == "mine"
    assert faults_of_request(NOVEMBER, URL.method, first) == []


SEVERAL = {
    "type": "object",
    "properties": {"days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}}},
}


def test_the_losses_of_a_question_are_told_to_whoever_wants_them():
    losses = []

    Translator(JUNE).question_down(form(SEVERAL), losses=losses)

    assert [loss.path for loss in losses] == ["$.requestedSchema.properties.days"]


@pytest.mark.parametrize(
    ("question", "revision", "answer", "read"),
    [
        (
            form(SEVERAL),
            JUNE,
            {"action": "accept", "content": {"days[mo]": True, "days[tu]": False}},
            {"action": "accept", "content": {"days": ["mo"]}},
        ),
        (form(SEVERAL), JUNE, {"action": "decline"}, {"action": "decline"}),
        (form(SEVERAL), JUNE, 7, 7),
        (form(SEVERAL), NOVEMBER, {"action": "accept", "content": {"days[mo]": True}}, None),
        (types.InputRequest("elicitation/create"), JUNE, {"action": "accept", "content": {}}, None),
        (ROOTS, JUNE, {"roots": []}, None),
    ],
)
def test_an_answer_comes_back_as_it_was_asked_for(question, revision, answer, read):
    found = Translator(revision).answer_up(question, Raw(encode_value(answer)))

    assert plain(found) == (answer if read is None else read)


@given(answer=instances_of(types.CreateMessageResult), revision=st.sampled_from(HANDSHAKE_REVISIONS))
def test_any_answer_of_a_model_fits_the_older_side(answer, revision):
    value = Translator(revision).answer_down("sampling/createMessage", answer)

    assert faults_of_result(revision, "sampling/createMessage", value) == []


@given(answer=instances_of(types.ListRootsResult), revision=st.sampled_from(HANDSHAKE_REVISIONS))
def test_any_roots_fit_the_older_side(answer, revision):
    losses = []

    value = Translator(revision).answer_down("roots/list", Raw(encode_value(answer)), losses=losses)

    assert faults_of_result(revision, "roots/list", value) == []
    assert all("_meta" not in root for root in value["roots"]) or revision in JUNE_AND_LATER
    with_meta = [index for index, root in enumerate(answer.roots) if root.meta is not UNSET]
    expected = [] if revision in JUNE_AND_LATER else [f"$.roots[{index}]._meta" for index in with_meta]
    assert [loss.path for loss in losses] == expected


def test_the_answer_of_a_person_goes_as_it_is():
    answer = types.ElicitResult("accept", {"a": 1})

    assert Translator(JUNE).answer_down("elicitation/create", answer) == {
        "action": "accept",
        "content": {"a": 1},
    }


# --- errors ---


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_resource_that_does_not_exist_has_its_older_code_and_comes_back_as_the_same_error(revision):
    translator = Translator(revision)

    down = translator.error_down(ResourceNotFoundError("a:b"), method="resources/read")
    up = translator.error_up(down, method="resources/read")

    assert (down.code, down.data) == (-32002, {"uri": "a:b"})
    assert isinstance(up, ResourceNotFoundError)
    assert (up.uri, up.code, str(up)) == ("a:b", -32002, "Resource not found: a:b (-32002)")


def test_a_resource_that_does_not_exist_need_not_be_named():
    up = Translator(OLDEST).error_up(RpcError("gone", code=-32002), method="resources/read")

    assert isinstance(up, ResourceNotFoundError)
    assert (up.uri, up.message, up.data) == ("", "gone", None)


@pytest.mark.parametrize(
    ("error", "method", "code"),
    [
        (ResourceNotFoundError("a:b"), "tools/call", -32602),
        (InvalidParamsError("no"), "resources/read", -32602),
        (InvalidParamsError("no", data={"uri": 7}), "resources/read", -32602),
        (HeaderMismatchError("no"), "tools/call", -32600),
        (MissingClientCapabilityError("no", data={"a": 1}), "tools/call", -32600),
        (UnsupportedRevisionError("no"), "initialize", -32602),
        (RpcError("no", code=-32050), "tools/call", -32050),
    ],
)
def test_an_error_has_a_code_that_its_revision_may_have(error, method, code):
    down = Translator(NOVEMBER).error_down(error, method=method)

    assert (down.code, down.message, down.data) == (code, error.message, error.data)
    message = {"jsonrpc": "2.0", "id": 1, "error": {"code": down.code, "message": down.message}}
    assert check_message(NOVEMBER, message) == []


@pytest.mark.parametrize(
    ("error", "method"),
    [(RpcError("no", code=-32002), "tools/call"), (InvalidParamsError("no"), "resources/read")],
)
def test_any_other_error_comes_up_as_it_is(error, method):
    assert Translator(JUNE).error_up(error, method=method) is error


@pytest.mark.parametrize(
    ("revision", "are_errors"), [(OLDEST, True), (MARCH, True), (JUNE, True), (NOVEMBER, False)]
)
def test_wrong_arguments_are_errors_until_the_model_was_to_see_them(revision, are_errors):
    assert Translator(revision).wrong_arguments_are_errors() is are_errors


def test_the_pages_that_an_error_asks_to_visit_are_questions():
    page = {"mode": "url", "message": "Pay", "url": "https://example.com", "elicitationId": "e1"}
    elicitations = [page, {"mode": "form", "elicitationId": "e2"}, {"mode": "url"}, 7]
    error = RpcError("visit", code=-32042, data={"elicitations": elicitations})

    found = Translator(NOVEMBER).questions_of(error)

    assert {key: types.decode_input_params(one) for key, one in found.items()} == {
        "e1": types.ElicitUrlParams("Pay", "https://example.com")
    }
    assert Translator(JUNE).questions_of(error) == {}


@pytest.mark.parametrize(
    "error",
    [
        RpcError("no", code=-32041, data={"elicitations": []}),
        RpcError("no", code=-32042),
        RpcError("no", code=-32042, data={"elicitations": 7}),
    ],
)
def test_no_other_error_asks_anything(error):
    assert Translator(NOVEMBER).questions_of(error) == {}


# --- notifications, parameters, capabilities ---


NOTIFICATIONS = {
    "notifications/progress": types.ProgressParams,
    "notifications/message": types.LoggingMessageParams,
    "notifications/cancelled": types.CancelledParams,
    "notifications/resources/updated": types.ResourceUpdatedParams,
    "notifications/tools/list_changed": types.NotificationParams,
}


@pytest.mark.parametrize("method", NOTIFICATIONS)
@given(data=st.data(), revision=st.sampled_from(HANDSHAKE_REVISIONS))
def test_any_notification_fits_its_revision(method, data, revision):
    params = plain(data.draw(instances_of(NOTIFICATIONS[method])))
    losses = []

    name, value = Translator(revision).notification_down(method, params, losses=losses)

    assert name == method
    assert check_message(revision, {"jsonrpc": "2.0", "method": name, "params": value}) == []
    expected = ["$.message"] if revision == OLDEST and "message" in params else []
    assert [loss.path for loss in losses] == expected


@pytest.mark.parametrize(
    ("method", "revisions"),
    [
        ("notifications/elicitation/complete", [NOVEMBER]),
        ("notifications/subscriptions/acknowledged", []),
        ("com.example/changed", []),
        ("tools/list", []),
    ],
)
def test_a_notification_that_does_not_exist_there_is_not_sent(method, revisions):
    found = [one for one in HANDSHAKE_REVISIONS if Translator(one).notification_down(method, {}) is not None]

    assert found == revisions


def test_a_notification_does_not_name_the_subscription_that_there_is_none_of():
    params = {"uri": "a:b", "_meta": {types.SUBSCRIPTION_ID_KEY: 1}}

    found = Translator(OLDEST).notification_down("notifications/resources/updated", params)

    assert found == ("notifications/resources/updated", {"uri": "a:b"})


META = {
    types.PROTOCOL_VERSION_KEY: "2026-07-28",
    types.CLIENT_CAPABILITIES_KEY: {},
    types.CLIENT_INFO_KEY: {},
    types.LOG_LEVEL_KEY: "info",
}


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_parameters_lose_what_a_session_knows(revision):
    params = {"name": "t", "arguments": Raw(b'{"a": 1}'), "_meta": {**META, "progressToken": 1}}
    retried = {"name": "t", "_meta": META, "inputResponses": {}, "requestState": "s"}
    translator = Translator(revision)

    down = translator.params_down("tools/call", params)

    assert down.value == {"name": "t", "arguments": params["arguments"], "_meta": {"progressToken": 1}}
    assert down.losses == ()
    assert faults_of_request(revision, "tools/call", down.value) == []
    assert translator.params_down("tools/call", retried).value == {"name": "t"}
    assert len(META) == 4


@pytest.mark.parametrize(
    ("revision", "lost"),
    [
        (OLDEST, ["$.context", "$.ref.title"]),
        (MARCH, ["$.context", "$.ref.title"]),
        (JUNE, []),
        (NOVEMBER, []),
    ],
)
def test_a_completion_loses_its_context_where_there_was_none(revision, lost):
    params = {
        "ref": types.PromptReference("p", title="P"),
        "argument": types.CompletionArgument("a", "b"),
        "context": types.CompletionContext({"x": "y"}),
    }

    down = Translator(revision).params_down("completion/complete", params)

    assert faults_of_request(revision, "completion/complete", down.value) == []
    assert [loss.path for loss in down.losses] == lost
    assert down.value["ref"]["type"] == "ref/prompt"


def test_parameters_of_an_older_client_pass_without_their_nulls():
    raw = Raw(b'{"name":"t","arguments":null}')

    assert bytes(Translator(OLDEST).params_up("tools/call", raw)) == b'{"name":"t"}'


CAPABILITIES = types.ServerCapabilities(
    experimental={"x": {}},
    logging={},
    completions={},
    prompts=types.PromptsCapability(list_changed=True),
    resources=types.ResourcesCapability(subscribe=True),
    tools=types.ToolsCapability(),
    extensions={"com.example/x": {}},
)


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_server_declares_what_its_revision_has(revision):
    declared = Translator(revision).server_capabilities(CAPABILITIES)

    common = {
        "experimental": {"x": {}},
        "logging": {},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True},
        "tools": {},
    }
    assert declared == (common if revision == OLDEST else {**common, "completions": {}})


@pytest.mark.parametrize(
    ("revision", "declared", "found"),
    [
        (OLDEST, {"elicitation": {"form": {}}, "extensions": {"a/b": {}}}, {}),
        (MARCH, {"elicitation": {}, "experimental": {"x": {}}}, {"experimental": {"x": {}}}),
        (JUNE, {"elicitation": {"form": {}, "url": {}}}, {"elicitation": {}}),
        (JUNE, {"elicitation": {}}, {"elicitation": {}}),
        (JUNE, {"elicitation": {"url": {}}}, {}),
        (NOVEMBER, {"elicitation": {"url": {}}}, {"elicitation": {"url": {}}}),
        (JUNE, {"sampling": {"tools": {}}}, {"sampling": {}}),
        (NOVEMBER, {"sampling": {"tools": {}}}, {"sampling": {"tools": {}}}),
        (OLDEST, {"roots": {}}, {"roots": {"listChanged": True}}),
        (NOVEMBER, {"roots": {"listChanged": False}}, {"roots": {"listChanged": False}}),
    ],
)
def test_a_client_declares_what_its_revision_has(revision, declared, found):
    assert Translator(revision).client_capabilities(declared) == found


PROMPTS = types.ServerCapabilities(prompts=types.PromptsCapability())
RESOURCES = types.ServerCapabilities(resources=types.ResourcesCapability())


@pytest.mark.parametrize(
    ("revision", "capabilities", "may_complete"),
    [
        (OLDEST, PROMPTS, True),
        (OLDEST, RESOURCES, True),
        (OLDEST, types.ServerCapabilities(completions={"x": 1}), True),
        (OLDEST, types.ServerCapabilities(tools=types.ToolsCapability()), False),
        (MARCH, PROMPTS, False),
    ],
)
def test_completion_may_be_asked_for_where_nobody_could_declare_it(revision, capabilities, may_complete):
    found = Translator(revision).capabilities_up(capabilities)

    assert (found.completions is not UNSET) is may_complete
    assert msgspec.structs.replace(found, completions=capabilities.completions) == capabilities
