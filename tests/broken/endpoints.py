"""HTTP servers for the broken ones: a function answers each request, on a port of its own."""

import contextlib
import http.server
import json
import queue
import threading

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
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


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
    """A server of the transport of 2024-11-05: a stream at /sse, posts to /messages."""

    def __init__(self):
        self._out = queue.Queue()

    def respond(self, method, path, headers, body):
        if method == "GET" and path == "/sse":
            return self._stream(headers.raw)
        if method == "POST" and path == "/messages":
            message = json.loads(body)
            if "id" in message:
                self._out.put({"jsonrpc": "2.0", **lines.answer(message)})
            return 202, {}, b""
        return (405 if path == "/sse" else 404), {}, b""

    def _stream(self, handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        handler.wfile.flush()
        with contextlib.suppress(queue.Empty, OSError):
            while True:
                message = self._out.get(timeout=3)
                handler.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
                handler.wfile.flush()
