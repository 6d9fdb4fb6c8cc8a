"""What aiohttp raises, as mesero's errors. The only place that knows both.

`ConnectError` is for what happened before anything was sent: the request can be repeated. `DisconnectedError`
is for what happened afterwards: the server may have done what it was asked. The text names the leaf cause.
"""

from __future__ import annotations

import errno
import os
import ssl

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError

from mesero.errors import ConnectError, DisconnectedError, MeseroError, ProtocolError, TransportError

__all__ = ["body_failure_for", "send_failure_for"]


def send_failure_for(
    error: Exception, where: str, *, connect_timeout_s: float, proxy: str = ""
) -> MeseroError:
    """The error for a request that got no response.

    Args:
        error: What aiohttp, asyncio or ssl raised.
        where: Method and URL, as shown.
        connect_timeout_s: The limit on connecting, in seconds.
        proxy: The proxy in between, as shown, or "".
    """
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        via = f" through the proxy {proxy}" if proxy else ""
        limit = f"{connect_timeout_s:g} s; the limit was ours (connect_timeout_s=)"
        return ConnectError(f"{where} → no connection{via} within {limit}")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _certificate_failure(error, where)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        reason = getattr(error.os_error, "reason", None) or str(error.os_error)
        return ConnectError(
            f"{where} → TLS failed: {reason.replace('_', ' ').lower()}",
            fix="Does the server speak TLS at this port, or plain HTTP?",
        )
    if isinstance(error, aiohttp.ClientHttpProxyError):
        fix = (
            "The proxy wants credentials"
            if error.status == 407
            else "Look at the proxy, or list the host in NO_PROXY"
        )
        return ConnectError(f"{where} → the proxy {proxy} answered {error.status} {error.message}", fix=fix)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return ConnectError(
            f"{where} → the proxy {proxy}: {_cause_of(error.os_error)}",
            fix="Look at HTTPS_PROXY and HTTP_PROXY, or list the host in NO_PROXY",
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return ConnectError(
            f"{where} → the name {error.host!r} cannot be resolved: {_cause_of(error.os_error)}"
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        return ConnectError(f"{where} → {_cause_of(error.os_error)}")
    if isinstance(error, aiohttp.ClientResponseError):
        what = " ".join(error.message.split())
        return ProtocolError(f"{where} → what came back is not HTTP: {what}")
    return DisconnectedError(f"{where} → the connection ended before a response came: {_cause_of(error)}")


def body_failure_for(error: Exception, where: str, *, came: str, last_message: bytes = b"") -> TransportError:
    """The error for a response whose body broke off. ``came`` says what had come until then."""
    cause = error.__cause__ or error
    if isinstance(cause, ContentEncodingError):
        what = "the body cannot be decompressed"
    elif isinstance(error, aiohttp.ClientPayloadError):
        what = "the body ended too early"
    else:
        what = f"the connection ended: {_cause_of(error)}"
    return DisconnectedError(f"{where} → {what}; {came}", last_message=last_message)


def _certificate_failure(error: aiohttp.ClientConnectorCertificateError, where: str) -> ConnectError:
    cause = error.certificate_error
    reason = str(cause)
    if isinstance(cause, ssl.SSLCertVerificationError):
        reason = cause.verify_message.rstrip(".")
    return ConnectError(f"{where} → the certificate of {error.host} was refused: {reason}")


def _cause_of(error: BaseException) -> str:
    """The leaf cause in words: several addresses that all failed count as one."""
    if isinstance(error, OSError) and error.errno is not None:
        if error.errno == errno.ECONNREFUSED:
            return "connection refused"
        if error.errno == errno.ECONNRESET:
            return "connection reset by the peer"
        if error.errno > 0 and not (error.strerror or "").startswith("["):
            return (error.strerror or os.strerror(error.errno)).lower()
    text = getattr(error, "strerror", None) or str(error)
    return text or type(error).__name__
