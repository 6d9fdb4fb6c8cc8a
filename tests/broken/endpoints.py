"""HTTP servers for the broken ones: a function answers each request, on a port of its own."""

import contextlib
import http.client
import http.server
import json
import queue
import select
import socket
import threading
from urllib.parse import urlsplit

from tests.broken import lines

JSON = {"Content-Type": "application/json"}
SESSION = "1868a90c-46a2-4b5f-9d1e-0c3a5b7d9e11"


@contextlib.contextmanager
def serving(respond, *, context=None):
    """The root URL of a server that answers with ``respond(method, path, headers, body)``.

    That gives status, headers and body; or None where it wrote the answer itself, to the handler in the
    attribute ``raw`` of the headers.
    """

    class Endpoint(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.headers.raw = self
            given = respond(self.command, self.path, self.headers, body)
            if given is None:
                self.close_connection = True
                return
            status, headers, content = given
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = do_OPTIONS = answer  # noqa: N815 - the names that the library calls

        def log_message(self, *_):
            pass

        def handle(self):
            with contextlib.suppress(OSError):
                super().handle()

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Endpoint)
    if context is not None:
        # The handshake is each connection's own matter: one that is silent must not stop the others.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@contextlib.contextmanager
def answering(respond):
    """The port of a server that gives each connection to ``respond(connection, head)`` once a head came.

    What it speaks need not be HTTP; the head ends with an empty line.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)
    threads = []
    connections = []

    def answer(connection):
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5)
            head = b""
            while b"\r\n\r\n" not in head and (data := connection.recv(65536)):
                head += data
            if head:
                respond(connection, head)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                connections.append(listener.accept()[0])
                one = threading.Thread(target=answer, args=(connections[-1],), daemon=True)
                one.start()
                threads.append(one)

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join(10)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(10)


def saying(raw):
    """For `answering`: the same bytes to everybody, and then the end."""
    return lambda connection, head: connection.sendall(raw)


def tunnelling_to(port, *, asked=None):
    """For `answering`: a proxy that opens a way to one port, whatever host it is asked for."""

    def respond(connection, head):
        if asked is not None:
            asked.append(head.partition(b"\r\n")[0].decode())
        with socket.create_connection(("127.0.0.1", port)) as inner:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            ends = {connection: inner, inner: connection}
            while True:
                for end in select.select(list(ends), [], [], 5)[0] or [None]:
                    data = end.recv(65536) if end is not None else b""
                    if not data:
                        return
                    ends[end].sendall(data)

    return respond


def forwarding_to(root, *, holds_head=True, timeout_s=5):
    """A proxy that passes nothing on before the answer is complete; with ``holds_head=False`` the head."""
    netloc = urlsplit(root).netloc

    def respond(method, path, headers, body):
        inner = http.client.HTTPConnection(netloc, timeout=timeout_s)
        with contextlib.closing(inner):
            inner.request(method, path, body, dict(headers.items()))
            answer = inner.getresponse()
            named = {
                name: value
                for name, value in answer.getheaders()
                if name.lower() not in ("content-length", "transfer-encoding", "server", "date", "connection")
            }
            named["Via"] = "1.1 holder"
            is_stream = answer.getheader("Content-Type", "").startswith("text/event-stream")
            if not is_stream or holds_head:
                return answer.status, named, answer.read()
            begin_stream(headers.raw, **named)
            headers.raw.wfile.write(answer.read())
            return None

    return respond


def begin_stream(handler, **headers):
    """The head of an event stream that ends with its connection."""
    handler.send_response(200)
    for name, value in {"Content-Type": "text/event-stream", "Connection": "close", **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.flush()


def say_event(handler, message):
    """One event with a message."""
    handler.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
    handler.wfile.flush()


def honest(method, path, headers, body, *, session="", at="/mcp", unknown=404, **how):
    """What an honest server of the older era answers; with ``session`` one that knows its sessions."""
    if path != at:
        return 404, {}, b""
    if method != "POST":
        return 405, {"Allow": "POST"}, b""
    if headers.get("Origin"):
        return 403, {}, b""
    message = json.loads(body)
    name = message["method"]
    if session and name != "initialize" and headers.get("Mcp-Session-Id") != session:
        return (400 if headers.get("Mcp-Session-Id") is None else unknown), {}, b"no such session"
    if "id" not in message:
        return 202, {}, b""
    extra = {"Mcp-Session-Id": session} if session and name == "initialize" else {}
    answer = {"jsonrpc": "2.0", **lines.answer(message, **how)}
    return 200, {**JSON, **extra}, json.dumps(answer).encode()


class OldTransport:
    """A server of the transport of 2024-11-05: a stream at /sse, posts to /messages.

    Args:
        is_guarded: Whether it refuses pages of other sites.
    """

    def __init__(self, *, is_guarded=True):
        self._out = queue.Queue()
        self._is_guarded = is_guarded

    def respond(self, method, path, headers, body):
        if self._is_guarded and headers.get("Origin"):
            return 403, {}, b""
        if method == "GET" and path == "/sse":
            return self._stream(headers.raw)
        if method == "POST" and path == "/messages":
            message = json.loads(body)
            if "id" in message:
                self._out.put({"jsonrpc": "2.0", **lines.answer(message)})
            return 202, {}, b""
        return (405 if path == "/sse" else 404), {}, b""

    def _stream(self, handler):
        begin_stream(handler)
        handler.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        handler.wfile.flush()
        with contextlib.suppress(queue.Empty, OSError):
            while True:
                say_event(handler, self._out.get(timeout=3))
