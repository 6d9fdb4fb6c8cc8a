import datetime as dt
import enum
import uuid
from typing import Annotated, Literal, TypedDict

import msgspec
import pytest

from mesero.errors import InvalidParamsError, UsageError
from mesero.server.forms import form_schema_for, read_form


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Inner(msgspec.Struct):
    a: int


class Everything(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(title="Name", description="Yours.", min_length=1, max_length=9)]
    age: Annotated[int, msgspec.Meta(ge=0, le=150)]
    share: Annotated[float, msgspec.Meta(gt=0, multiple_of=0.5)]
    color: Color
    mode: Literal["a", "b"]
    colors: Annotated[list[Color], msgspec.Meta(min_length=1, max_length=2)]
    day: dt.date
    when: Annotated[dt.datetime, msgspec.Meta(tz=True)]
    raw: bytes
    key: uuid.UUID
    is_ok: bool = True
    nick: str | None = None
    level: int | None = 3
    favourite: Color | None = None


def test_each_kind_of_field_is_one_that_a_form_can_show():
    schema = form_schema_for(Everything)
    assert schema["type"] == "object"
    assert schema["properties"] == {
        "name": {"type": "string", "title": "Name", "description": "Yours.", "minLength": 1, "maxLength": 9},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "share": {"type": "number"},
        "color": {"type": "string", "enum": ["blue", "red"]},
        "mode": {"type": "string", "enum": ["a", "b"]},
        "colors": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "string", "enum": ["blue", "red"]},
        },
        "day": {"type": "string", "format": "date"},
        "when": {"type": "string", "format": "date-time"},
        "raw": {"type": "string"},
        "key": {"type": "string"},
        "is_ok": {"type": "boolean", "default": True},
        "nick": {"type": "string"},
        "level": {"type": "integer", "default": 3},
        "favourite": {"type": "string", "enum": ["blue", "red"]},
    }
    assert schema["required"] == [
        name for name in schema["properties"] if name not in ("is_ok", "nick", "level", "favourite")
    ]


def form_of(hint):
    return msgspec.defstruct("Form", [("field", hint)])


@pytest.mark.parametrize(
    "hint", [Inner, list[str], list[Inner], dict[str, int], Literal[1, 2], str | int, list, None]
)
def test_a_field_that_no_form_can_show_is_refused_by_name(hint):
    with pytest.raises(UsageError, match=r"Form\.field cannot be a form field"):
        form_schema_for(form_of(hint))


@pytest.mark.parametrize("form", [int, list[int], dict])
def test_a_form_is_a_class_with_fields(form):
    with pytest.raises(UsageError, match="is not a class with named fields"):
        form_schema_for(form)


def test_a_schema_is_taken_as_it_is_and_nothing_is_an_empty_form():
    own = {"type": "object", "properties": {"a": {"oneOf": [{"const": "x", "title": "X"}]}}}
    assert form_schema_for(own) is own
    assert form_schema_for(None) == {"type": "object", "properties": {}}


class Name(TypedDict):
    first: str


def test_what_was_filled_in_is_read_as_the_class():
    assert read_form(Name, {"first": "Ana"}, "name") == {"first": "Ana"}
    assert read_form(Inner, {"a": 25.0}, "inner") == Inner(25)
    with pytest.raises(InvalidParamsError, match="the answer to 'name' does not fit its form"):
        read_form(Name, {"first": 1}, "name")
