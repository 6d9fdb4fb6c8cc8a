"""Forms of `elicitation/create`, as 2025-06-18 has them: texts, numbers, yes or no, and a choice of one.

Since 2025-11-25 there are titled choices, choices of several, and defaults everywhere. A choice of several
becomes one yes-or-no field a value, and `gather_choices` puts the answers together again.

https://modelcontextprotocol.io/specification/2025-11-25/changelog
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mesero.legacy.shapes import NOVEMBER_2025, Loss, dropped

__all__ = ["fit_form", "gather_choices"]


def fit_form(schema: Mapping[str, Any], path: str, losses: list[Loss]) -> dict[str, Any]:
    """The schema of a form for 2025-06-18; ``losses`` grows by what it cannot say."""
    fields: dict[str, Any] = {}
    split: set[str] = set()
    for name, field in _fields_of(schema).items():
        place = f"{path}.properties.{name}"
        if field.get("type") == "array":
            split.add(name)
            fields |= _switches_for(name, field)
            losses.append(
                Loss(place, f"choice of several (since {NOVEMBER_2025}) became one yes-or-no field a value")
            )
        else:
            fields[name] = _fit_field(field, place, losses)
    fitted = {**schema, "properties": fields}
    if "required" in schema:
        fitted["required"] = [name for name in schema["required"] if name not in split]
    return fitted


def _fields_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = schema.get("properties", {})
    return fields


def _fit_field(field: Mapping[str, Any], path: str, losses: list[Loss]) -> dict[str, Any]:
    fitted = dict(field)
    if "default" in fitted and fitted.get("type") != "boolean":
        del fitted["default"]
        losses.append(Loss(f"{path}.default", dropped("default", NOVEMBER_2025)))
    if "oneOf" in fitted:
        # Values with titles could be said before, in two lists.
        options = fitted.pop("oneOf")
        fitted["enum"] = [option["const"] for option in options]
        fitted["enumNames"] = [option["title"] for option in options]
    return fitted


def _options_of(field: Mapping[str, Any]) -> dict[str, str]:
    """The values of a choice of several, each with what the person reads."""
    items = field["items"]
    if "anyOf" in items:
        return {option["const"]: option["title"] for option in items["anyOf"]}
    return {value: value for value in items["enum"]}


def _key_of(name: str, value: str) -> str:
    return f"{name}[{value}]"


def _switches_for(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    label = field.get("title", name)
    chosen = field.get("default", [])
    words = {"description": field["description"]} if "description" in field else {}
    return {
        _key_of(name, value): {
            "type": "boolean",
            "title": f"{label}: {title}",
            "default": value in chosen,
            **words,
        }
        for value, title in _options_of(field).items()
    }


def gather_choices(schema: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a filled form as the original ``schema`` asked for them: switches become lists again."""
    gathered = dict(content)
    for name, field in _fields_of(schema).items():
        if field.get("type") != "array":
            continue
        switches = {value: gathered.pop(_key_of(name, value), None) for value in _options_of(field)}
        if any(state is not None for state in switches.values()):
            gathered[name] = [value for value, state in switches.items() if state is True]
    return gathered
