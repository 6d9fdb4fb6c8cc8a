"""The way to a URL: names, connections, proxies, TLS."""

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
    "NET-5": Text(
        "The proxy that is set cannot be used",
        "launch",
        "client",
        "Correct HTTPS_PROXY or HTTP_PROXY, or list the host in NO_PROXY.",
    ),
    "NET-6": Text(
        "The proxy wants credentials",
        "launch",
        "client",
        "Put them into the variable: HTTPS_PROXY=http://user:password@host:port.",
    ),
    "NET-7": Text(
        "The proxy does not let us through to this host",
        "launch",
        "intermediary",
        "Ask whoever runs the proxy to allow the host, or list it in NO_PROXY if it can be reached without.",
    ),
    "NET-8": Text(
        "The name stands for two addresses, and the server listens at the second",
        "launch",
        "server",
        "Listen at both, or write the address that answers into the URL: some clients (Node 17 to 19) try "
        "the first alone.",
        "note",
    ),
    "NET-9": Text(
        "Some clients send what goes to this machine through the proxy",
        "launch",
        "client",
        "List this machine in NO_PROXY.",
        "note",
    ),
    "NET-10": Text(
        "The URL cannot be used",
        "launch",
        "client",
        "Write it as https://example.com/mcp.",
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
    "TLS-6": Text(
        "The certificate expires soon",
        "launch",
        "server",
        "Renew the certificate, and look why that was not done by itself.",
        "note",
    ),
    "TLS-7": Text(
        "The server leaves an intermediate certificate out",
        "launch",
        "server",
        "Configure the full chain (fullchain.pem): browsers fetch what is missing, other clients do not. If "
        "the issuer is an authority of your own, set SSL_CERT_FILE to a file that has it, too.",
        confidence="likely",
    ),
    "TLS-8": Text(
        "The variable that says whom to trust leads nowhere",
        "launch",
        "client",
        "Correct SSL_CERT_FILE (or SSL_CERT_DIR), or unset it: without it the system's authorities count.",
    ),
    "TLS-9": Text(
        "The server refuses the TLS handshake",
        "launch",
        "server",
        "Look which TLS versions and names it serves, and whether it wants a client certificate.",
        confidence="likely",
    ),
}
"""By code."""
