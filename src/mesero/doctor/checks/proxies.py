"""Whether a proxy stands between, as the environment says it, and whether that proxy lets us through.

The client obeys HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY (and the settings of macOS and Windows), but
never sends what goes to this machine through a proxy: `mesero.transports.http_addresses.find_proxy`.
"""

from __future__ import annotations

import asyncio
import base64
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from yarl import URL

from mesero.doctor.addresses import port_of, reach_of, split_url
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.errors import UsageError
from mesero.transports.http_addresses import find_proxy, is_loopback

__all__ = ["Streams", "Tunnel", "check_proxy"]

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_FOR_THIS_MACHINE: Final = "NO_PROXY=localhost,127.0.0.1,::1"


class Tunnel(msgspec.Struct, frozen=True):
    """The way to a host: with a proxy in between, or straight.

    Attributes:
        is_usable: Whether anything can be reached that way.
        proxy: The proxy, without its credentials; None for the straight way.
        open: Opens one connection through the proxy to the host that was asked for; None where only the
            client can, and for the straight way.
    """

    is_usable: bool
    proxy: URL | None
    open: Callable[[], Awaitable[Streams]] | None


async def check_proxy(sheet: Sheet, url: str, *, timeout_s: float) -> Tunnel:
    """Find the proxy, connect to it, and ask it for the host.

    Args:
        sheet: Takes what is seen.
        url: The URL.
        timeout_s: How long each step may take, in seconds.
    """
    parts = split_url(url)
    host, port = parts.hostname or "", port_of(parts)
    straight = Tunnel(True, None, None)
    with sheet.check("proxy") as check:
        try:
            proxy = find_proxy(URL(url))
        except UsageError as error:
            check.fail(error.what)
            sheet.diagnose("NET-5", error.what, fix=f"{error.fix}.")
            return msgspec.structs.replace(straight, is_usable=False)
        if proxy is None:
            _tell_straight(sheet, check, parts.scheme, host)
            return straight
        shown = proxy.with_user(None).with_path("/").origin()
        check.say(f"{host} is reached through {shown}, as the environment says")
        try:
            async with asyncio.timeout(timeout_s):
                _, writer = await asyncio.open_connection(proxy.host, proxy.port)
            writer.close()
        except (OSError, TimeoutError, UnicodeError) as error:
            reason = _reason_of(error, timeout_s)
            check.fail(f"the proxy {shown}: {reason}")
            sheet.diagnose("NET-5", f"{host} would be reached through {shown}, where nobody is: {reason}")
            return Tunnel(False, shown, None)
        if parts.scheme != "https" or proxy.scheme != "http":
            check.say("what it says of this host shows in its answers alone")
            return Tunnel(True, shown, None)
        is_usable = await _ask(sheet, check, proxy, host, port, timeout_s=timeout_s)
        return Tunnel(is_usable, shown, lambda: _open_through(proxy, host, port))


def _tell_straight(sheet: Sheet, check: OpenCheck, scheme: str, host: str) -> None:
    proxies = urllib.request.getproxies()
    named = proxies.get(scheme) or proxies.get("all")
    if not named:
        check.skip("none is set")
    elif not is_loopback(host) or urllib.request.proxy_bypass(host):
        check.say(f"NO_PROXY has {host}: it is reached without one")
    else:
        check.warn(f"{host} is this machine, which we never reach through a proxy; other clients do")
        sheet.diagnose(
            "NET-9",
            f"{'HTTPS' if scheme == 'https' else 'HTTP'}_PROXY is set, and NO_PROXY does not have {host}",
            fix=f"Set {_FOR_THIS_MACHINE}.",
        )


async def _ask(sheet: Sheet, check: OpenCheck, proxy: URL, host: str, port: int, *, timeout_s: float) -> bool:
    """Whether the proxy opens a way to the host."""
    try:
        async with asyncio.timeout(timeout_s):
            (_, writer), said = await _ask_for(proxy, host, port)
        writer.transport.abort()
    except (OSError, TimeoutError, EOFError) as error:
        said = f"nothing ({_reason_of(error, timeout_s)})"
    status = _status_in(said)
    if status.startswith("2"):
        check.say(f"it opens a way to {host} port {port}")
        return True
    answer = said.partition(" ")[2] if status else said
    check.fail(f"asked for {host} port {port} it answered {answer}")
    at = f"{proxy.host} port {proxy.port}"
    if status == "407":
        sheet.diagnose("NET-6", f"the proxy {at} answered {answer}")
        return False
    is_inner = _is_inner(host)
    sheet.diagnose(
        "NET-7",
        f"the proxy {at} answered {answer} when it was asked for {host} port {port}",
        fix=f"{host} looks like a host of this network: add it to NO_PROXY." if is_inner else "",
    )
    return False


def _status_in(said: str) -> str:
    """The status in the first line of an answer, or ""."""
    return said.split(" ")[1] if said.startswith("HTTP/") and " " in said else ""


def _is_inner(host: str) -> bool:
    """Whether a host is one that a proxy to the outside world can hardly reach."""
    try:
        return reach_of(host) != "public"
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".home.arpa", ".intranet"))


async def _open_through(proxy: URL, host: str, port: int) -> Streams:
    streams, said = await _ask_for(proxy, host, port)
    if not _status_in(said).startswith("2"):
        streams[1].transport.abort()
        raise ConnectionError(f"the proxy answered {said.partition(' ')[2]}")
    return streams


async def _ask_for(proxy: URL, host: str, port: int) -> tuple[Streams, str]:
    """A connection to a proxy that was asked for a host, and the status line of its answer."""
    reader, writer = await asyncio.open_connection(proxy.host, proxy.port)
    try:
        named = f"[{host}]" if ":" in host else host
        lines = [f"CONNECT {named}:{port} HTTP/1.1", f"Host: {named}:{port}"]
        if proxy.user is not None:
            pair = base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
            lines.append(f"Proxy-Authorization: Basic {pair}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        head = await reader.readuntil(b"\r\n\r\n")
        status = head.partition(b"\r\n")[0].decode("latin-1")
    except asyncio.LimitOverrunError:
        writer.transport.abort()
        raise ConnectionError("its answer has no end") from None
    except BaseException:
        writer.transport.abort()
        raise
    return (reader, writer), status


def _reason_of(error: BaseException, timeout_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_s:g} s"
    if isinstance(error, EOFError):
        return "it closed the connection"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
