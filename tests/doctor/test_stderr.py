import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.stderr import find_last_words, find_question


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
    ],
)
def test_common_last_words_are_understood(line, code):
    found = find_last_words(["some other line", line, ""])

    assert found is not None
    assert (found.code, found.line) == (code, line)


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


@given(st.lists(st.text() | st.text(alphabet="Pasword: ?\n[y/]")))
def test_no_words_are_too_odd(lines):
    found = find_last_words(lines)
    question = find_question(lines)

    assert found is None or found.line in " ".join(lines)
    assert question is None or question[0] in " ".join(lines)
