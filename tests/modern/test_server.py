"""What a server says of itself, pages of lists, and what a subscription hears."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero.errors import InvalidParamsError
from mesero.jsonrpc import Request, encode_result
from mesero.modern.methods import LISTEN_KEYS, RESOURCE_UPDATED, TOOLS_CHANGED
from mesero.modern.server import (
    decode_cursor,
    encode_cursor,
    honoured_filter,
    is_wanted,
    page_of,
    read_filter,
    server_meta_for,
    stamp_result,
)
from mesero.types import Implementation, Result

SERVER_INFO = "io.modelcontextprotocol/serverInfo"
IDENTITY = server_meta_for(Implementation("notes", "1.0"))


# -- identity ----------------------------------------------------------------------------------------------


def stamped(result):
    stamp_result(result, IDENTITY)
    return json.loads(encode_result(1, result))["result"]


def test_every_result_is_complete_and_says_who_answered():
    assert stamped(Result()) == {
        "resultType": "complete",
        "_meta": {SERVER_INFO: {"name": "notes", "version": "1.0"}},
    }


def test_what_the_operation_put_into_the_metadata_stays():
    mine = {"com.example/x": 1}
    result = stamped(Result(meta=mine))

    assert result["_meta"] == {SERVER_INFO: {"name": "notes", "version": "1.0"}, "com.example/x": 1}
    assert mine == {"com.example/x": 1}


def test_one_result_does_not_leave_its_metadata_to_the_next():
    stamped(Result(meta={"com.example/x": 1}))

    assert stamped(Result())["_meta"].keys() == {SERVER_INFO}


# -- pages -------------------------------------------------------------------------------------------------


@given(st.text())
def test_a_cursor_is_the_last_key_and_safe_in_a_url(key):
    cursor = encode_cursor(key)

    assert decode_cursor(cursor) == key
    assert cursor.replace("-", "").replace("_", "").rstrip("=").isalnum()


BAD_CURSORS = ["", "x", "after:a", "YWZ0ZXI", "YmVmb3JlOmE=", "/w==", "é", "\ud800", "YWZ0\nZXI6"]


@pytest.mark.parametrize("cursor", BAD_CURSORS)
def test_a_cursor_that_was_not_given_out_here_is_refused(cursor):
    with pytest.raises(InvalidParamsError, match="was not given out by this server") as caught:
        decode_cursor(cursor)

    assert caught.value.code == -32602


@given(st.text(max_size=10))
def test_any_text_is_a_cursor_or_refused(cursor):
    try:
        key = decode_cursor(cursor)
    except InvalidParamsError:
        return
    assert encode_cursor(key) == cursor


def pages(items, page_size):
    """All pages of a list, as a client reads them. Ends, since each page begins behind the one before."""
    found, cursor = [], None
    while cursor is not UNSET:
        page, cursor = page_of(items, items, cursor, page_size)
        found.append(page)
    return found


@given(st.sets(st.text(max_size=3), max_size=12).map(sorted), st.integers(1, 5))
def test_the_pages_are_the_whole_list_in_its_order(items, page_size):
    found = pages(items, page_size)

    assert [item for page in found for item in page] == items
    assert all(len(page) == page_size for page in found[:-1])
    assert len(found) == max(1, -(-len(items) // page_size))


def test_a_list_that_changed_between_two_pages_goes_on_behind_the_last_key():
    page, cursor = page_of(["a", "c", "e"], ["a", "c", "e"], None, 2)

    assert page == ["a", "c"]
    assert page_of(["a", "b", "d", "e"], ["a", "b", "d", "e"], cursor, 2) == (["d", "e"], UNSET)


def test_a_cursor_behind_the_end_gives_an_empty_last_page():
    assert page_of(["a"], ["a"], encode_cursor("z"), 2) == ([], UNSET)


def test_a_bad_cursor_is_refused_by_the_page_too():
    with pytest.raises(InvalidParamsError):
        page_of(["a"], ["a"], "bad", 2)


# -- subscriptions -----------------------------------------------------------------------------------------

KNOWN = {
    **LISTEN_KEYS,
    "greetings": ("notifications/greetings",),
    "everything": ("notifications/greetings", TOOLS_CHANGED),
}


@pytest.mark.parametrize(
    ("params", "members"),
    [
        (
            b'{"notifications":{"toolsListChanged":true,"x":["Ana"]}}',
            {"toolsListChanged": True, "x": ["Ana"]},
        ),
        (b'{"notifications":{}}', {}),
        (b'{"notifications":[]}', {}),
        (b"{}", {}),
        (b'{"notifications":{"x":1e999}}', {}),
    ],
)
def test_the_filter_is_read_with_the_members_of_extensions(params, members):
    assert read_filter(Request(1, "subscriptions/listen", Raw(params))) == members


def test_without_parameters_there_is_no_filter():
    assert read_filter(Request(1, "subscriptions/listen")) == {}


def test_what_is_not_known_or_not_asked_for_is_not_honoured():
    wanted = {"toolsListChanged": True, "promptsListChanged": False, "telepathy": True, "greetings": ["a"]}

    assert honoured_filter(wanted, KNOWN) == {"toolsListChanged": True, "greetings": ["a"]}
    assert honoured_filter({}, KNOWN) == {}


@pytest.mark.parametrize("value", [None, 1, "notes://1", [1], ["notes://1", None], {}])
def test_a_filter_member_of_the_wrong_type_is_refused(value):
    with pytest.raises(InvalidParamsError, match="'greetings' is true or a list of strings"):
        honoured_filter({"greetings": value}, KNOWN)


HEARD = [
    ({"toolsListChanged": True}, TOOLS_CHANGED, None, True),
    ({"toolsListChanged": True}, RESOURCE_UPDATED, "a:1", False),
    ({"resourceSubscriptions": ["a:1", "a:2"]}, RESOURCE_UPDATED, "a:2", True),
    ({"resourceSubscriptions": ["a:1"]}, RESOURCE_UPDATED, "a:2", False),
    ({"resourceSubscriptions": []}, RESOURCE_UPDATED, "a:2", False),
    ({"resourceSubscriptions": ["a:1"]}, TOOLS_CHANGED, None, False),
    ({"greetings": ["Ana"]}, "notifications/greetings", "Ana", True),
    ({"greetings": ["Ana"]}, "notifications/greetings", None, False),
    ({"toolsListChanged": True, "everything": ["Ana"]}, TOOLS_CHANGED, None, True),
    ({"everything": ["Ana"], "toolsListChanged": True}, TOOLS_CHANGED, None, True),
    ({}, TOOLS_CHANGED, None, False),
]


@pytest.mark.parametrize(("honoured", "method", "subject", "is_heard"), HEARD)
def test_a_subscription_hears_what_it_asked_for_and_nothing_else(honoured, method, subject, is_heard):
    assert is_wanted(honoured, KNOWN, method, subject) is is_heard


def test_a_filter_names_so_many_resources_and_no_more():
    uris = [f"notes://{number}" for number in range(10_000)]
    assert honoured_filter({"greetings": uris}, KNOWN) == {"greetings": uris}
    with pytest.raises(InvalidParamsError, match="10001 resources; 10000 at most"):
        honoured_filter({"greetings": [*uris, "notes://x"]}, KNOWN)
