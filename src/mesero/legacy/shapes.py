"""Which member of which shape came with which revision, and leaving out what came later.

The tables are written by hand, since people read them; a test compares every row with the official schemas.
What differs by more than presence (content blocks, JSON Schemas, forms) is not in here.

https://modelcontextprotocol.io/specification/2026-07-28/changelog
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

from mesero.revisions import HANDSHAKE_REVISIONS, is_older

__all__ = [
    "ANNOTATIONS",
    "COMPLETE_PARAMS",
    "CONTENTS",
    "FIRST",
    "IMPLEMENTATION",
    "JUNE_2025",
    "LISTED",
    "MARCH_2025",
    "NOVEMBER_2025",
    "PROGRESS",
    "PROMPT",
    "PROMPT_ARGUMENT",
    "PROMPT_REFERENCE",
    "RESOURCE",
    "ROOT",
    "SAMPLING_MESSAGE",
    "SAMPLING_PARAMS",
    "TEMPLATE",
    "TOOL",
    "Loss",
    "Shape",
    "dropped",
    "trim",
]

FIRST: Final = HANDSHAKE_REVISIONS[0]
MARCH_2025: Final = HANDSHAKE_REVISIONS[1]
JUNE_2025: Final = HANDSHAKE_REVISIONS[2]
NOVEMBER_2025: Final = HANDSHAKE_REVISIONS[3]


class Loss(msgspec.Struct, frozen=True):
    """One thing that the revision could not carry: where it was, and what became of it.

    For example ``Loss("$.content[0]", "audio content (since 2025-03-26) became text")``.
    """

    path: str
    what: str


class Shape(msgspec.Struct, frozen=True, eq=False):
    """One kind of object: the members that are younger than the oldest revision, and the shapes inside it.

    ``inner`` is of members that hold one such object, or a list of them.
    """

    since: Mapping[str, str] = {}
    inner: Mapping[str, Shape] = {}


ANNOTATIONS: Final = Shape({"lastModified": JUNE_2025})
CONTENTS: Final = Shape({"_meta": JUNE_2025})
TOOL: Final = Shape(
    {
        "annotations": MARCH_2025,
        "title": JUNE_2025,
        "outputSchema": JUNE_2025,
        "_meta": JUNE_2025,
        "icons": NOVEMBER_2025,
    }
)
_DESCRIBED: Final = {"title": JUNE_2025, "_meta": JUNE_2025, "icons": NOVEMBER_2025}
RESOURCE: Final = Shape(_DESCRIBED, {"annotations": ANNOTATIONS})
TEMPLATE: Final = Shape(_DESCRIBED, {"annotations": ANNOTATIONS})
PROMPT_ARGUMENT: Final = Shape({"title": JUNE_2025})
PROMPT: Final = Shape(_DESCRIBED, {"arguments": PROMPT_ARGUMENT})
ROOT: Final = Shape({"_meta": JUNE_2025})
IMPLEMENTATION: Final = Shape(
    {
        "title": JUNE_2025,
        "description": NOVEMBER_2025,
        "websiteUrl": NOVEMBER_2025,
        "icons": NOVEMBER_2025,
    }
)
PROMPT_REFERENCE: Final = Shape({"title": JUNE_2025})
COMPLETE_PARAMS: Final = Shape({"context": JUNE_2025}, {"ref": PROMPT_REFERENCE})
SAMPLING_MESSAGE: Final = Shape({"_meta": NOVEMBER_2025})
SAMPLING_PARAMS: Final = Shape(
    {"tools": NOVEMBER_2025, "toolChoice": NOVEMBER_2025}, {"messages": SAMPLING_MESSAGE}
)
PROGRESS: Final = Shape({"message": MARCH_2025})

LISTED: Final[Mapping[str, tuple[str, Shape]]] = {
    "resources/list": ("resources", RESOURCE),
    "resources/templates/list": ("resourceTemplates", TEMPLATE),
    "prompts/list": ("prompts", PROMPT),
    "resources/read": ("contents", CONTENTS),
}
"""Results that are nothing but a list of one shape: the member, and the shape of its items."""


class _Trim(msgspec.Struct, frozen=True):
    """What a shape has to leave out in one revision."""

    drops: tuple[tuple[str, str], ...]
    inner: tuple[tuple[str, _Trim], ...]


@cache
def _trim_of(shape: Shape, revision: str) -> _Trim | None:
    """None when everything in the shape fits, so that nobody looks at its values."""
    drops = tuple((name, since) for name, since in shape.since.items() if is_older(revision, since))
    late = {name for name, _ in drops}
    inner = tuple(
        (name, trim_of)
        for name, part in shape.inner.items()
        if name not in late and (trim_of := _trim_of(part, revision)) is not None
    )
    return _Trim(drops, inner) if drops or inner else None


def dropped(name: str, since: str) -> str:
    """The words of a loss."""
    return f"{name} (since {since}) was dropped"


def trim(value: dict[str, Any], shape: Shape, revision: str, path: str, losses: list[Loss]) -> None:
    """Leave out of ``value`` what came after ``revision``, in place; ``losses`` grows by what was left out.

    An inner object that is empty afterwards is left out too.
    """
    found = _trim_of(shape, revision)
    if found is not None:
        _trim(value, found, path, losses)


def _trim(value: dict[str, Any], found: _Trim, path: str, losses: list[Loss]) -> None:
    for name, since in found.drops:
        if name in value:
            del value[name]
            losses.append(Loss(f"{path}.{name}", dropped(name, since)))
    for name, part in found.inner:
        inner = value.get(name)
        if isinstance(inner, list):
            for index, item in enumerate(inner):
                if isinstance(item, dict):
                    _trim(item, part, f"{path}.{name}[{index}]", losses)
        elif isinstance(inner, dict):
            _trim(inner, part, f"{path}.{name}", losses)
            if not inner:
                del value[name]
