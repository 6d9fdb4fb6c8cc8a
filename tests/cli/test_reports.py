import io
import re

import pytest
from msgspec.structs import replace
from rich.console import Console

from mesero.cli.printing import Output
from mesero.cli.reports import overview_lines, print_lines, render_lines, report_lines
from mesero.doctor import Check, Diagnosis, Overview, Patient, Report
from mesero.host.configured import ConfiguredServer
from mesero.host.entries import Launch, ServerEntry

FAULT = Diagnosis(
    code="NET-1",
    severity="broken",
    phase="launch",
    title="The name cannot be resolved",
    cause="a \x1b[31mcause",
    blame="client",
    fix="Correct it.",
    evidence=("seen",),
)
BROKEN = Report(
    target="x",
    verdict="broken",
    checks=(
        Check(name="dns", status="failed", took_s=0.25, evidence=("no address", "really")),
        Check(name="tcp", status="not reached"),
        Check(name="tls", status="not reached"),
        Check(name="cors", status="skipped", evidence=("no browsers",)),
    ),
    diagnoses=(FAULT,),
    took_s=0.3,
)


def plain(lines, capsys):
    print_lines(list(lines), Output())
    return capsys.readouterr().out.splitlines()


def test_the_first_line_is_the_answer_and_what_to_do_follows(capsys):
    lines = plain(report_lines(BROKEN), capsys)

    assert lines[0] == "BROKEN: The name cannot be resolved: a \\x1b[31mcause"
    assert lines[1] == "  fix: Correct it."
    assert lines[2].startswith("  at fault: the client's side")
    assert lines[3] == "  | seen"


def test_each_check_has_its_mark_its_time_and_what_was_seen(capsys):
    lines = plain(report_lines(BROKEN), capsys)[-5:]

    assert lines == [
        "Checks of x (0.3 s)",
        "  x dns             0.25 s  no address",
        "                            really",
        "  - cors                    skipped: no browsers",
        "  . not reached: tcp, tls",
    ]


LOST = "127.0.0.1 refuses connections at port 39999"


def test_nothing_is_said_twice(capsys):
    fault = Diagnosis(
        code="NET-2",
        severity="broken",
        phase="launch",
        title="Nothing listens",
        cause=f"it is so: {LOST}",
        blame="server",
        fix="Start it.",
        evidence=(LOST, "other words", "up"),
    )
    seen = ("first", LOST, f"  {LOST}", "other words", "up", "in between")
    report = Report(
        target="x",
        verdict="broken",
        checks=(
            Check(name="tcp", status="failed", evidence=seen),
            Check(name="dns", status="warning", evidence=(LOST,)),
        ),
        diagnoses=(fault,),
    )

    lines = plain(report_lines(report), capsys)

    assert [line.strip() for line in lines[3:]] == [
        "| other words",
        "| up",
        "",
        "Checks of x (0.0 s)",
        "x tcp             0.00 s  first",
        "see NET-2 above",
        "in between",
        "! dns             0.00 s  see NET-2 above",
    ]


def test_advice_is_called_a_remark_and_a_fault_is_not(capsys):
    advice, fault = (
        Diagnosis(
            code="C-1", severity=severity, phase="launch", title="t", cause="c", blame="server", fix="f"
        )
        for severity in ("note", "degraded")
    )
    ok = Report(target="x", verdict="ok", era="modern", revision="r", diagnoses=(advice,))
    assert "Remark: t: c" in plain(report_lines(ok), capsys)
    degraded = Report(target="x", verdict="degraded", diagnoses=(fault, replace(fault, title="u")))
    assert "Also: u: c" in plain(report_lines(degraded), capsys)


def patient(name, report=None, *, skipped="", host="cursor"):
    entry = ServerEntry(name=name, host=host, scope="user", file="/f", line=1, column=1, kind="stdio")
    return Patient(servers=(ConfiguredServer(entry=entry, launch=Launch()),), report=report, skipped=skipped)


def overview_with(*patients, verdict="broken", diagnoses=()):
    return Overview(verdict=verdict, patients=patients, diagnoses=diagnoses, took_s=1.0)


def test_of_many_servers_the_broken_ones_stand_first(capsys):
    fine = Report(target="y", verdict="ok", era="modern", revision="2026-07-28")

    lines = plain(
        overview_lines(overview_with(patient("a", fine), patient("b", BROKEN), patient("c", skipped="off"))),
        capsys,
    )

    assert lines[0] == "BROKEN: 3 servers: 1 broken, 1 in order, 1 not examined (1.0 s)"
    assert lines[2].startswith("BROKEN: b (Cursor): The name cannot be resolved")
    assert lines[-4:] == [
        "",
        "OK: a (Cursor): the server speaks 2026-07-28 (modern); nothing is wrong",
        "",
        "not examined: c (Cursor): off",
    ]
    assert not any("dns" in line for line in lines)


def test_the_checks_of_each_are_shown_to_whoever_wants_them(capsys):
    lines = plain(overview_lines(overview_with(patient("b", BROKEN)), is_verbose=True), capsys)

    assert "  x dns             0.25 s  no address" in lines


def test_a_file_that_nobody_can_read_is_the_answer(capsys):
    lines = plain(overview_lines(overview_with(diagnoses=(FAULT,))), capsys)

    assert lines[0].startswith("BROKEN: The name cannot be resolved")
    # Of servers that nobody could read there is nothing to count.
    assert lines[-1] == "  | seen"


@pytest.mark.parametrize("width", [20, 40, 100])
def test_on_a_terminal_nothing_is_lost_and_nothing_goes_over_the_edge(width):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system="standard")

    render_lines(list(report_lines(BROKEN)), console)

    shown = console.file.getvalue()
    assert "\x1b[31mcause" not in shown
    assert "\x1b[1;31mBROKEN:" in shown
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert max(map(len, lines)) <= width
    assert "namecannotberesolved" in "".join("".join(lines).split())


def test_colours_are_for_terminals_whose_user_wants_them(monkeypatch, capsys):
    monkeypatch.setattr(Output, "shows_colours", True)

    print_lines(list(report_lines(BROKEN)), Output())

    assert "BROKEN" in capsys.readouterr().out
