"""What answers the clients over HTTP: functions, as `tests.broken.endpoints.serving` takes them."""

import base64
import functools
import itertools
import json
import uuid
from urllib.parse import parse_qsl, urlsplit

import mesero
from tests.broken import lines
from tests.broken.endpoints import JSON, honest

STREAM = {"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}


class Sessions:
    """A server of the older era that gives sessions, ends them when asked to, and changes what it is told to.

    ``forgets`` is the number of the request after which the first session is forgotten, ``breaks`` that of
    the one at which the connection breaks without an answer.
    """

    def __init__(self, *, forgets=0, breaks=0, event_id="", holds=False):
        self._known = set()
        self._forgets, self._breaks = forgets, breaks
        self._event_id, self._holds = event_id, holds
        self._numbers = itertools.count(1)

    def __call__(self, method, path, headers, body):
        session = headers.get("Mcp-Session-Id")
        if method == "GET" and headers.get("Last-Event-ID") in _AFTER:
            return 200, STREAM, _AFTER[headers["Last-Event-ID"]]
        if method == "GET":
            return 405, {"Allow": "POST, DELETE"}, b""
        if method == "DELETE":
            self._known.discard(session)
            return 200, {}, b""
        message = json.loads(body)
        if message["method"] == "initialize":
            return self._begin(message)
        if session not in self._known:
            return (400 if session is None else 404), {}, b"no such session"
        if "id" not in message:
            return 202, {}, b""
        return self._answer(message, session, headers)

    def _begin(self, message):
        session = str(uuid.uuid4())
        self._known.add(session)
        answer = {"jsonrpc": "2.0", **lines.answer(message)}
        return 200, {**JSON, "Mcp-Session-Id": session}, json.dumps(answer).encode()

    def _answer(self, message, session, headers):
        number = next(self._numbers)
        if number == self._forgets:
            self._known.discard(session)
        if number == self._breaks:
            headers.raw.connection.close()
            return None
        if message["method"] == "tools/call":
            return self._stream(headers.raw)
        return 200, JSON, json.dumps({"jsonrpc": "2.0", **lines.answer(message)}).encode()

    def _stream(self, handler):
        """An event stream that breaks off, or goes on without a word."""
        handler.send_response(200)
        for name, value in STREAM.items():
            handler.send_header(name, value)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        first = f"id: {self._event_id}\ndata: \n\n" if self._event_id else ": working\n\n"
        handler.wfile.write(f"{len(first):x}\r\n{first}\r\n".encode())
        handler.wfile.flush()
        if self._holds:
            # Until whoever waits has gone.
            handler.connection.settimeout(10)
            handler.connection.recv(1)


_RESULT = b'{"jsonrpc": "2.0", "id": 2, "result": {"content": []}}'
_AFTER = {"e1": b"id: e2\ndata: \n\n", "e2": b"id: e3\ndata: " + _RESULT + b"\n\n"}
"""The last event that came → what comes on the next connection: the second one is cut as well."""


def checks_the_revision(method, path, headers, body):
    """Refuses another revision than the negotiated one."""
    if headers.get("MCP-Protocol-Version", lines.OLD) != lines.OLD:
        return 400, {}, b"the negotiated revision is another one"
    return honest(method, path, headers, body)


def wants_both_kinds(method, path, headers, body):
    """Refuses whoever does not accept JSON and event streams."""
    if "text/event-stream" not in headers.get("Accept", ""):
        return 406, {}, b"Not Acceptable: Client must accept both application/json and text/event-stream"
    return honest(method, path, headers, body)


def believes_the_body(method, path, headers, body):
    """P118: of the newer era, and compares no header with anything."""
    message = json.loads(body)
    named = {"io.modelcontextprotocol/serverInfo": {"name": "small", "version": "1"}}
    result = {"resultType": "complete", "content": [], "_meta": named}
    return 200, JSON, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()


def modern():
    """Our own server, of the newer era, with a tool that asks its user."""
    server = mesero.Server("small", version="1")

    @server.tool(requires={"elicitation": {}})
    def slow() -> str:
        return "done"

    return server.asgi()


class Authorization:
    """A server that wants a token, and the authorization server at the same origin.

    Tokens are good until somebody posts to ``/expire``, refresh tokens once. ``first`` is the scope that the
    server asks for at first; it needs ``files:read``.
    """

    def __init__(self, first="files:read"):
        self._first = first
        self._clients, self._codes, self._access, self._refresh = set(), {}, {}, {}
        self._numbers = itertools.count(1)

    def __call__(self, method, path, headers, body):
        self._root = f"http://{headers['Host']}"
        place = urlsplit(path)
        serve = {
            "/mcp": self._serve,
            "/.well-known/oauth-protected-resource/mcp": self._resource,
            "/.well-known/oauth-authorization-server": self._metadata,
            "/register": self._register,
            "/authorize": self._authorize,
            "/token": self._token,
            "/expire": self._expire,
        }[place.path]
        fields = (
            dict(parse_qsl(place.query or body.decode())) if place.path in ("/authorize", "/token") else {}
        )
        return (
            serve(fields)
            if fields
            else serve(functools.partial(honest, method, path, headers, body), headers)
        )

    def _challenge(self, **more):
        named = {"resource_metadata": f"{self._root}/.well-known/oauth-protected-resource/mcp", **more}
        return {"WWW-Authenticate": "Bearer " + ", ".join(f'{k}="{v}"' for k, v in named.items())}

    def _serve(self, answer, headers):
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self._access:
            return 401, self._challenge(scope=self._first), b""
        if "files:read" not in self._access[token].split():
            return 403, self._challenge(error="insufficient_scope", scope="files:read"), b""
        return answer()

    def _resource(self, *_):
        named = {"resource": f"{self._root}/mcp", "authorization_servers": [self._root]}
        return _document({**named, "scopes_supported": ["files:read", "files:list"]})

    def _metadata(self, *_):
        places = {f"{name}_endpoint": f"{self._root}/{path}" for name, path in _PLACES.items()}
        return _document({"issuer": self._root, "code_challenge_methods_supported": ["S256"], **places})

    def _register(self, *_):
        client_id = f"client-{next(self._numbers)}-of-today"
        self._clients.add(client_id)
        return _document({"client_id": client_id}, 201)

    def _authorize(self, fields):
        if fields["client_id"] not in self._clients:
            # There is nobody to go back to.
            # https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
            return _document({"error": "invalid_client"}, 400)
        back = f"{fields['redirect_uri']}?state={fields['state']}"
        if not set(fields["scope"].split()) <= {"files:read", "files:list"}:
            return 302, {"Location": f"{back}&error=invalid_scope"}, b""
        code = f"code-{next(self._numbers)}"
        self._codes[code] = fields["scope"]
        return 302, {"Location": f"{back}&code={code}"}, b""

    def _token(self, fields):
        if fields["client_id"] not in self._clients:
            return _document({"error": "invalid_client"}, 401)
        is_code = fields["grant_type"] == "authorization_code"
        scope = (self._codes if is_code else self._refresh).pop(
            fields["code" if is_code else "refresh_token"], None
        )
        if scope is None:
            return _document({"error": "invalid_grant"}, 400)
        number = next(self._numbers)
        access, refresh = (_opaque(f"{kind}-{number}") for kind in ("access", "refresh"))
        self._access[access], self._refresh[refresh] = scope, scope
        return _document({"access_token": access, "refresh_token": refresh, "token_type": "Bearer"})

    def _expire(self, *_):
        self._access.clear()
        return 204, {}, b""


_PLACES = {"registration": "register", "authorization": "authorize", "token": "token"}


def _document(value, status=200):
    return status, JSON, json.dumps(value).encode()


def _opaque(text):
    return base64.urlsafe_b64encode(f"{text}-0123456789".encode()).decode().rstrip("=")
