"""The checks of a message that belongs to a session: what its revision knows, and what shape it asks for.

A message is judged as if the handshake had been done with exactly this revision; what depends on the order
of messages or on capabilities cannot be seen in one message and is not judged.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mesero.errors import InvalidParamsError, InvalidRequestError, MethodNotFoundError, RpcError
from mesero.explain.steps import Reply, StepReport, reply_for
from mesero.modern.envelope import parse_message
from mesero.revisions import revision_module_for
from mesero.revisions.judge import check_message
from mesero.revisions.violations import Violation

__all__ = ["CHECKS", "run_checks"]

CHECKS: Final = ("parse", "envelope", "method", "shape")
"""The names of the checks, in order."""


def run_checks(
    raw: bytes, message: Any, revision: str, *, is_http: bool
) -> tuple[tuple[StepReport, ...], Reply | None]:
    """Check a request of a session, and give a report of each check and the answer to what was refused.

    Args:
        raw: The bytes of the message.
        message: The same, decoded; of no meaning when they are no JSON.
        revision: The revision that was agreed on.
        is_http: Whether it came over HTTP.
    """
    done: list[StepReport] = []
    try:
        _run(raw, message, revision, done)
    except RpcError as error:
        done.append(StepReport(CHECKS[len(done)], "refused", f"{error.code}: {error.message}"))
        reports = (*done, *(StepReport(name, "not reached") for name in CHECKS[len(done) :]))
        reply = reply_for(raw, error, is_http=False)
        # Which status carries an error is left open with a handshake; most servers say 200.
        note = "the text of the message is free; the revision leaves the HTTP status open, 200 is usual"
        return reports, Reply(reply.body, 200 if is_http else None, note)
    return tuple(done), None


def _run(raw: bytes, message: Any, revision: str, done: list[StepReport]) -> None:
    parse, envelope, known, shape = CHECKS
    try:
        parse_message(raw, refuse_twins=False)
    except RpcError as error:
        if error.step == envelope:
            done.append(StepReport(parse, "passed", "JSON"))
        raise
    done.append(StepReport(parse, "passed", f"{len(raw)} bytes of JSON"))
    done.append(StepReport(envelope, "passed", f"a request with the id {message.get('id')!r}"))
    method = message["method"]
    found = revision_module_for(revision).METHODS.get(method)
    if found is None:
        raise MethodNotFoundError(f"{revision} has no method {method}")
    if found.kind == "notification":
        raise InvalidRequestError(f"{method} is a notification: it has no id")
    done.append(
        StepReport(known, "passed", f"{revision} has {method}, sent by {_senders_of(found.directions)}")
    )
    violations = check_message(revision, message)
    if violations:
        raise InvalidParamsError(f"{method}: {_text_of(violations)}")
    done.append(StepReport(shape, "passed", f"it fits the JSON Schema of {revision}"))


def _senders_of(directions: Sequence[str]) -> str:
    names = {"c2s": "the client", "s2c": "the server"}
    return " or ".join(names[direction] for direction in directions)


def _text_of(violations: Sequence[Violation]) -> str:
    told = "; ".join(f"{each.path} {each.message}" for each in violations[:3])
    left = len(violations) - 3
    return f"{told}; and {left} more" if left > 0 else told
