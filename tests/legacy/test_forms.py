"""Forms of 2025-06-18: what they can say of today's, and how the answers come back."""

from hypothesis import given

from mesero.legacy.forms import fit_form, gather_choices
from mesero.legacy.shapes import Loss
from tests.legacy.vocabulary import faults_of_request, forms

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "x"},
        "sure": {"type": "boolean", "default": True},
        "size": {
            "type": "string",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "colours": {
            "type": "array",
            "title": "Colours",
            "description": "Which?",
            "items": {"anyOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
            "default": ["g"],
        },
        "days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}},
    },
    "required": ["name", "colours"],
}


def test_what_the_older_form_cannot_say_is_said_otherwise_and_told():
    losses = []

    fitted = fit_form(FORM, "$.requestedSchema", losses)

    assert fitted == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "sure": {"type": "boolean", "default": True},
            "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
            "colours[r]": {
                "type": "boolean",
                "title": "Colours: Red",
                "default": False,
                "description": "Which?",
            },
            "colours[g]": {
                "type": "boolean",
                "title": "Colours: Green",
                "default": True,
                "description": "Which?",
            },
            "days[mo]": {"type": "boolean", "title": "days: mo", "default": False},
            "days[tu]": {"type": "boolean", "title": "days: tu", "default": False},
        },
        "required": ["name"],
    }
    several = "choice of several (since 2025-11-25) became one yes-or-no field a value"
    assert losses == [
        Loss("$.requestedSchema.properties.name.default", "default (since 2025-11-25) was dropped"),
        Loss("$.requestedSchema.properties.colours", several),
        Loss("$.requestedSchema.properties.days", several),
    ]


def test_the_answers_come_back_as_they_were_asked_for():
    content = {"name": "n", "colours[r]": True, "colours[g]": False}

    assert gather_choices(FORM, content) == {"name": "n", "colours": ["r"]}


def test_a_choice_of_none_is_an_empty_list():
    assert gather_choices(FORM, {"days[mo]": False, "days[tu]": False}) == {"days": []}


def test_a_form_without_fields_stays_one():
    assert fit_form({"type": "object"}, "$", []) == {"type": "object", "properties": {}}


@given(forms())
def test_any_form_fits_the_older_schema(form):
    fitted = fit_form(form, "$", [])

    params = {"message": "?", "requestedSchema": fitted}
    assert faults_of_request("2025-06-18", "elicitation/create", params) == []
    kinds = {field["type"] for field in fitted["properties"].values()}
    assert kinds <= {"string", "number", "integer", "boolean"}


@given(forms())
def test_choosing_every_value_comes_back_as_every_value(form):
    fitted = fit_form(form, "$", [])["properties"]
    content = {name: True for name, field in fitted.items() if field["type"] == "boolean"}

    gathered = gather_choices(form, content)

    for name, field in form["properties"].items():
        if field["type"] == "array" and name in gathered:
            items = field["items"]
            values = items["enum"] if "enum" in items else [one["const"] for one in items["anyOf"]]
            assert gathered[name] == list(dict.fromkeys(values))
