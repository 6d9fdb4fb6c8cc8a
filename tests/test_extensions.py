"""The seam for extensions, proved by a toy one: greetings."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.errors import UsageError
from mesero.extensions import (
    Extension,
    MethodSpec,
    listen_keys_with,
    methods_with,
    needs_of_filter,
    result_types_with,
)
from mesero.jsonrpc import Request
from mesero.modern.envelope import find_name, read_params, route
from mesero.modern.methods import LISTEN_KEYS, METHODS, RESULT_TYPES
from mesero.types import Result


class GreetParams(msgspec.Struct):
    person: str


class Greeting(Result):
    text: str


GREET = MethodSpec(name="greetings/greet", params=GreetParams, result=Greeting, name_field="person")
GREETINGS = Extension(
    identifier="com.example/greetings",
    settings={"languages": ["es", "en"]},
    methods=(GREET,),
    result_types={"greeted": ("greetings/greet", "tools/call")},
    listen_keys={"greetingsChanged": ("notifications/greetings/changed",)},
)


def test_a_method_of_an_extension_is_routed_named_and_typed_like_one_of_the_core():
    methods = methods_with(METHODS, [GREETINGS])
    request = Request(1, "greetings/greet", msgspec.Raw(b'{"person":"Ana"}'))

    spec = route(request, methods)

    assert spec is GREET
    assert find_name(request, spec) == "Ana"
    assert read_params(request, spec) == GreetParams("Ana")
    assert methods.keys() - METHODS.keys() == {"greetings/greet"}


def test_an_extension_adds_result_types_and_filter_keys_beside_those_of_the_core():
    assert result_types_with(RESULT_TYPES, [GREETINGS], ["greetings/greet", "tools/list"]) == {
        "greetings/greet": {"complete", "input_required", "greeted"},
        "tools/call": {"complete", "input_required", "greeted"},
        "tools/list": {"complete", "input_required"},
    }
    assert listen_keys_with(LISTEN_KEYS, [GREETINGS]) == {**LISTEN_KEYS, **GREETINGS.listen_keys}


def test_without_extensions_there_is_the_core_alone():
    assert methods_with(METHODS, []) == METHODS
    assert result_types_with(RESULT_TYPES, [], ["tools/list"]) == {"tools/list": set(RESULT_TYPES)}
    assert listen_keys_with(LISTEN_KEYS, []) == LISTEN_KEYS


def test_a_filter_needs_the_extensions_whose_members_it_uses():
    members = ["toolsListChanged", "greetingsChanged"]

    assert needs_of_filter(members, [GREETINGS]) == {"extensions": {"com.example/greetings": {}}}
    assert needs_of_filter(["toolsListChanged"], [GREETINGS]) == {}
    assert needs_of_filter(members, []) == {}


def test_the_tables_of_the_core_are_not_changed():
    methods_with(METHODS, [GREETINGS])["x"] = GREET
    listen_keys_with(LISTEN_KEYS, [GREETINGS])["x"] = ()

    assert "greetings/greet" not in METHODS
    assert "greetingsChanged" not in LISTEN_KEYS


def test_a_method_that_exists_already_is_refused():
    thief = Extension(identifier="com.example/thief", methods=(METHODS["tools/call"],))

    with pytest.raises(UsageError, match=r"com\.example/thief defines 'tools/call', which exists already"):
        methods_with(METHODS, [thief])


@pytest.mark.parametrize(
    "extensions", [[GREETINGS, GREETINGS], [Extension(identifier="a/b", listen_keys=LISTEN_KEYS)]]
)
def test_a_filter_key_that_exists_already_is_refused(extensions):
    with pytest.raises(UsageError, match="which exists already"):
        listen_keys_with(LISTEN_KEYS, extensions)


@pytest.mark.parametrize(
    "identifier",
    ["com.example/greetings", "io.modelcontextprotocol/ui", "a/b", "a/", "x-1.y/a.b_c-d", "A9.b/9"],
)
def test_an_identifier_has_a_prefix_of_labels_and_a_name(identifier):
    assert Extension(identifier=identifier).identifier == identifier


@pytest.mark.parametrize(
    "identifier",
    [
        "",
        "greetings",
        "/greetings",
        "1com/x",
        "com-/x",
        "com..example/x",
        "com./x",
        "a/b/c",
        "a/-b",
        "a/b-",
        "a/b c",
        "é/b",
    ],
)
def test_a_malformed_identifier_is_refused(identifier):
    with pytest.raises(UsageError, match="is no extension identifier"):
        Extension(identifier=identifier)


@given(st.text(alphabet="a1-._/é ", max_size=40))
def test_any_text_is_an_identifier_or_refused(text):
    try:
        extension = Extension(identifier=text)
    except UsageError:
        return
    assert extension.identifier.count("/") == 1


def test_a_method_asks_nothing_and_is_not_cached_unless_it_says_so():
    assert (GREET.may_ask, GREET.is_cacheable, GREET.needs, GREET.capability) == (False, False, {}, None)
