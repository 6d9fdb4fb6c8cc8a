"""The functions that answer a server's questions."""

from pathlib import Path

import msgspec
import pytest

from mesero.client import form_defaults
from mesero.client.asking import Asked
from mesero.errors import InputNeededError, InvalidResultError, UsageError
from mesero.extensions import Extension
from mesero.types import (
    CreateMessageResult,
    ElicitResult,
    InputRequest,
    Root,
    TextContent,
)
from tests.client.talking import form, link

SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "2 + 2"}}], "maxTokens": 5},
}
NAME = {"name": {"type": "string", "minLength": 2}}


async def ask(question, **functions):
    request = msgspec.convert(
        {**question, "params": msgspec.Raw(msgspec.json.encode(question.get("params", {})))}, InputRequest
    )
    return msgspec.json.decode(await Asked(**functions).answer(request, where="a server"))


def returning(value):
    async def function(*_):
        return value

    return function


# --- capabilities ---


def test_nothing_given_is_nothing_declared():
    assert Asked().capabilities_with([]) == {}


def test_the_capabilities_follow_from_the_functions():
    asked = Asked(elicit=returning({}), elicit_url=returning(True), sample=returning(""), roots=["/tmp"])
    assert asked.capabilities_with([]) == {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {},
        "roots": {},
    }


def test_only_the_modes_that_can_be_answered_are_declared():
    assert Asked(elicit=returning({})).capabilities_with([]) == {"elicitation": {"form": {}}}
    assert Asked(elicit_url=returning(True)).capabilities_with([]) == {"elicitation": {"url": {}}}
    assert Asked(roots=[]).capabilities_with([]) == {"roots": {}}


def test_extensions_are_declared_with_their_settings():
    extension = Extension(identifier="com.example/ui", settings={"mimeTypes": ["text/html"]})
    assert Asked().capabilities_with([extension]) == {
        "extensions": {"com.example/ui": {"mimeTypes": ["text/html"]}}
    }


# --- forms ---


async def test_values_are_an_accepted_form():
    answer = await ask(form(NAME), elicit=returning({"name": "Ada"}))
    assert answer == {"action": "accept", "content": {"name": "Ada"}}


async def test_none_is_a_declined_form():
    assert await ask(form(NAME), elicit=returning(None)) == {"action": "decline"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_whole_result_passes(action):
    assert await ask(form(NAME), elicit=returning(ElicitResult(action))) == {"action": action}


async def test_a_plain_function_will_do():
    answer = await ask(form(NAME), elicit=lambda params: {"name": params.message})
    assert answer["content"] == {"name": "Tell me"}


async def test_an_answer_that_does_not_fit_the_form_is_not_sent():
    with pytest.raises(UsageError, match=r"a server: the elicit function's answer does not fit.*\$\.name"):
        await ask(form(NAME), elicit=returning({"name": "A"}))


async def test_an_accepted_form_without_content_must_fit_as_well():
    with pytest.raises(UsageError, match="does not fit the form"):
        await ask(form(NAME, required=["name"]), elicit=returning(ElicitResult("accept")))
    assert await ask(form(NAME), elicit=returning(ElicitResult("accept"))) == {"action": "accept"}


async def test_a_form_that_nobody_can_fill_is_the_servers_fault():
    with pytest.raises(InvalidResultError, match="a form that nobody can fill"):
        await ask(form({"name": {"type": "no such type"}}), elicit=returning({}))


def test_every_default_of_a_form_is_filled_in():
    fields = {
        "name": {"type": "string", "default": "Ada"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 9.5},
        "ok": {"type": "boolean", "default": False},
        "one": {"type": "string", "enum": ["a", "b"], "default": "b"},
        "titled": {"type": "string", "oneOf": [{"const": "x", "title": "X"}], "default": "x"},
        "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
        "open": {"type": "string"},
        "odd": True,
    }
    schema = {"type": "object", "properties": fields}
    filled = form_defaults(schema)
    assert filled == {
        "name": "Ada",
        "age": 30,
        "score": 9.5,
        "ok": False,
        "one": "b",
        "titled": "x",
        "many": ["a"],
    }
    filled["many"].append("b")
    assert form_defaults(schema)["many"] == ["a"]


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {}}])
def test_a_form_without_fields_has_no_defaults(schema):
    assert form_defaults(schema) == {}


# --- pages ---


@pytest.mark.parametrize(("consent", "action"), [(True, "accept"), (False, "decline")])
async def test_whether_a_page_is_opened_is_the_persons_choice(consent, action):
    seen = []

    async def open_page(params):
        seen.append((params.url, params.message))
        return consent

    assert await ask(link(), elicit_url=open_page) == {"action": action}
    assert seen == [("https://example.com/consent", "Go there")]


async def test_a_page_may_be_dismissed():
    assert await ask(link(), elicit_url=returning(ElicitResult("cancel"))) == {"action": "cancel"}


# --- models and directories ---


async def test_text_is_a_models_whole_answer():
    answer = await ask(SAMPLE, sample=returning("4"))
    assert answer["content"] == {"type": "text", "text": "4"}
    assert (answer["role"], answer["model"], answer["stopReason"]) == ("assistant", "unknown", "endTurn")


async def test_a_models_answer_passes_as_it_is():
    given = CreateMessageResult(role="assistant", content=TextContent("4"), model="m-1")
    assert (await ask(SAMPLE, sample=returning(given)))["model"] == "m-1"


async def test_directories_become_uris(tmp_path):
    answer = await ask({"method": "roots/list"}, roots=[tmp_path, "file:///a", Root("file:///b", name="B")])
    assert answer["roots"] == [
        {"uri": tmp_path.as_uri(), "name": tmp_path.name},
        {"uri": "file:///a"},
        {"uri": "file:///b", "name": "B"},
    ]


async def test_a_relative_directory_becomes_absolute():
    docs = Path("docs").absolute()  # noqa: ASYNC240  (no look at the disk)
    answer = await ask({"method": "roots/list"}, roots=["docs"])
    assert answer["roots"][0]["uri"] == docs.as_uri()


@pytest.mark.parametrize("source", [returning(["/a"]), lambda: ["/a"]])
async def test_a_function_may_know_the_directories(source):
    assert (await ask({"method": "roots/list"}, roots=source))["roots"] == [{"uri": "file:///a", "name": "a"}]


# --- what cannot be answered ---


@pytest.mark.parametrize(
    ("question", "argument"),
    [(form(), "elicit"), (link(), "elicit_url"), (SAMPLE, "sample"), ({"method": "roots/list"}, "roots")],
)
async def test_a_question_without_its_function_names_the_argument(question, argument):
    with pytest.raises(InputNeededError, match=rf"a server: the server asks .*Client\(…, {argument}=…\)"):
        await ask(question)


@pytest.mark.parametrize(
    "question",
    [
        {"method": "ping"},
        {"method": "elicitation/create", "params": {"message": "no schema"}},
        {"method": "elicitation/create", "params": {"mode": "fax", "message": "x"}},
    ],
)
async def test_a_malformed_question_is_the_servers_fault(question):
    with pytest.raises(InvalidResultError, match="a server: the server asks a malformed"):
        await ask(question, elicit=returning({}))
