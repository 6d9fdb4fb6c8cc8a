from dataclasses import dataclass
from typing import Annotated

import msgspec
import pydantic
import pytest

from mesero.errors import UsageError
from mesero.server.hints import decoder_for, header, plain_from, schema_for_type, value_from


class Leaf(msgspec.Struct):
    name: str


class Tree(msgspec.Struct):
    leaf: Leaf
    children: "list[Tree]" = []


class Owner(pydantic.BaseModel):
    name: str


class Pet(pydantic.BaseModel):
    name: str
    owners: list[Owner] = []


class Chain(pydantic.BaseModel):
    next: "Chain | None" = None


@dataclass
class House:
    pets: list[Pet]


def test_the_root_of_a_schema_stands_in_place_and_its_parts_below():
    schema = schema_for_type(list[Leaf])
    assert schema["type"] == "array"
    schema = schema_for_type(Leaf)
    assert schema["properties"] == {"name": {"type": "string"}}
    assert "$defs" not in schema


def test_a_class_that_refers_to_itself_keeps_its_definition():
    schema = schema_for_type(Tree)
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert {"Tree", "Leaf"} == schema["$defs"].keys()


def test_the_parts_of_a_pydantic_model_are_written_in_place():
    schema = schema_for_type(House)
    pet = schema["properties"]["pets"]["items"]
    assert pet["properties"]["owners"]["items"]["properties"]["name"]["type"] == "string"
    assert "$defs" not in pet


def test_a_pydantic_model_that_refers_to_itself_is_refused():
    with pytest.raises(UsageError, match="refers to itself"):
        schema_for_type(Chain)


@pytest.mark.parametrize("kind", [complex, list[complex], Leaf | House])
def test_a_type_without_a_json_form_is_refused(kind):
    with pytest.raises(UsageError, match="JSON"):
        schema_for_type(kind)


def test_a_type_that_cannot_be_read_is_refused():
    with pytest.raises(UsageError, match="cannot be read from JSON"):
        decoder_for(Leaf | Tree)


def test_values_are_read_from_json_and_from_plain_data():
    assert decoder_for(House)(b'{"pets":[{"name":"Tom"}]}') == House([Pet(name="Tom")])
    assert value_from({"name": "oak"}, Leaf) == Leaf("oak")
    assert value_from({"name": "Tom"}, Pet) == Pet(name="Tom")
    with pytest.raises(ValueError, match="Field required"):
        value_from({}, Pet)
    with pytest.raises(ValueError, match="cannot be read"):
        value_from({}, complex)


def test_plain_data_comes_from_all_kinds_of_classes():
    value = {"house": House([Pet(name="Tom")]), "tree": Tree(Leaf("oak"))}
    assert plain_from(value) == {
        "house": {"pets": [{"name": "Tom", "owners": []}]},
        "tree": {"leaf": {"name": "oak"}, "children": []},
    }
    with pytest.raises(TypeError, match="a complex has no JSON form"):
        plain_from([1j])
    with pytest.raises(ValueError, match="not finite"):
        plain_from([float("nan")])


def test_a_header_mark_is_part_of_the_schema():
    schema = schema_for_type(Annotated[str, header("Region", description="Where.")])
    assert schema == {"type": "string", "x-mcp-header": "Region", "description": "Where."}
