"""What differs between two recordings, call by call and item by item."""

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from mesero.trace.diff import Call, Change, calls_in, changes_between, compare
from mesero.trace.format import MessageLine, NoteLine


class Recording:
    """Lines of one recording, made call by call."""

    def __init__(self):
        self.lines = []

    def put(self, direction, message, link="1"):
        raw = message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message})
        self.lines.append(MessageLine(seq=len(self.lines) + 1, t=0, link=link, dir=direction, raw=raw))

    def call(self, method, params=None, *, result=None, error=None, request_id=None, link="1"):
        request_id = len(self.lines) if request_id is None else request_id
        self.put("c2s", {"id": request_id, "method": method, "params": params or {}}, link)
        if result is not None:
            self.put("s2c", {"id": request_id, "result": result}, link)
        if error is not None:
            self.put("s2c", {"id": request_id, "error": error}, link)
        return self


def call_of(name, **arguments):
    return {"name": name, "arguments": arguments}


def test_a_recording_does_not_differ_from_itself():
    one = Recording().call("tools/list", result={"tools": [{"name": "a"}]}).call("ping", result={})

    assert compare(one.lines, one.lines) == []


def test_ids_metadata_and_state_make_no_difference():
    one = Recording().call(
        "tools/call", {**call_of("a"), "_meta": {"x": 1}}, result={"v": 1, "_meta": {"y": 1}}, request_id=1
    )
    other = Recording().call(
        "tools/call",
        {**call_of("a"), "requestState": "s"},
        result={"v": 1, "requestState": "t"},
        request_id="b",
    )

    assert compare(one.lines, other.lines) == []


def test_a_call_that_is_new_and_one_that_is_gone_are_told():
    one = Recording().call("ping", result={}).call("tools/call", call_of("a"), result={})
    other = (
        Recording().call("tools/call", call_of("a"), result={}).call("prompts/get", {"name": "p"}, result={})
    )

    gone, new = compare(one.lines, other.lines)

    assert (gone.kind, gone.subject, gone.name, gone.seq_before, gone.seq_after) == (
        "missing",
        "call",
        "ping",
        1,
        UNSET,
    )
    assert (new.kind, new.name, new.seq_before, new.seq_after) == ("added", "prompts/get p", UNSET, 3)


def test_a_changed_result_is_told_with_its_path():
    one = Recording().call("tools/call", call_of("a"), result={"content": [{"text": "x"}], "isError": False})
    other = Recording().call("tools/call", call_of("a"), result={"content": [], "isError": True, "more": 1})

    (found,) = compare(one.lines, other.lines)

    assert (found.kind, found.name, found.seq_before, found.seq_after) == ("changed", "tools/call a", 1, 1)
    assert found.changes == (
        Change("$.result.content[0]", {"text": "x"}, UNSET),
        Change("$.result.isError", before=False, after=True),
        Change("$.result.more", UNSET, 1),
    )


def test_an_answer_that_became_an_error_or_never_came_is_told():
    one = Recording().call("ping", result={}).call("ping", result={})
    other = Recording().call("ping", error={"code": -32601}).call("ping")

    first, second = compare(one.lines, other.lines)

    assert first.changes == (Change("$.result", {}, UNSET), Change("$.error", UNSET, {"code": -32601}))
    assert second.changes == (Change("$.result", {}, UNSET),)


def test_the_same_call_with_other_arguments_is_a_changed_call():
    one = Recording().call("tools/call", call_of("a", x=1), result={})
    other = Recording().call("tools/call", call_of("a", x=2), result={})

    (found,) = compare(one.lines, other.lines)

    assert (found.kind, found.changes) == ("changed", (Change("$.params.arguments.x", 1, 2),))


def test_the_order_of_calls_makes_no_difference_and_repeated_calls_are_paired_in_order():
    one = (
        Recording()
        .call("a", {"x": 1}, result={"n": 1})
        .call("a", {"x": 1}, result={"n": 2})
        .call("b", result={})
    )
    other = (
        Recording()
        .call("b", result={})
        .call("a", {"x": 1}, result={"n": 1})
        .call("a", {"x": 1}, result={"n": 3})
    )

    (found,) = compare(one.lines, other.lines)

    assert found.changes == (Change("$.result.n", 2, 3),)


def test_lists_are_compared_item_by_item_over_all_pages():
    tool = {"name": "b", "inputSchema": {"properties": {"x": {"type": "string"}}}}
    changed = {"name": "b", "inputSchema": {"properties": {"x": {"type": "number"}}}}
    one = Recording().call("tools/list", result={"tools": [{"name": "a"}], "nextCursor": "1"})
    one.call("tools/list", {"cursor": "1"}, result={"tools": [tool]})
    other = Recording().call("tools/list", result={"tools": [changed, {"name": "c"}, 7]})

    gone, other_schema, new = compare(one.lines, other.lines)

    assert (gone.kind, gone.subject, gone.name, gone.seq_before) == ("missing", "tool", "a", 1)
    assert (other_schema.kind, other_schema.name) == ("changed", "b")
    assert other_schema.changes == (Change("$.inputSchema.properties.x.type", "string", "number"),)
    assert (new.kind, new.name, new.seq_after, new.changes) == ("added", "c", 1, ())


def test_a_list_that_was_asked_for_again_counts_as_it_was_last():
    one = Recording().call("prompts/list", result={"prompts": [{"name": "a"}, {"name": "b"}]})
    one.call("resources/list", result={"resources": [{"uri": "x:y"}]})
    one.call("prompts/list", result={"prompts": [{"name": "b"}]})
    other = Recording().call("prompts/list", result={"prompts": [{"name": "b"}]})

    (found,) = compare(one.lines, other.lines)

    assert (found.subject, found.name) == ("resource", "x:y")


def test_a_list_that_failed_or_is_none_is_compared_as_a_call():
    one = Recording().call("tools/list", error={"code": 1}).call("tools/list", result={"tools": 7})
    other = Recording().call("tools/list", error={"code": 2}).call("tools/list", result=[])

    assert [found.subject for found in compare(one.lines, other.lines)] == ["call", "call"]


def test_links_are_kept_apart_and_both_sides_may_ask_under_one_id():
    one = Recording().call("ping", result={"a": 1}, request_id=1, link="1")
    one.put("s2c", {"id": 1, "method": "roots/list"})
    one.put("c2s", {"id": 1, "result": {"roots": []}})
    one.call("ping", result={}, request_id=1, link="2")

    calls = list(calls_in(one.lines))

    assert [(call.link, call.method, call.answer) for call in calls] == [
        ("1", "ping", {"result": {"a": 1}}),
        ("1", "roots/list", {"result": {"roots": []}}),
        ("2", "ping", {"result": {}}),
    ]


def test_what_is_no_call_is_passed_over_and_batches_are_opened():
    one = Recording()
    one.lines.append(NoteLine(seq=1, t=0, link="1", text="x"))
    for raw in (
        "no json",
        "[" * 5000,
        "7",
        '{"method":7,"id":1}',
        '{"method":"notifications/x"}',
        '{"id":9,"result":{}}',
    ):
        one.put("c2s", raw)
    one.put("c2s", '[{"id":1,"method":"a","params":[1]},{"id":[2],"method":"b"},5]')
    one.put("s2c", '[{"id":1,"result":{}},{"id":{},"error":{}}]')

    assert [(call.title, call.answer) for call in calls_in(one.lines)] == [
        ("a", {"result": {}}),
        ("b", {"error": {}}),
    ]


def test_parameters_that_are_too_deep_to_write_are_told_apart_by_name():
    deep = []
    for _ in range(100_000):
        deep = [deep]

    assert Call("1", 1, "a", "", deep).key == ("1", "a", b"")
    while deep:
        deep = deep.pop()


def test_no_more_than_a_hundred_changes_are_told():
    changes = changes_between(list(range(500)), [])

    assert len(changes) == 100
    assert changes[0] == Change("$[0]", 0, UNSET)


def test_values_of_another_type_differ():
    assert changes_between({"a": 1, "b": True, "c": None}, {"a": 1.0, "b": 1, "c": []}) == (
        Change("$.a", 1, 1.0),
        Change("$.b", before=True, after=1),
        Change("$.c", None, []),
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(one=JSON, other=JSON)
def test_two_values_differ_just_when_there_is_a_change(one, other):
    assert bool(changes_between(one, other)) == (
        json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)
    )
    assert changes_between(one, one) == ()
