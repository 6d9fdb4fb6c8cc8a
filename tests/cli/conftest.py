import http.server
import sys
import threading

import pytest

from tests.cli import programs


@pytest.fixture(autouse=True)
def _leave_no_modules(monkeypatch):
    """A Python file as a target is imported for good: that of one test must not stay for the next."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("mesero_target_"):
            del sys.modules[name]


@pytest.fixture
def notes(tmp_path):
    """The path of a Python file with a server in it."""
    path = tmp_path / "notes.py"
    path.write_text(programs.NOTES)
    return str(path)


@pytest.fixture
def changing(tmp_path):
    """A server that changes as soon as somebody listens."""
    path = tmp_path / "changing.py"
    path.write_text(programs.CHANGING)
    return str(path)


@pytest.fixture
def endpoint():
    """An HTTP server that answers with what the test puts there; what it got stays to be looked at."""

    class Endpoint(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            server.body = self.rfile.read(int(self.headers["Content-Length"]))
            server.headers = dict(self.headers)
            self.send_response(server.status)
            self.send_header("Content-Type", server.kind)
            self.send_header("Content-Length", str(len(server.answer)))
            self.end_headers()
            self.wfile.write(server.answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.status, server.kind, server.answer = 200, "application/json", b"{}"
    server.url = f"http://127.0.0.1:{server.server_port}/mcp"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join(10)
    server.server_close()
