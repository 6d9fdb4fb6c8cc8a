from mesero.diagram.dividing import divide
from mesero.diagram.model import Group, Row


def row(t, *, link="1", kind="request", phase="operation", **fields):
    return Row(seq=1, t=t, link=link, kind=kind, label="tools/call x", phase=phase, **fields)


def test_a_phase_begins_with_a_divider():
    rows, _ = divide([row(0, phase="launch"), row(0), row(0, link="2")], [], gap_s=1)
    assert [(each.kind, each.label) for each in rows if each.kind == "phase"] == [
        ("phase", "launch"),
        ("phase", "operation"),
        ("phase", "operation"),
    ]


def test_a_silence_names_what_is_waited_for():
    rows, _ = divide([row(0, id="1"), row(3, kind="result", request=0)], [], gap_s=1)
    gap = rows[2]
    assert (gap.kind, gap.label, gap.took_s) == ("gap", "3 s of silence", 3)
    assert gap.note == "waiting for tools/call x (id 1)"


def test_many_that_wait_are_named_in_part():
    rows, _ = divide([row(0) for _ in range(5)] + [row(9, kind="notification")], [], gap_s=1)
    assert rows[-2].note == "waiting for tools/call x, tools/call x and 3 more"


def test_nobody_waits_for_a_subscription():
    rows, _ = divide([row(0, method="subscriptions/listen"), row(9)], [], gap_s=1)
    assert rows[2].kind == "gap"
    assert rows[2].note == ""


def test_a_silence_is_of_one_link_and_of_some_length():
    rows, _ = divide([row(0), row(5, link="2"), row(5.5), row(6)], [], gap_s=1)
    assert [each.took_s for each in rows if each.kind == "gap"] == [5.5]
    rows, _ = divide([row(0), row(50)], [], gap_s=0)
    assert all(each.kind != "gap" for each in rows)


def test_indexes_are_mended():
    rows, groups = divide(
        [row(0, answer=1), row(9, kind="result", request=0)], [Group("rounds", "x", "1", 0, 1)], gap_s=1
    )
    assert [each.kind for each in rows] == ["phase", "request", "gap", "result"]
    assert (rows[1].answer, rows[3].request) == (3, 1)
    assert (groups[0].first, groups[0].last) == (1, 3)
