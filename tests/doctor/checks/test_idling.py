import contextlib
import socket
import struct
import threading

import pytest

from mesero.doctor import examine
from mesero.doctor.checks.idling import Idle, hold_idle, tell_idle
from mesero.doctor.sheet import OpenCheck, Sheet
from tests.broken.endpoints import answering, honest, serving

ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


def ending(how):
    """Answers once, and after a pause closes the connection, resets it, or leaves it open."""
    over = threading.Event()

    def respond(connection, head):
        connection.sendall(ANSWER)
        over.wait(5.0 if how == "open" else 0.2)
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    respond.over = over
    return respond


@pytest.mark.parametrize("how", ["open", "closed", "reset"])
async def test_the_end_of_an_idle_connection_is_seen(how):
    respond = ending(how)
    with answering(respond) as port:
        idle = await hold_idle(f"http://127.0.0.1:{port}/mcp", for_s=0.6)
        respond.over.set()

    assert idle is not None
    assert idle.end == how
    assert 0.1 < idle.after_s < 0.7


async def test_what_cannot_be_reached_says_nothing(monkeypatch):
    assert await hold_idle("http://127.0.0.1:9/", for_s=0.5) is None

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert await hold_idle("http://example.com/", for_s=0.5) is None


def test_only_a_reset_is_a_note():
    sheet, check = Sheet([]), OpenCheck("streams")

    for idle in (None, Idle("open", 1.0), Idle("closed", 2.0)):
        tell_idle(sheet, check, idle)
    assert (check.status, sheet.diagnoses) == ("ok", ())

    tell_idle(sheet, check, Idle("reset", 3.0))
    assert [(each.code, each.severity) for each in sheet.diagnoses] == [("WATCH-5", "note")]


async def test_a_reset_is_told_of_a_server_that_is_fine_otherwise():
    """P86."""

    def respond(method, path, headers, body):
        if method == "OPTIONS" and not headers.get("Origin"):
            with contextlib.suppress(OSError):
                handler = headers.raw
                handler.send_response(204)
                handler.end_headers()
                threading.Event().wait(0.2)
                linger = struct.pack("ii", 1, 0)
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                handler.connection.close()
            return None
        return honest(method, path, headers, body)

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", watch_s=0.6)

    assert [each.code for each in report.diagnoses] == ["WATCH-5"], report
    assert report.verdict == "ok"
