"""The way to a URL: its name in both families, and a connection to each address.

Where a proxy is in between, it does all of that; see `mesero.doctor.checks.proxies`.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import socket
from typing import Any, Final

from mesero.doctor.addresses import port_of, split_url
from mesero.doctor.checks.certificates import check_certificate
from mesero.doctor.checks.proxies import check_proxy
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.transports.http_addresses import is_loopback

__all__ = ["check_network"]

_FAMILIES: Final = {socket.AF_INET: "IPv4", socket.AF_INET6: "IPv6"}

_Address = tuple[Any, ...]
"""A family, and what a socket of that family connects to."""


async def check_network(sheet: Sheet, url: str, *, timeout_s: float) -> bool:
    """Whether the server can be reached at all; else a diagnosis says why not.

    Args:
        sheet: Takes what is seen.
        url: The URL.
        timeout_s: How long each step may take, in seconds.
    """
    parts = split_url(url)
    host, port = parts.hostname or "", port_of(parts)
    tunnel = await check_proxy(sheet, url, timeout_s=timeout_s)
    if not tunnel.is_usable:
        return False
    connect = tunnel.open
    if tunnel.proxy is not None:
        for name in ("dns", "tcp"):
            with sheet.check(name) as check:
                check.skip(f"the proxy {tunnel.proxy.host} does it")
    else:
        addresses = await _resolve(sheet, host, port, timeout_s)
        good = await _connect(sheet, host, addresses, timeout_s) if addresses else None
        if good is None:
            return False
        # Like a client, which goes on to the next address where the first one is silent.
        connect = functools.partial(asyncio.open_connection, *good[1][:2])
    return await check_certificate(sheet, parts.scheme, host, port, connect, timeout_s=timeout_s)


async def _resolve(sheet: Sheet, host: str, port: int, timeout_s: float) -> list[_Address]:
    with sheet.check("dns") as check:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout_s):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "no answer in time"
            check.fail(f"{host}: {reason}")
            sheet.diagnose("NET-1", f"{host!r} has no address: {reason}")
            return []
        for family, name in _FAMILIES.items():
            own = list(dict.fromkeys(str(each[4][0]) for each in found if each[0] == family))
            check.say(f"{name}: {', '.join(own) or 'none'}")
        return list(dict.fromkeys((each[0], each[4]) for each in found))


async def _connect(sheet: Sheet, host: str, addresses: list[_Address], timeout_s: float) -> _Address | None:
    """The first address that answers, or None."""
    with sheet.check("tcp") as check:
        tries = [_try_address(family, address, timeout_s) for family, address in addresses]
        reasons = await asyncio.gather(*tries)
        failed = []
        for (_, address), reason in zip(addresses, reasons, strict=True):
            check.say(f"{address[0]} port {address[1]}: {reason or 'connected'}")
            if reason:
                failed.append(f"{address[0]}: {reason}")
        good = next((each for each, reason in zip(addresses, reasons, strict=True) if not reason), None)
        if good is not None:
            if failed:
                _tell_missing(sheet, check, host, failed, is_first_lost=bool(reasons[0]))
            return good
        check.fail("no address answers")
        port = addresses[0][1][1]
        refused = any("refused" in reason for reason in reasons)
        code = "NET-2" if refused else "NET-3"
        what = "refuses connections" if refused else "does not answer"
        sheet.diagnose(code, f"{host} {what} at port {port}", evidence=failed)
        return None


def _tell_missing(
    sheet: Sheet, check: OpenCheck, host: str, failed: list[str], *, is_first_lost: bool
) -> None:
    """Some addresses answer, some do not: whether that matters."""
    if not is_loopback(host):
        check.warn("not all addresses answer")
        sheet.diagnose("NET-4", "; ".join(failed), evidence=failed)
    elif is_first_lost:
        # Most clients go on to the next address; those that take the first alone find nobody there. When the
        # first one answers, it does not matter what becomes of the others.
        check.warn(f"the first address of {host} does not answer")
        sheet.diagnose(
            "NET-8",
            f"{host} means {failed[0].partition(': ')[0]} first, and the server listens at another address",
            evidence=failed,
        )


async def _try_address(family: int, address: _Address, timeout_s: float) -> str:
    """Why an address cannot be connected to, or ""."""
    try:
        # Where the system has no such family, there is no socket either.
        with contextlib.closing(socket.socket(family, socket.SOCK_STREAM)) as one:
            one.setblocking(False)
            async with asyncio.timeout(timeout_s):
                await asyncio.get_running_loop().sock_connect(one, address)
    except TimeoutError:
        return f"no answer within {timeout_s:g} s"
    except OSError as error:
        # What asyncio writes into it names the address again.
        return (os.strerror(error.errno) if error.errno else str(error)).lower()
    return ""
