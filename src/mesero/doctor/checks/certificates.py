"""TLS: whether the certificate is one that this machine trusts for this name, and why not.

The context is made as the client's is, so that SSL_CERT_FILE and SSL_CERT_DIR count here as they count there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from mesero.doctor.addresses import split_url
from mesero.doctor.checks.proxies import Streams
from mesero.doctor.sheet import OpenCheck, Sheet

__all__ = ["check_certificate", "speaks_tls"]

_WEEK_S: Final = 7 * 86_400.0
_CLOSE_S: Final = 0.2
_NOT_YET: Final = 9
_EXPIRED: Final = 10
_SELF_SIGNED: Final = 18
_NO_ISSUER: Final = (20, 21)
_OTHER_NAME: Final = (62, 64)
_INNER: Final = (".local", ".internal", ".lan", ".intranet", ".corp", ".home.arpa")
_INTERCEPTORS: Final = re.compile(
    r"zscaler|netskope|forti(?:net|gate)|palo ?alto|blue ?coat|symantec web|umbrella|mcafee|skyhigh|sophos|"
    r"check ?point|forcepoint|websense|barracuda|watchguard|sonicwall|iboss|menlo|cato networks|"
    r"gateway ca - cloudflare|kaspersky|avast|avg |eset ssl|bitdefender|mitmproxy|charles proxy|fiddler|"
    r"portswigger|squid|untangle|lightspeed|securly",
    re.IGNORECASE,
)
"""Names that inspecting proxies and virus scanners sign with. A hint, no proof."""


class _Seen(msgspec.Struct, frozen=True):
    """What a certificate says of itself; names are "" where it has none."""

    issuer: str = ""
    until: str = ""
    since: str = ""
    names: tuple[str, ...] = ()
    is_own_issuer: bool = False
    has_issuer_address: bool = False


async def check_certificate(
    sheet: Sheet,
    scheme: str,
    host: str,
    port: int,
    connect: Callable[[], Awaitable[Streams]] | None,
    *,
    timeout_s: float,
) -> bool:
    """Whether TLS comes about as a client wants it; else a diagnosis says why not.

    Args:
        sheet: Takes what is seen.
        scheme, host, port: What the URL says.
        connect: Opens a connection to it; None where only the client can.
        timeout_s: How long it may take, in seconds.
    """
    with sheet.check("tls") as check:
        if scheme != "https" or connect is None:
            check.skip("the URL says http" if scheme != "https" else "the proxy is spoken to with TLS, too")
            return True
        try:
            certificate = await _greet(connect, host, ssl.create_default_context(), timeout_s)
        except ssl.SSLCertVerificationError as error:
            seen = await _look_unchecked(connect, host, timeout_s)
            _diagnose_certificate(sheet, check, error, host, seen)
            return False
        except (ssl.SSLError, ConnectionError, EOFError, ValueError) as error:
            _diagnose_handshake(sheet, check, error, f"{host} port {port}")
            return False
        except (OSError, TimeoutError) as error:
            check.fail(str(error) or "no answer in time")
            sheet.diagnose("NET-3", f"{host} port {port} accepts a connection and does not answer with TLS")
            return False
        _tell_trusted(sheet, check, host, certificate)
        return True


async def speaks_tls(connect: Callable[[], Awaitable[Streams]], host: str, *, timeout_s: float) -> bool:
    """Whether TLS is spoken there, trusted or not. Nothing is sent on that connection.

    Args:
        connect: Opens a connection.
        host: The name to ask for.
        timeout_s: How long it may take, in seconds.
    """
    try:
        await _greet(connect, host, _unchecking(), timeout_s)
    except (OSError, EOFError, ValueError, TimeoutError):
        return False
    return True


async def _greet(
    connect: Callable[[], Awaitable[Streams]], host: str, context: ssl.SSLContext, timeout_s: float
) -> Any:
    """The certificate: a dict where it was checked, else its bytes."""
    async with asyncio.timeout(timeout_s):
        _, writer = await connect()
        try:
            await writer.start_tls(context, server_hostname=host)
        except BaseException:
            writer.transport.abort()
            raise
    is_checked = context.verify_mode is ssl.CERT_REQUIRED
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=not is_checked)
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_CLOSE_S):
            await writer.wait_closed()
    return certificate


def _unchecking() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _tell_trusted(sheet: Sheet, check: OpenCheck, host: str, certificate: Any) -> None:
    names = {key: value for group in certificate.get("issuer", ()) for key, value in group}
    issuer = names.get("organizationName") or names.get("commonName") or "an unnamed authority"
    until = str(certificate.get("notAfter", ""))
    check.say(f"certificate of {issuer}, until {until}")
    if _INTERCEPTORS.search(issuer):
        check.say("by its name that is a proxy or a scanner that reads what passes; it is trusted here")
    try:
        end_s = ssl.cert_time_to_seconds(until)
        whole_s = end_s - ssl.cert_time_to_seconds(str(certificate.get("notBefore", "")))
    except ValueError:
        return
    left_s = end_s - time.time()
    # Short-lived certificates are renewed at about half of their time: those are no reason to worry.
    if left_s < _WEEK_S and left_s < whole_s / 4:
        check.warn(f"it expires in {_days(left_s)}")
        sheet.diagnose("TLS-6", f"the certificate of {host} expires in {_days(left_s)}, on {until}")


def _days(seconds: float) -> str:
    days = seconds / 86_400
    return f"{days:.0f} days" if days >= 2 else f"{seconds / 3600:.0f} hours"


def _diagnose_handshake(sheet: Sheet, check: OpenCheck, error: Exception, where: str) -> None:
    reason = getattr(error, "reason", None) or str(error) or type(error).__name__
    check.fail(f"no TLS: {reason}")
    # An alert is an answer in TLS: something there speaks it, and does not want this client.
    if "ALERT" in reason or "UNSUPPORTED_PROTOCOL" in reason:
        said = reason.replace("_", " ").lower()
        sheet.diagnose("TLS-9", f"{where} speaks TLS and refuses the handshake: {said}")
    else:
        sheet.diagnose("TLS-4", f"{where} did not answer with TLS ({reason})")


def _diagnose_certificate(
    sheet: Sheet, check: OpenCheck, error: ssl.SSLCertVerificationError, host: str, seen: _Seen
) -> None:
    reason = error.verify_message.rstrip(".")
    by = f", issued by {seen.issuer!r}" if seen.issuer else ""
    check.fail(f"the certificate is refused: {reason}{by}")
    if seen.names:
        check.say(f"it is for {', '.join(seen.names[:8])}, from {seen.since} until {seen.until}")
    lost = _lost_settings()
    code = error.verify_code
    if code == _EXPIRED:
        sheet.diagnose("TLS-2", f"the certificate of {host}{by}, expired on {seen.until or 'an unknown day'}")
    elif code == _NOT_YET:
        sheet.diagnose(
            "TLS-2",
            f"the certificate of {host}{by}, is not valid before {seen.since}",
            fix="Look at this machine's clock; if it is right, wait or get another certificate.",
        )
    elif code in _OTHER_NAME:
        names = ", ".join(seen.names[:8]) or "no name at all"
        sheet.diagnose("TLS-3", f"{reason}: it is for {names}{by}")
    elif lost:
        sheet.diagnose("TLS-8", f"{lost}; the certificate of {host}{by}, is not trusted")
    else:
        _diagnose_authority(sheet, host, seen, reason, code=code)


def _diagnose_authority(sheet: Sheet, host: str, seen: _Seen, reason: str, *, code: int) -> None:
    by = f", issued by {seen.issuer!r}" if seen.issuer else ""
    if _INTERCEPTORS.search(seen.issuer):
        sheet.diagnose(
            "TLS-1",
            f"the certificate of {host}{by}, is not trusted here: by that name it is a proxy or a scanner "
            "that puts its own in place of the server's",
            fix=(
                f"Export the root certificate of {seen.issuer} from the system's store, append it to a copy "
                "of the usual ones, and set SSL_CERT_FILE to that file. Do not switch checks off."
            ),
            confidence="likely",
        )
    elif seen.is_own_issuer or code == _SELF_SIGNED:
        sheet.diagnose(
            "TLS-1",
            f"the certificate of {host}{by}, is signed by itself: {reason}",
            blame="server",
            fix=(
                "Get a certificate from an authority; for a server of your own set SSL_CERT_FILE to a file "
                "that has its certificate, too. Do not switch checks off."
            ),
        )
    elif code in _NO_ISSUER and seen.has_issuer_address:
        sheet.diagnose("TLS-7", f"the certificate of {host}{by}, and no certificate of that issuer was sent")
    else:
        used = os.environ.get("SSL_CERT_FILE")
        also = f"; SSL_CERT_FILE={used} does not have that authority" if used else ""
        sheet.diagnose("TLS-1", f"the certificate of {host}{by}, is not trusted here: {reason}{also}")


def _lost_settings() -> str:
    """What is wrong with the variables that say whom to trust, or ""."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file and not Path(file).is_file():
        return f"SSL_CERT_FILE is {file!r}, and there is no such file"
    if folder and not file and not Path(folder).is_dir():
        return f"SSL_CERT_DIR is {folder!r}, and there is no such folder"
    return ""


async def _look_unchecked(connect: Callable[[], Awaitable[Streams]], host: str, timeout_s: float) -> _Seen:
    """What a certificate that is refused says of itself; nothing is sent on that connection."""
    try:
        return _read(await _greet(connect, host, _unchecking(), timeout_s))
    except (OSError, EOFError, ValueError, TimeoutError):
        return _Seen()


def _is_public_address(place: object) -> bool:
    """Whether an issuer's certificate is to be had by everybody, as of authorities that systems trust."""
    host = split_url(str(place)).hostname or ""
    return str(place).startswith("http") and "." in host and not host.endswith(_INNER)


def _read(raw: bytes) -> _Seen:
    """Read a certificate.

    Raises:
        ValueError: it is none.
    """
    from cryptography import x509
    from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID

    certificate = x509.load_der_x509_certificate(raw)
    names: list[str] = []
    has_address = False
    odd = (x509.ExtensionNotFound, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)
    with contextlib.suppress(*odd, ValueError):
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names = [str(each.value) for each in found]
    with contextlib.suppress(*odd, ValueError):
        access = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
        has_address = any(
            each.access_method == AuthorityInformationAccessOID.CA_ISSUERS
            and _is_public_address(each.access_location.value)
            for each in access
        )
    issuer = certificate.issuer
    named = issuer.get_attributes_for_oid(NameOID.ORGANIZATION_NAME) or issuer.get_attributes_for_oid(
        NameOID.COMMON_NAME
    )
    return _Seen(
        issuer=str(named[0].value) if named else "",
        until=f"{certificate.not_valid_after_utc:%Y-%m-%d}",
        since=f"{certificate.not_valid_before_utc:%Y-%m-%d}",
        names=tuple(names),
        is_own_issuer=issuer == certificate.subject,
        has_issuer_address=has_address,
    )
