"""What a client's requests carry besides what the core's types know: typed once, refused in one sentence."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import UNSET

from mesero.errors import InvalidParamsError
from mesero.jsonrpc import Request
from mesero.legacy.handshake import InitializeParams
from mesero.types import ClientCapabilities, LoggingLevel, ProgressToken, RequestMeta

__all__ = ["LevelParams", "UriParams", "metadata_of", "read_params"]


class _RequestMetadata(msgspec.Struct, rename="camel"):
    progress_token: ProgressToken | None = None
    traceparent: str | None = None
    tracestate: str | None = None
    baggage: str | None = None


class _Metadata(msgspec.Struct):
    meta: _RequestMetadata | None = msgspec.field(name="_meta", default=None)


class LevelParams(msgspec.Struct):
    """Of `logging/setLevel`."""

    level: LoggingLevel


class UriParams(msgspec.Struct):
    """Of `resources/subscribe` and `resources/unsubscribe`."""

    uri: str


_Params = TypeVar("_Params", bound=msgspec.Struct)


def read_params(request: Request, kind: type[_Params]) -> _Params:
    """A request's parameters.

    Raises:
        InvalidParamsError: they do not fit (-32602).
    """
    try:
        return msgspec.json.decode(b"{}" if request.params is UNSET else request.params, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        detail = str(error).replace("`$.", "`params.")
        raise InvalidParamsError(f"{request.method}: invalid parameters: {detail}") from None


def metadata_of(
    request: Request, revision: str, client: InitializeParams | None, log_level: LoggingLevel
) -> RequestMeta:
    """What a stateless request would carry itself: from the handshake, and what it does carry.

    Raises:
        InvalidParamsError: its `_meta` is malformed (-32602).
    """
    own = read_params(request, _Metadata).meta or _RequestMetadata()
    return RequestMeta(
        protocol_version=revision,
        client_capabilities=ClientCapabilities() if client is None else client.capabilities,
        client_info=UNSET if client is None else client.client_info,
        log_level=log_level,
        progress_token=UNSET if own.progress_token is None else own.progress_token,
        traceparent=own.traceparent or UNSET,
        tracestate=own.tracestate or UNSET,
        baggage=own.baggage or UNSET,
    )
