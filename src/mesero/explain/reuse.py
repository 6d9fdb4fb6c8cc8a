"""How long, and by whom, a result may be used again.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mesero.modern.methods import METHODS

__all__ = ["duration_text", "find_method_for", "reuse_of"]

_UNITS: Final = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1000))

_MEMBERS: Final = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
    "contents": "resources/read",
    "messages": "prompts/get",
    "completion": "completion/complete",
    "supportedVersions": "server/discover",
    "protocolVersion": "initialize",
    "content": "tools/call",
    "roots": "roots/list",
}


def find_method_for(result: Mapping[str, Any]) -> str | None:
    """The method that such a result most likely answers, by its members; None where nothing tells."""
    return next((method for member, method in _MEMBERS.items() if member in result), None)


def duration_text(milliseconds: float) -> str:
    """A duration in the largest unit that fits: ``5 minutes``, ``1.5 seconds``, ``20 ms``."""
    for name, size in _UNITS:
        if milliseconds >= size:
            count = (
                f"{milliseconds / size:.3g}" if milliseconds < 1000 * size else str(int(milliseconds // size))
            )
            return f"{count} {name}{'' if count == '1' else 's'}"
    return f"{milliseconds:g} ms"


def reuse_of(result: Mapping[str, Any], *, answers: str | None) -> tuple[str, ...]:
    """What the result of a stateless request says of its own reuse, in sentences.

    Args:
        result: The result.
        answers: The method that it answers, if it is known.
    """
    if result.get("resultType", "complete") != "complete":
        return ("It is not the final result, so it must not be kept.",)
    spec = METHODS.get(answers) if answers is not None else None
    if "ttlMs" not in result and spec is not None and not spec.is_cacheable:
        return (f"Results of {answers} are not kept: it may do something else each time.",)
    ttl = result.get("ttlMs")
    if not isinstance(ttl, int | float) or isinstance(ttl, bool) or ttl <= 0:
        why = {True: "`ttlMs` is missing", False: f"`ttlMs` is {ttl!r}"}["ttlMs" not in result]
        sentences = [f"It is stale at once ({why}): ask again whenever it is needed."]
    else:
        sentences = [
            (
                f"It is fresh for {duration_text(ttl)} after it was received (`ttlMs` {ttl:g}), unless a"
                " notification says before that it has changed. Then it is asked for again when it is needed,"
                " not by a clock."
            ),
            _SCOPES.get(str(result.get("cacheScope")), _UNKNOWN_SCOPE),
        ]
    sentences.append(
        "The key is the method with its parameters, without `_meta`. Results of a request that carried"
        " `inputResponses` or `requestState` are never kept."
    )
    return tuple(sentences)


_SCOPES: Final = {
    "public": "Anybody may use it (`cacheScope` public): proxies may keep it for all users.",
    "private": "Only the same authorization may use it (`cacheScope` private): another token, another copy.",
}
_UNKNOWN_SCOPE: Final = (
    "`cacheScope` is missing or unknown: treat it as private, for the same authorization only."
)
