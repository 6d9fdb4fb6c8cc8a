"""Type hints as JSON Schema and as decoders: msgspec's own types, and Pydantic models where pydantic is
installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from mesero.errors import UsageError
from mesero.jsonrpc import check_finite
from mesero.modern.headers import MARK

__all__ = ["decoder_for", "header", "plain_from", "schema_for_type", "value_from", "whole_numbers"]


T = TypeVar("T")


def header(name: str, *, description: str | None = None) -> msgspec.Meta:
    """Marks a tool parameter that HTTP clients mirror into the header ``Mcp-Param-<name>``.

    ``region: Annotated[str, mesero.header("Region")]``. Never for secrets: proxies read headers.
    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
    """
    return msgspec.Meta(extra_json_schema={MARK: name}, description=description)


def _is_pydantic(kind: Any) -> bool:
    # A model can only be there when pydantic was imported by whoever wrote it.
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)


def _schema_hook(kind: type[Any]) -> dict[str, Any]:
    if kind is object:
        # Anything; msgspec takes an empty schema for none.
        return {"type": ["object", "array", "string", "number", "boolean", "null"]}
    if _is_pydantic(kind):
        schema: dict[str, Any] = kind.model_json_schema(ref_template="#/$defs/" + kind.__name__ + ".{model}")
        return _inline_definitions(schema, kind.__name__)
    raise UsageError(
        f"{kind!r} has no JSON Schema; use a msgspec Struct, a dataclass, a TypedDict or a Pydantic model"
    )


def _inline_definitions(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Pydantic's own ``$defs`` are written in place: below ours its references would not reach them."""
    definitions = schema.pop("$defs", {})

    def inlined(value: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [inlined(item, inside) for item in value]
        if not isinstance(value, dict):
            return value
        target = str(value.get("$ref", "")).removeprefix(f"#/$defs/{name}.")
        if target in definitions:
            if target in inside:
                raise UsageError(
                    f"the Pydantic model {name} refers to itself; its schema cannot be written in place"
                )
            rest = {key: item for key, item in value.items() if key != "$ref"}
            return {**inlined(definitions[target], (*inside, target)), **rest}
        return {key: inlined(item, inside) for key, item in value.items()}

    result: dict[str, Any] = inlined(schema, ())
    return result


def _decode_hook(kind: type[Any], value: Any) -> Any:
    if kind is object:
        return value
    if _is_pydantic(kind):
        # Pydantic's ValidationError is a ValueError: it reaches the model as an invalid argument.
        return kind.model_validate(value)
    raise TypeError(f"{kind!r} cannot be read from JSON")


def plain_from(value: Any) -> Any:
    """Plain JSON data of a value: builtins, Structs, dataclasses, Pydantic models, and containers of them.

    Raises:
        TypeError: it has no JSON form.
        ValueError: a number that is not finite.
    """
    plain = msgspec.to_builtins(value, enc_hook=_dump_model)
    check_finite(plain)
    return plain


def _dump_model(value: Any) -> Any:
    if _is_pydantic(type(value)):
        return value.model_dump(mode="json", by_alias=True)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def value_from(plain: Any, kind: type[T]) -> T:
    """A typed value from plain JSON data.

    Raises:
        ValueError: it does not fit; both msgspec's and Pydantic's errors are such.
    """
    try:
        return msgspec.convert(plain, kind, dec_hook=_decode_hook)
    except msgspec.ValidationError:
        return msgspec.convert(whole_numbers(plain), kind, dec_hook=_decode_hook)


_MAX_WHOLE = 2.0**53


def whole_numbers(plain: Any) -> Any:
    """Plain JSON data with 3 for 3.0, which JSON Schema takes for an integer and msgspec does not.

    https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.3
    """
    if isinstance(plain, float):
        return int(plain) if plain.is_integer() and abs(plain) <= _MAX_WHOLE else plain
    if isinstance(plain, list):
        return [whole_numbers(item) for item in plain]
    if isinstance(plain, dict):
        return {name: whole_numbers(item) for name, item in plain.items()}
    return plain


def schema_for_type(kind: Any) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a type, with its root in place and further classes under ``$defs``.

    Raises:
        UsageError: the type has no JSON form.
    """
    try:
        schema = dict(msgspec.json.schema(kind, schema_hook=_schema_hook))
    except TypeError as error:
        raise UsageError(f"{kind!r} has no JSON Schema: {error}") from None
    definitions = dict(schema.get("$defs", {}))
    root_name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if root_name not in definitions:
        return schema
    root = definitions[root_name]
    refers_to_root = f'"#/$defs/{root_name}"'.encode() in msgspec.json.encode(definitions)
    if not refers_to_root:
        del definitions[root_name]
    return {**root, **({"$defs": definitions} if definitions else {})}


def decoder_for(kind: Any) -> Callable[[Raw | bytes], Any]:
    """A function from JSON bytes to a value of the type; it raises ValueError for what does not fit."""
    try:
        return msgspec.json.Decoder(kind, dec_hook=_decode_hook).decode
    except TypeError as error:
        raise UsageError(f"{kind!r} cannot be read from JSON: {error}") from None
