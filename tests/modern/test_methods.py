"""The table of methods, held against the shapes that were generated from the official schema."""

import pytest

from mesero import types
from mesero.modern import REVISIONS, methods
from mesero.modern.methods import LISTEN_KEYS, METHODS, RESULT_TYPES
from mesero.revisions import STATELESS_REVISIONS, definitions_for, revision_module_for
from mesero.types import CacheableResult, InputResponseParams, PaginatedResult

SHAPES = revision_module_for(REVISIONS[0]).METHODS
REQUESTS = {name: shape for name, shape in SHAPES.items() if shape.kind == "request"}
DEFINITIONS = definitions_for(REVISIONS[0])


def test_the_revisions_are_the_stateless_ones_newest_first():
    assert tuple(reversed(STATELESS_REVISIONS)) == REVISIONS


def test_the_table_has_every_request_of_the_revision_under_its_own_name():
    assert METHODS.keys() == REQUESTS.keys()
    assert all(name == spec.name for name, spec in METHODS.items())


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_the_result_of_the_schema_and_may_ask_where_the_schema_says_so(name):
    ordinary, *others = REQUESTS[name].results

    assert METHODS[name].result.__name__ == ordinary
    assert METHODS[name].may_ask == ("InputRequiredResult" in others)
    assert issubclass(METHODS[name].params, InputResponseParams) == METHODS[name].may_ask


# https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-results
@pytest.mark.parametrize("name", METHODS)
def test_a_result_carries_cache_hints_where_the_schema_says_so(name):
    is_cacheable = "ttlMs" in DEFINITIONS[METHODS[name].result.__name__]["properties"]

    assert METHODS[name].is_cacheable == is_cacheable
    assert issubclass(METHODS[name].result, CacheableResult) == is_cacheable


# https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
def test_the_name_header_mirrors_the_name_or_the_uri_of_three_methods():
    assert {name: spec.name_field for name, spec in METHODS.items() if spec.name_field} == {
        "tools/call": "name",
        "prompts/get": "name",
        "resources/read": "uri",
    }


def test_every_list_is_paginated():
    lists = {name for name in METHODS if name.endswith("/list")}

    assert {name for name, spec in METHODS.items() if issubclass(spec.result, PaginatedResult)} == lists


def test_a_capability_that_a_method_needs_is_one_that_a_server_can_declare():
    declared = types.ServerCapabilities.__struct_encode_fields__
    named = {spec.capability for spec in METHODS.values()} - {None}

    assert named == {"tools", "resources", "prompts", "completions"}
    assert named <= set(declared)


# https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#notification-filter
def test_the_filter_keys_are_those_of_the_schema_and_open_notifications_of_the_revision():
    assert LISTEN_KEYS.keys() == DEFINITIONS["SubscriptionFilter"]["properties"].keys()
    assert all(SHAPES[method].kind == "notification" for opened in LISTEN_KEYS.values() for method in opened)


def test_a_result_is_complete_or_asks():
    assert RESULT_TYPES == ("complete", "input_required")


def test_every_method_of_the_revision_has_a_name_and_nothing_else_has():
    named = [getattr(methods, name) for name in methods.__all__]

    assert sorted(text for text in named if isinstance(text, str)) == sorted(SHAPES)
