"""Any file as a trace: who reads it, and that its secrets stay out."""

import io
import json

import pytest

from mesero.errors import UsageError
from mesero.trace.format import Header, Link, NoteLine, encode_header, encode_line
from mesero.trace.importers import choose_importer, open_recording, recording_of
from mesero.trace.importers.desktop import ClaudeLog
from mesero.trace.importers.editor import EditorLog
from mesero.trace.importers.har import HarFile
from mesero.trace.importers.text import TextFile
from mesero.trace.reader import TraceReader

HEADER = encode_header(Header(by="mesero 1", links={"1": Link(name="a")}))
NOTE = encode_line(NoteLine(seq=1, t=0, link="1", text="token=canary-1"))
CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"api_key":"canary-1"}}}'
HAR = {
    "log": {
        "version": "1.2",
        "entries": [
            {
                "request": {
                    "method": "POST",
                    "url": "https://host/0123456789abcdefghij/mcp",
                    "headers": [{"name": "authorization", "value": "Bearer canary-1"}],
                    "postData": {"text": CALL},
                },
                "response": {"status": 200, "content": {"text": CALL}},
            }
        ],
    }
}
FILES = [
    (HEADER + NOTE, TraceReader),
    (NOTE, TraceReader),
    (b"\xef\xbb\xbf\n" + HEADER, TraceReader),
    (json.dumps(HAR, indent=2).encode(), HarFile),
    (b'{"log":{"creator":{}', HarFile),
    (f"2025-07-23T15:09:15.427Z [a] [info] Message from client: {CALL} canary-1\n".encode(), ClaudeLog),
    (f"stderr first\n2026-07-24 02:03:14.089 [debug] [editor -> server] {CALL}\n".encode(), EditorLog),
    (f"sent {CALL}\n".encode(), TextFile),
    (CALL.encode(), TextFile),
    (b"", TextFile),
    (b"\xff\x00", TextFile),
]


@pytest.mark.parametrize(("raw", "importer"), FILES)
def test_a_file_is_read_by_who_knows_its_kind(raw, importer):
    assert choose_importer(raw) is importer


@pytest.mark.parametrize("raw", [raw for raw, importer in FILES if importer is not TraceReader])
def test_secrets_that_other_programs_wrote_down_stay_out(raw, tmp_path):
    (tmp_path / "a").write_bytes(raw)

    recording = open_recording(tmp_path / "a")

    header = encode_header(recording.header)
    written = header + b"".join(encode_line(line) for line in recording)
    assert b"canary" not in written
    assert b"0123456789abcdefghij" not in written
    assert recording.header.by.startswith("mesero, from ")
    assert isinstance(recording.unknown, tuple)
    recording.close()


def test_secrets_stay_in_when_asked_for():
    recording = recording_of(io.BytesIO(CALL.encode()), raw=True)

    assert [line.raw for line in recording] == [CALL]


def test_a_trace_was_redacted_when_it_was_recorded_and_is_read_as_it_is():
    recording = recording_of(io.BytesIO(HEADER + NOTE))

    assert [line.text for line in recording] == ["token=canary-1"]


def test_the_problems_are_those_of_the_file():
    recording = recording_of(io.BytesIO(b"nothing"))

    assert list(recording) == []
    assert recording.problems.count == 1


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(UsageError, match="missing"):
        open_recording(tmp_path / "missing")
