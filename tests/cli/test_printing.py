import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.cli.printing import Output, json_text, safe_line, safe_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b5m", "\\x9b5m"),
        ("a\rb", "a\\x0db"),
        ("a\r\nb", "a\nb"),
        ("abc\u202edef", "abc\\u202edef"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("bell\x07", "bell\\x07"),
        ("é 日本 🎉", "é 日本 🎉"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_might_obey_is_shown_as_an_escape(text, shown):
    assert safe_text(text) == shown


def test_a_line_stays_one_line():
    assert safe_line("a\nb\tc") == "a\\nb\\tc"


@given(st.text())
def test_safe_text_has_no_control_characters_but_tab_and_newline(text):
    assert all(char >= " " or char in "\t\n" for char in safe_text(text))
    assert not set(safe_text(text)) & {chr(code) for code in range(0x7F, 0xA0)}


@given(st.recursive(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.lists, max_leaves=5))
def test_json_text_is_safe_and_means_the_same(value):
    text = json_text(value)
    assert json.loads(text) == value
    assert text == safe_text(text)


def test_json_escapes_what_is_unsafe_beyond_16_bits_as_a_pair():
    assert json_text("\U000e0041", indent=0) == '"\\udb40\\udc41"'


def test_json_on_one_line_has_none_but_that_line():
    assert json_text({"a": [1, 2]}, indent=0) == '{"a":[1,2]}'
    assert "\n" in json_text({"a": [1, 2]})


def test_results_go_to_the_stdout_of_the_start_and_notes_to_stderr(capsys, monkeypatch):
    output = Output()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    output.say("result")
    output.give({"a": 1}, indent=0)
    output.note("note")
    output.prompt("more? ")
    captured = capsys.readouterr()
    assert captured.out == 'result\n{"a":1}\n'
    assert captured.err == "note\nmore? "


def test_bytes_are_written_as_they_are(capsysbinary):
    Output().write_bytes(b"\x1b\xff")
    assert capsysbinary.readouterr().out == b"\x1b\xff"


def test_captured_output_is_no_terminal(capsys):
    assert not Output().is_terminal
