import io

from rich.console import Console

from mesero.cli.examining import ExaminationDisplay, Row
from mesero.cli.printing import Output
from mesero.doctor import Check


def text_of(display):
    console = Console(file=io.StringIO(), width=80)
    console.print(display.draw())
    return console.file.getvalue()


def test_a_row_shows_what_is_over_and_what_runs():
    display = ExaminationDisplay(Output())
    row = display.watch("no\x1btes")

    row.begin("command")
    row.end(Check(name="command", status="ok"))
    row.begin("connection")

    shown = text_of(display)
    assert "no\\x1btes" in shown
    assert "+" in shown
    assert "connection" in shown


def test_the_clock_of_a_row_stops_when_nothing_runs():
    row = Row("notes")
    row.begin("command")
    row.end(Check(name="command", status="failed"))

    assert row.marks == "x"
    assert row.took_s == row.seconds


def test_nothing_is_shown_where_nobody_watches(capsys):
    with ExaminationDisplay(Output()) as display:
        display.watch("notes").begin("command")

    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_the_rows_are_gone_when_it_is_over(monkeypatch, capsys):
    monkeypatch.setattr(Output, "is_terminal", True)

    with ExaminationDisplay(Output()) as display:
        display.watch("notes").begin("command")

    assert capsys.readouterr().out == ""
