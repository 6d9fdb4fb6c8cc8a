"""Questions with their types: from typed parameters to an `InputRequest` and back.

Apart from `inputs`, because the parameters of a call carry answers: sampling knows tools, tools know inputs.
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#supported-requests
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET

from mesero.types.content import enc_hook
from mesero.types.decode import decode_result
from mesero.types.elicitation import (
    ElicitFormParams,
    ElicitParams,
    ElicitResult,
    ElicitUrlParams,
    decode_elicit_params,
)
from mesero.types.inputs import InputRequest
from mesero.types.roots import ListRootsParams, ListRootsResult
from mesero.types.sampling import CreateMessageParams, CreateMessageResult

__all__ = [
    "CREATE_MESSAGE_METHOD",
    "ELICIT_METHOD",
    "LIST_ROOTS_METHOD",
    "InputParams",
    "InputResponse",
    "decode_input_params",
    "decode_input_response",
    "encode_input_response",
    "input_request_from",
]

ELICIT_METHOD: Final = "elicitation/create"
CREATE_MESSAGE_METHOD: Final = "sampling/createMessage"
LIST_ROOTS_METHOD: Final = "roots/list"

InputParams: TypeAlias = ElicitParams | CreateMessageParams | ListRootsParams
"""The parameters of a question."""

InputResponse: TypeAlias = ElicitResult | CreateMessageResult | ListRootsResult
"""The answer to a question."""

_METHODS: Final[dict[type, str]] = {
    ElicitFormParams: ELICIT_METHOD,
    ElicitUrlParams: ELICIT_METHOD,
    CreateMessageParams: CREATE_MESSAGE_METHOD,
    ListRootsParams: LIST_ROOTS_METHOD,
}
_ENCODER = msgspec.json.Encoder(enc_hook=enc_hook)


def _unknown_method(method: str) -> msgspec.ValidationError:
    known = ", ".join(sorted(set(_METHODS.values())))
    return msgspec.ValidationError(f"the server asks for {method!r}; known questions are {known}")


def input_request_from(params: InputParams) -> InputRequest:
    """Build the question that these parameters belong to."""
    return InputRequest(_METHODS[type(params)], msgspec.Raw(_ENCODER.encode(params)))


def decode_input_params(request: InputRequest) -> InputParams:
    """Read the parameters of a question.

    Raises msgspec.ValidationError when the method is unknown here, or the parameters do not fit it.
    """
    raw = msgspec.Raw(b"{}") if request.params is UNSET else request.params
    if request.method == ELICIT_METHOD:
        return decode_elicit_params(raw)
    if request.method == CREATE_MESSAGE_METHOD:
        return decode_result(CreateMessageParams, raw)
    if request.method == LIST_ROOTS_METHOD:
        return decode_result(ListRootsParams, raw)
    raise _unknown_method(request.method)


def encode_input_response(response: InputResponse) -> msgspec.Raw:
    """Write an answer for `inputResponses`."""
    return msgspec.Raw(_ENCODER.encode(response))


def decode_input_response(method: str, raw: bytes | msgspec.Raw) -> InputResponse:
    """Read the answer to a question of that method.

    Raises msgspec.ValidationError when the method is unknown here, or the answer does not fit it.
    """
    if method == ELICIT_METHOD:
        return decode_result(ElicitResult, raw)
    if method == CREATE_MESSAGE_METHOD:
        return decode_result(CreateMessageResult, raw)
    if method == LIST_ROOTS_METHOD:
        return decode_result(ListRootsResult, raw)
    raise _unknown_method(method)
