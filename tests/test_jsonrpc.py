"""The envelope: what is a message, what is refused with which sentence, and that nothing else can happen."""

import json
import string

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero import jsonrpc
from mesero.errors import InvalidRequestError, ParseError, RpcError
from mesero.jsonrpc import (
    ErrorResponse,
    Notification,
    Request,
    ResultResponse,
    check_complexity,
    check_duplicate_members,
    check_finite,
    decode_batch,
    decode_message,
    decode_value,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    encode_value,
    find_id,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
IDS = st.integers() | st.text()
OBJECTS = st.dictionaries(st.text(max_size=5), JSON, max_size=3)


def dumps(value):
    return json.dumps(value, ensure_ascii=False).encode()


def plain(raw):
    return raw if raw is UNSET else json.loads(bytes(raw))


# -- the four kinds ----------------------------------------------------------------------------------------


@given(IDS, st.text(), OBJECTS)
def test_id_and_method_make_a_request(request_id, method, params):
    message = decode_message(dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}))

    assert isinstance(message, Request)
    assert (message.id, message.method, plain(message.params)) == (request_id, method, params)
    assert type(message.id) is type(request_id)


def test_a_request_needs_no_params():
    message = decode_message(b'{"jsonrpc":"2.0","id":"a","method":"m"}')

    assert message == Request("a", "m", UNSET)


@given(st.text(), OBJECTS)
def test_a_method_without_id_makes_a_notification(method, params):
    message = decode_message(dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    assert isinstance(message, Notification)
    assert (message.method, plain(message.params)) == (method, params)


@given(IDS, JSON)
def test_id_and_result_make_a_response(request_id, result):
    message = decode_message(dumps({"jsonrpc": "2.0", "id": request_id, "result": result}))

    assert isinstance(message, ResultResponse)
    assert (message.id, plain(message.result)) == (request_id, result)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}', ErrorResponse(1, -1, "no", UNSET)),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}', ErrorResponse(None, -1, "no")),
        (b'{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}', ErrorResponse(None, -1, "no")),
    ],
)
def test_an_error_makes_an_error_response_even_without_an_id(text, message):
    assert decode_message(text) == message


def test_the_data_of_an_error_stays_as_it_came():
    message = decode_message(b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data": [1.0 ]}}')

    assert bytes(message.data) == b"[1.0 ]"


def test_params_stay_as_they_came_but_for_the_space_around_them():
    message = decode_message(b' {"jsonrpc" : "2.0", "id":1, "method":"m", "params" :  {"a" : 1.0}  } \n')

    assert bytes(message.params) == b'{"a" : 1.0}'


def test_unknown_members_are_ignored():
    assert decode_message(b'{"jsonrpc":"2.0","id":1,"method":"m","trace":[1]}') == Request(1, "m")


@pytest.mark.parametrize("number", [0, -1, 2**63, 2**64, -(2**63) - 1, 10**100])
def test_an_integer_id_of_any_size_comes_back_unchanged(number):
    message = decode_message(dumps({"jsonrpc": "2.0", "id": number, "method": "m"}))

    assert json.loads(encode_result(message.id, {}))["id"] == number


# -- what is refused ---------------------------------------------------------------------------------------

DEEP = 100_000

NOT_PARSED = [
    (b"", "not JSON"),
    (b"hello", "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m"', "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m"}{}', "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":01}}', "not JSON"),
    (b'{"jsonrpc":7,"id":1,"method":"m","params":{"a":01}}', "not JSON"),
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"m"}', "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xff"}}', "not UTF-8: invalid byte at offset 52"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud800"}}', "not JSON"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}', "NaN and Infinity are no JSON numbers"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":-Infinity}}', "NaN and Infinity"),
    (b'{"jsonrpc":"2.0","id":NaN,"method":"m"}', "NaN and Infinity are no JSON numbers (byte 22)"),
    (b'{"jsonrpc":"2.0","id":1e999,"method":"m"}', "a number that nobody can hold"),
    (b"[" * DEEP, "nested too deeply"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b'{"a":' * DEEP, "nested too deeply"),
    (b'{"jsonrpc":7,"id":1,"method":"m","params":' + b'{"a":' * DEEP, "nested too deeply"),
]


@pytest.mark.parametrize(("raw", "why"), NOT_PARSED)
def test_what_is_not_json_is_a_parse_error_with_its_own_sentence(raw, why):
    with pytest.raises(ParseError) as caught:
        decode_message(raw)

    assert why in caught.value.message


NO_MESSAGES = [
    (b"[]", "batches (arrays)"),
    (b' [{"jsonrpc":"2.0","id":1,"method":"m"}]', "batches (arrays)"),
    (b'"hello"', "a message is a JSON object"),
    (b"null", "a message is a JSON object"),
    (b"7", "a message is a JSON object"),
    (b"{}", '"jsonrpc" is missing'),
    (b'{"id":1,"method":"m"}', '"jsonrpc" is missing'),
    (b'{"jsonrpc":"1.0","id":1,"method":"m"}', '"jsonrpc" must be "2.0", not \'1.0\''),
    (b'{"jsonrpc":2.0,"id":1,"method":"m"}', "at `$.jsonrpc`"),
    (b'{"jsonrpc":"2.0","id":null,"method":"m"}', "not null"),
    (b'{"jsonrpc":"2.0","id":1.0,"method":"m"}', "got `float`"),
    (b'{"jsonrpc":"2.0","id":1e0,"method":"m"}', "got `float`"),
    (b'{"jsonrpc":"2.0","id":true,"method":"m"}', "got `bool`"),
    (b'{"jsonrpc":"2.0","id":[1],"method":"m"}', "got `array`"),
    (b'{"jsonrpc":"2.0","id":{},"method":"m"}', "got `object`"),
    (b'{"jsonrpc":"2.0","id":1,"method":7}', "at `$.method`"),
    (b'{"jsonrpc":"2.0","id":1,"method":null}', "at `$.method`"),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":[]}', '"params" must be an object'),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":null}', '"params" must be an object'),
    (b'{"jsonrpc":"2.0","method":"m","params":"a"}', '"params" must be an object'),
    (b'{"jsonrpc":"2.0","id":1}', 'neither "method" nor "result" nor "error"'),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","result":{}}', '"method" and "result" or "error"'),
    (b'{"jsonrpc":"2.0","id":1,"method":"m","error":{"code":1,"message":"a"}}', '"method" and "result"'),
    (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"a"}}', '"result" and "error"'),
    (b'{"jsonrpc":"2.0","result":{}}', 'a result needs the "id"'),
    (b'{"jsonrpc":"2.0","id":null,"result":{}}', 'a result needs the "id"'),
    (b'{"jsonrpc":"2.0","id":1,"error":"no"}', "at `$.error`"),
    (b'{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"a"}}', "at `$.error.code`"),
    (b'{"jsonrpc":"2.0","id":1,"error":{"message":"a"}}', "`code`"),
    (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', "`message`"),
]


@pytest.mark.parametrize(("raw", "why"), NO_MESSAGES)
def test_json_that_is_no_message_is_an_invalid_request_with_its_own_sentence(raw, why):
    with pytest.raises(InvalidRequestError) as caught:
        decode_message(raw)

    assert why in caught.value.message


VALID = [
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":[1,2.5,null]}}}',
    b'{"jsonrpc":"2.0","id":"a-1","result":{"resultType":"complete","content":[]}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":{"a":"\xc3\xa9"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}',
]


def outcome_of(raw):
    """A kind of message, or the code that refuses it. Anything else that is raised fails the test."""
    try:
        return type(decode_message(raw)).__name__
    except RpcError as error:
        return error.code


OUTCOMES = {"Request", "Notification", "ResultResponse", "ErrorResponse", -32700, -32600}


@given(st.sampled_from(VALID), st.data())
def test_a_damaged_message_is_a_message_or_refused(raw, data):
    at = data.draw(st.integers(0, len(raw) - 1))
    piece = data.draw(
        st.binary(max_size=4) | st.sampled_from([b'"', b"{", b"}", b"null", b"1e999", b"\\u0000"])
    )
    cut = data.draw(st.integers(0, 8))

    assert outcome_of(raw[:at] + piece + raw[at + cut :]) in OUTCOMES


@given(st.binary(max_size=60) | JSON.map(dumps))
@example(b'{"jsonrpc":"2.0","id":1,"method":"m","params":')
def test_any_bytes_are_a_message_or_refused(raw):
    assert outcome_of(raw) in OUTCOMES


@given(st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]), JSON))
def test_any_object_with_the_right_names_is_a_message_or_refused(value):
    assert outcome_of(dumps({"jsonrpc": "2.0", **value})) in OUTCOMES


# -- the id of what was refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b'{"id":7,"method":3}', 7),
        (b'{"id":"a","method":3}', "a"),
        (b'{"id":7,"params":{"x":"\xff"}}', 7),
        (b'{"id":null}', None),
        (b'{"id":1.5}', None),
        (b'{"id":true}', None),
        (b'{"id":[1]}', None),
        (b"{}", None),
        (b"[]", None),
        (b'{"id":7', None),
        (b'{"id":' + b"[" * DEEP, None),
        (b'{"id":"\xff"}', None),
    ],
)
def test_the_id_of_a_refused_message_is_found_when_it_is_a_valid_one(raw, found):
    assert find_id(raw) == found


# -- twins -------------------------------------------------------------------------------------------------


@given(JSON)
def test_what_has_no_member_twice_passes(value):
    check_duplicate_members(dumps(value))


@pytest.mark.parametrize(
    "raw",
    [b'{"a":1,"a":1}', b'{"a":1,"\\u0061":2}', b'[{"x":{"b":1,"a":1,"c":2,"a":3}}]', b'{"":1,"":1}'],
)
def test_a_member_twice_is_refused_at_any_depth(raw):
    with pytest.raises(InvalidRequestError, match="occurs twice in one object"):
        check_duplicate_members(raw)


def test_the_refusal_names_the_twin():
    with pytest.raises(InvalidRequestError, match="'name' occurs twice"):
        check_duplicate_members(b'{"id":1,"name":"a","x":{},"name":"b"}')


@pytest.mark.parametrize(
    ("raw", "why"),
    [(b"{", "not JSON"), (b"\xff", "not UTF-8"), (b"[" * DEEP, "nested too deeply")],
)
def test_looking_for_twins_in_what_is_not_json_is_a_parse_error(raw, why):
    with pytest.raises(ParseError, match=why):
        check_duplicate_members(raw)


# -- values ------------------------------------------------------------------------------------------------


@given(JSON)
def test_a_value_is_decoded_to_plain_objects(value):
    assert decode_value(dumps(value)) == json.loads(dumps(value))
    assert decode_value(Raw(dumps(value))) == json.loads(dumps(value))


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"{", "not JSON"),
        (b"[NaN]", "NaN and Infinity"),
        (b"1e999", "a number that nobody can hold"),
        (b"[" * DEEP, "nested too deeply"),
    ],
)
def test_a_value_that_is_not_json_is_a_parse_error(raw, why):
    with pytest.raises(ParseError, match=why):
        decode_value(raw)


class HasText:
    raw = b'{"type":"hologram"}'


def test_what_knows_its_exact_text_is_written_as_that_text():
    assert encode_value([HasText()]) == b'[{"type":"hologram"}]'


def test_what_has_no_json_form_is_refused():
    with pytest.raises(TypeError, match="a value of type object has no JSON form"):
        encode_value([object()])


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (float("nan"), "$"),
        ([1.0, float("inf")], "$[1]"),
        ({"a": [{"b": (2, -float("inf"))}]}, "$.a[0].b[1]"),
        ({"a": {float("nan")}}, "$.a[0]"),
        ({"a": frozenset([float("inf")])}, "$.a[0]"),
    ],
)
def test_a_number_that_is_not_finite_is_refused_with_its_path(value, path):
    with pytest.raises(ValueError, match="is not finite") as caught:
        check_finite(value)

    assert f"the number at {path} is not finite" in str(caught.value)


@given(JSON)
def test_finite_data_passes(value):
    check_finite(value)


def test_what_contains_itself_is_looked_at_once():
    endless = [1.0]
    endless += [endless, {"a": endless}]

    check_finite(endless)


# -- encoding ----------------------------------------------------------------------------------------------


@given(IDS, st.text(), OBJECTS)
def test_requests_come_back_as_they_were_sent(request_id, method, params):
    message = decode_message(encode_request(request_id, method, params))

    assert isinstance(message, Request)
    assert (message.id, message.method, plain(message.params)) == (request_id, method, params)


@given(st.text(), OBJECTS)
def test_notifications_come_back_as_they_were_sent(method, params):
    message = decode_message(encode_notification(method, params))

    assert isinstance(message, Notification)
    assert (message.method, plain(message.params)) == (method, params)


@given(IDS, JSON)
def test_results_come_back_as_they_were_sent(request_id, result):
    message = decode_message(encode_result(request_id, result))

    assert isinstance(message, ResultResponse)
    assert (message.id, plain(message.result)) == (request_id, result)


@given(st.none() | IDS, st.integers(), st.text(), JSON.filter(lambda data: data is not None))
def test_errors_come_back_as_they_were_sent(request_id, code, text, data):
    message = decode_message(encode_error(request_id, RpcError(text, code=code, data=data)))

    assert isinstance(message, ErrorResponse)
    assert (message.id, message.code, message.message, plain(message.data)) == (request_id, code, text, data)


def test_what_is_not_given_is_not_written():
    assert json.loads(encode_request(1, "m")) == {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert json.loads(encode_notification("m")) == {"jsonrpc": "2.0", "method": "m"}
    assert json.loads(encode_error(None, RpcError("no", code=1))) == {
        "jsonrpc": "2.0",
        "error": {"code": 1, "message": "no"},
    }


def test_raw_parameters_are_written_as_they_are():
    assert encode_request(1, "m", Raw(b'{"a" : 1.0}')).endswith(b'"params":{"a" : 1.0}}')


@given(st.text(string.printable))
def test_one_message_is_one_line(text):
    assert b"\n" not in encode_request(1, "m", {"text": text})


def test_structs_are_written_by_their_own_rules():
    class Point(msgspec.Struct, rename="camel", omit_defaults=True):
        x_value: int
        y_value: int = 0

    assert encode_result(1, Point(3)) == b'{"jsonrpc":"2.0","id":1,"result":{"xValue":3}}'


# --- batches ---


@given(st.lists(OBJECTS, min_size=1, max_size=5))
def test_a_batch_is_its_messages(messages):
    parts = decode_batch(b" " + dumps(messages))
    assert parts is not None
    assert [json.loads(part) for part in parts] == messages


@pytest.mark.parametrize(
    "raw",
    [b"", b"{}", b"[]", b"[1]", b'[{"a":1},[{}]]', b"[{}", b"[" * 5000 + b"]" * 5000],
)
def test_what_is_no_array_of_objects_is_no_batch(raw):
    assert decode_batch(raw) is None


def test_a_message_has_so_many_parts_and_no_more(monkeypatch):
    monkeypatch.setattr(jsonrpc, "MAX_PARTS", 10)
    check_complexity(b'["a,[{\\",","b","c","d" ,   1]')  # a bracket, four strings, four commas
    with pytest.raises(InvalidRequestError, match="at most 10 strings"):
        check_complexity(b"[[],[],[],[],[],[]]")
    with pytest.raises(InvalidRequestError, match="at most 10 strings"):
        check_duplicate_members(b'{"a":[1,2,3,4,5,6,7,8,9,1]}')


@pytest.mark.parametrize("unit", [b'"', b'\\"', b"\\", b'"\\', b"{", b"1", b'"a', b'\\\\"'])
def test_the_parts_of_anything_are_counted_in_one_pass(unit):
    """What went back and forth would take minutes."""
    raw = b'"' + unit * 300_000
    for tail in (b"", b"\\", b'"'):
        sum(1 for _ in jsonrpc._PART.finditer(raw + tail))


def test_the_largest_message_of_one_text_is_no_complex_one():
    check_complexity(b'{"jsonrpc":"2.0","params":"' + b"a,[{" * 2_000_000 + b'"}')


@pytest.mark.parametrize("member", [b'{"a":1}', b"[1]", b"[]"])
def test_an_id_that_is_a_tree_is_none(member):
    assert find_id(b'{"id":' + member + b"}") is None
