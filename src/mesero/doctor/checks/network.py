"""The way to a URL: its name in both families, a connection to each address, TLS.

Where a proxy is in between, it does all of that; then nothing can be said from here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import ssl
import urllib.parse
import urllib.request
from typing import Any, Final

from mesero.doctor.sheet import OpenCheck, Sheet

__all__ = ["check_network", "is_loopback", "proxy_for"]

_FAMILIES: Final = {socket.AF_INET: "IPv4", socket.AF_INET6: "IPv6"}
_LOOPBACK: Final = re.compile(r"(?:localhost|.+\.localhost|127(?:\.\d+){3}|::1)$")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    return _LOOPBACK.match(host) is not None


def proxy_for(url: str) -> str:
    """The proxy that stands between, or "": as the environment says it."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or urllib.request.proxy_bypass(host):
        return ""
    return urllib.request.getproxies().get(parts.scheme, "")


async def check_network(sheet: Sheet, url: str, *, timeout_s: float) -> bool:
    """Whether the server can be reached at all; else a diagnosis says why not.

    Args:
        sheet: Takes what is seen.
        url: The URL.
        timeout_s: How long each step may take, in seconds.
    """
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    proxy = proxy_for(url)
    if proxy:
        shown = urllib.parse.urlsplit(proxy).hostname
        for name in ("dns", "tcp", "tls"):
            with sheet.check(name) as check:
                check.skip(f"the proxy {shown} does it")
        return True
    addresses = await _resolve(sheet, host, port, timeout_s)
    if not addresses or not await _connect(sheet, host, addresses, timeout_s):
        return False
    return await _greet(sheet, parts.scheme, host, port, timeout_s)


async def _resolve(sheet: Sheet, host: str, port: int, timeout_s: float) -> list[tuple[Any, ...]]:
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


async def _connect(sheet: Sheet, host: str, addresses: list[tuple[Any, ...]], timeout_s: float) -> bool:
    with sheet.check("tcp") as check:
        tries = [_try_address(family, address, timeout_s) for family, address in addresses]
        reasons = await asyncio.gather(*tries)
        failed = []
        for (_, address), reason in zip(addresses, reasons, strict=True):
            check.say(f"{address[0]} port {address[1]}: {reason or 'connected'}")
            if reason:
                failed.append(f"{address[0]}: {reason}")
        if not failed:
            return True
        if len(failed) < len(addresses):
            # localhost commonly names ::1, too, where servers often do not listen: clients try both at once.
            if not is_loopback(host):
                check.warn("not all addresses answer")
                sheet.diagnose("NET-4", "; ".join(failed), evidence=failed)
            return True
        check.fail("no address answers")
        port = addresses[0][1][1]
        refused = any("refused" in reason for reason in reasons)
        code = "NET-2" if refused else "NET-3"
        what = "refuses connections" if refused else "does not answer"
        sheet.diagnose(code, f"{host} {what} at port {port}", evidence=failed)
        return False


async def _try_address(family: int, address: tuple[Any, ...], timeout_s: float) -> str:
    """Why an address cannot be connected to, or ""."""
    loop = asyncio.get_running_loop()
    with contextlib.closing(socket.socket(family, socket.SOCK_STREAM)) as one:
        one.setblocking(False)
        try:
            async with asyncio.timeout(timeout_s):
                await loop.sock_connect(one, address)
        except TimeoutError:
            return f"no answer within {timeout_s:g} s"
        except OSError as error:
            # What asyncio writes into it names the address again.
            return (os.strerror(error.errno) if error.errno else str(error)).lower()
    return ""


async def _greet(sheet: Sheet, scheme: str, host: str, port: int, timeout_s: float) -> bool:
    with sheet.check("tls") as check:
        if scheme != "https":
            check.skip("the URL says http")
            return True
        try:
            certificate = await _certificate_of(host, port, timeout_s, ssl.create_default_context())
        except ssl.SSLCertVerificationError as error:
            issuer = await _issuer_unchecked(host, port, timeout_s)
            _diagnose_certificate(sheet, check, error, host, issuer)
            return False
        except (ssl.SSLError, ConnectionError, EOFError) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            check.fail(f"no TLS: {reason}")
            sheet.diagnose("TLS-4", f"{host} port {port} did not answer with TLS ({reason})")
            return False
        except (OSError, TimeoutError) as error:
            check.fail(str(error) or "no answer in time")
            sheet.diagnose("NET-3", f"{host} port {port} accepts a connection and does not answer with TLS")
            return False
        check.say(
            f"certificate of {_name_in(certificate.get('issuer'))}, until {certificate.get('notAfter')}"
        )
        return True


async def _certificate_of(host: str, port: int, timeout_s: float, context: ssl.SSLContext) -> dict[str, Any]:
    async with asyncio.timeout(timeout_s):
        _, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=host)
    certificate: dict[str, Any] = writer.get_extra_info("peercert") or {}
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(0.2):
            await writer.wait_closed()
    return certificate


def _name_in(issuer: Any) -> str:
    names = {key: value for group in issuer or () for key, value in group}
    return names.get("organizationName") or names.get("commonName") or "an unnamed authority"


def _diagnose_certificate(
    sheet: Sheet, check: OpenCheck, error: ssl.SSLCertVerificationError, host: str, issuer: str
) -> None:
    reason = error.verify_message.rstrip(".")
    by = f", issued by {issuer!r}" if issuer else ""
    check.fail(f"the certificate is refused: {reason}{by}")
    if "expired" in reason:
        sheet.diagnose("TLS-2", f"the certificate of {host} has expired")
    elif "mismatch" in reason or "doesn't match" in reason or "not valid for" in reason:
        sheet.diagnose("TLS-3", f"{reason}{by}")
    else:
        sheet.diagnose("TLS-1", f"the certificate of {host}{by}, is not trusted here: {reason}")


async def _issuer_unchecked(host: str, port: int, timeout_s: float) -> str:
    """Who issued a certificate that is refused; nothing is sent on that connection."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=host)
        raw = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        from cryptography import x509
        from cryptography.x509.oid import NameOID

        issuer = x509.load_der_x509_certificate(raw).issuer
        named = issuer.get_attributes_for_oid(NameOID.ORGANIZATION_NAME) or issuer.get_attributes_for_oid(
            NameOID.COMMON_NAME
        )
        return str(named[0].value) if named else ""
    except (OSError, ValueError, TimeoutError):
        return ""
