"""The steps of signing in that a recording holds: registrations, authorizations, tokens.

Only what passed through the recorder is seen: most hosts fetch these documents from the authorization server
itself, past a proxy. Codes and tokens are replaced in a recording; equal ones stay equal.

https://www.rfc-editor.org/rfc/rfc6749#section-4.1
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal
from urllib.parse import parse_qs

import msgspec

from mesero.audit.evidence import members_of, parts_of
from mesero.audit.link import Exchange, LinkState

__all__ = ["Step", "is_signing_in", "last_token_seq", "steps_of"]

_ERROR_IN_PAGE: Final = re.compile(r"\b(invalid_client|unauthorized_client|invalid_request|invalid_scope)\b")
"""A page of an authorization server that cannot send the user back names its reason."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One request to an authorization server, and what came of it.

    ``fields`` are those of the query or the form; of a registration the ``client_id`` that it gave. ``error``
    is the code of a refusal, ``has_refresh_token`` whether the answer gave one.
    """

    kind: Literal["register", "authorize", "token"]
    seq: int
    fields: dict[str, str]
    is_done: bool
    error: str = ""
    has_refresh_token: bool = False


def steps_of(link: LinkState) -> list[Step]:
    """The steps of a link in their order."""
    found = (_step_of(each) for each in link.exchanges.values() if not each.kind)
    return [each for each in found if each is not None]


def is_signing_in(exchange: Exchange) -> bool:
    """Whether an exchange is a step of signing in, and none with the MCP server itself."""
    return not exchange.kind and _step_of(exchange) is not None


def last_token_seq(link: LinkState) -> int:
    """The last line at which the client got a token, or used one that was accepted; 0 if there is none."""
    given = [each.seq for each in steps_of(link) if each.kind == "token" and each.is_done]
    return max([*given, *link.good_tokens.values()], default=0)


def _step_of(exchange: Exchange) -> Step | None:
    query = _fields_of(parts_of(exchange.url).query)
    if "response_type" in query and "client_id" in query:
        return _authorization(exchange, query)
    if exchange.method != "POST":
        return None
    if "grant_type=" in exchange.sent:
        answer = _object_of(exchange.body)
        return Step(
            kind="token",
            seq=exchange.seq,
            fields=_fields_of(exchange.sent),
            is_done=exchange.status == 200 and "access_token" in answer,
            error=_text_of(answer.get("error")),
            has_refresh_token="refresh_token" in answer,
        )
    return _registration(exchange) if '"redirect_uris"' in exchange.sent else None


def _authorization(exchange: Exchange, query: dict[str, str]) -> Step:
    back = _fields_of(parts_of(exchange.answer_headers.get("location", "")).query)
    error = back.get("error", "") or _text_of(_object_of(exchange.body).get("error"))
    if not error and exchange.status >= 400:
        named = _ERROR_IN_PAGE.search(exchange.body)
        error = named[1] if named is not None else ""
    return Step(kind="authorize", seq=exchange.seq, fields=query, is_done="code" in back, error=error)


def _registration(exchange: Exchange) -> Step:
    answer = _object_of(exchange.body)
    given = _text_of(answer.get("client_id"))
    return Step(
        kind="register",
        seq=exchange.seq,
        fields={"client_id": given},
        is_done=exchange.status in (200, 201) and bool(given),
        error=_text_of(answer.get("error")),
    )


def _fields_of(text: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}


def _object_of(body: str) -> dict[str, Any]:
    try:
        return members_of(msgspec.json.decode(body))
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return {}


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
