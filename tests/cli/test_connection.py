import os
import sys

import pytest

from mesero.cli.connection import parse_headers, parse_pairs, read_text
from mesero.errors import UsageError
from tests.cli.programs import OnTerminal, invoke, run


def test_headers_are_written_name_colon_value():
    assert parse_headers(["A: b", "X-Y:z:z "]) == {"A": "b", "X-Y": "z:z"}
    for line in ("novalue", ": x", "a: b\r\nc: d"):
        with pytest.raises(UsageError, match="'Name: value'"):
            parse_headers([line])


def test_variables_are_written_key_equals_value():
    assert parse_pairs(["A=b=c", "D="], "--env") == {"A": "b=c", "D": ""}
    with pytest.raises(UsageError, match="--env is written KEY=VALUE"):
        parse_pairs(["A"], "--env")


def test_a_file_is_read_or_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xc3\xa4\n")
    assert read_text(str(path)) == "ä\n"
    path.write_bytes(b"\xff")
    for name in (str(path), str(tmp_path / "none")):
        with pytest.raises(UsageError, match="cannot read"):
            read_text(name)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--header", "A: b"], "are for URLs"),
        (["--bearer-env", "HOME"], "are for URLs"),
        (["--env", "A=b"], "are for commands"),
        (["--cwd", "/"], "are for commands"),
        (["--stderr"], "are for commands"),
        (["--timeout", "0"], "above 0"),
        (["--log-level", "loud"], "none of debug"),
        (["--accept", "--decline"], "exclude each other"),
        (["--answer", "x"], "--answer field=value"),
    ],
)
def test_an_option_that_cannot_work_is_a_usage_error(notes, words, text):
    result = invoke(["list", notes, *words])
    assert result.exit_code == 2
    assert text in result.stderr


def test_a_token_comes_from_a_variable_that_must_be_set(monkeypatch):
    monkeypatch.delenv("NO_TOKEN_HERE", raising=False)
    result = invoke(["list", "https://127.0.0.1:1/mcp", "--bearer-env", "NO_TOKEN_HERE"])
    assert result.exit_code == 2
    assert "NO_TOKEN_HERE is not set" in result.stderr


def test_a_url_that_nobody_serves_is_no_connection(monkeypatch):
    monkeypatch.setenv("A_TOKEN", "secret-token")
    result = invoke(["list", "https://127.0.0.1:1/mcp", "--bearer-env", "A_TOKEN", "--header", "X-A: b"])
    assert result.exit_code == 3
    assert "connection refused" in result.stderr
    assert "secret-token" not in result.output


def test_a_command_gets_its_variables_directory_and_its_stderr_is_shown(tmp_path):
    program = "import os, sys; print(os.environ['A'], os.getcwd(), '\\x1b[1m', file=sys.stderr)"
    result = invoke(
        ["list", "--env", "A=b", "--cwd", str(tmp_path), "--stderr", "--", sys.executable, "-c", program]
    )
    assert result.exit_code == 3
    assert f"server: b {os.path.realpath(tmp_path)} \\x1b[1m" in result.stderr


def test_a_program_that_is_not_there_is_no_connection():
    result = invoke(["list", "--", "/nowhere/at-all"])
    assert result.exit_code == 3
    assert "'/nowhere/at-all'" in result.stderr


def test_a_server_that_speaks_nonsense_violates_the_protocol():
    program = 'import sys; sys.stdin.readline(); print(\'{"jsonrpc": "2.0", "id": 1, "result": 5}\')'
    result = invoke(["list", "--", sys.executable, "-c", program])
    assert result.exit_code == 4
    assert "at fault" in result.stderr or "no common" in result.stderr


def test_an_answer_that_does_not_come_is_a_time_out(notes):
    result = invoke(["call", notes, "sleepy", "--timeout", "0.2"])
    assert result.exit_code == 6
    assert "--timeout" in result.stderr


def test_messages_are_shown_as_they_pass(notes):
    result = invoke(["call", notes, "add", "a=1", "--show-wire"])
    assert result.stdout == "3\n"
    assert "→ request tools/call id 3" in result.stderr
    assert "← result id 3" in result.stderr


def test_the_server_s_log_is_shown_from_a_level_on(notes):
    words = ["call", notes, "slow", "n=1"]
    assert "[info] at 0" in invoke([*words, "--log-level", "info"]).stderr
    assert "[info]" not in invoke([*words, "--log-level", "error"]).stderr
    assert "[info]" not in invoke(words).stderr


def test_roots_are_told_when_they_are_given(notes, tmp_path):
    result = invoke(["call", notes, "where", "--root", str(tmp_path), "--root", "file:///etc"])
    assert result.stdout == f"{tmp_path.as_uri()} file:///etc\n"
    result = invoke(["call", notes, "where"])
    assert result.exit_code == 2
    assert "roots" in result.stderr


def test_what_a_server_in_this_process_prints_is_no_result(notes):
    result = invoke(["call", notes, "add", "a=1", "--json"])
    assert "printed by the tool" in result.stderr
    assert "printed" not in result.stdout


def test_without_discovery_nothing_is_asked_first(notes):
    result = invoke(["list", notes, "tools", "--no-discover", "--show-wire"])
    assert "add(" in result.stdout
    assert "server/discover" not in result.stderr


def test_ctrl_c_ends_the_server_and_the_command_without_a_traceback(tmp_path):
    pid_file = tmp_path / "pid"
    server = tmp_path / "server.py"
    server.write_text(
        "import asyncio, os, pathlib, mesero\nserver = mesero.Server('s')\n"
        "@server.tool\nasync def sleepy() -> str:\n"
        f"    pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid()))\n"
        "    print('begun', file=__import__('sys').stderr, flush=True)\n"
        "    await asyncio.sleep(60)\n    return ''\n"
        "server.run()\n"
    )
    env = [
        word
        for name in ("PYTHONPATH",)
        if name in os.environ
        for word in ("--env", f"{name}={os.environ[name]}")
    ]
    with OnTerminal(["call", "sleepy", "--stderr", *env, "--", sys.executable, str(server)]) as terminal:
        terminal.wait_for("begun")
        terminal.interrupt()
        code, out = terminal.result()
        assert (code, out) == (130, "")
        assert "Traceback" not in terminal.seen
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_debug_shows_where_an_error_comes_from(notes):
    assert "Traceback" in invoke(["call", notes, "none", "--debug"]).stderr


def test_stdout_of_an_odd_encoding_does_not_end_the_command(notes):
    result = run(["list", notes, "tools", "--show-wire"], env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert "\\u2192 request" in result.stderr


@pytest.mark.parametrize("more", [[], ["--show-wire"]])
def test_what_passes_is_recorded_in_a_file_and_shown_as_well(notes, tmp_path, more):
    path = tmp_path / "a.jsonl"
    result = invoke(["call", notes, "add", "a=1", "--trace", str(path), *more])
    assert result.stdout == "3\n"
    assert ("→ request tools/call id 3" in result.stderr) == bool(more)
    audited = invoke(["audit", str(path), "--json"])
    assert audited.exit_code == 0
    assert len(path.read_text().splitlines()) == 9
    assert '"kind":"eof"' in path.read_text()


def test_a_start_that_fails_is_recorded(tmp_path):
    path = tmp_path / "a.jsonl"
    result = run(["discover", "--trace", str(path), "--show-wire", "--", "no-such-program-here"])
    assert result.returncode == 3
    assert [line.partition('","')[0] for line in path.read_text().splitlines()[1:]] == [
        '{"kind":"spawn',
        '{"kind":"note',
    ]
