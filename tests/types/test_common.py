import msgspec
import pytest

from mesero.types import Annotations, Icon, Implementation, WireStruct


class Sample(WireStruct):
    first_name: str
    is_on: bool = False


def test_wire_names_are_camel_case_and_defaults_are_left_out():
    assert msgspec.json.encode(Sample("a")) == b'{"firstName":"a"}'
    assert msgspec.json.encode(Sample("a", is_on=True)) == b'{"firstName":"a","isOn":true}'


def test_unknown_members_are_ignored():
    assert msgspec.json.decode(b'{"firstName":"a","later":[1]}', type=Sample) == Sample("a")


def test_an_identity_needs_name_and_version_only():
    text = b'{"name":"notes","version":"1.0"}'
    assert msgspec.json.encode(Implementation("notes", "1.0")) == text
    assert msgspec.json.decode(text, type=Implementation) == Implementation("notes", "1.0")


def test_an_absent_member_is_told_apart_from_null():
    with pytest.raises(msgspec.ValidationError, match=r"\$\.mimeType"):
        msgspec.json.decode(b'{"src":"https://example.com/a.png","mimeType":null}', type=Icon)


def test_a_whole_number_keeps_its_spelling():
    for text in (b'{"priority":1}', b'{"priority":1.0}', b'{"priority":0.25}'):
        assert msgspec.json.encode(msgspec.json.decode(text, type=Annotations)) == text
