"""What an HTTP answer means for the request that it answers.

Pure: bytes and headers in, a message or an error out. Rows in this order: 401 and 403; then a JSON-RPC
response to our request, whatever its status; then other statuses; then success without an answer. A body
whose id is not ours is no answer.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from yarl import URL

from mesero.errors import (
    AuthorizationNeededError,
    HttpStatusError,
    MeseroError,
    ProtocolError,
    RpcError,
)
from mesero.jsonrpc import ErrorResponse, Id, Message, Notification, Request, decode_message
from mesero.misfits import find_misfit
from mesero.transports.http_addresses import shown_url

__all__ = [
    "EVENT_STREAM",
    "JSON",
    "HttpAnswer",
    "is_answer_to",
    "is_redirect",
    "media_type_of",
    "read_answer",
    "stray_error_for",
]

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

_NEEDS_AUTHORIZATION = (401, 403)
_WITHOUT_ANSWER = (202, 204)


class HttpAnswer:
    """An HTTP response with its whole body, or the beginning of one that is too long to be an answer."""

    __slots__ = ("body", "headers", "media_type", "method", "reason", "status", "url")

    def __init__(
        self,
        *,
        url: str,
        status: int,
        reason: str,
        headers: Mapping[str, str],
        body: bytes,
        method: str = "POST",
    ) -> None:
        self.method = method
        self.url = url
        self.status = status
        self.reason = reason or _phrase_of(status)
        self.headers = headers
        self.media_type = media_type_of(headers)
        self.body = body

    @property
    def where(self) -> str:
        """For messages to people."""
        return f"{self.method} {self.url} → {self.status} {self.reason}".rstrip()

    def status_error(self, what: str = "", *, fix: str = "") -> HttpStatusError:
        """The error for an answer that carries no message."""
        kind = AuthorizationNeededError if self.status in _NEEDS_AUTHORIZATION else HttpStatusError
        return kind(
            method=self.method,
            url=self.url,
            status=self.status,
            reason=self.reason,
            content_type=self.headers.get("Content-Type", ""),
            body=self.body,
            headers=tuple((name.lower(), value) for name, value in self.headers.items()),
            what=what,
            fix=fix,
        )


def media_type_of(headers: Mapping[str, str]) -> str:
    """The media type without parameters, in lower case; "" when there is none."""
    return headers.get("Content-Type", "").partition(";")[0].strip().lower()


def is_redirect(status: int) -> bool:
    """Whether a status sends us elsewhere."""
    return status in (301, 302, 303, 307, 308)


def read_answer(answer: HttpAnswer, request_id: Id, method: str) -> Message:
    """The response that an HTTP answer carries.

    Raises:
        AuthorizationNeededError: 401 or 403.
        HttpStatusError: another status, or another kind of body, without a JSON-RPC response to this request.
        ProtocolError: a success that is no response to this request.
    """
    message, problem = _decode(answer.body)
    if answer.status in _NEEDS_AUTHORIZATION:
        said = message.message if isinstance(message, ErrorResponse) else ""
        raise answer.status_error(f"the server says {said!r}" if said else "")
    if message is not None and is_answer_to(message, request_id):
        return message
    if not 200 <= answer.status < 300:
        raise answer.status_error(_redirect_text(answer), fix=_redirect_fix(answer))
    if answer.status in _WITHOUT_ANSWER or not answer.body:
        # A request must be answered, with JSON or an event stream.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
        raise ProtocolError(
            f"{answer.where}: {method} (id {request_id!r}) was accepted but not answered", excerpt=answer.body
        )
    if message is not None:
        raise stray_error_for(message, answer.body, request_id, method, answer.where)
    raise _unreadable_error(answer, request_id, method, problem)


def _decode(body: bytes) -> tuple[Message | None, str]:
    try:
        return decode_message(body), ""
    except RpcError as error:
        return None, error.message


def is_answer_to(message: Message, request_id: Id) -> bool:
    """Whether a message is the response to the request of this exchange."""
    if isinstance(message, (Request, Notification)):
        return False
    # An error without an id is about a request whose id could not be read: there is only ours here.
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-responses
    return message.id == request_id or (message.id is None and isinstance(message, ErrorResponse))


def stray_error_for(message: Message, raw: bytes, request_id: Id, method: str, where: str) -> ProtocolError:
    """The error for a message that stands where the response to our request belongs."""
    if isinstance(message, (Request, Notification)):
        what = f"the {type(message).__name__.lower()} {message.method!r}"
    else:
        misfit = find_misfit(raw, (request_id,))
        if misfit is not None:
            return ProtocolError(f"{where}: the answer to {method} came {misfit.reason}", excerpt=raw)
        what = f"a response with the id {message.id!r}"
    return ProtocolError(f"{where}: {method} (id {request_id!r}) was answered with {what}", excerpt=raw)


def _unreadable_error(answer: HttpAnswer, request_id: Id, method: str, problem: str) -> MeseroError:
    misfit = find_misfit(answer.body, (request_id,))
    if misfit is not None:
        return ProtocolError(
            f"{answer.where}: the answer to {method} came {misfit.reason}", excerpt=answer.body
        )
    if answer.media_type != JSON:
        kind = answer.media_type or "a body of no declared type"
        return answer.status_error(
            f"{kind} instead of {JSON} or {EVENT_STREAM}", fix="Is this the URL of an MCP server's endpoint?"
        )
    return ProtocolError(
        f"{answer.where}: the answer to {method} (id {request_id!r}) is no message: {problem}",
        excerpt=answer.body,
    )


def _redirect_text(answer: HttpAnswer) -> str:
    if not is_redirect(answer.status):
        return ""
    location = answer.headers.get("Location")
    if location is None:
        return "it names no other address"
    try:
        shown = shown_url(URL(location))
    except ValueError:
        shown = "what is no URL"
    return f"it points to {shown}, where the request was not sent"


def _redirect_fix(answer: HttpAnswer) -> str:
    return "If you trust that address, use it as the URL" if "Location" in answer.headers else ""


def _phrase_of(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
