"""Credentials, and where a token is to be had."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "AUTH-1": Text(
        "The server wants the user to sign in",
        "operation",
        "client",
        "Sign in: the metadata says where.",
    ),
    "AUTH-2": Text(
        "The credentials are not accepted",
        "operation",
        "client",
        "Check that the token is current and was issued for this server.",
    ),
    "AUTH-3": Text(
        "Credentials are needed, and nothing says where to get some",
        "operation",
        "server",
        "Server: publish /.well-known/oauth-protected-resource. Client: configure a token.",
    ),
    "AUTH-4": Text(
        "The 401 does not name the metadata",
        "operation",
        "server",
        "Add resource_metadata with the URL that answered to WWW-Authenticate.",
    ),
    "AUTH-5": Text(
        "The metadata is about another resource than this URL",
        "operation",
        "server",
        "The resource must be this URL, character for character: strict clients refuse it.",
    ),
    "AUTH-6": Text(
        "An authorization server calls itself by another name",
        "operation",
        "server",
        "The issuer in its metadata must be the one that the resource names, character for character.",
    ),
    "AUTH-7": Text(
        "The authorization server registers no clients by itself",
        "operation",
        "client",
        "Register an app there, and put its client_id into the configuration.",
    ),
    "AUTH-8": Text(
        "The metadata of the authorization server cannot be found",
        "operation",
        "server",
        "Publish it at /.well-known/oauth-authorization-server or /.well-known/openid-configuration.",
    ),
    "AUTH-9": Text(
        "Access is refused",
        "operation",
        "client",
        "The credentials are not good for this; ask for the scopes that the server names.",
    ),
    "AUTH-10": Text(
        "The server wants a sign-in, and says so in another way than with 401",
        "operation",
        "server",
        "Sign in, or configure credentials. Server: answer 401 with WWW-Authenticate, so that clients know.",
        confidence="likely",
    ),
    "AUTH-11": Text(
        "The 401 names a place where there is no metadata",
        "operation",
        "server",
        "Correct resource_metadata in WWW-Authenticate: clients look there alone when it is named.",
    ),
    "AUTH-12": Text(
        "Older clients do not find the metadata of the authorization server",
        "operation",
        "server",
        "Serve it at /.well-known/oauth-authorization-server, too.",
        "note",
    ),
    "AUTH-13": Text(
        "The authorization server does not announce PKCE with S256",
        "operation",
        "server",
        'Add "code_challenge_methods_supported": ["S256"] to its metadata.',
    ),
    "AUTH-14": Text(
        "Addresses of the authorization server are plain http",
        "operation",
        "server",
        "Serve and name them with https: what is sent there are secrets.",
    ),
    "AUTH-15": Text(
        "The metadata names no authorization server",
        "operation",
        "server",
        "Add authorization_servers with at least one issuer.",
    ),
    "AUTH-16": Text(
        "The metadata leads to an address that is not public",
        "operation",
        "server",
        "Name addresses that a client may ask: of a public server only public ones.",
    ),
    "AUTH-17": Text(
        "The token has expired",
        "operation",
        "client",
        "Refresh the token, or sign in again.",
    ),
    "AUTH-18": Text(
        "The token was issued for another server, or by another one",
        "operation",
        "client",
        "Ask for a token whose resource is this server's, character for character.",
        confidence="likely",
    ),
}
"""By code."""
