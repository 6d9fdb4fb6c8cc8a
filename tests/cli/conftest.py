import sys

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
