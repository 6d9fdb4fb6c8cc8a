import msgspec

from mesero.audit.auditor import Auditor
from mesero.audit.findings import Finding
from mesero.diagram import drawing_text
from mesero.diagram.model import Drawing, Group, HttpPart, LinkPart, Row
from tests.diagram.recordings import Recording, handshake, long, stateless


def lines_of(drawing):
    return drawing_text(drawing).splitlines()


def one_row(**fields):
    row = Row(**{"seq": 1, "t": 0.0, "link": "1", "kind": "request", "dir": "c2s", "label": "x", **fields})
    return lines_of(Drawing(links=(LinkPart("1"),), rows=(row,)))[-1]


def test_the_first_line_is_the_summary():
    assert lines_of(stateless().draw())[0] == (
        "trace.jsonl: 19 messages, 3 errors, 0 findings in 17.5 s, since 2026-08-01T10:00:00Z"
    )
    assert lines_of(Drawing(messages=1))[0] == "1 message, 0 errors, 0 findings in 0 ms"


def test_a_request_goes_right_and_an_answer_left():
    assert "├──── tools/call add #7 ───" in one_row(label="tools/call add", id="7")
    assert one_row().endswith("▶│")
    answer = one_row(kind="result", dir="s2c", took_s=0.02)
    assert "│◀──" in answer
    assert answer.endswith("x ────┤  20 ms")


def test_notifications_are_dashed_and_errors_are_marked():
    assert "╌╌╌▶│" in one_row(kind="notification")
    assert "✗ error -1 HTTP 400 ─" in one_row(
        kind="error", dir="s2c", label="error -1", bad="error", http=HttpPart(status=400)
    )
    assert "? x" in one_row(bad="warning")


def test_a_long_note_has_a_line_of_its_own():
    row = Row(seq=1, t=0.0, link="1", kind="request", dir="c2s", label="x" * 40, note="y" * 40)
    text = lines_of(Drawing(links=(LinkPart("1"),), rows=(row,)))
    assert "x" * 40 in text[-2]
    assert f"│  {'y' * 40} " in text[-1]


def test_all_arrows_are_equally_long():
    for drawing in (stateless().draw(), handshake().draw(), long(60).draw()):
        lanes = [line for line in lines_of(drawing) if "▶│" in line or "│◀" in line]
        assert len({line.index("│" if "▶│" in line else "┤", 30) for line in lanes}) == 1


def test_groups_have_a_bracket_in_the_margin():
    text = drawing_text(stateless().draw())
    assert "╭   ├──── subscriptions/listen" in text
    assert "│╭  ├──── tools/call book #3" in text
    assert "┊  tools/call book: in rounds (2 rounds)" in text
    assert "│╰  │◀" in text


def test_a_group_that_finds_no_column_has_no_bracket():
    rows = tuple(Row(seq=n, t=0.0, link="1", kind="note", label="n") for n in range(8))
    groups = (*(Group("rounds", "g", "1", n, 7) for n in range(4)), Group("rounds", "other", "2", 0, 7))
    text = drawing_text(Drawing(links=(LinkPart("1"),), rows=rows, groups=groups))
    assert text.count("╭") == 3


def test_silences_findings_and_diagnoses_are_in_their_place():
    text = drawing_text(handshake().draw(auditor=Auditor()))
    assert "connection closed: the server exited" in text
    assert "at fault: server" in text
    assert "⋮  2.5 s of silence" in text
    assert "! error FRAME-001: the server wrote 'DEBUG adding'" in text


def test_findings_without_a_line_come_behind():
    made = Recording()
    made.tell("notifications/x")
    drawing = made.draw()
    found = {
        "severity": "info",
        "phase": "operation",
        "blame": "client",
        "revision": "",
        "fix": "",
        "spec": "",
    }
    finding = Finding(rule="X-001", link="1", seq=99, message="is odd", **found)
    text = drawing_text(msgspec.structs.replace(drawing, findings=(finding,)))
    assert "Findings about the whole\n  ! info X-001: is odd" in text


def test_what_is_left_out_and_what_is_wrong_is_said():
    text = drawing_text(Drawing(left_out=5, problems=("line 3: cut",)))
    assert "5 more lines are not drawn" in text
    assert text.endswith("in the file: line 3: cut")


def test_links_follow_each_other():
    rows = (
        Row(seq=1, t=0.0, link="1", kind="note", label="one"),
        Row(seq=2, t=0.0, link="2", kind="stderr", label="two"),
    )
    links = (LinkPart("1", name="a"), LinkPart("2", transport="stdio"), LinkPart("3", name="empty"))
    text = drawing_text(Drawing(links=links, rows=rows))
    assert text.index("a   [era unknown]") < text.index("one") < text.index("2 · stdio") < text.index("two")
    assert "empty" not in text
    assert text.endswith("two │")
