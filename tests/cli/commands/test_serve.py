import json
import os
import sys
import types

from tests.cli.programs import OnTerminal, invoke, run


def test_a_file_is_served_over_stdio_and_stdout_is_the_protocol_s(notes):
    message = run(["compose", "tools/call", "name=add", 'arguments:={"a": 1}']).stdout
    result = run(["serve", notes], input=message)
    assert result.returncode == 0
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["result"]["structuredContent"] == 3


def test_a_served_file_can_be_called_by_the_client(notes):
    env = ["--env", f"PYTHONPATH={os.environ['PYTHONPATH']}"] if "PYTHONPATH" in os.environ else []
    result = run(
        ["call", "add", "a=2", *env, "--", sys.executable, "-m", "mesero", "serve", f"{notes}:server"]
    )
    assert (result.returncode, result.stdout) == (0, "4\n")


def test_http_is_served_where_the_options_say(notes, monkeypatch):
    served = []
    module = types.ModuleType("mesero.server.run_http")
    module.run_http = lambda server, **options: served.append((server.info.name, options))
    monkeypatch.setitem(sys.modules, "mesero.server.run_http", module)
    result = invoke(["serve", notes, "--http", "8123", "--host", "localhost", "--path", "/x"])
    assert result.exit_code == 0
    assert served == [("notes", {"host": "localhost", "port": 8123, "path": "/x"})]


def test_what_the_file_prints_while_it_is_loaded_goes_to_stderr(tmp_path):
    path = tmp_path / "loud.py"
    path.write_text("import mesero\nprint('loading')\nserver = mesero.Server('loud')\n")
    result = run(["serve", str(path)], input="")
    assert (result.returncode, result.stdout) == (0, "")
    assert "loading" in result.stderr


def test_what_is_no_python_file_is_a_usage_error():
    result = invoke(["serve", "notes.txt"])
    assert result.exit_code == 2
    assert "notes.py:name" in result.stderr


def test_http_is_served_until_it_is_interrupted(tmp_path):
    path = tmp_path / "small.py"
    path.write_text(
        "import mesero\nserver = mesero.Server('small')\n"
        "@server.tool\ndef add(a: int) -> int:\n    return a + 1\n"
    )
    with OnTerminal(["serve", str(path), "--http", "0"]) as terminal:
        terminal.wait_for("listening on ")
        url = terminal.wait_for("\r\n")
        result = run(["call", url, "add", "a=1", "--show-wire"])
        terminal.interrupt()
        code, _ = terminal.result()
        assert "Traceback" not in terminal.seen
    assert (result.returncode, result.stdout) == (0, "2\n")
    assert "HTTP 200" in result.stderr
    assert code in (0, 130)
