"""Rules about multi round-trip requests: questions of the server inside a result.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, members_of, short
from mesero.audit.examples import answer, ask, eof, trace
from mesero.audit.link import Round
from mesero.audit.rules import STATELESS, Fault, check, claim
from mesero.audit.tracking import digest_of, find_round

__all__: list[str] = []

_PAGE = "basic/patterns/mrtr"
_SERVER = f"{_PAGE}#server-requirements-basic-workflow"
_CLIENT = f"{_PAGE}#client-requirements-basic-workflow"
_MAY_ASK: Final = ("tools/call", "prompts/get", "resources/read")
_NEEDS: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
_NAMES: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "?",
        "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    },
}
_URL_FORM = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "?", "url": "https://example.com/a"},
}
_ABLE: dict[str, Any] = {"elicitation": {}}


def _call(id: int = 1, **params: Any) -> Any:
    return ask("tools/call", {"name": "x", "arguments": {"a": 1}, **params}, id=id, capabilities=_ABLE)


def _asks(id: int = 1, **members: Any) -> Any:
    return answer({"resultType": "input_required", **members}, id=id)


_ACCEPT = {"k": {"action": "accept", "content": {"a": "b"}}}
_ROUND = [_call(), _asks(inputRequests={"k": _FORM}, requestState="s")]
_GOOD = trace(*_ROUND, _call(2, inputResponses=_ACCEPT, requestState="s"), answer({"content": []}, id=2))


@check(
    "MRTR-001",
    "An input_required result asks for nothing",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec=_SERVER,
    fix="Send inputRequests, requestState or both: without them a retry is the same request again.",
    passes=_GOOD,
    fails=trace(_call(), _asks(), _call(2), answer({"content": []}, id=2)),
)
def _empty(evidence: Evidence) -> Iterator[Fault | str]:
    result = evidence.result
    if (
        result.get("resultType") == "input_required"
        and "inputRequests" not in result
        and "requestState" not in result
    ):
        yield f"{evidence.what} is input_required without inputRequests and without requestState"


claim(
    "MRTR-002",
    "A request is answered with input_required that must not be",
    path=r"\$\.result\.resultType$",
    says='must not be "input_required"',
    revisions=STATELESS,
    spec=f"{_PAGE}#supported-requests",
    fix="Ask only in answer to tools/call, prompts/get and resources/read.",
    passes=_GOOD,
    fails=trace(ask("tools/list"), _asks(requestState="s"), ask("tools/list", id=2)),
)


def _questions(evidence: Evidence) -> Iterator[tuple[str, dict[str, Any]]]:
    if evidence.result.get("resultType") == "input_required":
        for key, question in members_of(evidence.result.get("inputRequests")).items():
            yield key, members_of(question)


@check(
    "MRTR-003",
    "The server asks for something that the request did not declare",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec=_SERVER,
    fix="Look at the capabilities of this very request; answer -32021 where there is no way without.",
    passes=_GOOD,
    fails=trace(
        _call(),
        _asks(inputRequests={"k": {"method": "roots/list"}}),
        _call(2, inputResponses={"k": {"roots": []}}),
    ),
    also=("DEP-001",),
)
def _undeclared(evidence: Evidence) -> Iterator[Fault | str]:
    declared = evidence.asked.capabilities if evidence.asked is not None else None
    for key, question in _questions(evidence):
        needed = _NEEDS.get(str(question.get("method")))
        if needed and declared is not None and needed not in declared:
            yield (
                f"{evidence.what} asks {short(question['method'])} ({short(key)}); {needed} was not declared"
            )


@check(
    "MRTR-004",
    "The server elicits in a mode that the request did not declare",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec="client/elicitation#capabilities",
    fix="Use a mode that the request declares; an empty elicitation capability means forms only.",
    passes=_GOOD,
    fails=trace(
        _call(), _asks(inputRequests={"k": _URL_FORM}), _call(2, inputResponses={"k": {"action": "accept"}})
    ),
)
def _undeclared_mode(evidence: Evidence) -> Iterator[Fault | str]:
    declared = evidence.asked.capabilities if evidence.asked is not None else None
    if declared is None or "elicitation" not in declared:
        return
    modes = members_of(declared["elicitation"]) or {"form": {}}
    for key, question in _questions(evidence):
        mode = members_of(question.get("params")).get("mode", "form")
        is_form = question.get("method") == "elicitation/create" and isinstance(mode, str)
        if is_form and mode not in modes:
            yield f"{evidence.what} elicits {short(key)} in the mode {short(mode)}, which was not declared"


def _round_of(evidence: Evidence) -> Round | None:
    """The round that a retry goes on with."""
    params = evidence.params
    if "inputResponses" not in params and "requestState" not in params:
        return None
    name = params.get(_NAMES.get(evidence.method, ""))
    return find_round(evidence.link, evidence.method, name, params.get("requestState"))


@check(
    "MRTR-005",
    "A retry has the id of the first request",
    on=("request",),
    side="c2s",
    methods=_MAY_ASK,
    revisions=STATELESS,
    blame="client",
    spec=_CLIENT,
    fix="Give the retry an id of its own: it is a request of its own.",
    passes=_GOOD,
    fails=trace(*_ROUND, _call(1, inputResponses=_ACCEPT, requestState="s")),
)
def _same_id(evidence: Evidence) -> Iterator[Fault | str]:
    each = _round_of(evidence)
    if each is not None and each.asked.id == evidence.id:
        yield f"{evidence.what} goes on with the question in line {each.seq} under the same id"


@check(
    "MRTR-006",
    "A retry carries a state that the server did not give",
    on=("request",),
    side="c2s",
    methods=_MAY_ASK,
    revisions=STATELESS,
    blame="client",
    spec=_CLIENT,
    fix="Send requestState back exactly as it came, and none where none came.",
    passes=_GOOD,
    fails=trace(*_ROUND, _call(2, inputResponses=_ACCEPT, requestState="S")),
)
def _other_state(evidence: Evidence) -> Iterator[Fault | str]:
    state, link = evidence.params.get("requestState"), evidence.link
    if (
        isinstance(state, str)
        and state not in link.states
        and not link.states.dropped
        and not link.may_lack_start
        and (link.rounds or link.modern_answers)
    ):
        yield f"{evidence.what} has a requestState that no result in this trace had"


@check(
    "MRTR-007",
    "A retry leaves out the state that the server gave",
    on=("request",),
    side="c2s",
    methods=_MAY_ASK,
    revisions=STATELESS,
    blame="client",
    spec=_CLIENT,
    fix="Send requestState back: the server remembers nothing else of the first request.",
    passes=_GOOD,
    fails=trace(*_ROUND, _call(2, inputResponses=_ACCEPT)),
)
def _no_state(evidence: Evidence) -> Iterator[Fault | str]:
    each = _round_of(evidence)
    if each is not None and each.state is not None and "requestState" not in evidence.params:
        yield f"{evidence.what} goes on with the question in line {each.seq} without its requestState"


@check(
    "MRTR-008",
    "A retry does not answer what was asked",
    on=("request",),
    side="c2s",
    methods=_MAY_ASK,
    revisions=STATELESS,
    severity="warning",
    blame="client",
    spec=_CLIENT,
    fix="Answer every key of inputRequests, under the same key; the server asks again for what is missing.",
    passes=_GOOD,
    fails=trace(*_ROUND, _call(2, inputResponses={"other": _ACCEPT["k"]}, requestState="s")),
)
def _other_keys(evidence: Evidence) -> Iterator[Fault | str]:
    each = _round_of(evidence)
    if each is None:
        return
    given = members_of(evidence.params.get("inputResponses"))
    missing = [key for key in each.keys if key not in given]
    if missing:
        yield f"{evidence.what} does not answer {short(', '.join(missing))} of line {each.seq}"


@check(
    "MRTR-009",
    "A retry has other parameters than the first request",
    on=("request",),
    side="c2s",
    methods=("tools/call", "prompts/get"),
    revisions=STATELESS,
    blame="client",
    spec=f"{_PAGE}#multi-round-trip-requests",
    fix="Repeat the parameters of the first request and add inputResponses and requestState.",
    passes=_GOOD,
    fails=trace(*_ROUND, _call(2, arguments={"a": 2}, inputResponses=_ACCEPT, requestState="s")),
)
def _other_arguments(evidence: Evidence) -> Iterator[Fault | str]:
    each = _round_of(evidence)
    if each is not None and each.asked.arguments != digest_of(evidence.params.get("arguments")):
        yield f"{evidence.what} has other arguments than the request in line {each.asked.seq} that it repeats"


@check(
    "MRTR-010",
    "The client never comes back with an answer",
    on=("end",),
    severity="warning",
    revisions=STATELESS,
    blame="client",
    phase="operation",
    spec=_CLIENT,
    fix="Answer the questions and repeat the request. A client that cannot must not declare the capability.",
    passes=_GOOD,
    fails=trace(*_ROUND, eof("c2s")),
)
def _given_up(evidence: Evidence) -> Iterator[Fault | str]:
    for each in evidence.link.rounds.values():
        name = f"`{short(each.asked.method, quoted=False)}` {short(each.asked.name)}"
        keys = f" for {short(', '.join(each.keys))}" if each.keys else ""
        yield Fault(f"the server needs input{keys} to go on with {name}, and no retry came", seq=each.seq)


claim(
    "MRTR-011",
    "A question of the server is malformed",
    path=r"\$\.result\.(inputRequests|requestState)(?!.*requestedSchema)",
    revisions=STATELESS,
    spec=f"{_PAGE}#inputrequests",
    fix=(
        "Each question is an object with the method elicitation/create, sampling/createMessage or roots/list."
    ),
    passes=_GOOD,
    fails=trace(
        _call(),
        _asks(inputRequests={"k": {"method": "ui/ask"}}),
        _call(2, inputResponses={"k": {"action": "cancel"}}),
    ),
)

claim(
    "MRTR-012",
    "An answer of the client is malformed",
    path=r"\$\.params\.(inputResponses|requestState)",
    revisions=STATELESS,
    spec=f"{_PAGE}#inputresponses",
    fix="Answer with the bare result of each question: action and content, roots, or a sampled message.",
    passes=_GOOD,
    fails=trace(*_ROUND, _call(2, inputResponses={"k": "yes"}, requestState="s")),
)


@check(
    "MRTR-013",
    "An input_required result carries caching hints",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec="server/utilities/caching#cacheable-results",
    fix="Leave ttlMs and cacheScope out: a question cannot be cached.",
    passes=_GOOD,
    fails=trace(
        _call(),
        _asks(requestState="s", ttlMs=0, cacheScope="private"),
        _call(2, requestState="s"),
    ),
)
def _hints(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.result.get("resultType") == "input_required" and evidence.result.keys() & {
        "ttlMs",
        "cacheScope",
    }:
        yield f"{evidence.what} is input_required and has caching hints"
