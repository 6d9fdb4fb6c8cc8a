"""The way back to a client whose notifications lack members that ours have."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from mesero.jsonrpc import Notification, decode_message, decode_value, encode_notification
from mesero.legacy.translate import Translator
from mesero.server.reply import Reply

__all__ = ["TranslatedReply"]


class TranslatedReply(msgspec.Struct, eq=False):
    """The way back to a client whose notifications lack members that ours have."""

    _reply: Reply
    _translator: Translator

    @property
    def is_answered(self) -> bool:
        """See `mesero.server.reply.Reply.is_answered`."""
        return self._reply.is_answered

    async def notify(self, raw: bytes) -> None:
        """See `mesero.server.reply.Reply.notify`."""
        message = decode_message(raw)
        if isinstance(message, Notification) and message.params is not UNSET:
            params = decode_value(message.params)
            translated = self._translator.notification_down(message.method, params)
            if translated is None:
                return
            raw = encode_notification(*translated)
        await self._reply.notify(raw)

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """See `mesero.server.reply.Reply.answer`."""
        await self._reply.answer(raw, status=status, headers=headers)
