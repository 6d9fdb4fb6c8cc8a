from mesero.doctor.recording import Recording
from mesero.trace.format import ExitLine, Header, Http, StderrLine


def test_what_passes_is_kept_in_memory_and_in_the_file(tmp_path):
    recording = Recording(tmp_path / "visit.jsonl")
    recording.link("a", "stdio", "a").stderr(b"words")
    recording.close()

    assert isinstance(recording.lines[0], Header)
    assert isinstance(recording.lines[1], StderrLine)
    assert len((tmp_path / "visit.jsonl").read_text().splitlines()) == 2


def test_of_too_much_the_beginning_is_judged_and_the_end_known(monkeypatch):
    monkeypatch.setattr("mesero.doctor.recording._MAX_LINES", 5)
    recording = Recording()
    link = recording.link("a", "stdio", "a")
    for number in range(10):
        link.stderr(b"%d" % number)
    link.exit(3)
    recording.close()

    assert [getattr(line, "raw", "") for line in recording.lines[1:]] == ["0", "1", "2", "3", ""]
    assert isinstance(recording.lines[-1], ExitLine)
    assert len(recording.judged) == 5


def test_long_lines_are_too_much_as_well(monkeypatch):
    monkeypatch.setattr("mesero.doctor.recording._MAX_CHARS", 1_000)
    recording = Recording()
    link = recording.link("a", "http", "a")
    link.message("s2c", b'{"a": "%s"}' % (b"x" * 600))
    link.http("s2c", Http(exchange=1, status=200), body=b"x" * 600)
    recording.close()

    assert len(recording.lines) == 2
