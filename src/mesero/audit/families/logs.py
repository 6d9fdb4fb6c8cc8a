"""Rules about log messages.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import answer, ask, asked, posted, replied, shake, tell, trace
from mesero.audit.rules import STATELESS, Fault, check, claim

__all__: list[str] = []

_PAGE = "server/utilities/logging"
_LOG = "notifications/message"
_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def _logged(level: str = "error") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": _LOG, "params": {"level": level, "data": "x"}}


def _call(**meta: Any) -> Any:
    return posted(asked("tools/call", {"name": "x"}, **meta))


_GOOD = trace(_call(log_level="error"), replied(_logged(), sse=True))


@check(
    "LOG-001",
    "A log message comes for a request that asked for none",
    on=("notification",),
    side="s2c",
    methods=(_LOG,),
    revisions=STATELESS,
    blame="server",
    spec=f"{_PAGE}#per-request-log-level",
    fix="Log to the client only where the request has io.modelcontextprotocol/logLevel; else log to stderr.",
    passes=_GOOD,
    fails=trace(_call(), replied(_logged(), sse=True)),
    also=("DEP-003",),
)
def _unasked(evidence: Evidence) -> Iterator[Fault | str]:
    if not any(_askers(evidence)):
        yield "a log message came, but no open request asks for logs"


def _askers(evidence: Evidence) -> list[str]:
    """The levels that were asked for by the requests that the message can belong to."""
    exchange = evidence.exchange
    if exchange is not None and exchange.asked is not None:
        return [exchange.asked.log_level]
    return [each.log_level for (side, _), each in evidence.link.open.items() if side == "c2s"]


@check(
    "LOG-002",
    "A log message is below the level that was asked for",
    on=("notification",),
    side="s2c",
    methods=(_LOG,),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#per-request-log-level",
    fix="Send messages at the requested level or above.",
    passes=_GOOD,
    fails=trace(_call(log_level="error"), replied(_logged("debug"), sse=True)),
    also=("DEP-003",),
)
def _below(evidence: Evidence) -> Iterator[Fault | str]:
    wanted = [_LEVELS.index(level) for level in _askers(evidence) if level in _LEVELS]
    level = evidence.params.get("level")
    if wanted and level in _LEVELS and _LEVELS.index(level) < min(wanted):
        yield f"the message has the level {level}, {_LEVELS[min(wanted)]} was asked for"


claim(
    "LOG-003",
    "A log message is malformed",
    path=r"\$\.params",
    kinds=("notification",),
    methods=(_LOG,),
    spec=f"{_PAGE}#log-message-notifications",
    fix="A log message has a level (debug to emergency) and data.",
    passes=trace(*shake(server={"logging": {}}), tell(_LOG, {"level": "info", "data": 1})),
    fails=trace(*shake(server={"logging": {}}), tell(_LOG, {"level": "trace", "data": 1})),
)


@check(
    "LOG-004",
    "The server logs without announcing it",
    on=("notification",),
    side="s2c",
    methods=(_LOG,),
    blame="server",
    spec=f"{_PAGE}#capabilities",
    fix='Announce "logging": {} in the capabilities, or log to stderr.',
    passes=trace(*shake(server={"logging": {}}), tell(_LOG, {"level": "info", "data": 1})),
    fails=trace(*shake(), tell(_LOG, {"level": "info", "data": 1})),
)
def _unannounced(evidence: Evidence) -> Iterator[Fault | str]:
    declared = evidence.link.server_capabilities
    if declared is not None and "logging" not in declared:
        yield "a log message came, but the server did not announce logging"


@check(
    "LOG-005",
    "A log level that does not exist is accepted",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#error-handling",
    fix="Refuse a request with an unknown log level with -32602.",
    passes=trace(_call(log_level="info"), replied(_logged("info"), sse=True)),
    fails=trace(ask("tools/call", {"name": "x"}, log_level="loud"), answer({"content": []})),
    also=("META-006",),
)
def _accepted(evidence: Evidence) -> Iterator[Fault | str]:
    level = evidence.asked.log_level if evidence.asked is not None else ""
    if level and level not in _LEVELS:
        yield f"{evidence.what} was given although the log level {short(level)} does not exist"
