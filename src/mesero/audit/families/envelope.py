"""Rules about the JSON-RPC envelope.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#messages
"""

from __future__ import annotations

from collections.abc import Iterator

from mesero.audit.evidence import Evidence
from mesero.audit.examples import META, ask, asked, c2s, failed, hello, old_answer, old_ask, s2c, shake, trace
from mesero.audit.rules import HANDSHAKE, SINCE_2025_06, Fault, check, claim

__all__: list[str] = []

_MESSAGES = "basic/index#messages"
_RESPONSES = "basic/index#error-responses"
_SHAKEN = trace(*shake(), old_ask("ping"), old_answer({}))
_REFUSED = trace(*shake(), old_ask("x/y"), s2c(failed(-32601)))

claim(
    "ENV-001",
    'A message lacks "jsonrpc"',
    path=r"\$(\[\d+\])?$",
    says='lacks "jsonrpc"',
    spec=_MESSAGES,
    fix='Put "jsonrpc": "2.0" into every message.',
    passes=_SHAKEN,
    fails=trace(*shake(), old_ask("ping"), s2c({"id": 1, "result": {}})),
)

claim(
    "ENV-002",
    '"jsonrpc" is not "2.0"',
    path=r"\$(\[\d+\])?\.jsonrpc",
    spec=_MESSAGES,
    fix='Send "jsonrpc": "2.0"; other values are other protocols.',
    passes=_SHAKEN,
    fails=trace(*shake(), old_ask("ping"), s2c({"jsonrpc": "1.0", "id": 1, "result": {}})),
)

claim(
    "ENV-003",
    "An object is neither request nor notification nor response",
    says="neither a method nor a result nor an error",
    spec=_MESSAGES,
    fix="Send a method, a result or an error; an answer without data has an empty result.",
    passes=_SHAKEN,
    fails=trace(*shake(), s2c({"jsonrpc": "2.0", "id": 1})),
)

claim(
    "ENV-004",
    "A response has both a result and an error",
    says="both a result and an error",
    spec="basic/index#responses",
    fix=(
        "Send the one that applies: a failure of a tool is a result with isError, not an error "
        "beside a result."
    ),
    passes=_SHAKEN,
    fails=trace(
        *shake(),
        old_ask("ping"),
        s2c({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "x"}}),
    ),
)


@check(
    "ENV-005",
    "A message has a method and also a result or an error",
    on=("request", "notification"),
    spec=_MESSAGES,
    fix="Send a request or a response; one message cannot be both.",
    passes=_SHAKEN,
    fails=trace(*shake(), c2s({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}})),
)
def _both(evidence: Evidence) -> Iterator[Fault | str]:
    if "result" in evidence.message or "error" in evidence.message:
        yield f"{evidence.what} carries a result or an error beside its method"


claim(
    "ENV-006",
    "A method is not a string",
    path=r"\$(\[\d+\])?\.method$",
    says="must be a string",
    spec="basic/index#requests",
    fix="Name the method with a string.",
    passes=_SHAKEN,
    fails=trace(*shake(), c2s({"jsonrpc": "2.0", "id": 1, "method": 7})),
)

claim(
    "ENV-007",
    "Parameters are not an object",
    path=r"\$(\[\d+\])?\.params$",
    says="must be an object",
    spec="basic/index#requests",
    fix="Send parameters by name, in an object; arrays of parameters are not part of MCP.",
    passes=_SHAKEN,
    fails=trace(*shake(), old_ask("tools/list", ["cursor"])),
)

claim(
    "ENV-008",
    "An error lacks its code or its message",
    path=r"\$(\[\d+\])?\.error(\.code|\.message)?$",
    says=r'lacks "(code|message)"|must be',
    kinds=("error",),
    spec=_RESPONSES,
    fix="An error is an object with an integer code and a string message; more belongs in data.",
    passes=_REFUSED,
    fails=trace(
        *shake(),
        old_ask("x/y"),
        s2c({"jsonrpc": "2.0", "id": 1, "error": {"code": "ENOENT", "message": "x"}}),
    ),
)


@check(
    "ENV-009",
    "A batch is sent in a revision that has none",
    on=("broken",),
    revisions=("2024-11-05", *SINCE_2025_06),
    spec="2025-06-18/changelog#major-changes",
    fix="Send one message a line, or one in each POST; batches exist in 2025-03-26 only.",
    passes=trace(*shake("2025-03-26"), c2s([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])),
    fails=trace(*shake(), c2s([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])),
)
def _batch(evidence: Evidence) -> Iterator[Fault | str]:
    if isinstance(evidence.message, list):
        yield f"an array of {len(evidence.message)} was sent in {evidence.revision}, which has no batches"


@check(
    "ENV-010",
    "`initialize` is part of a batch",
    on=("request",),
    side="c2s",
    methods=("initialize",),
    revisions=HANDSHAKE,
    spec="2025-03-26/basic/lifecycle#initialization",
    fix="Send initialize by itself: nothing can be sent before it is answered.",
    passes=_SHAKEN,
    fails=trace(c2s([{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello("2025-03-26")}])),
)
def _batched_initialize(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.raw.lstrip().startswith("["):
        yield "initialize came inside an array, where it must not be"


claim(
    "ENV-011",
    "A message is no JSON object",
    path=r"\$(\[\d+\])?$",
    says=r"is no JSON-RPC message|is an empty batch",
    spec=_MESSAGES,
    fix="Send a JSON object for each message.",
    passes=_SHAKEN,
    fails=trace(*shake(), s2c("42")),
)

claim(
    "ENV-012",
    "A notification has an id",
    path=r"\$(\[\d+\])?\.id$",
    says="a notification has no id",
    spec="basic/index#notifications",
    fix="Leave the id out: with it, the other side may think that an answer is due.",
    passes=_SHAKEN,
    fails=trace(
        shake()[0], shake()[1], c2s({"jsonrpc": "2.0", "id": 5, "method": "notifications/initialized"})
    ),
)

claim(
    "ENV-013",
    "A result is not an object",
    path=r"\$(\[\d+\])?\.result$",
    says="must be an object",
    kinds=("result",),
    spec="basic/index#result-responses",
    fix="Wrap the value in an object; an empty answer is {}.",
    passes=_SHAKEN,
    fails=trace(*shake(), old_ask("ping"), old_answer(None)),
)


@check(
    "ENV-014",
    "A member of the message stands beside the parameters instead of in them",
    on=("request",),
    severity="warning",
    spec="basic/index#requests",
    fix="Move it into params: nobody looks for it on the outside of the envelope.",
    passes=trace(ask("tools/list")),
    fails=trace(c2s(asked("tools/list") | {"_meta": META})),
)
def _beside(evidence: Evidence) -> Iterator[Fault | str]:
    for name in ("_meta", "arguments", "cursor", "name", "uri"):
        if name in evidence.message:
            yield f'{evidence.what}: "{name}" stands outside of params, where it has no effect'
