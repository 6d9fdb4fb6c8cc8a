"""The functions that answer a server's questions, and the capabilities that follow from them.

The same functions serve both eras: what differs is only how a question arrives.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from mesero.errors import InputNeededError, InvalidResultError, UsageError
from mesero.extensions import Extension
from mesero.jsonrpc import encode_value
from mesero.schemas import SchemaCheck
from mesero.types import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitFormParams,
    ElicitResult,
    ElicitUrlParams,
    InputRequest,
    ListRootsResult,
    Root,
    TextContent,
    decode_input_params,
)

__all__ = ["Asked", "ElicitFunction", "ElicitUrlFunction", "RootsSource", "SampleFunction", "form_defaults"]

ElicitFunction = Callable[[ElicitFormParams], Awaitable["ElicitResult | Mapping[str, Any] | None"]]
"""Shows a form. Returns the values (accepted), None (declined), or an `ElicitResult`."""
ElicitUrlFunction = Callable[[ElicitUrlParams], Awaitable["ElicitResult | bool"]]
"""Asks for consent and opens a URL. Returns whether the user agreed, or an `ElicitResult`."""
SampleFunction = Callable[[CreateMessageParams], Awaitable["CreateMessageResult | str"]]
"""Asks a model. Returns its text or a whole `CreateMessageResult`. Deprecated since 2026-07-28."""
RootsSource = Sequence["str | Path | Root"] | Callable[[], Awaitable[Sequence["str | Path | Root"]]]
"""Directories, or a function that knows them. Deprecated since 2026-07-28: use tool parameters or
resources."""


def form_defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a form begins with: the default of every field that has one.

    Args:
        schema: The form's schema, as in ``ElicitFormParams.requested_schema``.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
    """
    fields = schema.get("properties")
    if not isinstance(fields, Mapping):
        return {}
    return {
        name: copy.deepcopy(field["default"])
        for name, field in fields.items()
        if isinstance(field, Mapping) and "default" in field
    }


class Asked:
    """Answers questions with the functions that the client was given. Plain functions will do as well.

    Args:
        elicit: Shows forms.
        elicit_url: Opens URLs, after consent.
        sample: Asks a model.
        roots: Directories.
    """

    def __init__(
        self,
        *,
        elicit: ElicitFunction | None = None,
        elicit_url: ElicitUrlFunction | None = None,
        sample: SampleFunction | None = None,
        roots: RootsSource | None = None,
    ) -> None:
        self._elicit = elicit
        self._elicit_url = elicit_url
        self._sample = sample
        self._roots = roots

    def capabilities_with(self, extensions: Sequence[Extension]) -> dict[str, Any]:
        """What the client may declare, shaped like client capabilities."""
        declared: dict[str, Any] = {}
        if self._elicit or self._elicit_url:
            # https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities
            modes = {"form": self._elicit, "url": self._elicit_url}
            declared["elicitation"] = {mode: {} for mode, function in modes.items() if function}
        if self._sample:
            declared["sampling"] = {}
        if self._roots is not None:
            declared["roots"] = {}
        if extensions:
            declared["extensions"] = {one.identifier: dict(one.settings) for one in extensions}
        return declared

    async def answer(self, question: InputRequest, *, where: str) -> Raw:
        """The answer to one question, encoded.

        Raises:
            InvalidResultError: the question is malformed.
            InputNeededError: no function was given for it.
        """
        try:
            params = decode_input_params(question)
        except msgspec.MsgspecError as error:
            raise InvalidResultError(
                f"the server asks a malformed {question.method}: {error}", where=where
            ) from None
        if isinstance(params, ElicitFormParams):
            return Raw(encode_value(await self._fill_form(params, where)))
        if isinstance(params, ElicitUrlParams):
            return Raw(encode_value(await self._open_url(params, where)))
        if isinstance(params, CreateMessageParams):
            return Raw(encode_value(await self._create_message(params, where)))
        return Raw(encode_value(ListRootsResult(await self._list_roots(where))))

    async def _fill_form(self, params: ElicitFormParams, where: str) -> ElicitResult:
        if self._elicit is None:
            raise _no_function("elicitation/create", "elicit", where)
        value = await _awaited(self._elicit(params))
        if value is None:
            return ElicitResult("decline")
        result = value if isinstance(value, ElicitResult) else ElicitResult("accept", dict(value))
        if result.action == "accept":
            _check_form(params.requested_schema, {} if result.content is UNSET else result.content, where)
        return result

    async def _open_url(self, params: ElicitUrlParams, where: str) -> ElicitResult:
        if self._elicit_url is None:
            raise _no_function("elicitation/create with a URL", "elicit_url", where)
        value = await _awaited(self._elicit_url(params))
        if isinstance(value, ElicitResult):
            return value
        return ElicitResult("accept" if value else "decline")

    async def _create_message(self, params: CreateMessageParams, where: str) -> CreateMessageResult:
        if self._sample is None:
            raise _no_function("sampling/createMessage", "sample", where)
        value = await _awaited(self._sample(params))
        if isinstance(value, CreateMessageResult):
            return value
        return CreateMessageResult(
            role="assistant", content=TextContent(value), model="unknown", stop_reason="endTurn"
        )

    async def _list_roots(self, where: str) -> list[Root]:
        if self._roots is None:
            raise _no_function("roots/list", "roots", where)
        roots = self._roots
        items = await _awaited(roots()) if callable(roots) else roots
        return [_root_from(item) for item in items]


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _check_form(schema: Mapping[str, Any], content: Mapping[str, Any], where: str) -> None:
    """Clients SHOULD validate all responses against the provided schema.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#form-mode-security
    """
    try:
        check = SchemaCheck(schema)
    except UsageError as error:
        raise InvalidResultError(
            f"the server asks with a form that nobody can fill: {error}", where=where
        ) from None
    errors = check.find_errors(content)
    if errors:
        raise UsageError(
            f"the elicit function's answer does not fit the form: {'; '.join(errors)}", where=where
        )


def _root_from(item: str | Path | Root) -> Root:
    if isinstance(item, Root):
        return item
    if isinstance(item, str) and "://" in item:
        return Root(item)
    path = Path(item).absolute()
    return Root(path.as_uri(), name=path.name)


def _no_function(method: str, argument: str, where: str) -> InputNeededError:
    return InputNeededError(
        f"the server asks {method}, but the client was given no function for it",
        where=where,
        fix=f"Give one: Client(…, {argument}=…)",
    )
