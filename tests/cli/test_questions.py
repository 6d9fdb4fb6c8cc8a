import webbrowser

import pytest

from mesero.cli.fields import fields_of
from mesero.cli.printing import Output
from mesero.cli.questions import Questions, ask_fields, parse_answers
from mesero.errors import InputNeededError, UsageError
from mesero.types import ElicitFormParams, ElicitUrlParams
from tests.cli.programs import OnTerminal

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer", "default": 30}},
    "required": ["name"],
}
OPTIONAL = {"type": "object", "properties": {"note": {"type": "string"}}}
CONSENT = {"type": "object", "properties": {}}


class ScriptedTerminal:
    """Types prepared lines; None is Ctrl-D. Without lines nobody is there."""

    def __init__(self, *lines):
        self.output = Output()
        self.lines = list(lines)
        self.prompts = []

    @property
    def is_interactive(self):
        return bool(self.lines)

    async def ask(self, prompt):
        self.prompts.append(prompt)
        line = self.lines.pop(0)
        if line is None:
            raise EOFError
        return line


def questions(*lines, **settings):
    return Questions(ScriptedTerminal(*lines), server="server.py", **settings)


async def test_a_form_is_asked_field_by_field_and_confirmed(capsys):
    result = await questions("Ann", "", "y").elicit(ElicitFormParams("Who?", FORM))
    assert (result.action, result.content) == ("accept", {"name": "Ann", "age": 30})
    assert "The server server.py asks:\n  Who?" in capsys.readouterr().err


async def test_a_value_that_does_not_fit_is_asked_again(capsys):
    result = await questions("A", "Ann", "old", "5", "perhaps", "yes").elicit(ElicitFormParams("Who?", FORM))
    assert result.content == {"name": "Ann", "age": 5}
    errors = capsys.readouterr().err
    assert "shorter than 2" in errors
    assert "'old' is not a whole number" in errors


@pytest.mark.parametrize(
    ("lines", "action"),
    [
        ((":decline",), "decline"),
        ((":cancel",), "cancel"),
        ((None,), "cancel"),
        (("Ann", "", "d"), "decline"),
        (("Ann", "", "c"), "cancel"),
        (("Ann", "", None), "cancel"),
    ],
)
async def test_a_form_may_be_declined_or_cancelled_at_any_point(lines, action):
    result = await questions(*lines).elicit(ElicitFormParams("Who?", FORM))
    assert result.action == action


async def test_given_answers_settle_a_form_without_asking(capsys):
    found = questions("never read", answers={"name": '"Ann"'})
    result = await found.elicit(ElicitFormParams("Who\x1b?", FORM))
    assert result.content == {"name": "Ann", "age": 30}
    assert "Who\\x1b?" in capsys.readouterr().err


async def test_an_answer_is_json_or_else_text():
    for text in ('"5"', "5"):
        form = {"type": "object", "properties": {"s": {"type": "string"}}}
        result = await questions(answers={"s": text}).elicit(ElicitFormParams("?", form))
        assert result.content == {"s": "5"}


async def test_an_answer_that_does_not_fit_is_a_usage_error():
    with pytest.raises(UsageError, match="--answer name=A: "):
        await questions(answers={"name": "A"}).elicit(ElicitFormParams("?", FORM))


async def test_answers_for_some_fields_leave_the_others_to_ask():
    form = {
        **FORM,
        "required": ["name", "town"],
        "properties": {**FORM["properties"], "town": {"type": "string"}},
    }
    result = await questions("", "Rome", "y", answers={"name": "Ann"}).elicit(ElicitFormParams("?", form))
    assert result.content == {"name": "Ann", "age": 30, "town": "Rome"}


async def test_without_a_terminal_and_an_answer_it_fails_and_says_which_to_give():
    with pytest.raises(InputNeededError, match=r"'Who\?'.*--answer name=…, or --decline"):
        await questions().elicit(ElicitFormParams("Who?", FORM))
    with pytest.raises(InputNeededError, match="--answer note=…"):
        await questions().elicit(ElicitFormParams("?", OPTIONAL))
    with pytest.raises(InputNeededError, match="--accept"):
        await questions().elicit(ElicitFormParams("?", CONSENT))


async def test_accept_agrees_to_what_has_nothing_to_fill_in():
    assert (await questions(accepts=True).elicit(ElicitFormParams("?", CONSENT))).action == "accept"
    assert (await questions(accepts=True).elicit(ElicitFormParams("?", OPTIONAL))).content == {}
    with pytest.raises(InputNeededError):
        await questions(accepts=True).elicit(ElicitFormParams("?", FORM))


async def test_consent_is_asked_for_on_the_terminal():
    assert (await questions("y").elicit(ElicitFormParams("?", CONSENT))).action == "accept"
    assert (await questions("no").elicit(ElicitFormParams("?", CONSENT))).action == "decline"


async def test_an_optional_field_left_empty_is_left_out():
    assert (await questions("", "y").elicit(ElicitFormParams("?", OPTIONAL))).content == {}


async def test_decline_declines_everything():
    found = questions("y", declines=True)
    assert (await found.elicit(ElicitFormParams("?", FORM))).action == "decline"
    assert (await found.elicit_url(ElicitUrlParams("?", "https://x/"))).action == "decline"


async def test_whatever_is_shown_already_is_stopped_first():
    stopped = []
    found = questions(declines=True, before=lambda: stopped.append(1))
    await found.elicit(ElicitFormParams("?", FORM))
    await found.elicit_url(ElicitUrlParams("?", "https://x/"))
    assert stopped == [1, 1]


@pytest.fixture
def opened(monkeypatch):
    pages = []
    monkeypatch.setattr(webbrowser, "open", pages.append)
    return pages


async def test_a_page_is_shown_whole_with_its_host_and_not_opened(opened, capsys):
    result = await questions("y").elicit_url(ElicitUrlParams("Sign in", "https://example.com/a?b=\x1b"))
    assert result.action == "accept"
    assert opened == []
    shown = capsys.readouterr().err
    assert "host: example.com" in shown
    assert "URL:  https://example.com/a?b=\\x1b" in shown


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("https://bank.com@evil.com/", "before '@'"),
        ("https://xn--bnk-sra.com/", "look like others"),
        ("https://b\u0430nk.com/", "look like others"),
        ("https://[broken", "unreadable"),
    ],
)
async def test_a_page_that_may_deceive_is_warned_of(url, warning, capsys):
    await questions("n").elicit_url(ElicitUrlParams("?", url))
    assert warning in capsys.readouterr().err


async def test_a_page_is_opened_only_if_that_was_asked_for_and_agreed_to(opened):
    assert (
        await questions("y", opens=True).elicit_url(ElicitUrlParams("?", "https://x/"))
    ).action == "accept"
    assert opened == ["https://x/"]
    assert (
        await questions("d", opens=True).elicit_url(ElicitUrlParams("?", "https://x/"))
    ).action == "decline"
    assert (
        await questions("c", opens=True).elicit_url(ElicitUrlParams("?", "https://x/"))
    ).action == "cancel"
    assert opened == ["https://x/"]


async def test_what_is_no_web_page_is_never_opened(opened):
    await questions(accepts=True, opens=True).elicit_url(ElicitUrlParams("?", "file:///etc/passwd"))
    assert opened == []


async def test_a_page_without_a_terminal_needs_accept():
    with pytest.raises(InputNeededError, match="--accept"):
        await questions().elicit_url(ElicitUrlParams("?", "https://x/"))
    assert (await questions(accepts=True).elicit_url(ElicitUrlParams("?", "https://x/"))).action == "accept"


def test_answers_are_fields_and_values():
    assert parse_answers(["a=1", "b=x=y"]) == {"a": "1", "b": "x=y"}
    with pytest.raises(UsageError, match="--answer field=value"):
        parse_answers(["a"])


async def test_fields_can_be_asked_for_on_their_own():
    assert await ask_fields(ScriptedTerminal("Ann"), fields_of(FORM)[:1]) == {"name": "Ann"}


def test_a_form_on_a_real_terminal(notes):
    with OnTerminal(["call", notes, "ask"]) as terminal:
        terminal.wait_for("Who are you?")
        terminal.wait_for("Your name: As on the card")
        terminal.wait_for("name [text, at least 2 characters]: ")
        terminal.type("A")
        terminal.wait_for("shorter than 2 characters")
        terminal.wait_for("name [")
        terminal.type("Ann")
        terminal.wait_for("default 30]: ")
        terminal.type("")
        terminal.wait_for("1. green")
        terminal.wait_for("colour [")
        terminal.type("1")
        terminal.wait_for("default false]: ")
        terminal.type("yes")
        terminal.wait_for("[y]es / [d]ecline / [c]ancel: ")
        terminal.type("y")
        code, out = terminal.result()
    assert (code, out) == (0, "accept Who(name='Ann', age=30, colour='green', ok=True)\n")


def test_ctrl_d_cancels_a_form_on_a_real_terminal(notes):
    with OnTerminal(["call", notes, "ask"]) as terminal:
        terminal.wait_for("characters]: ")
        terminal.press(b"\x04")
        assert terminal.result() == (0, "cancel None\n")


def test_ctrl_c_ends_a_question_without_a_traceback(notes):
    with OnTerminal(["call", notes, "ask"]) as terminal:
        terminal.wait_for("characters]: ")
        terminal.interrupt()
        code, out = terminal.result()
        assert (code, out) == (130, "")
        assert "Traceback" not in terminal.seen
        assert "interrupted" in terminal.seen
