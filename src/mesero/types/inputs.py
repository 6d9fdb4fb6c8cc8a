"""Multi round-trip requests: the questions inside a result, and the answers inside the retry.

A question is a method and its raw parameters, so that a method which only an extension knows passes through.
Answers stay raw until the one who asked reads them: only that one knows their type. The client echoes
`request_state` byte for byte and never looks into it.
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import WireStruct
from mesero.types.results import Result, ResultType

__all__ = [
    "InputRequest",
    "InputRequests",
    "InputRequiredResult",
    "InputResponseParams",
    "InputResponses",
]


class InputRequest(WireStruct):
    """One question of the server: an `elicitation/create`, `sampling/createMessage` or `roots/list`, without
    an id.

    `input_request_from` builds one from typed parameters, `decode_input_params` reads it.
    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#inputrequests
    """

    method: str
    params: msgspec.Raw | UnsetType = UNSET


InputRequests: TypeAlias = dict[str, InputRequest]
"""Questions by a key that the server chose."""

InputResponses: TypeAlias = dict[str, msgspec.Raw]
"""Answers, each under the key of its question. A value is the bare result, without a JSON-RPC envelope."""


class InputRequiredResult(Result, kw_only=True):
    """Not an answer yet: ask these questions, then send the request again with the answers and the state.

    At least one of the two fields is there.
    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#inputrequiredresult
    """

    result_type: ResultType = "input_required"
    input_requests: InputRequests | UnsetType = UNSET
    request_state: str | UnsetType = UNSET


class InputResponseParams(WireStruct, kw_only=True):
    """What the parameters of a request that may need several rounds carry from its second round on.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#inputresponses
    """

    input_responses: InputResponses | UnsetType = UNSET
    request_state: str | UnsetType = UNSET
