"""The bare HTTP client that servers are measured with: 16 connections, one request under way on each.

    http_load.py [--handshake] SECONDS PORT

Prints one JSON line with calls a second and what sent them: wrk where it is installed (it checks statuses),
else our own epoll loop over raw sockets (it checks every answer). `--sockets` asks for the latter.
"""

from __future__ import annotations

import json
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from wire import (
    ARGUMENTS,
    HANDSHAKE,
    READY,
    check_answer,
    check_opening,
    encode_call,
    encode_opening,
    http_headers,
)

CONNECTIONS = 16
PATH = "/mcp"
READ_BYTES = 1 << 18
WARM_UP_SECONDS = 0.3
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Connection:
    """One keep-alive connection; it knows when the answer to its request is whole."""

    def __init__(self, port: int, session_id: str = "") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = [
            f"POST {PATH} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            *http_headers("tools/call", "add", session_id=session_id),
        ]
        self.head = "\r\n".join(head).encode() + b"\r\nContent-Length: %d\r\n\r\n%b"
        self.received = b""

    def send(self, number: int) -> None:
        self.send_body(encode_call(number))

    def send_body(self, body: bytes) -> None:
        self.socket.sendall(self.head % (len(body), body))

    def read_body(self) -> bytes | None:
        """The body of the answer once it is whole; an event stream is cut down to its last message."""
        chunk = self.socket.recv(READ_BYTES)
        if not chunk:
            sys.exit(f"the server closed a connection after {self.received!r}")
        self.received += chunk
        head_end = self.received.find(b"\r\n\r\n")
        if head_end < 0:
            return None
        head, body = self.received[:head_end], self.received[head_end + 4 :]
        if length := _LENGTH.search(head):
            if len(body) < int(length[1]):
                return None
        elif not body.endswith(b"0\r\n\r\n"):
            return None
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(f"the server refused: {self.received[:500]!r}")
        self.received = b""
        return body if length else message_of(body)


def message_of(stream: bytes) -> bytes:
    """The last message of a chunked event stream."""
    return stream[stream.rfind(b"data:") + 5 :].split(b"\n", 1)[0].strip()


def open_session(port: int) -> str:
    """The id of a new session, after the whole handshake."""
    url = f"http://127.0.0.1:{port}{PATH}"
    answer, session_id = post(url, encode_opening())
    check_opening(answer)
    post(url, READY, session_id)
    return session_id


def post(url: str, body: bytes, session_id: str = "") -> tuple[bytes, str]:
    """The answer and the id of its session."""
    headers = dict(line.split(": ", 1) for line in http_headers("", session_id=session_id))
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
        answer = response.read()
        is_stream = "event-stream" in response.headers.get("Content-Type", "")
        return message_of(answer) if is_stream else answer, response.headers.get("Mcp-Session-Id", "")


def measure_with_sockets(port: int, seconds: float) -> float:
    session_id = open_session(port) if HANDSHAKE else ""
    connections = [Connection(port, session_id) for _ in range(CONNECTIONS)]
    by_descriptor = {connection.socket.fileno(): connection for connection in connections}
    poll = select.epoll()
    number = 0
    for descriptor, connection in by_descriptor.items():
        poll.register(descriptor, select.EPOLLIN)
        number += 1
        connection.send(number)
    done = 0
    start = time.perf_counter()
    end = start + seconds
    while (now := time.perf_counter()) < end:
        for descriptor, _ in poll.poll(1):
            connection = by_descriptor[descriptor]
            body = connection.read_body()
            if body is None:
                continue
            check_answer(body)
            done += 1
            number += 1
            connection.send(number)
    for connection in connections:
        connection.socket.close()
    return done / (now - start)


# In a session no two open requests have the same id, so wrk makes each body anew.
BODY_BY_NUMBER = """\
local number = 0
request = function()
  number = number + 1
  return wrk.format(nil, nil, nil, string.gsub(wrk.body, "4711", number))
end
"""


def measure_with_wrk(port: int, seconds: float) -> float:
    session_id = open_session(port) if HANDSHAKE else ""
    headers = "\n".join(
        f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}"
        for name, _, value in (
            line.partition(": ") for line in http_headers("tools/call", "add", session_id=session_id)
        )
    )
    body = json.dumps(encode_call(4711).decode())
    script = f"wrk.method = 'POST'\nwrk.body = {body}\n{headers}\n{BODY_BY_NUMBER if HANDSHAKE else ''}"
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        Path(file.name).write_text(script)
        # wrk knows whole seconds only.
        time_option = f"-d{max(1, round(seconds))}s"
        command = [
            "wrk",
            "-t1",
            f"-c{CONNECTIONS}",
            time_option,
            "-s",
            file.name,
            f"http://127.0.0.1:{port}{PATH}",
        ]
        report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in report or "Socket errors" in report:
        sys.exit(report)
    found = re.search(r"Requests/sec: +([\d.]+)", report)
    return float(found[1]) if found else sys.exit(report)


def main() -> None:
    options = [argument for argument in ARGUMENTS if argument.startswith("--")]
    seconds, port = (argument for argument in ARGUMENTS if not argument.startswith("--"))
    measure_with_sockets(int(port), WARM_UP_SECONDS)
    if shutil.which("wrk") and "--sockets" not in options:
        print(json.dumps({"calls": measure_with_wrk(int(port), float(seconds)), "load": "wrk"}))
    else:
        print(json.dumps({"calls": measure_with_sockets(int(port), float(seconds)), "load": "raw sockets"}))


if __name__ == "__main__":
    main()
