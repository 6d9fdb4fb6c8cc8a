"""References to variables in configuration files: which there are, and what they become. Pure.

The same text means different things to different hosts. ``${TOKEN}`` is the value of a variable to one and
eight characters to the next, which then tries to log in with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

__all__ = ["EXAMPLES", "NAMED", "Form", "Reference", "expanded", "references_in"]

Form = Literal["braces", "env", "input", "named", "bare", "percent", "curly"]
"""``${X}``, ``${env:X}``, ``${input:x}``, ``${workspaceFolder}``, ``$X``, ``%X%``, ``{env:X}``."""

EXAMPLES: Final[Mapping[Form, str]] = {
    "braces": "${%s}",
    "env": "${env:%s}",
    "input": "${input:%s}",
    "named": "${%s}",
    "bare": "$%s",
    "percent": "%%%s%%",
    "curly": "{env:%s}",
}
"""How each form is written."""

NAMED: Final = frozenset(
    {
        "workspaceFolder",
        "workspaceFolderBasename",
        "userHome",
        "pathSeparator",
        "/",
        "cwd",
        "fileWorkspaceFolder",
    }
)

_REFERENCE = re.compile(
    r"\$\{env:(?P<env>[^}:]+)(?::[^}]*)?\}"
    r"|\$\{input:(?P<input>[^}]+)\}"
    r"|\$\{(?P<named>[a-z/][A-Za-z/]*(?::[^}]*)?)\}"
    r"|\$\{(?P<braces>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}"
    r"|(?<!\$)\{env:(?P<curly>[^}]+)\}"
    r"|\$(?P<bare>[A-Z_][A-Z0-9_]+)"
    r"|%(?P<percent>[A-Z_][A-Z0-9_]+)%"
)


class Reference(NamedTuple):
    """One reference: its form, the name in it, what stands in for an unset variable, and its span."""

    form: Form
    name: str
    default: str | None
    start: int
    end: int


def references_in(text: str) -> list[Reference]:
    """What in a text looks like a reference to a variable, in order."""
    return [_reference_of(match) for match in _REFERENCE.finditer(text)]


def _reference_of(match: re.Match[str]) -> Reference:
    form: Form = match.lastgroup if match.lastgroup != "default" else "braces"  # type: ignore[assignment]  # its groups
    name = match[form]
    if form == "named" and name.partition(":")[0] not in NAMED and ":" not in name:
        form = "braces"  # a variable in lower case
    return Reference(form, name, match["default"], match.start(), match.end())


def expanded(text: str, forms: frozenset[Form], find: Callable[[str], str | None]) -> str:
    """The text as a host hands it on: what it does not follow, or finds no value for, stays as it is.

    Args:
        text: As it is written.
        forms: The forms that the host follows.
        find: The value of a variable, None when it is not set.
    """
    parts: list[str] = []
    done = 0
    for reference in references_in(text):
        value = find(reference.name) if reference.form in forms else None
        if value is None and reference.form in forms:
            value = reference.default
        if value is not None:
            parts += (text[done : reference.start], value)
            done = reference.end
    return "".join([*parts, text[done:]])
