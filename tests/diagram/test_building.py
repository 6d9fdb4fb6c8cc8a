import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.audit.auditor import Auditor
from mesero.diagram import Builder, Limits, drawing_html, drawing_mermaid, drawing_text
from mesero.trace.format import Header, Http, HttpLine, Link, LinkLine, MessageLine, convert_line
from tests.diagram.recordings import META, PREFIX, Recording, handshake, long, stateless


def real(drawing):
    return [row for row in drawing.rows if row.kind not in ("phase", "gap")]


def test_each_line_has_a_row_with_what_it_is():
    drawing = stateless().draw()
    assert [row.seq for row in real(drawing)] == list(range(1, 21))
    first = real(drawing)[0]
    assert (first.kind, first.dir, first.label, first.id, first.era) == (
        "request",
        "c2s",
        "server/discover",
        "1",
        "modern",
    )
    assert first.http.method == "POST"
    assert first.size == len(first.raw)
    assert drawing.messages == 19


def test_answers_and_requests_point_at_each_other():
    drawing = stateless().draw()
    for index, row in enumerate(drawing.rows):
        if row.answer >= 0:
            assert drawing.rows[row.answer].request == index
            assert drawing.rows[row.answer].took_s == pytest.approx(drawing.rows[row.answer].t - row.t)
            assert drawing.rows[row.answer].method == row.method


def test_progress_points_at_its_request():
    drawing = stateless().draw()
    steps = [row for row in drawing.rows if row.label == "notifications/progress"]
    assert {drawing.rows[row.request].id for row in steps} == {"5"}


def test_what_was_not_answered_says_so():
    by_id = {row.id: row for row in stateless().draw().rows if row.kind == "request"}
    assert (by_id["7"].note, by_id["7"].bad) == ("no answer", "warning")
    assert (by_id["sub"].note, by_id["sub"].bad) == ("open until the end", "")


def test_what_was_cancelled_says_so():
    made = Recording()
    made.ask(1, "tools/call", name="slow")
    made.tell("notifications/cancelled", who="c2s", requestId=1, reason="enough")
    made.tell("notifications/cancelled", who="c2s", requestId={"no": "id"})
    rows = real(made.draw())
    assert (rows[0].note, rows[0].bad) == ("cancelled", "")
    assert rows[1].note == "request 1: enough"


def test_the_server_is_busy_while_something_waits_for_it():
    made = Recording()
    made.ask(1, "tools/call", name="a")
    made.tell("notifications/x")
    made.give(1)
    made.tell("notifications/x")
    made.ask(2, "subscriptions/listen", notifications={})
    assert [row.is_busy for row in real(made.draw())] == [True, True, True, False, False]


def test_findings_stand_beside_the_first_row_of_their_line():
    drawing = handshake().draw(auditor=Auditor())
    told = {
        row.seq: [drawing.findings[each].seq for each in row.findings] for row in drawing.rows if row.findings
    }
    assert told
    assert all(set(seqs) == {seq} for seq, seqs in told.items())
    assert drawing.diagnoses[0].phase == "operation"
    assert handshake().draw().findings == ()


def test_a_window_is_drawn_as_if_it_were_the_whole():
    drawing = stateless().draw(first_seq=3, last_seq=7, auditor=Auditor())
    assert [row.seq for row in real(drawing)] == [3, 4, 5, 6, 7]
    assert real(drawing)[-1].note == "answered in line 8"
    assert all(3 <= finding.seq <= 7 for finding in drawing.findings)


def test_one_of_several_links_is_drawn_by_key_or_name():
    lines = [
        LinkLine(seq=1, t=0.0, link="2", name="other", transport="stdio", target="x"),
        MessageLine(seq=2, t=0.0, link="1", dir="c2s", raw="{}"),
        MessageLine(seq=3, t=0.0, link="2", dir="c2s", raw="{}"),
    ]
    for link, count in ((None, 2), ("2", 1), ("other", 1), ("nobody", 0)):
        builder = Builder(link=link, auditor=Auditor())
        builder.receive_header(Header(links={"1": Link(name="notes")}))
        for line in lines:
            builder.receive(line)
        drawing = builder.build()
        assert len(real(drawing)) == count
        assert len(drawing.links) == count


def test_rows_and_texts_are_limited():
    made = long(20)
    drawing = made.draw(limits=Limits(max_rows=5, raw_chars=10))
    assert len(real(drawing)) == 5
    assert (drawing.left_out, drawing.messages) == (15, 20)
    assert all(len(row.raw) == 10 and row.cut_chars > 0 for row in real(drawing))
    short = made.draw(limits=Limits(total_chars=15))
    assert sum(len(row.raw) for row in short.rows) == 15


def test_findings_of_what_is_not_drawn_are_told_all_the_same():
    drawing = handshake().draw(auditor=Auditor(), limits=Limits(max_rows=3))
    assert drawing.findings
    assert all(row.findings == () for row in drawing.rows)


def test_a_batch_has_a_row_for_itself_and_one_for_each_message():
    made = Recording()
    made.s2c('[{"jsonrpc": "2.0", "method": "a"}, {"jsonrpc": "2.0", "method": "b"}]')
    assert [row.kind for row in real(made.draw())] == ["batch", "notification", "notification"]


def test_what_is_no_message_is_drawn_all_the_same():
    made = Recording()
    made.s2c("5")
    made.s2c("not json")
    kinds = [(row.kind, row.bad) for row in real(made.draw())]
    assert kinds == [("broken", "error"), ("text", "error")]


def test_http_without_a_message_has_its_body():
    made = Recording()
    http = Http(exchange=1, status=401, headers={"www-authenticate": "Bearer"}, body="<html>")
    made.put(HttpLine, dir="s2c", http=http)
    made.put(HttpLine, dir="c2s", http=Http(method="GET", url="https://x/"))
    row, other = real(made.draw())
    assert (row.kind, row.label, row.raw, row.http.status) == ("http", "HTTP 401", "<html>", 401)
    assert other.raw == ""


def test_a_request_without_metadata_or_id_is_drawn():
    made = Recording()
    made.c2s({"jsonrpc": "2.0", "id": None, "method": "x", "params": {"_meta": 5}})
    made.c2s({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"_meta": {"progressToken": {}}}})
    made.s2c({"jsonrpc": "2.0", "id": 99, "result": {}})
    made.tell("notifications/progress", progressToken=[])
    assert [row.request for row in real(made.draw())] == [-1, -1, -1, -1]


def test_a_recording_of_nothing_is_a_drawing_of_nothing():
    drawing = Builder(auditor=Auditor()).build()
    assert (drawing.rows, drawing.duration_s, drawing.messages) == ((), 0.0, 0)


LINES = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(
            ["message", "text", "stderr", "eof", "exit", "note", "spawn", "http", "what"]
        ),
        "dir": st.sampled_from(["c2s", "s2c"]),
        "link": st.sampled_from(["1", "2"]),
        "t": st.floats(-1, 100, allow_nan=False),
        "raw": st.sampled_from(
            [
                "{}",
                "[]",
                "[[]]",
                "x",
                "",
                '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5, "_meta": []}}',
                '{"id": 1, "result": {"resultType": "input_required", "inputRequests": 5}}',
                '{"id": 1, "result": {"content": 7, "tools": {}, "structuredContent": []}}',
                '{"id": 1, "error": 5}',
                '{"id": {}, "error": {"code": "x", "message": []}}',
                '{"method": [], "id": []}',
                '{"method": "notifications/cancelled", "params": {"requestId": 1}}',
                '{"method": "notifications/progress", "params": {"progress": {}, "total": [], "message": 5}}',
                '{"method": "subscriptions/listen", "id": "s", "params": {"notifications": 5}}',
                '{"method": "tools/call", "id": 1, "params": {"requestState": 5, "inputResponses": []}}',
            ]
        ),
        "command": st.just(["a"]),
        "text": st.text(max_size=5),
        "http": st.just({"exchange": 1, "status": 200}),
    }
)
KEPT = {
    "message": ("dir", "raw"),
    "text": ("dir", "raw"),
    "stderr": ("raw",),
    "eof": ("dir",),
    "exit": (),
    "note": ("text",),
    "spawn": ("command",),
    "http": ("dir", "http"),
    "what": (),
}


@given(found=st.lists(LINES, max_size=12))
def test_no_lines_make_it_raise(found):
    builder = Builder(auditor=Auditor())
    builder.receive_header(Header())
    for seq, line in enumerate(found, start=1):
        names = ("kind", "link", "t", *KEPT[line["kind"]])
        builder.receive(convert_line({"seq": seq, **{name: line[name] for name in names}}))
    drawing = builder.build()
    for show in (drawing_text, drawing_mermaid, drawing_html):
        assert show(drawing)
    assert META[f"{PREFIX}protocolVersion"] == "2026-07-28"
