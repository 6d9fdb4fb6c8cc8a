"""Write src/mesero/revisions/vYYYY_MM_DD.py from the official JSON Schemas.

    python scripts/generate_revisions.py SCHEMA_DIR [--out DIR] [--check]

SCHEMA_DIR holds 2024-11-05.json ... 2026-07-28.json as published. Directions come from the unions
ClientRequest, ServerRequest, ClientNotification, ServerNotification and InputRequest; a method's result is
found by name (FooRequest -> FooResult) and, where the schema has one, in FooResultResponse. What those
rules cannot find is listed in explicit tables below, each entry with its reason. Needs nothing but the
standard library, and the same input always gives the same bytes. With --check nothing is written: exit 1 if
a file differs from what would be written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

# Unions of the schema -> what a member of them is, and which way it goes.
UNIONS: dict[str, tuple[str, str]] = {
    "ClientRequest": ("request", "c2s"),
    "ServerRequest": ("request", "s2c"),
    "ClientNotification": ("notification", "c2s"),
    "ServerNotification": ("notification", "s2c"),
    "InputRequest": ("input", "s2c"),
}

# Requests whose result has no definition of its own: the specification answers them with an empty result.
EMPTY_RESULTS: dict[str, str] = {
    "PingRequest": "a ping is answered by an empty response",
    "SetLevelRequest": "an acknowledgement without content",
    "SubscribeRequest": "an acknowledgement without content; updates follow as notifications",
    "UnsubscribeRequest": "an acknowledgement without content",
}

# Results that may come instead of the ordinary one, which no definition of that revision ties to the request.
EXTRA_RESULTS: dict[tuple[str, str], tuple[str, str]] = {
    ("2025-11-25", "CallToolRequest"): (
        "CreateTaskResult",
        "a task-augmented request is answered by its task",
    ),
    ("2025-11-25", "CreateMessageRequest"): ("CreateTaskResult", "same"),
    ("2025-11-25", "ElicitRequest"): ("CreateTaskResult", "same"),
}

# Places where the published JSON Schema says something else than schema.ts, which the specification names
# as the source of truth: (revisions, path below the definitions, published, amended, reason).
AMENDMENTS: tuple[tuple[tuple[str, ...], tuple[str, ...], Any, Any, str], ...] = (
    (
        ("2025-06-18",),
        ("ElicitResult", "properties", "content", "additionalProperties", "type"),
        ["string", "integer", "boolean"],
        ["string", "number", "boolean"],
        "schema.ts: content values are string | number | boolean, and forms ask for numbers",
    ),
    (
        ("2025-11-25", "2026-07-28"),
        ("ElicitResult", "properties", "content", "additionalProperties", "anyOf", "1", "type"),
        ["string", "integer", "boolean"],
        ["string", "number", "boolean"],
        "schema.ts: content values are string | number | boolean | string[], and forms ask for numbers",
    ),
    (
        ("2026-07-28",),
        ("JSONValue", "anyOf", "2", "type"),
        ["string", "integer", "boolean"],
        ["string", "number", "boolean", "null"],
        "schema.ts: a JSONValue is string | number | boolean | null | JSONObject | JSONArray",
    ),
)

PROSE = {"description", "title", "$comment", "examples"}
SCHEMA_MAPS = {
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
}  # name -> schema: names are not keywords
INSTANCES = {"const", "enum", "default"}  # values of the instance's world, not schemas


def strip_prose(schema: Any) -> Any:
    """Drop prose keywords wherever a schema stands, and nowhere else: a property called "title" stays."""
    if isinstance(schema, list):
        return [strip_prose(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in PROSE:
            continue
        if keyword in SCHEMA_MAPS:
            kept[keyword] = {name: strip_prose(each) for name, each in value.items()}
        else:
            kept[keyword] = value if keyword in INSTANCES else strip_prose(value)
    return kept


def amend(revision: str, definitions: dict[str, Any]) -> list[str]:
    """Apply AMENDMENTS in place and return a line about each; fail if the source has changed there."""
    notes = []
    for revisions, path, published, amended, reason in AMENDMENTS:
        if revision not in revisions:
            continue
        *parents, last = path
        place: Any = definitions
        for step in parents:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if place[last] != published:
            message = (
                f"{revision}: {'/'.join(path)} is {place[last]!r}, no longer {published!r}: review AMENDMENTS"
            )
            raise SystemExit(message)
        place[last] = amended
        notes.append(f"{'/'.join(path)} ({reason})")
    return notes


def definitions_of(schema: dict[str, Any]) -> dict[str, Any]:
    definitions: dict[str, Any] = schema["$defs"] if "$defs" in schema else schema["definitions"]
    return definitions


def ref_name(schema: dict[str, Any]) -> str:
    reference: str = schema["$ref"]
    return reference.rpartition("/")[2]


def method_of(definition: dict[str, Any]) -> str | None:
    method: str | None = definition.get("properties", {}).get("method", {}).get("const")
    return method


def members_of(definitions: dict[str, Any], union: str) -> list[str]:
    """Name the definitions in a union. A union of one is published as a copy of its member (2026-07-28)."""
    schema = definitions.get(union)
    if schema is None:
        return []
    if "anyOf" in schema:
        return [ref_name(member) for member in schema["anyOf"]]
    if "$ref" in schema:
        return [ref_name(schema)]
    same = [
        name
        for name, each in definitions.items()
        if method_of(each) == method_of(schema) and name not in UNIONS
    ]
    if len(same) != 1:
        message = f"{union}: no single definition has its method, but {same}"
        raise SystemExit(message)
    return same


def results_for(revision: str, definitions: dict[str, Any], request: str) -> tuple[str, ...]:
    """Name the definitions that may answer a request, the ordinary one first."""
    ordinary = request.removesuffix("Request") + "Result"
    if request in EMPTY_RESULTS:
        ordinary = "EmptyResult"
    if ordinary not in definitions:
        message = f"{revision}: {request} has no {ordinary}; add it to EMPTY_RESULTS if that is meant"
        raise SystemExit(message)
    results = [ordinary]
    response = definitions.get(f"{ordinary}Response")
    if response is not None:
        result = response["properties"]["result"]
        names = [ref_name(member) for member in result.get("anyOf", [result])]
        results += [name for name in names if name != ordinary]
    if (revision, request) in EXTRA_RESULTS:
        results.append(EXTRA_RESULTS[revision, request][0])
    return tuple(results)


def methods_of(
    revision: str, definitions: dict[str, Any]
) -> dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...]]]:
    """Map each method to (kind, directions, definition, results)."""
    methods: dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...]]] = {}
    for union, (kind, direction) in UNIONS.items():
        for name in members_of(definitions, union):
            method = method_of(definitions[name])
            if method is None:
                message = f"{revision}: {name} has no method"
                raise SystemExit(message)
            earlier = methods.get(method)
            directions = (*(earlier[1] if earlier else ()), direction)
            results = () if kind == "notification" else results_for(revision, definitions, name)
            methods[method] = (kind, directions, name, results)
    return dict(sorted(methods.items()))


def errors_of(definitions: dict[str, Any]) -> dict[int, tuple[str, str]]:
    """Map each error code that has a definition to (definition, what it covers)."""
    errors: dict[int, tuple[str, str]] = {}
    for name, definition in definitions.items():
        properties = definition.get("properties", {})
        code = properties.get("code", {}).get("const")
        if code is not None:
            errors[code] = (name, "error")
        for part in properties.get("error", {}).get("allOf", ()):
            code = part.get("properties", {}).get("code", {}).get("const")
            if code is not None:
                errors[code] = (name, "message")
    return dict(sorted(errors.items(), reverse=True))


def envelopes_of(definitions: dict[str, Any]) -> dict[str, str]:
    """Name the JSON-RPC envelopes; 2025-11-25 renamed the two kinds of response."""
    renamed = "JSONRPCResultResponse" in definitions
    return {
        "request": "JSONRPCRequest",
        "notification": "JSONRPCNotification",
        "result": "JSONRPCResultResponse" if renamed else "JSONRPCResponse",
        "error": "JSONRPCErrorResponse" if renamed else "JSONRPCError",
    }


def schema_text(schema: dict[str, Any]) -> str:
    """Encode compactly, one definition a line, so that a change of the source shows as a readable diff."""

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    keyword = "$defs" if "$defs" in schema else "definitions"
    head = {key: value for key, value in schema.items() if key != keyword}
    lines = ",\n".join(f"{compact(name)}:{compact(each)}" for name, each in sorted(schema[keyword].items()))
    text = f"{compact(head)[:-1]},{compact(keyword)}:{{\n{lines}\n}}}}"
    if "'''" in text:
        message = "the schema holds ''' and cannot stand in a raw string"
        raise SystemExit(message)
    return text


def literal(value: Any) -> str:
    """Write strings, numbers and tuples of strings as Python, in double quotes."""
    if isinstance(value, tuple):
        inner = ", ".join(literal(each) for each in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return json.dumps(value)


def table(name: str, annotation: str, rows: dict[Any, str]) -> str:
    if not rows:
        return f"{name}: {annotation} = {{}}\n"
    body = "".join(f"    {literal(key)}: {value},\n" for key, value in rows.items())
    return f"{name}: {annotation} = {{\n{body}}}\n"


def module_text(revision: str, source: bytes) -> str:
    schema = strip_prose(json.loads(source))
    definitions = definitions_of(schema)
    notes = amend(revision, definitions)
    methods = methods_of(revision, definitions)
    errors = errors_of(definitions)
    amended = "".join(f"\n- {note}" for note in notes)
    amended_text = (
        f"\nAmended, where schema.ts says otherwise than the JSON Schema:{amended}\n" if notes else ""
    )
    calls = {
        method: f"MethodShape({', '.join(literal(field) for field in shape)})"
        for method, shape in methods.items()
    }
    shapes = {
        code: f"ErrorShape({literal(name)}, {literal(covers)})" for code, (name, covers) in errors.items()
    }
    head = (
        f'"""The wire shapes of MCP revision {revision}: generated by scripts/generate_revisions.py, '
        f"never edited by hand.\n\nFrom the official JSON Schema without its prose; sha256 of the source:\n"
        f'{hashlib.sha256(source).hexdigest()}\n{amended_text}"""\n'
    )
    return "\n".join(
        (
            head,
            "from mesero.revisions.shapes import ErrorShape, MethodShape\n",
            '__all__ = ["ENVELOPES", "ERRORS", "METHODS", "REVISION", "SCHEMA"]\n',
            f"REVISION: str = {literal(revision)}\n",
            table(
                "ENVELOPES", "dict[str, str]", {k: literal(v) for k, v in envelopes_of(definitions).items()}
            ),
            table("METHODS", "dict[str, MethodShape]", calls),
            table("ERRORS", "dict[int, ErrorShape]", shapes),
            f"SCHEMA: str = r'''{schema_text(schema)}'''\n",
        )
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("schema_dir", type=Path)
    default_out = Path(__file__).parent.parent / "src" / "mesero" / "revisions"
    parser.add_argument("--out", type=Path, default=default_out)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file would change")
    options = parser.parse_args(arguments)
    stale = []
    for revision in REVISIONS:
        text = module_text(revision, (options.schema_dir / f"{revision}.json").read_bytes())
        target = options.out / f"v{revision.replace('-', '_')}.py"
        if target.is_file() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(target.name)
        if not options.check:
            target.write_text(text, encoding="utf-8")
    verb = "differs from what the schemas give" if options.check else "written"
    for name in stale:
        print(f"{name}: {verb}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
