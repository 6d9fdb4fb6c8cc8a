"""Elicitation: the server asks the person who uses the client, with a form or by sending them to a URL.

The form's schema stays a plain dict on the wire, so that it is forwarded as it came; `primitive_schemas`
reads one property of it. https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import JSONObject, JSONValue, WireStruct

__all__ = ["ElicitFormParams", "ElicitParams", "ElicitResult", "ElicitUrlParams", "decode_elicit_params"]


class ElicitFormParams(WireStruct, tag_field="mode", tag="form"):
    """Asks for values: `requested_schema` is an object schema with primitive properties only. Never for
    secrets.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#form-mode-elicitation-requests
    """

    message: str
    requested_schema: JSONObject


class ElicitUrlParams(WireStruct, tag_field="mode", tag="url"):
    """Asks the person to open a page; what happens there does not pass through the client.

    The URL must be shown whole and agreed to before it is opened.
    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests
    """

    message: str
    url: str


ElicitParams: TypeAlias = ElicitFormParams | ElicitUrlParams
"""The parameters of `elicitation/create`."""


class ElicitResult(WireStruct):
    """What the person did, and the values of an accepted form.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions
    """

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, JSONValue] | UnsetType = UNSET


class _Mode(msgspec.Struct):
    mode: str = "form"


_MODE_DECODER = msgspec.json.Decoder(_Mode)
_FORM_DECODER = msgspec.json.Decoder(ElicitFormParams)
_ANY_DECODER: msgspec.json.Decoder[ElicitParams] = msgspec.json.Decoder(ElicitParams)


def decode_elicit_params(raw: bytes | msgspec.Raw) -> ElicitParams:
    """Read the parameters of `elicitation/create`.

    Raises msgspec.ValidationError when the mode is neither "form" nor "url", or a field does not fit.
    """
    # Clients MUST treat an absent mode as "form":
    # https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#elicitation-requests
    if _MODE_DECODER.decode(raw).mode == "form":
        return _FORM_DECODER.decode(raw)
    return _ANY_DECODER.decode(raw)
