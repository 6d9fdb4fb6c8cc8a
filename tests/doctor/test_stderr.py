import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.stderr import (
    LastWords,
    find_address,
    find_last_words,
    find_missing_program,
    find_question,
    find_telling,
    plain_words,
    variables_in,
)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ModuleNotFoundError: No module named 'mcp'", "EXIT-1"),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'", "EXIT-1"),
        ("Error: Cannot find module '/home/u/server/dist/index.js'", "EXIT-4"),
        ("python: can't open file '/x/server.py': [Errno 2] No such file or directory", "EXIT-4"),
        ("Error: GITHUB_PERSONAL_ACCESS_TOKEN not set", "EXIT-2"),
        ("KeyError: 'SLACK_BOT_TOKEN'", "EXIT-2"),
        ("Please provide a valid API key", "EXIT-2"),
        ("KeyError: 'HOME'", "EXIT-8"),
        ("Usage: mcp-server-x [OPTIONS] COMMAND", "EXIT-3"),
        ("error: unrecognized arguments: --stdoi", "EXIT-3"),
        ("Error: connect ECONNREFUSED 127.0.0.1:5432", "EXIT-5"),
        ("SyntaxError: Unexpected token '??='", "EXIT-6"),
        ("OSError: [Errno 98] Address already in use", "EXIT-7"),
        ("npm error code E404", "EXIT-9"),
        ("npm error notarget No matching version found for notes@99.0.0.", "EXIT-9"),
        ("docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "EXIT-5"),
        ("[4711] Usage: mcp-bridge <https://server-url> [port]", "EXIT-3"),
        ("Please provide a database URL as a command-line argument", "EXIT-3"),
        ("[gateway] Error: You must specify one of --stdio or --sse", "EXIT-3"),
        ("error: missing required argument 'path'", "EXIT-3"),
        ("Error: API key not provided. Please set the SHOP_SECRET_KEY environment variable.", "EXIT-2"),
        ("Please set CHAT_BOT_TOKEN and CHAT_TEAM_ID environment variables", "EXIT-2"),
        ("pydantic_core.ValidationError: 2 validation errors for Settings", "EXIT-2"),
        ("AttributeError: 'Server' object has no attribute 'list_resources'", "EXIT-10"),
        ("ImportError: cannot import name 'FastMCP' from 'mcp.server'", "EXIT-10"),
        ("Cannot find module '/s/node_modules/sdk/mcp' imported from /s/node_modules/it/index.js", "EXIT-10"),
        ("Error: Cannot find module '/s/dist/a.js' imported from /s/dist/index.js", "EXIT-1"),
        ("SyntaxError: The requested module 'x' does not provide an export named 'y'", "EXIT-10"),
    ],
)
def test_common_last_words_are_understood(line, code):
    found = find_last_words(["some other line", line, ""])

    assert found is not None
    assert (found.code, found.line, found.at) == (code, line, 1)


@pytest.mark.parametrize("line", ["", "starting", "Killed", "loaded 3 tools"])
def test_other_words_say_nothing(line):
    assert find_last_words([line]) is None


@pytest.mark.parametrize(
    "line",
    [
        "Ok to proceed? (y) ",
        "Continue? [y/N]: ",
        "[sudo] password for ann: ",
        "Enter your verification code: ",
        "Press any key to continue...",
    ],
)
def test_a_question_for_a_person_is_known(line):
    assert find_question(["starting", line]) is not None


@pytest.mark.parametrize(
    "line", ["Server listening", "password: ********", "press release loaded", "user: ann", "", "done? yes"]
)
def test_what_only_looks_like_a_question_is_not(line):
    assert find_question([line]) is None


def test_a_question_that_was_followed_by_something_else_was_answered():
    assert find_question(["Ok to proceed? (y) ", "ready"]) is None


OF_A_CRASH = [
    "file:///srv/cli.js:34",
    "        throw new Error('API key not provided. Set the SHOP_KEY environment variable.');",
    "              ^",
    "",
    "Error: API key not provided. Set the SHOP_KEY environment variable.",
    "    at parseArgs (/srv/cli.js:34:15)",
    "",
    "Node.js v20.20.2",
]
OF_A_LOST_CONNECTION = [
    "Fatal error: TypeError: fetch failed",
    "    at processResponse (/srv/index.js:237:16) {",
    "  [cause]: Error: connect ECONNREFUSED 127.0.0.1:39999",
    "    code: 'ECONNREFUSED',",
    "    port: 39999",
    "  }",
]


@pytest.mark.parametrize(("lines", "at"), [(OF_A_CRASH, 4), (OF_A_LOST_CONNECTION, 2)])
def test_of_many_lines_that_say_the_same_the_one_for_people_is_quoted(lines, at):
    found = find_last_words(lines)

    assert found is not None
    assert (found.at, found.line) == (at, lines[at].strip())


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: Cannot read properties of undefined (reading 'split')",
        "RuntimeError: no good",
        "sqlite3.OperationalError: unable to open database file",
        "[server] Error: nothing fits",
        "fatal: not a git repository",
        "2026-11-30 16:56:40.187 | ERROR    | models:download:746 - Could not download",
        "[2026-11-30T16:55:55.171Z] ERROR: startup failed",
        "panic: runtime error: index out of range",
    ],
)
def test_a_line_that_calls_itself_an_error_is_quoted_in_place_of_what_follows_it(line):
    found = find_telling(["starting", line, "    at main (/srv/index.js:3:1)", "", "Node.js v20.20.2"])

    assert found == LastWords("CLOSED-4", line, 1)


@pytest.mark.parametrize(
    "line", ["no errors", "loaded the error page", "0 errors", "    at Error (x.js:1:1)"]
)
def test_what_only_speaks_of_errors_is_not(line):
    assert find_telling([line]) is None


def test_the_variables_that_are_asked_for_are_named():
    line = "Error: A key is required via --key, BRAVE_API_KEY or BRAVE_API_KEY_FILE (ERR_NO_KEY)"
    assert variables_in(LastWords("EXIT-2", line), [line]) == ["BRAVE_API_KEY", "BRAVE_API_KEY_FILE"]
    lines = [
        "Error: No access token was provided.",
        "Options:",
        "  MCP_SKILLS",
        "  SENTRY_ACCESS_TOKEN  the token",
    ]
    assert variables_in(LastWords("EXIT-2", lines[0]), lines) == ["SENTRY_ACCESS_TOKEN"]
    assert variables_in(LastWords("EXIT-2", "no token"), ["no token"]) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)"], "http://127.0.0.1:8000"),
        (
            ["[INFO] HTTP server listening on port 3333", "endpoint available at http://127.0.0.1:3333/mcp"],
            "http://127.0.0.1:3333/mcp",
        ),
        (["Listening on :8080"], "port 8080"),
        (["listening at 0.0.0.0:3001"], "port 3001"),
        (["see http://docs.example:80/start for help", "server ready on stdio", "took 3000 ms"], None),
    ],
)
def test_a_server_that_says_where_it_listens_is_understood(lines, expected):
    assert find_address(lines) == expected


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("/usr/bin/env: \u2018node\u2019: No such file or directory", "node"),
        ("env: node: No such file or directory", "node"),
        ("sh: 1: uvx: not found", "uvx"),
        ("/srv/start.sh: line 3: exec: bun: not found", "bun"),
        ("bash: deno: command not found", "deno"),
        ("bash: line 1: deno: command not found", "deno"),
        ("'npx' is not recognized as an internal or external command,", "npx"),
        ("Error: spawn git ENOENT", "git"),
        ("env: variables not found", None),
        ("tool not found", None),
    ],
)
def test_the_program_that_a_script_does_not_find_is_named(line, name):
    found = find_missing_program(["starting", line, ""])

    assert found == (None if name is None else (name, line))


def test_of_a_package_that_is_not_there_the_name_is_quoted():
    lines = [
        "npm error code E404",
        "npm error 404 Not Found - GET https://packages.example/notess",
        "npm error 404  The requested resource 'notess@*' could not be found or you do not have permission.",
        "npm error 404",
        "npm error A complete log of this run can be found in: /x/debug-0.log",
    ]

    assert find_last_words(lines) == LastWords("EXIT-9", lines[2], 2)


def test_what_is_wrong_with_a_call_is_quoted_rather_than_how_it_should_be():
    found = find_last_words(["Usage: ducks [OPTIONS]", "Try 'ducks --help'.", "", "Error: --db is nowhere."])

    assert found == LastWords("EXIT-3", "Error: --db is nowhere.", 3)


def test_a_line_that_announces_the_next_one_is_quoted_with_it():
    found = find_last_words(["Usage:", "", "  notes [command]"])

    assert found is not None
    assert (found.line, found.at) == ("Usage: notes [command]", 0)


def test_what_was_taken_out_of_the_recording_is_shown_as_in_the_rest_of_the_report():
    shown = plain_words("--token <redacted length=4 sha256=807d0fbcae7c4b20> or not")

    assert shown == "--token <hidden, 4 characters> or not"


def test_colours_are_no_words():
    assert plain_words("\x1b[31mError\x1b[39m: no") == "Error: no"


@given(st.lists(st.text() | st.text(alphabet="Pasword: ?\n[y/]")))
def test_no_words_are_too_odd(lines):
    found = find_last_words(lines)
    question = find_question(lines)

    assert found is None or found.line in " ".join(lines)
    assert question is None or question[0] in " ".join(lines)
