"""Sealed request state: what a multi-round request must remember travels through the client, which can
neither read nor change it.

AES-GCM; bound to the caller, the method and its parameters; valid for a short time; under one of several
keys, so that replicas share them and keys can be rotated.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from mesero.errors import InternalError, InvalidParamsError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["RoundState", "Sealer", "binding_for", "identity_of"]

_MAX_STATE_BYTES = 32 * 1024
_NONCE_BYTES = 12
_KEY_SIZES = (16, 24, 32)
_NOT_PART = ("_meta", "inputResponses", "requestState")


class RoundState(msgspec.Struct):
    """What a handler knows from earlier rounds: raw answers by key, and the values of `Context.once`."""

    answers: dict[str, Raw] = {}
    made: dict[str, Any] = {}


class _Payload(msgspec.Struct):
    expires: float
    state: RoundState


def binding_for(principal: Any, method: str, raw_params: bytes) -> bytes:
    """What a state is bound to: the caller, the method and the parameters without metadata and answers."""
    params = msgspec.json.decode(raw_params)
    kept = {name: value for name, value in params.items() if name not in _NOT_PART}
    text = msgspec.json.encode([identity_of(principal), method, kept], order="sorted")
    return hashlib.sha256(text).digest()


def identity_of(principal: Any) -> list[Any]:
    """What tells a principal from others, the same in every process: its class and its data.

    Raises:
        InternalError: an object that shows nothing but its place in memory.
    """
    kind = type(principal)
    try:
        # Sets have another order in each process.
        return [kind.__qualname__, msgspec.to_builtins(principal, order="sorted")]
    except TypeError:
        text = repr(principal)
        if f" at {hex(id(principal))}" in text:
            what = f"a principal of the class {kind.__qualname__} looks different in every request"
            raise InternalError(
                f"{what}; give it a __repr__, or let the authorization hook return data"
            ) from None
        return [kind.__qualname__, text]


class Sealer:
    """Seals and opens request states.

    Args:
        keys: AES keys of 16, 24 or 32 bytes: the first one seals, all of them open. By default one of this
        process's own.
        ttl_s: How long a state stays valid, in seconds.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, keys: Sequence[bytes] = (), *, ttl_s: float = 900.0, clock: Callable[[], float] = time.time
    ) -> None:
        if any(len(key) not in _KEY_SIZES for key in keys):
            raise UsageError("a state key has 16, 24 or 32 bytes, for example secrets.token_bytes(32)")
        self._keys = tuple(keys) or (secrets.token_bytes(32),)
        self._ttl_s = ttl_s
        self._clock = clock
        self._ciphers: tuple[AESGCM, ...] | None = None

    def _all_ciphers(self) -> tuple[AESGCM, ...]:
        if self._ciphers is None:
            # Imported by the first question asked, not at start.
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            self._ciphers = tuple(AESGCM(key) for key in self._keys)
        return self._ciphers

    def seal(self, state: RoundState, binding: bytes) -> str:
        """The state as text for the client.

        Raises:
            InternalError: it is larger than 32 KiB; that much belongs in a store, under a handle.
        """
        plain = msgspec.json.encode(_Payload(self._clock() + self._ttl_s, state))
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = base64.urlsafe_b64encode(nonce + self._all_ciphers()[0].encrypt(nonce, plain, binding))
        if len(sealed) > _MAX_STATE_BYTES:
            raise InternalError(
                f"the request state has {len(sealed)} bytes, more than {_MAX_STATE_BYTES}; keep it in a store"
            )
        return sealed.decode()

    def open(self, text: str, binding: bytes) -> RoundState:
        """The state behind a text that a client sent.

        Raises:
            InvalidParamsError: forged, changed, expired, or of another caller or request (-32602).
        """
        try:
            payload = msgspec.json.decode(self._decrypt(text, binding), type=_Payload)
        except ValueError:
            raise InvalidParamsError(
                "the request state does not open: it was changed, or belongs to another caller or request; "
                "start the operation again"
            ) from None
        if payload.expires < self._clock():
            raise InvalidParamsError("the request state has expired; start the operation again")
        return payload.state

    def _decrypt(self, text: str, binding: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        if len(text) > _MAX_STATE_BYTES:
            raise ValueError("too long")
        sealed = base64.b64decode(text.encode(), altchars=b"-_", validate=True)
        nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        for cipher in self._all_ciphers():
            try:
                return cipher.decrypt(nonce, body, binding)
            except (InvalidTag, ValueError):
                continue
        raise ValueError("no key opens it")
