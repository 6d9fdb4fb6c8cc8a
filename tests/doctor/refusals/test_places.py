from mesero.doctor.refusals.places import inner_schemas, path_to


def paths(schema):
    return [path for path, _ in inner_schemas(schema, "$")]


def test_a_path_names_every_step():
    assert path_to("$", "properties", "a b", "anyOf", 1) == '$.properties["a b"].anyOf[1]'


def test_every_schema_in_a_schema_is_visited_in_its_order():
    schema = {
        "properties": {"a": {"items": {"type": "string"}}, "b": {"anyOf": [{}, {"not": {}}]}},
        "$defs": {"c": {"prefixItems": [{}], "items": [{}]}},
        "additionalProperties": False,
    }

    assert paths(schema) == [
        "$",
        "$.properties.a",
        "$.properties.a.items",
        "$.properties.b",
        "$.properties.b.anyOf[0]",
        "$.properties.b.anyOf[1]",
        "$.properties.b.anyOf[1].not",
        "$.$defs.c",
        "$.$defs.c.prefixItems[0]",
        "$.$defs.c.items[0]",
    ]


def test_a_property_with_the_name_of_a_keyword_is_a_property():
    assert paths({"properties": {"anyOf": {}, "properties": {"type": "object"}}}) == [
        "$",
        "$.properties.anyOf",
        "$.properties.properties",
    ]


def test_values_are_no_schemas():
    assert paths({"const": {"a": {}}, "enum": [{}], "default": {"items": {}}, "examples": [{}]}) == ["$"]


def test_what_is_malformed_is_passed_over():
    assert paths({"properties": [1], "anyOf": {"a": {}}, "items": 3}) == ["$"]
    assert paths(True) == []


def test_a_schema_without_an_end_has_one():
    endless = {}
    endless["items"] = endless
    wide = {"properties": {str(number): {} for number in range(20_000)}}

    assert len(paths(endless)) < 100
    assert len(paths(wide)) == 10_000
