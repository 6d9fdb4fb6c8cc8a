import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.mojibake import ASCII_TEXT, FOREIGN_TEXT, find_garbled, speaks_of_encoding


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "cp437", "cp1251", "gbk", "cp932", "big5"])
def test_utf_8_that_was_read_as_something_else_is_seen(encoding):
    garbled = FOREIGN_TEXT.encode().decode(encoding, "replace")

    assert find_garbled(f"you said {ASCII_TEXT}", f"you said {garbled}") in garbled
    assert find_garbled(f"you said {ASCII_TEXT}", f"you said {garbled}") != ""


def test_what_was_replaced_is_seen():
    assert find_garbled(ASCII_TEXT, "mesero ???? end") == "????"
    assert find_garbled(ASCII_TEXT, "mesero \ufffd end") == "\ufffd"


@pytest.mark.parametrize(
    "answer", [FOREIGN_TEXT, "found nothing", "mesero %C3%A9 end", "mesero &eacute; end", "mesero e end"]
)
def test_what_a_tool_may_make_of_a_text_is_not(answer):
    assert find_garbled(ASCII_TEXT, answer) == ""


def test_a_tool_that_does_not_repeat_its_text_shows_nothing():
    assert find_garbled("found nothing", "mesero ???? end") == ""


def test_errors_of_decoding_are_known():
    assert speaks_of_encoding("'charmap' codec can't decode byte 0x9d")
    assert not speaks_of_encoding("there is no such city")


@given(st.text(), st.text() | st.text(alphabet="mesro nd?\ufffd"))
def test_no_text_is_too_odd(echo, answer):
    assert find_garbled(echo, answer) in answer
    speaks_of_encoding(answer)
