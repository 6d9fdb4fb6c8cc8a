"""Judge one decoded JSON-RPC message by the shapes of one revision.

What lives here: which definitions a message has to fit, and the validators that tell. A request or
notification is judged by its method, a result by the method that it answers, an error by its code. Each
message is judged by itself and by the revision that the caller names; nothing is remembered but compiled
validators. Who may send what to whom, and what only prose demands, are rules of the audit, not shapes.
Invariants: nothing is ever fetched, the JSON Schema library is imported by the first judgement and not
before, and no message makes a judgement raise.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from mesero.revisions import STATELESS_REVISIONS, definitions_for, revision_module_for, schema_for
from mesero.revisions.violations import MASK, Violation, violations_from_errors

if TYPE_CHECKING:
    from jsonschema_rs import Validator

    from mesero.revisions.shapes import MethodShape, RevisionModule

__all__ = ["MAX_DEPTH", "check_definition", "check_message"]

MAX_DEPTH = 256
"""How many levels a message may nest and still be validated; the definition of a JSON value is recursive."""


def check_message(revision: str, message: object, *, answers: str | None = None) -> list[Violation]:
    """Return every way in which ``message`` does not fit ``revision``; an empty list if it fits.

    ``message`` is one decoded JSON-RPC message, or a batch in 2025-03-26, whose members are judged one by
    one. ``answers`` is the method of the request that a result answers; without it, or if the method is an
    extension's, only what all results have in common is judged. A method that the revision does not define
    is no violation. Raises `UnknownRevisionError`.

    https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
    """
    module = revision_module_for(revision)
    if _is_deeper_than(message, MAX_DEPTH):
        return [Violation("$", f"nests deeper than {MAX_DEPTH} levels and was not judged", "JSONRPCMessage")]
    try:
        if isinstance(message, list) and "JSONRPCBatchRequest" in definitions_for(revision):
            return _check_batch(module, message)
        return _check_one(module, message, answers, "$")
    except UnicodeEncodeError:
        return [Violation("$", "holds half a surrogate pair, which UTF-8 cannot carry", "JSONRPCMessage")]


def check_definition(revision: str, definition: str, value: object, *, start: str = "$") -> list[Violation]:
    """Return every way in which ``value`` does not fit one definition; paths begin with ``start``.

    ``value`` must be decoded JSON of at most `MAX_DEPTH` levels. Raises `UnknownRevisionError`, and
    `KeyError` if the revision has no such definition.
    """
    return violations_from_errors(_validator_for(revision, definition).iter_errors(value), start=start)


@cache
def _validator_for(revision: str, definition: str) -> Validator:
    import jsonschema_rs

    definitions = definitions_for(revision)
    if definition not in definitions:
        raise KeyError(definition)
    keyword = "$defs" if "$defs" in schema_for(revision) else "definitions"
    schema = {
        "$schema": schema_for(revision)["$schema"],
        "$ref": f"#/{keyword}/{definition}",
        keyword: definitions,
    }
    # Formats are annotations in the dialect of the newer revisions and assertions in that of the older
    # ones; a URI must not be right in one revision and wrong in the next, so they are left to the audit in
    # all.
    return jsonschema_rs.validator_for(schema, offline=True, validate_formats=False, mask=MASK)


def _is_deeper_than(value: object, max_depth: int) -> bool:
    """Tell whether arrays and objects nest deeper than ``max_depth`` levels; safe at any depth."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(max_depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _check_batch(module: RevisionModule, batch: list[object]) -> list[Violation]:
    """Judge the members of a batch, which only one revision has.

    https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
    """
    if not batch:
        return [Violation("$", "is an empty batch", "JSONRPCBatchRequest")]
    found = [_check_one(module, each, None, f"$[{index}]") for index, each in enumerate(batch)]
    return [violation for each in found for violation in each]


def _check_one(module: RevisionModule, message: object, answers: str | None, start: str) -> list[Violation]:
    if not isinstance(message, dict):
        return [Violation(start, "is no JSON-RPC message, which would be an object", "JSONRPCMessage")]
    if "method" in message:
        found = _check_method(module, message, start)
    elif "result" in message:
        found = _check_result(module, message, answers, start)
    elif "error" in message:
        found = _check_error(module, message, start)
    else:
        return [Violation(start, "has neither a method nor a result nor an error", "JSONRPCMessage")]
    # The envelope and the message's own definition overlap; each fault is told once, by the more specific
    # of them.
    told: dict[tuple[str, str], Violation] = {}
    for each in found:
        told.setdefault((each.path, each.message), each)
    return list(told.values())


def _check_method(module: RevisionModule, message: dict[str, Any], start: str) -> list[Violation]:
    method = message["method"]
    shape = module.METHODS.get(method) if isinstance(method, str) else None
    if shape is None:
        return _check_unknown_method(module, message, start)
    found = check_definition(module.REVISION, shape.definition, message, start=start)
    if shape.kind == "notification":
        # https://modelcontextprotocol.io/specification/2026-07-28/basic#notifications
        if "id" in message:
            found.append(
                Violation(f"{start}.id", "must not be there: a notification has no id", shape.definition)
            )
        return found + _check_envelope(module, "notification", message, start)
    if shape.kind == "input":
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#supported-requests
        text = "is asked inside an input-required result in this revision, never by a message of its own"
        found.append(Violation(f"{start}.method", text, shape.definition))
    return found + _check_envelope(module, "request", message, start)


def _check_unknown_method(module: RevisionModule, message: dict[str, Any], start: str) -> list[Violation]:
    """Judge an extension's request or notification by what all of its kind have in common."""
    if "id" not in message:
        return _check_envelope(module, "notification", message, start)
    found = _check_envelope(module, "request", message, start)
    if module.REVISION in STATELESS_REVISIONS:
        # https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
        params = message.get("params", {})
        found += check_definition(module.REVISION, "RequestParams", params, start=f"{start}.params")
    return found


def _check_result(
    module: RevisionModule, message: dict[str, Any], answers: str | None, start: str
) -> list[Violation]:
    result = message["result"]
    shape = module.METHODS.get(answers) if answers is not None else None
    definition = _choose_result_definition(module.REVISION, shape, result)
    found = check_definition(module.REVISION, definition, result, start=f"{start}.result")
    if definition == "InputRequiredResult" and shape is not None and definition not in shape.results:
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#supported-requests
        text = f'must not be "input_required": {answers} cannot be answered so'
        found.append(Violation(f"{start}.result.resultType", text, definition))
    if "error" in message:
        found.append(Violation(start, "has both a result and an error", module.ENVELOPES["result"]))
    return found + _check_envelope(module, "result", message, start)


def _choose_result_definition(revision: str, shape: MethodShape | None, result: object) -> str:
    ordinary = shape.results[0] if shape is not None and shape.results else "Result"
    if not isinstance(result, dict):
        return ordinary
    if revision in STATELESS_REVISIONS:
        # An absent type means complete, and lacks a required member all the same in this revision.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic#resulttype
        known = {"complete": ordinary, "input_required": "InputRequiredResult"}
        kind = result.get("resultType", "complete")
        return known.get(kind, "Result") if isinstance(kind, str) else "Result"
    if shape is not None and "CreateTaskResult" in shape.results and "task" in result:
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#creating-tasks
        required = definitions_for(revision)[ordinary]["required"]
        return ordinary if any(name in result for name in required) else "CreateTaskResult"
    return ordinary


def _check_error(module: RevisionModule, message: dict[str, Any], start: str) -> list[Violation]:
    error = message["error"]
    code = error.get("code") if isinstance(error, dict) else None
    shape = module.ERRORS.get(code) if isinstance(code, int) else None
    found: list[Violation] = []
    if shape is not None and shape.covers == "message":
        found = check_definition(module.REVISION, shape.definition, message, start=start)
    elif shape is not None:
        found = check_definition(module.REVISION, shape.definition, error, start=f"{start}.error")
    return found + _check_envelope(module, "error", message, start)


def _check_envelope(
    module: RevisionModule, kind: str, message: dict[str, Any], start: str
) -> list[Violation]:
    return check_definition(module.REVISION, module.ENVELOPES[kind], message, start=start)
