"""A recording as it is made: a line of text for each line, whatever it holds."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.trace.format import (
    EofLine,
    ExitLine,
    Header,
    Http,
    HttpLine,
    Link,
    LinkLine,
    MessageLine,
    NoteLine,
    SpawnLine,
    StderrLine,
    TextLine,
)
from mesero.trace.live import LiveView, safe_cell

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def shown_of(*lines, judged=False):
    shown = []
    view = LiveView(shown.append, judged=judged)
    for line in lines:
        view.receive(line)
    view.finish()
    return shown


def message(direction, value, **fields):
    raw = value if isinstance(value, str) else json.dumps(value)
    return MessageLine(seq=1, t=1.5, link="1", dir=direction, raw=raw, **fields)


def call(number, **params):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_a_call_and_its_answer_name_method_name_era_and_size():
    asked, answered = shown_of(
        message("c2s", call(7, name="add", _meta=META)),
        message("s2c", {"jsonrpc": "2.0", "id": 7, "result": {"resultType": "input_required"}}),
    )
    assert re.fullmatch(r"→ +1\.500  7 +tools/call add  modern 2026-07-28  \d+ chars", asked)
    assert re.fullmatch(
        r"← +1\.500  7 +tools/call add input_required  modern 2026-07-28  \d+ chars", answered
    )


def test_after_a_handshake_messages_are_of_the_older_era():
    lines = shown_of(
        message("c2s", call(1)),
        message("c2s", {"id": 2, "method": "initialize"}),
        message("s2c", {"id": 2, "result": {}}),
        message("c2s", call(3)),
        message("s2c", {"id": 3, "result": {"isError": True}}),
    )
    assert [re.search(r"no era|legacy|modern", line)[0] for line in lines] == ["no era", *["legacy"] * 4]
    assert "isError" in lines[-1]


def test_errors_batches_and_odd_messages_are_named():
    lines = shown_of(
        message("s2c", {"id": None, "error": {"code": -32601, "message": "no \x1b[31m method"}}),
        message("s2c", "[{}, {}]"),
        message("s2c", "3"),
        message("s2c", {"id": [1]}),
        message("s2c", {"id": 1, "result": 3}, http=Http(status=200, sse=True)),
    )
    assert "error -32601: no \ufffd[31m method" in lines[0]
    assert "batch of 2" in lines[1]
    assert "no message" in lines[2]
    assert "no message" in lines[3]
    assert "no object HTTP 200 event" in lines[4]


def test_every_other_line_is_told_in_words():
    place = {"seq": 1, "t": 0.0, "link": "1"}
    lines = shown_of(
        Header(),
        SpawnLine(**place, command=("x",), pid=7),
        SpawnLine(**place, command=("x",)),
        StderrLine(**place, raw="oh\n"),
        StderrLine(**place, b64="/w=="),
        TextLine(**place, dir="s2c", raw="hello"),
        HttpLine(**place, dir="c2s", http=Http(method="GET", url="http://x/")),
        HttpLine(**place, dir="s2c", http=Http(status=502, error="gone")),
        EofLine(**place, dir="c2s"),
        ExitLine(**place, code=3),
        ExitLine(**place, signal=9),
        NoteLine(**place, text="look"),
        LinkLine(**place),
    )
    assert [line[13:] for line in lines] == [
        "started, pid 7",
        "could not be started",
        "stderr: oh\ufffd",
        "stderr: bytes, no UTF-8",
        "no message: hello",
        "GET http://x/",
        "HTTP 502 broke off: gone",
        "end of the stream",
        "exit 3",
        "ended by signal 9",
        "note: look",
        "something else",
    ]


def test_findings_are_counted_as_they_are_found():
    lines = shown_of(
        Header(links={"1": Link(name="x", transport="stdio")}),
        TextLine(seq=1, t=0.0, link="1", dir="s2c", raw="Server ready"),
        judged=True,
    )
    assert lines[0].endswith("findings 1 (+FRAME-001)")
    assert lines[1].startswith("1 finding")


def test_an_audit_that_fails_ends_the_findings_only(monkeypatch):
    monkeypatch.setattr("mesero.audit.Auditor.receive", lambda *_: 1 / 0)
    lines = shown_of(NoteLine(seq=1, t=0.0, link="1", text="a"), judged=True)
    assert lines == ["no more findings: the audit failed with ZeroDivisionError", "·     0.000  note: a"]


def test_only_so_many_open_requests_are_remembered():
    asked = [message("c2s", call(number)) for number in range(1200)]
    *_, first, last = shown_of(
        *asked, message("s2c", {"id": 0, "result": {}}), message("s2c", {"id": 1199, "result": {}})
    )
    assert "tools/call" not in first
    assert "tools/call" in last


@given(st.text(), st.integers(1, 100))
def test_a_cell_is_one_printable_line_of_bounded_length(text, most):
    shown = safe_cell(text, most=most)
    assert shown.isprintable()
    assert len(shown) <= most + 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "method", "params", "result", "error", "_meta", "code", "name"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["c2s", "s2c"]))
def test_no_message_makes_it_raise(value, direction):
    (shown,) = shown_of(message(direction, value))
    assert shown.isprintable()


@pytest.mark.parametrize("raw", ["", "{", '"\ud800"', "[" * 5000])
def test_what_is_no_json_makes_it_not_raise_either(raw):
    (shown,) = shown_of(message("c2s", raw))
    assert "no message" in shown
