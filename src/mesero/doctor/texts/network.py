"""The way to a URL: names, connections, TLS."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "NET-1": Text(
        "The name cannot be resolved",
        "launch",
        "client",
        "Correct the host in the URL, or look at DNS and VPN.",
    ),
    "NET-2": Text(
        "Nothing listens there",
        "launch",
        "server",
        "Start the server, or correct the port in the URL.",
    ),
    "NET-3": Text(
        "The machine does not answer",
        "launch",
        "intermediary",
        "Look at firewalls and VPN between here and there, and at the address.",
        confidence="likely",
    ),
    "NET-4": Text(
        "Some addresses of the name do not answer",
        "launch",
        "intermediary",
        "Remove the address from DNS, or listen on it: clients that try it first wait in vain.",
        "degraded",
    ),
    "TLS-1": Text(
        "The certificate comes from an authority that is not trusted here",
        "launch",
        "intermediary",
        "Set SSL_CERT_FILE to a file that has this authority's certificate, too. Do not switch checks off.",
    ),
    "TLS-2": Text(
        "The certificate has expired",
        "launch",
        "server",
        "Renew the certificate; if it is valid, look at this machine's clock.",
    ),
    "TLS-3": Text(
        "The certificate belongs to another name",
        "launch",
        "server",
        "Use the name in the certificate, or get one for this name.",
    ),
    "TLS-4": Text(
        "The port does not speak TLS",
        "launch",
        "client",
        "Use http:// for a local server, or the port that speaks TLS.",
    ),
    "TLS-5": Text(
        "The port speaks TLS, and the URL says http",
        "launch",
        "client",
        "Use https:// in the URL.",
    ),
}
"""By code."""
