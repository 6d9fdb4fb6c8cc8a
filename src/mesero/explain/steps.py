"""Steps 1 to 6 of a stateless request, made without a server: where it stops, and with which answer.

The same functions as a server calls, in the same order; what they say is put into a report for people.
Nothing here decides anything about a request.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from mesero.errors import RpcError
from mesero.jsonrpc import encode_error, find_id
from mesero.modern import REVISIONS
from mesero.modern.envelope import (
    STEPS,
    Headers,
    check_headers,
    check_request,
    check_revision,
    http_status_for,
    parse_message,
    read_metadata,
    read_params,
    route,
)
from mesero.modern.methods import METHODS

__all__ = ["CHECKED", "Outcome", "Reply", "StepReport", "as_header_lines", "reply_for", "run_steps"]

CHECKED: Final = STEPS[:6]
"""The steps that can be made without a server."""

Outcome = Literal["passed", "refused", "skipped", "not reached"]


class StepReport(msgspec.Struct, frozen=True):
    """One step: its name, what came of it, and why."""

    name: str
    outcome: Outcome
    text: str = ""


class Reply(msgspec.Struct, frozen=True):
    """What a server has to answer: the bytes as text, empty for nothing; over HTTP the status, else None."""

    body: str
    status: int | None = None
    note: str = ""


def as_header_lines(headers: Sequence[tuple[str, str]]) -> Headers:
    """Header lines as they are on the wire."""
    return [
        (name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in headers
    ]


def reply_for(raw: bytes, error: RpcError, *, is_http: bool) -> Reply:
    """The answer that carries an error."""
    body = encode_error(find_id(raw), error).decode()
    return Reply(body, http_status_for(error) if is_http else None)


def run_steps(
    raw: bytes, headers: Sequence[tuple[str, str]] | None, *, supported: Sequence[str] = REVISIONS
) -> tuple[tuple[StepReport, ...], Reply | None]:
    """Make the steps, and give a report of each; and the answer to what was refused, else None.

    Args:
        raw: The bytes of one message.
        headers: The HTTP headers that came with it; None over stdio.
        supported: The revisions that the server speaks, newest first.
    """
    done: list[StepReport] = []
    try:
        _run(raw, headers, supported, done)
    except RpcError as error:
        done.append(StepReport(error.step or CHECKED[len(done)], "refused", f"{error.code}: {error.message}"))
        # Kinds of the second step show while parsing: then the first one was passed all the same.
        if not any(report.name == CHECKED[0] for report in done):
            done.insert(0, StepReport(CHECKED[0], "passed", "JSON"))
        rest = CHECKED[len(done) :]
        reports = (*done, *(StepReport(name, "not reached") for name in rest))
        return reports, reply_for(raw, error, is_http=headers is not None)
    return tuple(done), None


def _run(
    raw: bytes,
    headers: Sequence[tuple[str, str]] | None,
    supported: Sequence[str],
    done: list[StepReport],
) -> None:
    parse, envelope, metadata, agreement, revision, routing = CHECKED
    message = parse_message(raw, refuse_twins=headers is not None)
    done.append(StepReport(parse, "passed", f"{len(raw)} bytes of JSON"))
    request = check_request(message)
    done.append(StepReport(envelope, "passed", f"a request with the id {request.id!r}"))
    meta = read_metadata(request, supported)
    declared = ", ".join(msgspec.to_builtins(meta.client_capabilities)) or "none"
    said = f"declares {meta.protocol_version!r}, client capabilities: {declared}"
    done.append(StepReport(metadata, "passed", said))
    spec = METHODS.get(request.method)
    if headers is None:
        done.append(StepReport(agreement, "skipped", "no headers were given; stdio has none"))
    else:
        check_headers(request, meta, as_header_lines(headers), spec=spec)
        done.append(StepReport(agreement, "passed", "they say what the body says (Mcp-Param-* not compared)"))
    check_revision(meta, supported)
    done.append(StepReport(revision, "passed", f"{meta.protocol_version} is spoken"))
    read_params(request, route(request, METHODS))
    done.append(StepReport(routing, "passed", f"{request.method} exists, and its parameters fit"))
