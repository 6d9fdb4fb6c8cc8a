"""Rules about results and errors.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#responses
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, members_of, short
from mesero.audit.examples import answer, ask, eof, fail, old_answer, old_ask, shake, trace
from mesero.audit.rules import ALL, HANDSHAKE, STATELESS, Fault, check, claim

__all__: list[str] = []

_TYPE = "basic/index#resulttype"
_CODES = "basic/index#error-codes"
_READ = {"contents": [{"uri": "a://b", "text": ""}], "ttlMs": 0, "cacheScope": "private"}
_CALL = ask("tools/call", {"name": "x"})
_GOOD = trace(_CALL, answer({"content": []}))

claim(
    "RES-001",
    "A result lacks resultType",
    path=r"\$\.result$",
    says='lacks "resultType"',
    revisions=STATELESS,
    spec=_TYPE,
    fix='Add "resultType": "complete". A server that sends none has not been updated to 2026-07-28.',
    passes=_GOOD,
    fails=trace(_CALL, old_answer({"content": []})),
)


@check(
    "RES-002",
    "A result has a resultType that nobody announced",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec=_TYPE,
    fix="Use complete or input_required; others belong to extensions that both sides declare.",
    passes=_GOOD,
    fails=trace(_CALL, answer({"resultType": "done", "content": []})),
)
def _unknown_type(evidence: Evidence) -> Iterator[Fault | str]:
    kind = evidence.result.get("resultType")
    if not isinstance(kind, str) or kind in ("complete", "input_required"):
        return
    declared = evidence.asked.capabilities if evidence.asked is not None else None
    if not members_of(members_of(declared).get("extensions")):
        yield f"{evidence.what} has the resultType {short(kind)}, and the request declared no extension"


claim(
    "RES-003",
    "A content block is malformed",
    path=r"\$\.(result|params).*\.?(content|contents|messages)\b",
    kinds=("result",),
    spec="server/tools#tool-result",
    fix="Give each block its type and the members of that type: text, or data and mimeType, or uri and name.",
    passes=_GOOD,
    fails=trace(_CALL, answer({"content": [{"type": "text"}]})),
)


@check(
    "RES-004",
    "An error has a code of an earlier revision",
    on=("error",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec=_CODES,
    fix=(
        "Use -32602 for a resource that does not exist, and an input_required result to send a user to a URL."
    ),
    passes=trace(ask("resources/read", {"uri": "a://b"}), fail(-32602, "Resource not found")),
    fails=trace(ask("resources/read", {"uri": "a://b"}), fail(-32002, "Resource not found")),
)
def _old_code(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.code in (-32002, -32042):
        yield f"{evidence.what} has the code {evidence.code}, which 2026-07-28 forbids"


@check(
    "RES-005",
    "A resource is read and has no contents",
    on=("result",),
    side="s2c",
    methods=("resources/read",),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec="server/resources#error-handling",
    fix=(
        "Answer -32602 for a resource that does not exist; one that is empty has one item with an empty text."
    ),
    passes=trace(ask("resources/read", {"uri": "a://b"}), answer(_READ)),
    fails=trace(ask("resources/read", {"uri": "a://b"}), answer(_READ | {"contents": []})),
)
def _no_contents(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.result.get("contents") == []:
        yield f"{evidence.what}: nothing says whether the resource is empty or does not exist"


@check(
    "RES-006",
    "An error has a code that is reserved for MCP and not defined",
    on=("error",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec=_CODES,
    fix="Choose a code outside of -32768 to -32000 for errors of your own.",
    passes=trace(_CALL, fail(1001)),
    fails=trace(_CALL, fail(-32050)),
)
def _reserved_code(evidence: Evidence) -> Iterator[Fault | str]:
    if -32099 <= evidence.code <= -32023:
        yield f"{evidence.what} has the code {evidence.code}, which only a later specification may define"


_DRAFTS: Final = frozenset({-32001, -32002, -32003, -32004})


@check(
    "RES-007",
    "An error has a code without an agreed meaning",
    on=("error",),
    side="s2c",
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=_CODES,
    fix="Choose a code outside of -32768 to -32000: nobody may read a meaning into -32000 to -32019.",
    passes=trace(_CALL, fail(1001)),
    fails=trace(_CALL, fail(-32000)),
)
def _vague_code(evidence: Evidence) -> Iterator[Fault | str]:
    if (
        -32019 <= evidence.code <= -32000
        and evidence.code not in _DRAFTS
        and not (evidence.is_refused_probe and not evidence.link.modern_answers)
    ):
        yield f"{evidence.what} has the code {evidence.code}"


def _blobs(evidence: Evidence) -> Iterator[tuple[str, Any]]:
    for member in ("content", "contents", "messages"):
        items = evidence.result.get(member)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            block = members_of(item)
            if member == "messages":
                block = members_of(block.get("content"))
            if block.get("type") == "resource":
                block = members_of(block.get("resource"))
            for field in ("data", "blob"):
                if field in block and (field == "blob" or block.get("type") in ("image", "audio")):
                    yield f"$.result.{member}[{index}].{field}", block[field]


@check(
    "RES-008",
    "Binary data is not Base64",
    on=("result",),
    side="s2c",
    methods=("tools/call", "resources/read", "prompts/get"),
    blame="server",
    spec="server/resources#binary-content",
    fix="Encode the bytes as standard Base64, without a data: prefix and without line breaks.",
    passes=trace(
        _CALL, answer({"content": [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}]})
    ),
    fails=trace(
        _CALL, answer({"content": [{"type": "image", "data": "data:image/png,x", "mimeType": "image/png"}]})
    ),
)
def _not_base64(evidence: Evidence) -> Iterator[Fault | str]:
    for path, data in _blobs(evidence):
        if not isinstance(data, str) or data.startswith("<redacted "):
            continue
        try:
            base64.b64decode(data.encode("ascii", "replace"), validate=True)
        except binascii.Error as error:
            yield Fault(f"{evidence.what}: {path} is not Base64 ({error})", path=path)


@check(
    "RES-009",
    "An error has an empty message",
    on=("error",),
    revisions=ALL,
    severity="info",
    spec="basic/index#error-responses",
    fix="Say in the message what went wrong: it is often all that a user sees.",
    passes=trace(_CALL, fail(-32603, "the disk is full")),
    fails=trace(_CALL, fail(-32603, "")),
)
def _speechless(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.error.get("message") == "":
        yield f"{evidence.what} ({evidence.code}) has an empty message"


@check(
    "RES-010",
    "A failed tool call says nothing about the failure",
    on=("result",),
    side="s2c",
    methods=("tools/call",),
    severity="info",
    blame="server",
    spec="server/tools#error-handling",
    fix="Put what went wrong and how to correct it into content: the model reads it and tries again.",
    passes=trace(_CALL, answer({"content": [{"type": "text", "text": "no such city"}], "isError": True})),
    fails=trace(_CALL, answer({"content": [], "isError": True})),
)
def _silent_failure(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.result.get("isError") is True and not evidence.result.get("content"):
        yield f"{evidence.what} is an error with nothing in it"


@check(
    "RES-011",
    "A request is never answered",
    on=("end",),
    severity="warning",
    blame="server",
    spec="basic/index#responses",
    fix="Answer every request, with an error if need be, also when the work fails in an unexpected way.",
    passes=_GOOD,
    fails=trace(_CALL, eof("s2c")),
)
def _unanswered(evidence: Evidence) -> Iterator[Fault | str]:
    link = evidence.link
    if not link.closed and link.exit is None:
        return
    if "c2s" in link.closed and link.closed["c2s"] <= link.closed.get("s2c", link.closed["c2s"]):
        # Whoever closes the connection first has given up what is open.
        return
    for (direction, _), asked in link.open.items():
        is_long = asked.method == "subscriptions/listen"
        if direction == "c2s" and asked.cancelled_t is None and not is_long:
            yield Fault(
                f"`{short(asked.method, quoted=False)}` (id {short(asked.id)}) had no answer "
                "when the connection ended",
                seq=asked.seq,
            )


@check(
    "RES-012",
    "A completion has more than 100 values",
    on=("result",),
    side="s2c",
    methods=("completion/complete",),
    blame="server",
    spec="server/utilities/completion#completion-results",
    fix="Send the 100 best, and hasMore: true.",
    passes=trace(*shake(server={"completions": {}})),
    fails=trace(
        *shake(server={"completions": {}}),
        old_ask(
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}},
        ),
        old_answer({"completion": {"values": [str(number) for number in range(101)]}}),
    ),
)
def _too_many_values(evidence: Evidence) -> Iterator[Fault | str]:
    values = members_of(evidence.result.get("completion")).get("values")
    if isinstance(values, list) and len(values) > 100:
        yield f"{evidence.what} has {len(values)} values"


@check(
    "RES-013",
    "The root of a client is no file",
    on=("result",),
    methods=("roots/list",),
    revisions=HANDSHAKE,
    blame="client",
    spec="2025-11-25/client/roots#root",
    fix="Give roots as file:// URIs: others are not defined.",
    passes=trace(
        *shake(client={"roots": {}}),
        old_ask("roots/list", id="s", direction="s2c"),
        old_answer({"roots": [{"uri": "file:///home"}]}, id="s", direction="c2s"),
    ),
    fails=trace(
        *shake(client={"roots": {}}),
        old_ask("roots/list", id="s", direction="s2c"),
        old_answer({"roots": [{"uri": "https://example.com"}]}, id="s", direction="c2s"),
    ),
)
def _root(evidence: Evidence) -> Iterator[Fault | str]:
    roots = evidence.result.get("roots")
    for root in roots if isinstance(roots, list) else ():
        uri = members_of(root).get("uri")
        if isinstance(uri, str) and not uri.startswith("file://"):
            yield f"the root {short(uri)} is no file:// URI"


@check(
    "RES-014",
    "A resource is read and the answer is about another one",
    on=("result",),
    side="s2c",
    methods=("resources/read",),
    severity="info",
    blame="server",
    spec="server/resources#reading-resources",
    fix="Name the uri that was asked for in at least one item; more items may lie below it.",
    passes=trace(ask("resources/read", {"uri": "a://b"}), answer(_READ)),
    fails=trace(ask("resources/read", {"uri": "x://y"}), answer(_READ)),
)
def _other_resource(evidence: Evidence) -> Iterator[Fault | str]:
    contents = evidence.result.get("contents")
    name = evidence.asked.name if evidence.asked is not None else ""
    if not isinstance(contents, list) or not contents or not name:
        return
    uris = [str(members_of(item).get("uri", "")) for item in contents]
    if not any(uri.startswith(name.rstrip("/")) for uri in uris):
        yield f"{short(name)} was read, and the contents are those of {short(uris[0])}"
