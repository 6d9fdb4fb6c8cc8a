import re

from mesero.audit.auditor import Auditor
from mesero.diagram import drawing_mermaid
from mesero.diagram.model import Drawing, LinkPart, Row
from tests.diagram.recordings import PREFIX, Recording, handshake, long, stateless

HOSTILE = 'a; b # c\n  participant X <script> "q" %%{init} end'
LINE = re.compile(
    r"    (autonumber|participant \w+ as ([^#;]|#\d+;)+|end|rect rgba\([\d., ]+\)"
    r"|\w+(->>|-\)|-->>|--x)\w+: .+|note (over|left of|right of) \w+(,\w+)?: .+)"
)


def check(text):
    first, *lines = text.splitlines()
    assert first == "sequenceDiagram"
    for line in lines:
        assert LINE.fullmatch(line), line
    assert text.count("    rect ") == text.count("    end\n") + text.endswith("    end")


def test_every_line_is_one_of_the_language():
    for made in (stateless(), handshake(), long(50)):
        check(drawing_mermaid(made.draw(auditor=Auditor())))


def test_rounds_stand_in_a_box_with_the_silence_between():
    made = Recording()
    made.ask(1, "tools/call", name="book")
    made.give(1, result_type="input_required", requestState="s")
    made.after(5).ask(2, "tools/call", name="book", requestState="s")
    made.give(2, content=[])
    text = drawing_mermaid(made.draw())
    check(text)
    box = text[text.index("rect") : text.rindex("    end")]
    assert box.count("C->>S1") == 2
    assert "5 s of silence" in box


def test_a_box_with_holes_is_none():
    made = Recording()
    made.ask(1, "subscriptions/listen", notifications={})
    made.ask(2, "tools/list")
    made.tell("notifications/x", meta={f"{PREFIX}subscriptionId": 1})
    assert "rect" not in drawing_mermaid(made.draw())


def test_a_box_ends_where_the_next_begins():
    made = Recording()
    for number in (1, 3):
        made.ask(number, "tools/call", name="book")
        made.give(number, result_type="input_required", requestState=str(number))
        made.ask(number + 1, "tools/call", name="book", requestState=str(number))
        made.give(number + 1, content=[])
    made.ask(9, "tools/list")
    text = drawing_mermaid(made.draw())
    check(text)
    assert text.count("rect") == 2


def test_hostile_text_is_shown_and_not_obeyed():
    made = Recording(name=HOSTILE)
    made.ask(HOSTILE, HOSTILE)
    made.refuse(HOSTILE, -1, HOSTILE)
    text = drawing_mermaid(made.draw(auditor=Auditor()))
    check(text)
    assert "<" not in text.replace("<br/>", "")
    assert '"' not in text


def test_too_many_rows_are_counted():
    drawing = long(500).draw()
    text = drawing_mermaid(drawing)
    check(text)
    assert f"{len(drawing.rows) - 300} more are not drawn" in text


def test_a_box_that_is_cut_off_is_none():
    made = Recording()
    made.ask(1, "tools/call", name="book")
    made.give(1, result_type="input_required", requestState="s")
    text = drawing_mermaid(made.draw(), max_rows=2)
    check(text)
    assert "rect" not in text


def test_nothing_is_a_diagram_too():
    assert "nothing was recorded" in drawing_mermaid(Drawing())
    row = Row(seq=1, t=0.0, link="1", kind="note")
    text = drawing_mermaid(Drawing(rows=(row,), links=(LinkPart("2", target="x"), LinkPart("3"))))
    check(text)
    assert "participant S2 as server 3" in text
    assert "note left of C: -" in text
