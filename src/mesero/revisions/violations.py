"""From the errors of the JSON Schema library to violations that a person can act on.

What lives here: the `Violation` type, JSON paths, wording, and the choice of one branch where a schema allows
several shapes, so that a broken text block is reported as a broken text block and not as "fits none of five".
What must not: the JSON Schema library itself (its errors are read by their attributes), and any judgement of which
definition a message has to fit, which is the work of `mesero.revisions.judge`.
Invariant: no text here quotes more than a short piece of the message that is judged.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jsonschema_rs import ValidationError

__all__ = ["MASK", "Violation", "json_path", "violations_from_errors"]

MASK = "the value"
"""What the JSON Schema library has to write in its messages instead of the value itself."""

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Members that say which shape an object means to have; a mismatch in one of them rules a branch out.
_DISCRIMINATORS = frozenset({"type", "method", "mode"})

_MAX_QUOTED_CHARS = 40
_MAX_QUOTED_BITS = 128


class Violation(msgspec.Struct, frozen=True):
    """One way in which a message does not fit its revision.

    ``path`` is the JSON path of the value at fault, ``$`` being the whole message, as in ``$.params.arguments[0]``
    or ``$.params._meta["io.modelcontextprotocol/logLevel"]``; a missing member is reported at the object that lacks
    it. ``message`` completes the sentence "this value …". ``definition`` names the innermost schema definition.
    """

    path: str
    message: str
    definition: str


def json_path(steps: Sequence[str | int], *, start: str = "$") -> str:
    """Write member names and indexes as a JSON path below ``start``."""
    return start + "".join(map(_encode_step, steps))


def violations_from_errors(errors: Iterable[ValidationError], *, start: str = "$") -> list[Violation]:
    """Turn the errors of one validation into violations, each union narrowed down to the shape that was meant.

    ``start`` is the JSON path of the value that was validated.
    """
    return [found for error in errors for found in _violations_of(error, start)]


def _violations_of(error: ValidationError, start: str) -> list[Violation]:
    branches = _branches_of(error)
    if not branches:
        return [_violation_at(error, start, _wording_of(error))]
    fitting = [branch for branch in branches if not any(_is_ruling_out(error, each) for each in branch)]
    if not fitting:
        return [_no_branch_fits(error, branches, start)]
    # A branch that needs a telling member is the second choice where another does without (form elicitation).
    likely = [branch for branch in fitting if not any(_is_missing_discriminator(error, each) for each in branch)]
    # Else the shape that needs the fewest repairs is the one that was meant.
    fewest = min(map(len, likely or fitting))
    nearest = [branch for branch in likely or fitting if len(branch) == fewest]
    if len(nearest) == 1:
        return violations_from_errors(nearest[0], start=start)
    repairs = "; or ".join(_repairs_of(error, branch) for branch in nearest)
    return [_violation_at(error, start, f"fits none of the shapes allowed here ({repairs})")]


def _branches_of(error: ValidationError) -> list[list[ValidationError]]:
    """Return the errors of each branch of a failed union, a union of unions laid flat; empty for other errors."""
    context: list[list[ValidationError]] = getattr(error.kind, "context", [])
    flat: list[list[ValidationError]] = []
    for branch in context:
        only = branch[0]
        inner = _branches_of(only) if len(branch) == 1 and only.instance_path == error.instance_path else []
        flat.extend(inner or [branch])
    return flat


def _is_ruling_out(union: ValidationError, error: ValidationError) -> bool:
    """Tell whether this error means that the branch was never intended: another kind of value, or another type."""
    below = error.instance_path[len(union.instance_path) :]
    if not below:
        return error.kind.name == "type"
    return len(below) == 1 and below[0] in _DISCRIMINATORS and error.kind.name in {"const", "enum"}


def _is_missing_discriminator(union: ValidationError, error: ValidationError) -> bool:
    at_union = error.instance_path == union.instance_path
    return at_union and error.kind.name == "required" and error.kind.value in _DISCRIMINATORS


def _repairs_of(union: ValidationError, branch: list[ValidationError]) -> str:
    """Say what keeps the value from having the shape of one branch, with paths below the value."""
    repairs = []
    for error in branch:
        below = json_path(error.instance_path[len(union.instance_path) :], start="")
        repairs.append(f"{below} {_wording_of(error)}".lstrip())
    return f"{_definition_of(branch[0])}: {', '.join(repairs)}"


def _no_branch_fits(union: ValidationError, branches: list[list[ValidationError]], start: str) -> Violation:
    ruling = [each for branch in branches for each in branch if _is_ruling_out(union, each)]
    telling = [each for each in ruling if each.kind.name != "type"]
    if telling:
        options = dict.fromkeys(_quoted(each) for each in chain.from_iterable(map(_options_of, telling)))
        return _violation_at(
            telling[0],
            start,
            f"must be {_listed(options)}, not {_quoted(telling[0].instance)}",
            definition=_definition_of(union),
        )
    kinds = dict.fromkeys(each for error in ruling for each in _types_of(error))
    return _violation_at(union, start, f"must be {_listed(kinds)}, not {_kind_of(union.instance)}")


def _violation_at(error: ValidationError, start: str, message: str, *, definition: str = "") -> Violation:
    return Violation(
        path=json_path(error.instance_path, start=start),
        message=message,
        definition=definition or _definition_of(error),
    )


def _definition_of(error: ValidationError) -> str:
    """Name the definition that the failed keyword stands in: the validators start at a reference to one."""
    return str(error.schema_path[1])


def _wording_of(error: ValidationError) -> str:
    match error.kind.name:
        case "required":
            return f'lacks "{error.kind.value}"'
        case "type":
            return f"must be {_listed(_types_of(error))}, not {_kind_of(error.instance)}"
        case "const" | "enum":
            return f"must be {_listed(map(_quoted, _options_of(error)))}, not {_quoted(error.instance)}"
        case "anyOf":
            return "fits none of the shapes allowed there"
        case _:
            return error.message.removeprefix(f"{MASK} ")


def _options_of(error: ValidationError) -> list[object]:
    value: object = error.kind.value
    return list(value) if error.kind.name == "enum" and isinstance(value, list) else [value]


def _types_of(error: ValidationError) -> list[str]:
    types: object = error.kind.value
    return [_with_article(str(each)) for each in (types if isinstance(types, list) else [types])]


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {_quoted(value)}"
        case str():
            return f"the string {_quoted(value)}"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return f"the number {_quoted(value)}"


def _quoted(value: object) -> str:
    """Quote a scalar as JSON, cut short; say of anything else what it is."""
    match value:
        case None | list() | dict():
            return _kind_of(value)
        case bool():
            return str(value).lower()
        case str() if len(value) > _MAX_QUOTED_CHARS:
            rest = len(value) - _MAX_QUOTED_CHARS
            return f"{_quoted(value[:_MAX_QUOTED_CHARS])} and {rest} more characters"
        case str():
            return msgspec.json.encode(value).decode()
        case int() if value.bit_length() > _MAX_QUOTED_BITS:
            return f"of {value.bit_length()} bits"
        case _:
            return str(value)


def _with_article(name: str) -> str:
    if name == "null":
        return name
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _listed(options: Iterable[str]) -> str:
    *rest, last = options
    return f"{', '.join(rest)} or {last}" if rest else last


def _encode_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_NAME.fullmatch(step) else f"[{msgspec.json.encode(step).decode()}]"
