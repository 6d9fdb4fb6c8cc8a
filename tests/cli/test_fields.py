import pytest

from mesero.cli.fields import NO_VALUE, field_problems, fields_of, read_field, show_field


def field_for(schema, *, required=True, **root):
    form = {"properties": {"f": schema}, "required": ["f"] if required else [], **root}
    return fields_of(form)[0]


TITLED = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, " Ann ", "Ann"),
        ({"type": "integer", "minimum": 1}, "5", 5),
        ({"type": "number"}, "5.5", 5.5),
        ({"type": "boolean"}, "y", True),
        ({"type": "string", "enum": ["a", "b"]}, "b", "b"),
        ({"type": "string", "enum": ["a", "b"]}, "2", "b"),
        ({"type": "string", "enum": ["2", "1"]}, "1", "1"),
        ({"type": "string", "oneOf": TITLED}, "green", "g"),
        ({"type": "string", "enum": ["r", "g"], "enumNames": ["Red"]}, "red", "r"),
        ({"type": "string", "enum": ["r", "g"], "enumNames": ["Red"]}, "G", "g"),
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}, "1, c,", ["a", "c"]),
        ({"type": "array", "items": {"anyOf": TITLED}}, "Red", ["r"]),
        ({"type": "string", "format": "email"}, "a@b", "a@b"),
        ({"type": "string", "format": "uri"}, "https://x", "https://x"),
        ({"type": "string", "format": "date"}, "2026-07-28", "2026-07-28"),
        ({"type": "string", "format": "date-time"}, "2026-07-28T10:00:00+00:00", "2026-07-28T10:00:00+00:00"),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
    ],
)
def test_what_was_typed_becomes_the_value(schema, text, value):
    assert read_field(field_for(schema), text) == value


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string", "minLength": 3}, "ab"),
        ({"type": "integer", "maximum": 4}, "5"),
        ({"type": "integer"}, "x"),
        ({"type": "string", "enum": ["a", "b"]}, "3"),
        ({"type": "string", "enum": ["a", "b"]}, "c"),
        ({"type": "array", "maxItems": 1, "items": {"type": "string", "enum": ["a", "b"]}}, "a,b"),
        ({"type": "string", "format": "email"}, "nobody"),
        ({"type": "string", "format": "uri"}, "no uri"),
        ({"type": "string", "format": "date"}, "28.7.2026"),
        ({"type": "string", "format": "date-time"}, "now"),
        ({"type": "string"}, ""),
    ],
)
def test_what_does_not_fit_is_refused(schema, text):
    with pytest.raises(ValueError, match=r"."):
        read_field(field_for(schema), text)


def test_an_empty_text_is_the_default_or_no_value():
    assert read_field(field_for({"type": "integer", "default": 3}), "  ") == 3
    assert read_field(field_for({"type": "integer"}, required=False), "") is NO_VALUE


def test_a_field_is_shown_with_title_description_choices_kind_and_default():
    schema = {
        "type": "string",
        "oneOf": TITLED,
        "title": "Colour",
        "description": "of the car",
        "default": "g",
    }
    assert show_field(field_for(schema)) == (
        ["  Colour: of the car", "    1. Red (r)", "    2. Green (g)"],
        "  f [a number or a name, default g]: ",
    )


@pytest.mark.parametrize(
    ("schema", "prompt"),
    [
        ({"type": "string"}, "  f [text]: "),
        ({"type": "string", "format": "email"}, "  f [email]: "),
        ({"type": "string", "minLength": 2, "maxLength": 5}, "  f [text, 2 to 5 characters]: "),
        ({"type": "integer", "minimum": 2}, "  f [whole number, at least 2]: "),
        ({"type": "number", "maximum": 2.5}, "  f [number, at most 2.5]: "),
        ({"type": "boolean", "default": False}, "  f [yes/no, default false]: "),
        ({"type": "object"}, "  f [JSON]: "),
        (
            {"type": "array", "items": {"type": "string", "enum": ["a"]}},
            "  f [numbers or names, with commas]: ",
        ),
    ],
)
def test_the_prompt_says_what_may_be_typed(schema, prompt):
    assert show_field(field_for(schema))[1] == prompt


def test_labels_are_optional_and_so_is_a_field():
    assert show_field(field_for({"type": "string", "title": "T"}, required=False)) == (
        ["  T"],
        "  f [text, optional]: ",
    )
    assert show_field(field_for({"type": "string", "description": "D"}))[0] == ["  f: D"]
    assert show_field(field_for({"type": "string", "title": 5}))[0] == []


def test_a_field_may_be_a_reference():
    field = field_for({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"type": "integer", "minimum": 2}}})
    assert read_field(field, "2") == 2
    with pytest.raises(ValueError, match="minimum"):
        read_field(field, "1")


def test_a_schema_that_cannot_be_used_judges_nothing():
    assert field_problems(field_for({"type": "nonsense"}), "x") == []


def test_a_form_without_properties_has_no_fields():
    assert fields_of({}) == []
    assert fields_of({"properties": []}) == []
