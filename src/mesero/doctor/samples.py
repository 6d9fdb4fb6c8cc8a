"""The simplest arguments that a tool's schema accepts. Pure: a schema in, a value or the reason why not out.

What the schema itself offers (const, default, examples, enum) comes first, then the smallest value of its
type. Nothing is fetched, recursion is bounded, and what was built is judged by the schema before it is given
back.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mesero.errors import UsageError
from mesero.schemas import SchemaCheck

__all__ = ["Sample", "find_text_place", "sample_of"]

_MAX_DEPTH: Final = 16
_MAX_STEPS: Final = 2_000
_MAX_ITEMS: Final = 100
_MAX_CHARS: Final = 10_000
_MAX_NUMBER: Final = 2.0**53
_MIN_STEP: Final = 1e-9

_FORMATS: Final = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "duration": "P1D",
    "email": "a@example.com",
    "hostname": "example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "json-pointer": "",
    "regex": "a",
    "time": "00:00:00Z",
    "uri": "https://example.com/",
    "uri-reference": "a",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_CANDIDATES: Final = (
    *(
        "a",
        "A",
        "1",
        "0",
        "abc",
        "ABC",
        "123",
        "a1",
        "a-b",
        "a.b",
        "/",
        "/a",
        "#",
        "01",
        "2026",
        "1.0",
        "1.0.0",
    ),
    *("main", "en", "EN", "en-US", "12345", "000000", *_FORMATS.values()),
)
"""What is tried where a pattern says how a text must look."""


class Sample(NamedTuple):
    """Arguments for one call; ``problem`` says why there are none, and is empty where there are."""

    arguments: dict[str, Any]
    problem: str = ""


class _NoSampleError(Exception):
    """Nothing fits; the text says why."""


def sample_of(schema: Any) -> Sample:
    """The simplest arguments that fit.

    Args:
        schema: A tool's ``inputSchema``.
    """
    if not isinstance(schema, Mapping):
        return Sample({}, "its inputSchema is no object")
    try:
        check = SchemaCheck(schema)
    except UsageError as error:
        return Sample({}, error.what)
    problem = ""
    # What a schema offers is often the best choice, and now and then does not fit the schema itself.
    for uses_hints in (True, False):
        try:
            value = _Builder(schema, uses_hints=uses_hints).build({"type": "object", **schema}, 0)
        except _NoSampleError as error:
            problem = problem or str(error)
            continue
        wrong = [] if isinstance(value, dict) else ["no object is accepted"]
        wrong = wrong or check.find_errors(value)
        if not wrong:
            return Sample(value)
        problem = problem or wrong[0]
    return Sample({}, problem)


def find_text_place(schema: Any, arguments: Mapping[str, Any], text: str) -> str | None:
    """The argument that takes any text, by its name; one that was sent comes before one that may be.

    Args:
        schema: A tool's ``inputSchema``.
        arguments: What is sent otherwise, which fits.
        text: The text that it has to take.
    """
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return None
    try:
        check = SchemaCheck(schema)
    except UsageError:
        return None
    for name in sorted(properties, key=lambda each: each not in arguments):
        is_text = _is_free_text(schema, properties[name], 0)
        if is_text and not check.find_errors({**arguments, name: text}):
            return str(name)
    return None


def _is_free_text(root: Mapping[str, Any], schema: Any, depth: int) -> bool:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return False
    # A name out of a fixed set, or text of a form, says nothing when it is refused.
    if any(word in schema for word in ("enum", "const", "format", "pattern")):
        return False
    if isinstance(schema.get("$ref"), str):
        target = _find_target(root, schema["$ref"])
        return target is not None and _is_free_text(root, target, depth + 1)
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            return any(_is_free_text(root, each, depth + 1) for each in schema[word])
    kind = schema.get("type")
    return kind == "string" or (isinstance(kind, list) and "string" in kind)


def _find_target(root: Mapping[str, Any], ref: str) -> Any:
    """What a ``$ref`` into the same document names, or None."""
    if not ref.startswith("#"):
        return None
    value: Any = root
    for step in ref[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


class _Builder:
    """Builds one value. ``uses_hints`` says whether defaults and examples are taken."""

    def __init__(self, root: Mapping[str, Any], *, uses_hints: bool) -> None:
        self._root = root
        self._uses_hints = uses_hints
        self._steps = 0

    def build(self, schema: Any, depth: int) -> Any:
        """The simplest value.

        Raises:
            _NoSampleError: there is none that can be found.
        """
        self._steps += 1
        if depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            raise _NoSampleError("the schema asks for itself again and again")
        if schema is True or schema == {}:
            return "a"
        if not isinstance(schema, Mapping):
            raise _NoSampleError("a part of the schema accepts nothing")
        if "const" in schema:
            return copy.deepcopy(schema["const"])
        if self._uses_hints and "default" in schema:
            return copy.deepcopy(schema["default"])
        examples = schema.get("examples")
        if self._uses_hints and isinstance(examples, list) and examples:
            return copy.deepcopy(examples[0])
        choices = schema.get("enum")
        if isinstance(choices, list) and choices:
            return copy.deepcopy(choices[0])
        if isinstance(schema.get("$ref"), str):
            return self._build_target(schema, depth)
        for word in ("anyOf", "oneOf"):
            if isinstance(schema.get(word), list) and schema[word]:
                return self._build_alternative(schema, word, depth)
        if isinstance(schema.get("allOf"), list):
            parts = [self._resolved(part) for part in schema["allOf"]]
            return self.build(_merged(_without(schema, "allOf"), *parts), depth + 1)
        return self._build_typed(schema, depth)

    def _resolved(self, part: Any) -> Any:
        ref = part.get("$ref") if isinstance(part, Mapping) else None
        return part if not isinstance(ref, str) else _find_target(self._root, ref)

    def _build_target(self, schema: Mapping[str, Any], depth: int) -> Any:
        target = _find_target(self._root, schema["$ref"])
        if target is None:
            raise _NoSampleError(f"the schema refers to {schema['$ref']!r}, which is not in it")
        rest = _without(schema, "$ref")
        return self.build(_merged(rest, target) if isinstance(target, Mapping) else target, depth + 1)

    def _build_alternative(self, schema: Mapping[str, Any], word: str, depth: int) -> Any:
        """The first alternative of which there is a sample."""
        problem = ""
        for each in schema[word]:
            try:
                part = self._resolved(each)
                merged = _merged(_without(schema, word), part) if isinstance(part, Mapping) else part
                return self.build(merged, depth + 1)
            except _NoSampleError as error:
                problem = problem or str(error)
        raise _NoSampleError(problem)

    def _build_typed(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = kind[0] if kind else None
        if kind is None:
            kind = _kind_from(schema)
        if kind == "object":
            return self._build_object(schema, depth)
        if kind == "array":
            return self._build_array(schema, depth)
        if kind in ("integer", "number"):
            return _number_of(schema, is_whole=kind == "integer")
        if kind == "boolean":
            return False
        return None if kind == "null" else _text_of(schema)

    def _build_object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = _mapping_in(schema, "properties")
        required = schema.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        least = schema.get("minProperties")
        missing = least - len(names) if isinstance(least, int) else 0
        names += [name for name in properties if name not in names][: max(0, missing)]
        more = schema.get("additionalProperties", True)
        return {name: self.build(properties.get(name, more), depth + 1) for name in names}

    def _build_array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems")
        first = first if isinstance(first, list) else []
        least = schema.get("minItems")
        count = least if isinstance(least, int) else 0
        if count > _MAX_ITEMS:
            raise _NoSampleError(f"a list of {count} items is too long to make up")
        items = schema.get("items", True)
        built = [
            self.build(first[number] if number < len(first) else items, depth + 1) for number in range(count)
        ]
        if schema.get("uniqueItems") and all(isinstance(each, str) for each in built):
            # The smallest text of each is the same.
            return [each + "a" * number for number, each in enumerate(built)]
        return built


def _without(schema: Mapping[str, Any], word: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != word}


def _merged(*schemas: Any) -> dict[str, Any]:
    """What several schemas ask for together, as far as one schema can say it."""
    whole: dict[str, Any] = {}
    for each in schemas:
        if not isinstance(each, Mapping):
            continue
        for key, value in each.items():
            if key == "properties" and isinstance(value, Mapping):
                whole[key] = {**_mapping_in(whole, key), **value}
            elif key == "required" and isinstance(value, list):
                whole[key] = [
                    *whole.get(key, []),
                    *(name for name in value if name not in whole.get(key, [])),
                ]
            elif key in ("allOf", "anyOf", "oneOf") and key in whole and isinstance(value, list):
                whole["allOf"] = [*whole.get("allOf", []), {key: value}]
            else:
                whole[key] = value
    return whole


def _mapping_in(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = schema.get(key)
    return value if isinstance(value, Mapping) else {}


def _kind_from(schema: Mapping[str, Any]) -> str:
    """The type that the other words of a schema speak of."""
    if any(word in schema for word in ("properties", "required", "minProperties")):
        return "object"
    if any(word in schema for word in ("items", "prefixItems", "minItems")):
        return "array"
    if any(word in schema for word in ("minimum", "maximum", "exclusiveMinimum", "multipleOf")):
        return "number"
    return "string"


def _number_of(schema: Mapping[str, Any], *, is_whole: bool) -> float:
    """The least number above the lower limit, or the greatest below the upper one, or 1."""
    low, high = _limit_in(schema, "minimum"), _limit_in(schema, "maximum")
    above, below = _limit_in(schema, "exclusiveMinimum"), _limit_in(schema, "exclusiveMaximum")
    step = _limit_in(schema, "multipleOf")
    if step is None or step < _MIN_STEP:
        step = 1.0 if is_whole else None
    if above is not None and (low is None or above >= low):
        low = above + (step or 1.0)
        if below is not None and low >= below:
            low = (above + below) / 2
    if low is None:
        upper = high if below is None else below - (step or 1.0)
        low = 1.0 if upper is None or upper >= 1.0 else upper
        value = math.floor(low / step) * step if step and upper is not None and upper < 1.0 else low
    else:
        value = low
    if step:
        value = math.ceil(value / step) * step
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value


def _limit_in(schema: Mapping[str, Any], word: str) -> float | None:
    value = schema.get(word)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    # Beyond that no number has a whole number beside it, and none can be made up.
    return float(value) if abs(value) < _MAX_NUMBER else None


def _text_of(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minLength"), schema.get("maxLength")
    least = least if isinstance(least, int) else 0
    if least > _MAX_CHARS:
        raise _NoSampleError(f"a text of {least} characters is too long to make up")
    if most == 0:
        return ""
    fitting = _FORMATS.get(str(schema.get("format")))
    if "pattern" not in schema:
        return fitting if fitting is not None else "a" * max(1, least)
    own = {word: schema[word] for word in ("pattern", "minLength", "maxLength") if word in schema}
    try:
        check = SchemaCheck({"type": "string", **own})
    except UsageError as error:
        raise _NoSampleError(error.what) from None
    for candidate in (*([fitting] if fitting is not None else []), *_CANDIDATES, "a" * max(1, least)):
        if not check.find_errors(candidate):
            return candidate
    raise _NoSampleError(f"a text of the pattern {schema['pattern']!r} cannot be made up")
