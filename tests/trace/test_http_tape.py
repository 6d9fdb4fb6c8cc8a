"""What a proxy tells of one exchange: messages as messages, everything else as HTTP."""

import zlib

import pytest

from mesero.trace.http_tape import HttpTape, headers_from

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
DONE = b'{"jsonrpc":"2.0","id":1,"result":{}}'
OWN = "http://127.0.0.1:9000/mcp"


class Tape(HttpTape):
    def __init__(self, *, is_endpoint=True):
        self.told, self.said = [], []

        def tell(event, *values, bulk=0):
            assert bulk == (len(values[1]) if event == "message" else 0)
            self.told.append((event, *values))

        super().__init__(
            tell, lambda _, text: self.said.append(text), 4, is_endpoint=is_endpoint, own_url=OWN
        )

    @property
    def kinds(self):
        return [(event, values[0]) for event, *values in self.told]


def test_a_repeated_header_has_a_list():
    pairs = [("A", "1"), ("b", "2"), ("a", "3"), ("A", "4")]
    assert headers_from(pairs) == {"a": ["1", "3", "4"], "b": "2"}


@pytest.mark.parametrize(
    ("method", "body", "is_endpoint", "kind"),
    [
        ("POST", PING, True, "message"),
        ("POST", b"no JSON", True, "message"),
        ("POST", b"", True, "http"),
        ("GET", b"", True, "http"),
        ("POST", PING, False, "message"),
        ("POST", b"grant_type=refresh_token", False, "http"),
    ],
)
def test_a_request_is_a_message_where_it_can_be_one(method, body, is_endpoint, kind):
    tape = Tape(is_endpoint=is_endpoint)
    tape.ask(method, "http://x/mcp", {}, body)
    assert tape.kinds == [(kind, "c2s" if kind == "message" else tape.told[0][1])]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, DONE, "message"),
        (200, b"{}", "message"),
        (400, DONE, "message"),
        (401, b'{"error":"invalid_token"}', "http"),
        (200, b"<html>", "http"),
        (202, b"", "http"),
    ],
)
def test_an_answer_is_a_message_where_it_is_one(status, body, kind):
    tape = Tape()
    tape.ask("POST", "http://x/mcp", {}, PING)
    tape.begin_answer(status, {"content-type": "application/json"})
    tape.take(body[:5])
    tape.take(body[5:])
    assert len(tape.told) == 1
    tape.finish()
    assert tape.told[1][0] == kind
    tape.finish()
    tape.fail("late")
    tape.give_up()
    assert len(tape.told) == 2


def test_the_last_byte_of_a_known_length_is_the_end():
    tape = Tape()
    tape.ask("POST", "http://x/mcp", {}, PING)
    tape.begin_answer(200, {"content-length": str(len(DONE))})
    tape.take(DONE)
    assert tape.told[1][:3] == ("message", "s2c", DONE)


def test_packed_answers_are_unpacked_and_broken_ones_are_said():
    tape = Tape()
    tape.ask("POST", "http://x/mcp", {"content-encoding": "deflate"}, b"not packed at all")
    assert tape.told[0][2] == b"not packed at all"
    tape.begin_answer(200, {"content-encoding": "deflate"})
    packed = zlib.compress(DONE)
    tape.take(packed[:4])
    tape.take(packed[4:])
    tape.finish()
    assert tape.told[1][2] == DONE
    tape = Tape()
    tape.begin_answer(200, {"content-encoding": "gzip"})
    tape.take(b"not packed at all")
    tape.finish()
    assert tape.told[0][0] == "note"
    assert tape.told[1][0] == "http"


def test_a_stream_begins_with_its_headers_and_ends_with_an_eof():
    tape = Tape()
    tape.ask("GET", "http://x/mcp", {}, b"")
    tape.begin_answer(200, {"content-type": "text/event-stream; charset=utf-8"})
    tape.take(b"event: endpoint\ndata: /messages?id=1\n\ndata: " + DONE[:9])
    tape.take(DONE[9:] + b"\n\n")
    tape.give_up()
    assert [one[0] for one in tape.told] == ["http", "http", "http", "message", "end_exchange"]
    assert tape.told[2][3] == b"/messages?id=1"
    assert tape.told[2][2]["event"] == "endpoint"
    assert tape.told[3][3]["sse"] is True
    assert tape.told[4] == ("end_exchange", "c2s", 4)
    assert tape.said == []


def test_an_event_over_the_limit_is_said(monkeypatch):
    monkeypatch.setattr("mesero.framing.EventFramer.__init__.__kwdefaults__", {"max_bytes": 10})
    tape = Tape()
    tape.begin_answer(200, {"content-type": "text/event-stream"})
    tape.take(b"data: " + DONE + b"\n\n")
    assert tape.told[-1][0] == "note"


def test_what_came_before_it_broke_off_is_kept():
    tape = Tape()
    tape.ask("POST", "http://x/mcp", {}, PING)
    tape.begin_answer(200, {"content-length": "1000"})
    tape.take(DONE[:10])
    tape.fail("reset")
    assert tape.told[-1] == ("http", "s2c", tape.told[-1][2], DONE[:10], "reset")
    tape = Tape()
    tape.begin_answer(200, {"content-length": "1000"})
    tape.take(DONE[:10])
    tape.give_up()
    assert [one[0] for one in tape.told] == ["http", "end_exchange"]


def test_an_endpoint_elsewhere_is_explained():
    tape = Tape()
    tape.begin_answer(200, {"content-type": "text/event-stream"})
    tape.take(b"event: endpoint\ndata: http://other/messages?secret=1\n\n")
    assert "http://other/messages:" in tape.said[0]


@pytest.mark.parametrize(
    ("body", "is_explained"),
    [
        (b'{"resource":"https://real/mcp"}', True),
        (b'{"resource":"http://127.0.0.1:9000/mcp"}', False),
        (b'{"resource":3}', False),
        (b"no JSON", False),
        (b"[]", False),
    ],
)
def test_only_another_resource_is_explained(body, is_explained):
    tape = Tape(is_endpoint=False)
    tape.ask("GET", "https://real/.well-known/oauth-protected-resource/mcp", {}, b"")
    tape.begin_answer(200, {})
    tape.take(body)
    tape.finish()
    assert bool(tape.said) == is_explained


def test_metadata_that_stays_here_needs_no_explanation():
    tape = Tape()
    tape.begin_answer(
        401, {"www-authenticate": ["Basic", 'Bearer resource_metadata="http://127.0.0.1:9000/x"']}
    )
    tape.begin_answer(307, {"location": "/mcp/"})
    tape.begin_answer(401, {"www-authenticate": "Bearer"})
    assert tape.said == []
