from mesero.doctor.recording import Recording
from mesero.trace.format import Header, StderrLine


def test_what_passes_is_kept_in_memory_and_in_the_file(tmp_path):
    recording = Recording(tmp_path / "visit.jsonl")
    recording.link("a", "stdio", "a").stderr(b"words")
    recording.close()

    assert isinstance(recording.lines[0], Header)
    assert isinstance(recording.lines[1], StderrLine)
    assert len((tmp_path / "visit.jsonl").read_text().splitlines()) == 2
