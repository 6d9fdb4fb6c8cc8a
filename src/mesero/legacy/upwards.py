"""What older peers send that the vocabulary would not decode, put right: null members, shapes of the past.

Almost everything passes as the bytes that came: the look at them is a search for a few words. Only what has
one of those is decoded and written again.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#resulttype
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

from mesero.errors import ParseError
from mesero.jsonrpc import decode_value, encode_value
from mesero.legacy import methods

__all__ = ["fit_params", "fit_result"]

_RESULTS: Final = frozenset(
    {
        *(methods.LIST_TOOLS, methods.CALL_TOOL, methods.READ_RESOURCE, methods.COMPLETE),
        *("resources/list", "resources/templates/list", "prompts/list", "prompts/get"),
    }
)
"""The methods whose results have members that we know; a null in any other result may be a value."""

_VALUES: Final = frozenset({"structuredContent", "_meta", "inputSchema", "outputSchema"})
"""Members whose contents are somebody else's: a null in there is a value."""

_FOREIGN_RESULT_TYPE: Final = b'"resultType"'


def fit_result(method: str, raw: Raw) -> Raw:
    """A result of an older server as the vocabulary decodes it.

    Members that are null are left out, as many servers write what they do not have; ``resultType``, which
    means nothing in those revisions, too. A tool's result has its content where it should be.
    """
    if method not in _RESULTS:
        return raw
    text = bytes(raw)
    lacks_content = method == methods.CALL_TOOL and b'"content"' not in text
    if not lacks_content and b"null" not in text and _FOREIGN_RESULT_TYPE not in text:
        return raw
    try:
        value = decode_value(raw)
    except ParseError:
        # Whoever decodes it says what is wrong.
        return raw
    if not isinstance(value, dict):
        return raw
    value = _without_nulls(value)
    value.pop("resultType", None)
    if method == methods.CALL_TOOL and "content" not in value:
        value["content"] = _content_from(value)
    return Raw(encode_value(value))


def _content_from(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Before the first published revision a tool answered with one value of any kind."""
    if "toolResult" not in value:
        return []
    result = value.pop("toolResult")
    text = result if isinstance(result, str) else encode_value(result).decode()
    return [{"type": "text", "text": text}]


def fit_params(raw: Raw) -> Raw:
    """Parameters of an older client, without members that are null at their top."""
    if b"null" not in bytes(raw):
        return raw
    try:
        members = msgspec.json.decode(raw, type=dict[str, Raw])
    except (msgspec.MsgspecError, RecursionError):
        return raw
    return Raw(encode_value({name: part for name, part in members.items() if bytes(part) != b"null"}))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: part if name in _VALUES else _without_nulls(part)
        for name, part in value.items()
        if part is not None or name == "structuredContent"
    }
