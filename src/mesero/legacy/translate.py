"""Between the public vocabulary and one handshake revision's own shapes, in both directions.

*Down* is from the vocabulary to the revision, *up* is back. What a revision lacks is dropped or said in
words; what differs is adapted; every loss can be told. Values that come in are never changed: what goes out
is fresh plain data, ready to be encoded, in which raw JSON stays raw.
Invariant: what goes down fits the official schema of its revision.

https://modelcontextprotocol.io/specification/2026-07-28/changelog
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from mesero.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_REVISION,
    InternalError,
    MissingClientCapabilityError,
    ResourceNotFoundError,
    RpcError,
    rpc_error_for,
)
from mesero.jsonrpc import decode_value, encode_value
from mesero.legacy import methods
from mesero.legacy.contents import fit_block, fit_blocks, text_block
from mesero.legacy.forms import fit_form, gather_choices
from mesero.legacy.sampling import fit_answer, fit_sampling
from mesero.legacy.schemas import fit_structured_content, fit_tool_schemas
from mesero.legacy.shapes import (
    COMPLETE_PARAMS,
    FIRST,
    JUNE_2025,
    LISTED,
    NOVEMBER_2025,
    PROGRESS,
    ROOT,
    TOOL,
    Loss,
    dropped,
    trim,
)
from mesero.legacy.upwards import fit_params, fit_result
from mesero.revisions import HANDSHAKE_REVISIONS, is_older
from mesero.revisions.shapes import UnknownRevisionError
from mesero.types import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    PROTOCOL_VERSION_KEY,
    SERVER_INFO_KEY,
    SUBSCRIPTION_ID_KEY,
    CallToolResult,
    InputRequest,
    ServerCapabilities,
    TextContent,
    UnknownContent,
)

__all__ = ["RESOURCE_NOT_FOUND", "URL_ELICITATION_REQUIRED", "Translated", "Translator"]

# https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling
RESOURCE_NOT_FOUND: Final = -32002
# https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
URL_ELICITATION_REQUIRED: Final = -32042

_STATELESS_KEYS: Final = (
    PROTOCOL_VERSION_KEY,
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    SERVER_INFO_KEY,
    SUBSCRIPTION_ID_KEY,
)
"""What `_meta` carries because there is no session; a session knows it."""

# -32020 to -32022 came with 2026-07-28. An unsupported revision had this code in the older revisions' own
# example; the others say that the request cannot be served as it is.
# https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#error-handling
_OLDER_CODES: Final = {
    HEADER_MISMATCH: INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY: INVALID_REQUEST,
    UNSUPPORTED_REVISION: INVALID_PARAMS,
}


class Translated(msgspec.Struct, frozen=True):
    """A value in the other side's shape, and what it lost on the way."""

    value: Any
    losses: tuple[Loss, ...]


class Translator:
    """Translates for one session.

    Args:
        revision: One of `mesero.revisions.HANDSHAKE_REVISIONS`.

    Raises:
        UnknownRevisionError: it is none of them.
    """

    def __init__(self, revision: str) -> None:
        if revision not in HANDSHAKE_REVISIONS:
            raise UnknownRevisionError(revision, HANDSHAKE_REVISIONS)
        self.revision = revision

    # --- we serve an older client ---

    def result_down(self, method: str, result: Any, *, output_schema: Any = None) -> Translated:
        """A result for an older client.

        Args:
            method: The method that it answers.
            result: A Struct of the vocabulary, or a dict of the same shape.
            output_schema: For `tools/call`: the tool's own output schema, None for a tool without. It decides
                whether an object is wrapped, as it was in the list.

        Raises:
            InternalError: a result type that the revision has no shape for (-32603).
        """
        spec = methods.find_method(self.revision, method, "c2s")
        if spec is not None and spec.is_bare:
            return Translated({}, ())
        losses: list[Loss] = []
        if isinstance(result, CallToolResult) and (texts := _plain_texts(result)) is not None:
            if result.structured_content is not UNSET:
                self._fit_structured(texts, output_schema, losses)
            return Translated(texts, tuple(losses))
        value = _plain(result)
        self._drop_envelope(method, value, losses)
        if method == methods.CALL_TOOL:
            self._fit_tool_result(value, output_schema, losses)
        elif method == methods.LIST_TOOLS:
            self._fit_tools(value, losses)
        elif method == "prompts/get":
            for index, message in enumerate(value["messages"]):
                place = f"$.messages[{index}].content"
                message["content"] = fit_block(message["content"], self.revision, place, losses)
        elif method in LISTED:
            member, shape = LISTED[method]
            for index, item in enumerate(value[member]):
                trim(item, shape, self.revision, f"$.{member}[{index}]", losses)
        return Translated(value, tuple(losses))

    def _drop_envelope(self, method: str, value: dict[str, Any], losses: list[Loss]) -> None:
        """The members that every result of the stateless revisions has, and no other."""
        kind = value.pop("resultType", "complete")
        if kind != "complete":
            raise InternalError(f"{method}: {self.revision} has no results of type {kind!r}")
        if value.pop("ttlMs", 0):
            losses.append(Loss("$.ttlMs", "cache hint (since 2026-07-28) was dropped"))
        value.pop("cacheScope", None)
        _drop_stateless_meta(value)

    def _fit_tool_result(self, value: dict[str, Any], output_schema: Any, losses: list[Loss]) -> None:
        value["content"] = fit_blocks(value["content"], self.revision, "$.content", losses)
        if "structuredContent" in value:
            self._fit_structured(value, output_schema, losses)

    def _fit_structured(self, value: dict[str, Any], output_schema: Any, losses: list[Loss]) -> None:
        place = "$.structuredContent"
        structured = value["structuredContent"]
        if not is_older(self.revision, JUNE_2025):
            value["structuredContent"] = fit_structured_content(structured, output_schema, place, losses)
            return
        del value["structuredContent"]
        if value["content"]:
            losses.append(Loss(place, dropped("structured content", JUNE_2025)))
        else:
            value["content"] = [text_block(encode_value(structured).decode())]
            losses.append(Loss(place, f"structured content (since {JUNE_2025}) became text"))

    def _fit_tools(self, value: dict[str, Any], losses: list[Loss]) -> None:
        for index, tool in enumerate(value["tools"]):
            place = f"$.tools[{index}]"
            if self.revision != FIRST and is_older(self.revision, JUNE_2025) and "title" in tool:
                # One revision had the title of a tool among its annotations only.
                annotations = tool.setdefault("annotations", {})
                if "title" not in annotations:
                    annotations["title"] = tool.pop("title")
                    losses.append(
                        Loss(f"{place}.title", f"title (since {JUNE_2025}) became annotations.title")
                    )
            trim(tool, TOOL, self.revision, place, losses)
            fit_tool_schemas(tool, place, losses)

    def question_down(
        self, question: InputRequest, *, elicitation_id: str = "", losses: list[Loss] | None = None
    ) -> InputRequest:
        """A question as a request to an older client.

        Args:
            question: Of the vocabulary.
            elicitation_id: For a URL: what 2025-11-25 identifies the interaction by. Without one, it is made
                from the question, so that the same question has the same.
            losses: Grows by what is lost.

        Raises:
            MissingClientCapabilityError: the revision has no such question.
        """
        spec = methods.find_method(self.revision, question.method, "s2c")
        if spec is None:
            raise self._unknown_question(question.method)
        if question.params is UNSET:
            return InputRequest(question.method)
        found: list[Loss] = [] if losses is None else losses
        params = decode_value(question.params)
        if question.method == methods.ELICIT:
            self._fit_elicitation(params, elicitation_id, found)
        elif question.method == methods.CREATE_MESSAGE:
            fit_sampling(params, self.revision, "$", found)
        return InputRequest(question.method, Raw(encode_value(params)))

    def _fit_elicitation(self, params: dict[str, Any], elicitation_id: str, losses: list[Loss]) -> None:
        is_url = params.get("mode", "form") == "url"
        if not is_older(self.revision, NOVEMBER_2025):
            if is_url and "elicitationId" not in params:
                params["elicitationId"] = (
                    elicitation_id or hashlib.sha256(encode_value(params)).hexdigest()[:32]
                )
            return
        if is_url:
            raise self._unknown_question(f"{methods.ELICIT} with a URL")
        # There was only one mode, without a name.
        params.pop("mode", None)
        params["requestedSchema"] = fit_form(params["requestedSchema"], "$.requestedSchema", losses)

    def _unknown_question(self, what: str) -> MissingClientCapabilityError:
        name = what.partition("/")[0]
        return MissingClientCapabilityError(
            f"{what} cannot be asked: the client speaks {self.revision}, which does not have it",
            data={"requiredCapabilities": {name: {}}},
        )

    def answer_up(self, question: InputRequest, raw: Raw) -> Raw:
        """An older client's answer to `question_down`, for whoever asked the original ``question``."""
        if (
            question.method != methods.ELICIT
            or question.params is UNSET
            or not is_older(self.revision, NOVEMBER_2025)
        ):
            return raw
        answer, schema = decode_value(raw), decode_value(question.params).get("requestedSchema", {})
        if not isinstance(answer, dict) or not isinstance(answer.get("content"), dict):
            return raw
        return Raw(encode_value({**answer, "content": gather_choices(schema, answer["content"])}))

    def error_down(self, error: RpcError, *, method: str) -> RpcError:
        """An error for an older client: the same one, or one with a code that the revision may have."""
        if method == methods.READ_RESOURCE and error.code == INVALID_PARAMS and _has_uri(error.data):
            return rpc_error_for(RESOURCE_NOT_FOUND, error.message, error.data, where=error.where)
        code = _OLDER_CODES.get(error.code)
        if error.code == URL_ELICITATION_REQUIRED and self.revision != NOVEMBER_2025:
            code = INVALID_REQUEST
        return error if code is None else rpc_error_for(code, error.message, error.data, where=error.where)

    def wrong_arguments_are_errors(self) -> bool:
        """Whether a tool's wrong arguments are -32602; otherwise they are a result with ``isError``.

        https://modelcontextprotocol.io/specification/2025-11-25/changelog
        """
        return is_older(self.revision, NOVEMBER_2025)

    def notification_down(
        self, method: str, params: Mapping[str, Any], *, losses: list[Loss] | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        """A notification for the older side, whichever it is; None when it does not exist there."""
        spec = methods.methods_for(self.revision).get(method)
        if spec is None or spec.kind != "notification":
            return None
        value = _plain(params)
        _drop_stateless_meta(value)
        if method == methods.PROGRESS:
            trim(value, PROGRESS, self.revision, "$", [] if losses is None else losses)
        return method, value

    def server_capabilities(self, capabilities: ServerCapabilities) -> dict[str, Any]:
        """What a server declares in its result of `initialize`."""
        declared = _plain(capabilities)
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
        declared.pop("extensions", None)
        if self.revision == FIRST:
            declared.pop("completions", None)
        return declared

    def params_up(self, method: str, raw: Raw) -> Raw:
        """An older client's parameters, without members that are null, which would not be understood."""
        return fit_params(raw)

    # --- we use an older server ---

    def result_up(self, method: str, raw: Raw) -> Raw:
        """An older server's result; the same bytes, unless something in it would not be understood."""
        return fit_result(method, raw)

    def params_down(self, method: str, params: Mapping[str, Any]) -> Translated:
        """Parameters of a request to an older server."""
        value = _plain(params)
        losses: list[Loss] = []
        _drop_stateless_meta(value)
        for name in ("inputResponses", "requestState"):
            value.pop(name, None)
        if method == methods.COMPLETE:
            trim(value, COMPLETE_PARAMS, self.revision, "$", losses)
        return Translated(value, tuple(losses))

    def client_capabilities(self, declared: Mapping[str, Any]) -> dict[str, Any]:
        """What a client declares in `initialize`. A client with roots tells when they change."""
        capabilities = _plain(declared)
        capabilities.pop("extensions", None)
        if "roots" in capabilities:
            capabilities["roots"] = {"listChanged": True, **capabilities["roots"]}
        if not is_older(self.revision, NOVEMBER_2025):
            return capabilities
        if "sampling" in capabilities:
            capabilities["sampling"] = {}
        modes = capabilities.pop("elicitation", None)
        # An empty capability means forms, which were all there was:
        # https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
        if modes is not None and not is_older(self.revision, JUNE_2025) and ("form" in modes or not modes):
            capabilities["elicitation"] = {}
        return capabilities

    def capabilities_up(self, capabilities: ServerCapabilities) -> ServerCapabilities:
        """A server's capabilities, with those that its revision could not declare."""
        has_arguments = capabilities.prompts is not UNSET or capabilities.resources is not UNSET
        if self.revision != FIRST or capabilities.completions is not UNSET or not has_arguments:
            return capabilities
        # Completion had no capability then, so that only asking tells.
        return msgspec.structs.replace(capabilities, completions={})

    def answer_down(self, question_method: str, answer: Any, *, losses: list[Loss] | None = None) -> Any:
        """Our answer to a request of an older server: plain data, from a Struct, a dict or raw JSON."""
        value = _plain(answer)
        found: list[Loss] = [] if losses is None else losses
        if question_method == methods.CREATE_MESSAGE:
            fit_answer(value, self.revision, found)
        elif question_method == methods.LIST_ROOTS:
            for index, root in enumerate(value["roots"]):
                trim(root, ROOT, self.revision, f"$.roots[{index}]", found)
        return value

    def error_up(self, error: RpcError, *, method: str) -> RpcError:
        """An older server's error as the public one that means the same; its code stays what it was."""
        if method != methods.READ_RESOURCE or error.code != RESOURCE_NOT_FOUND:
            return error
        found = ResourceNotFoundError(error.data["uri"] if _has_uri(error.data) else "")
        found.code, found.message, found.data, found.where = (
            error.code,
            error.message,
            error.data,
            error.where,
        )
        return found

    def questions_of(self, error: RpcError) -> dict[str, InputRequest]:
        """The pages that the user has to visit before the request can be sent again, by their id.

        Empty for any other error.
        https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
        """
        if error.code != URL_ELICITATION_REQUIRED or self.revision != NOVEMBER_2025:
            return {}
        asked = error.data.get("elicitations") if isinstance(error.data, dict) else None
        return {
            str(params["elicitationId"]): InputRequest(methods.ELICIT, Raw(encode_value(params)))
            for params in (asked if isinstance(asked, list) else ())
            if isinstance(params, dict) and params.get("mode") == "url" and "elicitationId" in params
        }


def _plain(value: Any) -> dict[str, Any]:
    """Fresh plain data, in which raw JSON and unknown content stay what they are."""
    if isinstance(value, Raw | bytes):
        decoded: dict[str, Any] = decode_value(value)
        return decoded
    plain: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(Raw, UnknownContent))
    return plain


def _plain_texts(result: CallToolResult) -> dict[str, Any] | None:
    """A result of bare texts, which every revision has alike; None for any other. Most are of this kind."""
    if result.meta is not UNSET or result.result_type != "complete":
        return None
    texts = []
    for block in result.content:
        if type(block) is not TextContent or block.annotations is not UNSET or block.meta is not UNSET:
            return None
        texts.append(text_block(block.text))
    if result.structured_content is UNSET:
        return {"content": texts, "isError": result.is_error}
    if not isinstance(result.structured_content, Raw):
        return None
    return {"content": texts, "structuredContent": result.structured_content, "isError": result.is_error}


def _drop_stateless_meta(value: dict[str, Any]) -> None:
    meta = value.get("_meta")
    if not isinstance(meta, dict):
        return
    for key in _STATELESS_KEYS:
        meta.pop(key, None)
    if not meta:
        del value["_meta"]


def _has_uri(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("uri"), str)
