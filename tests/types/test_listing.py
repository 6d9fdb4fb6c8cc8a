import msgspec
import pytest
from msgspec import UNSET

from mesero.types import ListParams


def test_a_list_starts_without_a_cursor():
    assert msgspec.json.encode(ListParams()) == b"{}"
    assert msgspec.json.decode(b'{"_meta":{}}', type=ListParams).cursor is UNSET


def test_a_cursor_is_a_text():
    assert msgspec.json.decode(b'{"cursor":""}', type=ListParams).cursor == ""
    with pytest.raises(msgspec.ValidationError, match=r"\$\.cursor"):
        msgspec.json.decode(b'{"cursor":null}', type=ListParams)
