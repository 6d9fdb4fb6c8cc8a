import subprocess
import sys

import pytest
import typer

from mesero import errors
from mesero.cli.exits import error_text_of, exit_code_for, reporting

TABLE = [
    (errors.UsageError("x"), 2),
    (errors.MissingCapabilityError("tools", "tools/list"), 2),
    (errors.InputNeededError("x"), 2),
    (errors.InvalidParamsError("x"), 2),
    (errors.MethodNotFoundError("x"), 2),
    (errors.MissingClientCapabilityError("x"), 2),
    (errors.LaunchError("x"), 3),
    (errors.ConnectError("x"), 3),
    (errors.DisconnectedError("x"), 3),
    (errors.HttpStatusError(method="POST", url="u", status=502), 3),
    (errors.ProtocolError("x"), 4),
    (errors.InvalidResultError("x"), 4),
    (errors.NoCommonRevisionError(("a",), ()), 4),
    (errors.ParseError("x"), 4),
    (errors.InvalidRequestError("x"), 4),
    (errors.HeaderMismatchError("x"), 4),
    (errors.UnsupportedRevisionError("x"), 4),
    (errors.AuthorizationNeededError(method="POST", url="u", status=401), 5),
    (errors.CallTimeoutError("x", timeout_s=1), 6),
    (errors.InternalError("x"), 1),
    (errors.RpcError("x", code=-32001), 1),
    (errors.ToolFailedError("x", "y"), 1),
    (KeyboardInterrupt(), 130),
    (ValueError("x"), 70),
]


@pytest.mark.parametrize(("error", "code"), TABLE, ids=lambda value: type(value).__name__)
def test_each_error_has_its_exit_code(error, code):
    assert exit_code_for(error) == code


def test_the_text_says_what_where_whose_fault_and_what_to_do():
    error = errors.LaunchError("could not be started", where="server.py", fix="Install it")
    assert error_text_of(error).splitlines() == [
        "error: server.py: could not be started. Install it",
        "at fault: this side",
    ]


def test_a_usage_error_blames_nobody():
    assert error_text_of(errors.UsageError("no")) == "error: no"


def test_nobody_is_blamed_where_nobody_knows():
    assert "at fault" not in error_text_of(errors.ConnectError("x"))


def test_a_time_out_names_the_option():
    assert "--timeout" in error_text_of(errors.CallTimeoutError("x", timeout_s=1))


def test_a_mistake_of_our_own_says_so():
    assert error_text_of(KeyError("x")).startswith("error: mesero itself failed: KeyError")


def test_a_command_that_fails_prints_lines_and_exits_with_the_code(capsys):
    @reporting
    def command(debug: bool = False) -> None:
        raise errors.ProtocolError("bad \x1b[31m answer")

    with pytest.raises(typer.Exit) as caught:
        command()
    assert caught.value.exit_code == 4
    assert capsys.readouterr().err == "error: bad \\x1b[31m answer\nat fault: the server\n"


def test_debug_shows_the_traceback(capsys):
    @reporting
    def command(debug: bool = False) -> None:
        raise ValueError("inside")

    with pytest.raises(typer.Exit) as caught:
        command(debug=True)
    assert caught.value.exit_code == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_exit_of_the_command_s_own_passes(capsys):
    @reporting
    def command() -> None:
        raise typer.Exit(5)

    with pytest.raises(typer.Exit) as caught:
        command()
    assert caught.value.exit_code == 5
    assert capsys.readouterr().err == ""


def test_a_reader_that_has_seen_enough_is_no_error(notes):
    program = f"{sys.executable} -m mesero list {notes} --json | head -c 1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_broken_pipe_ends_the_command_quietly(monkeypatch, tmp_path):
    out = (tmp_path / "out").open("w")
    monkeypatch.setattr(sys, "stdout", out)

    @reporting
    def command() -> None:
        raise BrokenPipeError

    with pytest.raises(typer.Exit) as caught:
        command()
    out.write("what is left goes nowhere")
    out.close()
    assert caught.value.exit_code == 0
    assert (tmp_path / "out").read_text() == ""
