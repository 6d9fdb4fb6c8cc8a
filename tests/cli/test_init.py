import os
import subprocess
import sys
import time

import pytest

from mesero import __version__
from mesero.cli import COMMANDS, find_wanted, split_command
from tests.cli.programs import invoke, run


def test_the_help_lists_every_command_and_the_exit_codes():
    result = run(["--help"])
    assert result.returncode == 0
    for name in COMMANDS:
        assert f"\n  {name} " in result.stdout
    assert "5 authorization needed" in " ".join(result.stdout.split())
    assert "..." not in result.stdout.split("Commands:")[1], "every line about a command fits"


def test_the_help_loads_neither_client_nor_server_nor_event_loop_nor_rich():
    program = (
        "import sys\nfrom mesero.cli import main\nsys.argv = ['mesero', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "loaded = {name.split('.')[0] for name in sys.modules} | set(sys.modules)\n"
        "print(sorted(loaded & {'rich', 'asyncio', 'aiohttp', 'mesero.client', 'mesero.server', 'msgspec'}))"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_its_words(name):
    result = invoke([name, "--help"])
    assert result.exit_code == 0
    assert f"mesero {name}" in result.stdout.split("Examples:")[1]


def test_commands_with_a_target_say_where_the_command_line_stands():
    assert "call [OPTIONS] [TARGET] TOOL [ARGUMENT]... [-- COMMAND...]" in invoke(["call", "-h"]).stdout


def test_the_version_is_printed():
    assert invoke(["--version"]).stdout == f"mesero {__version__}\n"


def test_without_a_command_the_help_is_shown():
    result = invoke([])
    assert result.exit_code == 2
    assert "Commands:" in result.output


def test_an_unknown_command_is_answered_with_close_ones():
    result = invoke(["lst"])
    assert result.exit_code == 2
    assert "list" in result.stderr


def test_what_stands_behind_two_dashes_is_a_command_line():
    assert split_command(["call", "add", "--", "python", "--", "x"]) == (
        ["call", "add"],
        ("python", "--", "x"),
    )
    assert split_command(["call", "add"]) == (["call", "add"], None)
    assert split_command(["list", "--"]) == (["list"], ())


def test_the_first_word_that_is_a_command_is_the_wanted_one():
    assert find_wanted(["--x", "list", "call"]) == "list"
    assert find_wanted(["--version"]) is None


@pytest.mark.parametrize(
    ("typed", "position", "expected"),
    [("mesero lis", "1", {"list", "listen"}), ("mesero call --no-d", "2", {"--no-discover"})],
)
def test_the_shell_completes_commands_and_options(typed, position, expected):
    env = {**os.environ, "_MESERO_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": position}
    assert expected <= set(run([], env=env).stdout.split())


def test_a_function_that_still_runs_in_a_thread_does_not_keep_the_process(tmp_path):
    path = tmp_path / "stuck.py"
    path.write_text(
        "import time\nimport mesero\nserver = mesero.Server('stuck')\n"
        "@server.tool\ndef hang() -> str:\n    time.sleep(50)\n    return ''\n"
    )
    started = time.monotonic()
    result = run(["call", str(path), "hang", "--timeout", "0.3"])
    assert result.returncode == 6
    assert time.monotonic() - started < 30
