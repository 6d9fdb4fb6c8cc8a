"""A drawing as one HTML file that needs nothing else: no network, no other file.

Whatever was recorded is data in it: JSON in a script element of a type that is not run, with every ``<``
escaped so that nothing can end the element, shown as text by the one script of the page. The page's own
policy lets run that script and no other, by its hash, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec

from mesero.diagram.model import Drawing
from mesero.explain.glossary import METHODS, find_entry

__all__ = ["drawing_html"]

_MARK: Final = re.compile(r"@([A-Z_]+)@")
_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPED: Final = re.compile("[<>&\u2028\u2029]")


def drawing_html(drawing: Drawing) -> str:
    """The page."""
    page, style, script = (_asset(name) for name in ("page.html", "page.css", "page.js"))
    parts = {
        "STYLE": style,
        "STYLE_HASH": _hash_of(style),
        "SCRIPT": script,
        "SCRIPT_HASH": _hash_of(script),
        "DRAWING": _json_of(drawing),
    }
    # In one pass: a mark within what is put in stays what it is.
    return _MARK.sub(lambda match: parts[match[1]], page)


@cache
def _asset(name: str) -> str:
    return resources.files("mesero.diagram").joinpath("page", name).read_text("utf-8")


def _hash_of(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json_of(drawing: Drawing) -> str:
    document = {"drawing": drawing, "glossary": _glossary_of(drawing)}
    try:
        text = msgspec.json.encode(document).decode()
    except UnicodeEncodeError:
        # Halves of surrogate pairs, which UTF-8 cannot carry.
        text = msgspec.json.encode(_mended(msgspec.to_builtins(document))).decode()
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_mended(name): _mended(each) for name, each in value.items()}
    return [_mended(each) for each in value] if isinstance(value, list | tuple) else value


def _glossary_of(drawing: Drawing) -> dict[str, dict[str, str]]:
    """What the methods and errors in the drawing mean, by method or by label."""
    found: dict[str, dict[str, str]] = {}
    for row in drawing.rows:
        name = row.label if row.kind == "error" else row.method
        if name in found:
            continue
        code = row.label.removeprefix("error ")
        entry = find_entry("error code", code) if row.kind == "error" else METHODS.get(row.method)
        if entry is not None:
            found[name] = {"title": entry.title, "meaning": entry.meaning, "link": entry.link}
    return found
