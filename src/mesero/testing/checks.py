"""What every transport has to do, as checks that third parties can run on theirs.

Each check opens a transport of its own to the server of `mesero.testing.echo`, uses it the way a client does,
and closes it. All checks run; what failed is told in one AssertionError, a sentence each.

The contract is in the docstrings of `mesero.transports`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, Final

from msgspec import Raw

from mesero.errors import ClosedError, MeseroError
from mesero.jsonrpc import (
    ErrorResponse,
    Notification,
    ResultResponse,
    decode_value,
    encode_notification,
    encode_request,
)
from mesero.modern import REVISIONS
from mesero.modern.client import Stamp, mirrored_headers
from mesero.modern.methods import CALL_TOOL, CANCELLED, LIST_TOOLS
from mesero.transports import Exchange, Outgoing, Received, Transport

__all__ = ["CHECKS", "Check", "OpenTransport", "check_transport"]

_STAMP = Stamp(REVISIONS[0], {}, None)
_PROMPT_S = 3.0
"""What "at once" means on a busy machine, in seconds."""


class OpenTransport:
    """A transport under test, open, with the requests that the checks send over it.

    Args:
        transport: What is checked.
        large_bytes: How much a large message carries each way, in bytes.
    """

    def __init__(self, transport: Transport, large_bytes: int) -> None:
        self.transport = transport
        self.large_bytes = large_bytes
        self._ids = count(1)

    def start(self, tool: str, **arguments: Any) -> Exchange:
        """Send a call of one of the echo server's tools; its id is its progress token."""
        return self.request(CALL_TOOL, tool, {"name": tool, "arguments": arguments})

    def request(self, method: str, name: str | None, params: dict[str, Any]) -> Exchange:
        """Send any request; ``name`` is what ``Mcp-Name`` mirrors."""
        request_id = next(self._ids)
        meta: Raw = _STAMP.meta_for(progress_token=request_id)
        headers: tuple[tuple[str, str], ...] = ()
        if self.transport.mirrors_headers:
            headers = mirrored_headers(REVISIONS[0], method, name)
        raw = encode_request(request_id, method, {**params, "_meta": meta})
        return self.transport.exchange(Outgoing(request_id, method, raw, headers))

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text that a tool answers; notifications before it are passed over."""
        exchange = self.start(tool, **arguments)
        received = await exchange.receive()
        while isinstance(received.message, Notification):
            received = await exchange.receive()
        await exchange.close()
        return _text_of(received)


Check = Callable[[OpenTransport], Awaitable[None]]


def _demand(condition: object, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)


def _text_of(received: Received) -> str:
    message = received.message
    if not isinstance(message, ResultResponse):
        raise AssertionError(f"a result was expected, not {message!r}")  # noqa: TRY004  (a failed check, not a wrong argument)
    _demand(
        bytes(message.result) in received.raw,
        "Received.raw holds other bytes than Received.message was decoded from",
    )
    text: str = decode_value(message.result)["content"][0]["text"]
    return text


async def _closed_error_of(waiting: Awaitable[Any], what: str) -> None:
    """Wait for what has to fail with `ClosedError`, at once."""
    try:
        async with asyncio.timeout(_PROMPT_S):
            await waiting
    except ClosedError:
        return
    except TimeoutError:
        raise AssertionError(
            f"{what} still waits {_PROMPT_S:g} s after aclose(); it has to fail at once"
        ) from None
    except Exception as error:
        raise AssertionError(
            f"{what} fails with {type(error).__name__} ({error}) instead of ClosedError"
        ) from error
    raise AssertionError(f"{what} was answered although the transport was closed")


async def _answers_a_request(under: OpenTransport) -> None:
    """A request is answered, with text outside of ASCII and with line ends unharmed."""
    _demand(under.transport.is_open, "is_open is false right after open()")
    for text in ("hello", "zwölf Boxkämpfer 🥊", "two\nlines\r\n"):
        found = await under.call("echo", value=text)
        _demand(found == text, f"{text!r} came back as {found!r}")


async def _keeps_concurrent_exchanges_apart(under: OpenTransport) -> None:
    """Answers reach the exchange that they belong to, whichever is read first."""
    exchanges = {str(number): under.start("echo", value=str(number)) for number in range(20)}
    for text, exchange in reversed(exchanges.items()):
        found = _text_of(await exchange.receive())
        _demand(found == text, f"the exchange that asked for {text!r} got the answer {found!r}")


async def _keeps_notifications_in_order(under: OpenTransport) -> None:
    """Notifications of a request come in order, before the response, which is last."""
    exchange = under.start("count", to=5)
    numbers = []
    received = await exchange.receive()
    while isinstance(received.message, Notification):
        numbers.append(decode_value(received.message.params or b"{}")["progress"])
        received = await exchange.receive()
    _text_of(received)
    _demand(numbers == [1, 2, 3, 4, 5], f"progress 1 to 5 was sent, and {numbers} received")


async def _hands_errors_over_as_messages(under: OpenTransport) -> None:
    """A JSON-RPC error is a message like any other; nothing is raised for it."""
    try:
        message = (await under.request("no/such/method", None, {}).receive()).message
    except MeseroError as error:
        raise AssertionError(f"an error response was raised as {type(error).__name__} ({error})") from error
    if not isinstance(message, ErrorResponse):
        raise AssertionError(f"an error response was expected, not {message!r}")  # noqa: TRY004  (a failed check, not a wrong argument)
    _demand(message.code == -32601, f"the server answered -32601, and {message.code} was received")


async def _cancels_what_is_closed(under: OpenTransport) -> None:
    """Closing an exchange before its response cancels the request at the server."""
    exchange = under.start("hang", key="closed")
    await exchange.receive()  # Its progress: the server works on it.
    await exchange.close("not needed any more")
    await exchange.close("twice")
    try:
        async with asyncio.timeout(_PROMPT_S):
            await under.call("await_cancellation", key="closed")
    except TimeoutError:
        raise AssertionError(f"the server was not told within {_PROMPT_S:g} s") from None


async def _closes_an_answered_exchange_in_silence(under: OpenTransport) -> None:
    """Closing an exchange that has its response does nothing, and never raises."""
    exchange = under.start("echo", value="one")
    await exchange.receive()
    await exchange.close()
    await exchange.close()
    _demand(await under.call("echo", value="two") == "two", "the next call got a wrong answer")


async def _carries_large_messages(under: OpenTransport) -> None:
    """A large message passes both ways."""
    text = "x" * under.large_bytes
    found = await under.call("echo", value=text)
    _demand(found == text, f"{len(text)} characters came back as {len(found)}, or changed")


async def _takes_notifications(under: OpenTransport) -> None:
    """A notification can be sent, and the connection goes on."""
    await under.transport.notify(encode_notification(CANCELLED, {"requestId": "nobody's"}))
    _demand(await under.call("echo", value="on") == "on", "the next call got a wrong answer")


async def _fails_waiters_on_aclose(under: OpenTransport) -> None:
    """`aclose` from another task fails whoever waits with `ClosedError`, at once."""
    exchange = under.start("hang", key="waiting")
    await exchange.receive()
    waiting = asyncio.ensure_future(exchange.receive())
    await asyncio.sleep(0)
    await asyncio.get_running_loop().create_task(under.transport.aclose())
    await _closed_error_of(waiting, "an exchange that waited")
    await exchange.close()


async def _closes_any_number_of_times(under: OpenTransport) -> None:
    """`aclose` can be called again, also at the same time; nothing can be started then."""
    await under.call("echo", value="something")
    await asyncio.gather(*(under.transport.aclose() for _ in range(3)))
    await under.transport.aclose()
    _demand(not under.transport.is_open, "is_open is still true after aclose()")
    await _closed_error_of(
        under.request(LIST_TOOLS, None, {}).receive(), "an exchange started after aclose()"
    )


async def _ends_unsolicited_on_aclose(under: OpenTransport) -> None:
    """`unsolicited` ends when the transport is closed, and does not raise."""

    async def read() -> None:
        async for _ in under.transport.unsolicited():
            pass

    reading = asyncio.ensure_future(read())
    await under.call("echo", value="something")
    await under.transport.aclose()
    done, _ = await asyncio.wait({reading}, timeout=_PROMPT_S)
    reading.cancel()
    _demand(done, "unsolicited() goes on although the transport is closed")
    with contextlib.suppress(asyncio.CancelledError):
        await reading


CHECKS: Final[tuple[Check, ...]] = (
    _answers_a_request,
    _keeps_concurrent_exchanges_apart,
    _keeps_notifications_in_order,
    _hands_errors_over_as_messages,
    _cancels_what_is_closed,
    _closes_an_answered_exchange_in_silence,
    _carries_large_messages,
    _takes_notifications,
    _fails_waiters_on_aclose,
    _closes_any_number_of_times,
    _ends_unsolicited_on_aclose,
)
"""All checks. The first sentence of each one's docstring is what it demands."""


async def check_transport(
    make_transport: Callable[[], Transport | Awaitable[Transport]],
    *,
    large_bytes: int = 2_000_000,
    timeout_s: float = 15.0,
) -> None:
    """Check that a transport keeps the contract of `mesero.transports.Transport`.

    Args:
        make_transport: Makes a new transport to the server of `mesero.testing.echo_server`, not opened yet.
        large_bytes: How much the large message carries each way, in bytes.
        timeout_s: How long each check may take, in seconds.

    Raises:
        AssertionError: it does not; with one sentence for each failed check.
    """
    failed: list[str] = []
    kind = ""
    for check in CHECKS:
        made = make_transport()
        transport = await made if inspect.isawaitable(made) else made
        kind = transport.kind
        try:
            async with asyncio.timeout(timeout_s):
                await transport.open()
                await check(OpenTransport(transport, large_bytes))
        except TimeoutError:
            failed.append(f"{_demand_of(check)} It did not come to an end within {timeout_s:g} s.")
        except Exception as error:  # noqa: BLE001  (whatever a transport under test raises is its failure, not ours)
            failed.append(f"{_demand_of(check)} {type(error).__name__}: {error}")
        finally:
            await transport.aclose()
    if failed:
        lines = "\n".join(f"- {sentence}" for sentence in failed)
        raise AssertionError(
            f"{kind}: {len(failed)} of {len(CHECKS)} demands on a transport are not met:\n{lines}"
        )


def _demand_of(check: Check) -> str:
    return (check.__doc__ or "").split("\n")[0]
