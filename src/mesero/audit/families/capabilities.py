"""Rules about capabilities: what each side may do after what the other side declared.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, members_of, short
from mesero.audit.examples import (
    answer,
    ask,
    fail,
    old_ask,
    shake,
    tell,
    trace,
)
from mesero.audit.needs import NEEDS, find_undeclared
from mesero.audit.rules import HANDSHAKE, SINCE_2025_06, STATELESS, Fault, check

__all__: list[str] = []

_NEGOTIATION = "2025-11-25/basic/lifecycle#capability-negotiation"
_OPERATION = "2025-11-25/basic/lifecycle#operation"

_MEMBERS: Final = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}
_QUESTIONS: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
_CHANGES: Final = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}


def _discovered(capabilities: dict[str, Any]) -> list[Any]:
    result = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities}
    return [ask("server/discover", id=0), answer(result | {"ttlMs": 0, "cacheScope": "private"}, id=0)]


_LIST = {"tools": [], "ttlMs": 0, "cacheScope": "private"}
_TOOL = {"name": "x", "inputSchema": {"type": "object"}}


@check(
    "CAP-001",
    "The client calls what the server never announced",
    on=("error",),
    side="s2c",
    methods=NEEDS,
    severity="warning",
    blame="client",
    spec=_OPERATION,
    fix=(
        "Look at the server's capabilities first, and do not take this error for a failure of the connection."
    ),
    passes=trace(*_discovered({"tools": {}}), ask("tools/list"), answer(_LIST)),
    fails=trace(*_discovered({"tools": {}}), ask("prompts/list"), fail(-32601)),
)
def _unannounced(evidence: Evidence) -> Iterator[Fault | str]:
    needed = find_undeclared(evidence.link, evidence.about, evidence.revision)
    if needed and evidence.code == -32601:
        yield (
            f"`{evidence.about}` needs the capability {needed}, which the server never "
            "announced: -32601 is right"
        )


@check(
    "CAP-002",
    "The server offers something without announcing it",
    on=("result",),
    side="s2c",
    methods=_MEMBERS,
    blame="server",
    spec="server/tools#capabilities",
    fix='Announce it, for example "tools": {} in the capabilities: many clients never ask otherwise.',
    passes=trace(*_discovered({"tools": {}}), ask("tools/list"), answer(_LIST | {"tools": [_TOOL]})),
    fails=trace(*_discovered({}), ask("tools/list"), answer(_LIST | {"tools": [_TOOL]})),
)
def _hidden(evidence: Evidence) -> Iterator[Fault | str]:
    needed = find_undeclared(evidence.link, evidence.about, evidence.revision)
    items = evidence.result.get(_MEMBERS.get(evidence.about, ""))
    if needed and isinstance(items, list) and items:
        yield f"the server has {len(items)} {needed}, but does not announce the capability {needed}"


@check(
    "CAP-003",
    "The server does not know a method that it announced",
    on=("error",),
    side="s2c",
    methods=_MEMBERS,
    blame="server",
    spec="server/tools#capabilities",
    fix="Answer the list of each announced capability, with an empty list if need be; or do not announce it.",
    passes=trace(*_discovered({"prompts": {}}), ask("prompts/list"), answer({**_LIST, "prompts": []})),
    fails=trace(*_discovered({"prompts": {}}), ask("prompts/list"), fail(-32601)),
)
def _unserved(evidence: Evidence) -> Iterator[Fault | str]:
    declared = evidence.link.server_capabilities
    needed = NEEDS.get(evidence.about, "")
    if declared is not None and needed in declared and evidence.code == -32601:
        yield f"the server announced {needed}, but answers `{evidence.about}` with -32601"


@check(
    "CAP-004",
    "The server sends list changes that it did not announce",
    on=("notification",),
    side="s2c",
    methods=_CHANGES,
    revisions=HANDSHAKE,
    severity="warning",
    blame="server",
    spec=_NEGOTIATION,
    fix="Announce listChanged: true, so that clients know that they may wait for changes.",
    passes=trace(*shake(server={"tools": {"listChanged": True}}), tell("notifications/tools/list_changed")),
    fails=trace(*shake(), tell("notifications/tools/list_changed")),
)
def _unannounced_change(evidence: Evidence) -> Iterator[Fault | str]:
    name = _CHANGES.get(evidence.method, "")
    declared = evidence.link.server_capabilities
    if declared is not None and members_of(declared.get(name)).get("listChanged") is not True:
        yield f"`{evidence.method}` came, but {name}.listChanged was not announced"


@check(
    "CAP-005",
    "The server asks for something that the client did not declare",
    on=("request",),
    side="s2c",
    methods=_QUESTIONS,
    revisions=HANDSHAKE,
    blame="server",
    spec=_OPERATION,
    fix="Look at the client's capabilities in initialize, and do without what is not there.",
    passes=trace(*shake(client={"roots": {}}), old_ask("roots/list", id="s1", direction="s2c")),
    fails=trace(*shake(), old_ask("roots/list", id="s1", direction="s2c")),
)
def _undeclared_question(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = evidence.link.handshake_for(evidence.exchange.session if evidence.exchange else "")
    needed = _QUESTIONS.get(evidence.method, "")
    if evidence.direction == "s2c" and handshake is not None and needed not in handshake.client_capabilities:
        yield f"{evidence.what} needs the client capability {needed}, which initialize did not declare"


@check(
    "CAP-006",
    "The client subscribes to resources that cannot be subscribed to",
    on=("request",),
    side="c2s",
    methods=("resources/subscribe",),
    revisions=HANDSHAKE,
    severity="warning",
    blame="client",
    spec="2025-11-25/server/resources#capabilities",
    fix="Subscribe only where the server announces resources.subscribe.",
    passes=trace(
        *shake(server={"resources": {"subscribe": True}}), old_ask("resources/subscribe", {"uri": "a://b"})
    ),
    fails=trace(*shake(server={"resources": {}}), old_ask("resources/subscribe", {"uri": "a://b"})),
)
def _no_subscribing(evidence: Evidence) -> Iterator[Fault | str]:
    declared = evidence.link.server_capabilities
    if declared is not None and members_of(declared.get("resources")).get("subscribe") is not True:
        yield "the client subscribes, but the server did not announce resources.subscribe"


_FORM = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
_LINK = {"mode": "url", "message": "?", "url": "https://example.com/a", "elicitationId": "e"}


@check(
    "CAP-007",
    "The server elicits in a mode that the client did not declare",
    on=("request",),
    side="s2c",
    methods=("elicitation/create",),
    revisions=("2025-11-25",),
    blame="server",
    spec="2025-11-25/client/elicitation#capabilities",
    fix="Use a mode that the client declared; an empty elicitation capability means forms only.",
    passes=trace(
        *shake(client={"elicitation": {}}), old_ask("elicitation/create", _FORM, id="s", direction="s2c")
    ),
    fails=trace(
        *shake(client={"elicitation": {}}), old_ask("elicitation/create", _LINK, id="s", direction="s2c")
    ),
)
def _undeclared_mode(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = evidence.link.handshake_for(evidence.exchange.session if evidence.exchange else "")
    if handshake is None or "elicitation" not in handshake.client_capabilities:
        return
    declared = members_of(handshake.client_capabilities["elicitation"])
    mode = evidence.params.get("mode", "form")
    if isinstance(mode, str) and mode not in (declared or {"form": {}}):
        yield f"the server elicits in the mode {short(mode)}, which the client did not declare"


_SAMPLE = {"messages": [], "maxTokens": 1, "tools": []}


@check(
    "CAP-008",
    "The server samples with tools that the client does not support",
    on=("request",),
    side="s2c",
    methods=("sampling/createMessage",),
    revisions=("2025-11-25",),
    blame="server",
    spec="2025-11-25/client/sampling#capabilities",
    fix="Leave tools and toolChoice out unless the client declares sampling.tools.",
    passes=trace(
        *shake(client={"sampling": {"tools": {}}}),
        old_ask("sampling/createMessage", _SAMPLE, id="s", direction="s2c"),
    ),
    fails=trace(
        *shake(client={"sampling": {}}), old_ask("sampling/createMessage", _SAMPLE, id="s", direction="s2c")
    ),
)
def _tools_in_sampling(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = evidence.link.handshake_for(evidence.exchange.session if evidence.exchange else "")
    if handshake is None or "sampling" not in handshake.client_capabilities:
        return
    uses = "tools" in evidence.params or "toolChoice" in evidence.params
    if uses and "tools" not in members_of(handshake.client_capabilities["sampling"]):
        yield "the server samples with tools; the client did not declare sampling.tools"


@check(
    "CAP-009",
    "The server misses a client capability that the request declares",
    on=("error",),
    side="s2c",
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec="basic/index#meta",
    fix="Read the capabilities of this very request; -32021 is for what they lack.",
    passes=trace(
        ask("tools/call", {"name": "x"}), fail(-32021, data={"requiredCapabilities": {"sampling": {}}})
    ),
    fails=trace(
        ask("tools/call", {"name": "x"}, capabilities={"sampling": {}}),
        fail(-32021, data={"requiredCapabilities": {"sampling": {}}}),
    ),
)
def _declared_after_all(evidence: Evidence) -> Iterator[Fault | str]:
    required = members_of(members_of(evidence.error.get("data")).get("requiredCapabilities"))
    declared = evidence.asked.capabilities if evidence.asked is not None else None
    if evidence.code != -32021 or not required or declared is None:
        return
    if all(_has(declared, name, needs) for name, needs in required.items()):
        yield f"the server wants {short(', '.join(required))}, and the request declares it"


def _has(declared: dict[str, Any], name: str, needs: Any) -> bool:
    if name not in declared:
        return False
    inner = members_of(declared[name])
    return all(each in inner for each in members_of(needs))


_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_EXTENSION = re.compile(rf"{_LABEL}(?:\.{_LABEL})*/[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")


@check(
    "CAP-010",
    "The name of an extension has no prefix",
    on=("request", "result"),
    revisions=STATELESS,
    spec="basic/versioning#extension-negotiation",
    fix="Name extensions prefix/name, as in com.example/search.",
    passes=trace(ask("tools/list", capabilities={"extensions": {"com.example/search": {}}})),
    fails=trace(ask("tools/list", capabilities={"extensions": {"search": {}}})),
)
def _extension_names(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.kind == "request":
        declared = members_of(evidence.meta.get("io.modelcontextprotocol/clientCapabilities"))
    else:
        declared = members_of(evidence.result.get("capabilities"))
    for name in members_of(declared.get("extensions")):
        if not _EXTENSION.fullmatch(name):
            yield f"{evidence.what} declares the extension {short(name)}, whose name needs a prefix"


@check(
    "CAP-011",
    "The server does not implement `server/discover`",
    on=("error",),
    side="s2c",
    methods=("server/discover",),
    revisions=STATELESS,
    blame="server",
    spec="server/discover",
    fix="Answer server/discover: every server of 2026-07-28 must.",
    passes=trace(*_discovered({"tools": {}}), ask("tools/list"), answer(_LIST)),
    fails=trace(ask("tools/list"), answer(_LIST), ask("server/discover", id=2), fail(-32601, id=2)),
)
def _no_discover(evidence: Evidence) -> Iterator[Fault | str]:
    # A server of the older era is right to refuse it: only one that has answered in the newer era is not.
    if evidence.code == -32601 and evidence.link.modern_answers:
        yield "the server answers in the newer era, but knows no server/discover"


@check(
    "CAP-012",
    "The server speaks of resources in results without announcing any",
    on=("result",),
    side="s2c",
    methods=("tools/call",),
    revisions=SINCE_2025_06,
    severity="info",
    blame="server",
    spec="server/tools#embedded-resources",
    fix='Announce "resources": {} when tools return embedded resources.',
    passes=trace(*_discovered({"tools": {}}), ask("tools/call", {"name": "x"}), answer({"content": []})),
    fails=trace(
        *_discovered({"tools": {}}),
        ask("tools/call", {"name": "x"}),
        answer({"content": [{"type": "resource", "resource": {"uri": "a://b", "text": ""}}]}),
    ),
)
def _embedded(evidence: Evidence) -> Iterator[Fault | str]:
    declared, content = evidence.link.server_capabilities, evidence.result.get("content")
    if declared is None or "resources" in declared or not isinstance(content, list):
        return
    if any(members_of(block).get("type") == "resource" for block in content):
        yield f"{evidence.what} embeds a resource, but the server does not announce the capability resources"
