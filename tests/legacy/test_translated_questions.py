"""The translator on questions to an older client, answers to an older server, and errors both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero import types
from mesero.errors import (
    HeaderMismatchError,
    InvalidParamsError,
    MissingClientCapabilityError,
    ResourceNotFoundError,
    RpcError,
    UnsupportedRevisionError,
)
from mesero.jsonrpc import encode_value
from mesero.legacy.translate import Translator
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from tests.legacy.vocabulary import (
    JUNE_AND_LATER,
    faults_of_request,
    faults_of_result,
    forms,
    plain,
)
from tests.types.test_agreement import instances_of

OLDEST, MARCH, JUNE, NOVEMBER = HANDSHAKE_REVISIONS
URL = types.input_request_from(types.ElicitUrlParams("Pay", "https://example.com/pay"))
ROOTS = types.input_request_from(types.ListRootsParams())


def form(schema):
    return types.input_request_from(types.ElicitFormParams("?", schema))


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
    ("revision", "code"), [(OLDEST, -32600), (MARCH, -32600), (JUNE, -32600), (NOVEMBER, -32042)]
)
def test_the_error_that_asks_to_visit_a_page_exists_in_one_revision(revision, code):
    error = RpcError("visit", code=-32042, data={"elicitations": []})

    assert Translator(revision).error_down(error, method="tools/call").code == code


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
