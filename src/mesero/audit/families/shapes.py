"""The last resort: violations of a message's own schema that no other rule explains better.

https://modelcontextprotocol.io/specification/2026-07-28/schema
"""

from __future__ import annotations

from mesero.audit.examples import answer, ask, fail, shake, tell, trace
from mesero.audit.rules import claim

__all__: list[str] = []

_SCHEMA = "schema"
_FIX = "Send what the schema of this revision says at that path."

claim(
    "SCH-101",
    "A request does not fit the schema of its revision",
    kinds=("request",),
    spec=_SCHEMA,
    fix=_FIX,
    passes=trace(ask("tools/call", {"name": "x"})),
    fails=trace(ask("tools/call", {"name": 7})),
)

claim(
    "SCH-102",
    "A result does not fit the schema of its revision",
    kinds=("result",),
    spec=_SCHEMA,
    fix=_FIX,
    passes=trace(ask("tools/call", {"name": "x"}), answer({"content": []})),
    fails=trace(ask("tools/call", {"name": "x"}), answer({"content": [], "isError": "no"})),
)

claim(
    "SCH-103",
    "A notification does not fit the schema of its revision",
    kinds=("notification",),
    spec=_SCHEMA,
    fix=_FIX,
    passes=trace(*shake(server={"resources": {}}), tell("notifications/resources/updated", {"uri": "a://b"})),
    fails=trace(*shake(server={"resources": {}}), tell("notifications/resources/updated", {})),
)

claim(
    "SCH-104",
    "An error does not fit the schema of its revision",
    kinds=("error",),
    spec=_SCHEMA,
    fix="Send the data that the schema asks for with this code: clients act on it.",
    passes=trace(
        ask("tools/call", {"name": "x"}), fail(-32021, data={"requiredCapabilities": {"sampling": {}}})
    ),
    fails=trace(ask("tools/call", {"name": "x"}), fail(-32021)),
)
