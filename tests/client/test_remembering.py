"""What is remembered of servers, for how long, and that nothing depends on it."""

import json
import stat
import time

import pytest

from mesero.client import remembering
from mesero.client.facts import Decision
from mesero.client.remembering import (
    CACHE_DIR_VARIABLE,
    DecisionBook,
    book_for,
    cache_folder,
    forget_this_process,
)
from mesero.transports.http_client import HttpTransport
from mesero.transports.memory import MemoryTransport
from mesero.transports.stdio import StdioTransport

OLD = Decision(era="legacy", revision="2025-06-18", reason="it died", first_step="initialize")
HOUR_S = 3600.0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "decisions.json"


def book(path, key="key", **settings):
    return DecisionBook(key, **{"lifetime_s": HOUR_S, "path": path, **settings})


def test_what_is_kept_is_found_by_another_process(path):
    book(path).keep(OLD)
    forget_this_process()
    assert book(path).find() == OLD
    assert book(path, "other").find() is None


def test_what_is_forgotten_is_forgotten_by_all(path):
    book(path).keep(OLD)
    book(path, "other").keep(OLD)
    book(path).forget()
    forget_this_process()
    assert book(path).find() is None
    assert book(path, "other").find() == OLD


def test_without_a_file_it_is_kept_as_long_as_the_process():
    book(None).keep(OLD)
    assert book(None).find() == OLD
    book(None).forget()
    assert book(None).find() is None


def test_what_is_too_old_is_not_believed(path, monkeypatch):
    book(path).keep(OLD)
    now = time.time()
    monkeypatch.setattr(remembering.time, "time", lambda: now + HOUR_S + 1)
    assert book(path).find() is None
    monkeypatch.setattr(remembering.time, "time", lambda: now - 100)
    assert book(path).find() is None


BROKEN = [
    b"",
    b"{",
    b"[]",
    b"\xff",
    b'{"mesero_decisions":2,"known":{}}',
    b'{"mesero_decisions":1,"known":{"key":7}}',
    b"[" * 100_000,
    b'{"mesero_decisions":1,"known":{}}' + b" " * 2_000_000,
]


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_is_ignored_and_written_anew(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    assert book(path).find() is None
    book(path).keep(OLD)
    forget_this_process()
    assert book(path).find() == OLD


def test_a_folder_that_cannot_be_written_harms_nobody(tmp_path):
    (tmp_path / "file").write_text("")
    unwritable = book(tmp_path / "file" / "decisions.json")
    unwritable.keep(OLD)
    assert unwritable.find() == OLD
    unwritable.forget()
    assert unwritable.find() is None


def test_the_file_is_bounded_and_the_oldest_go(path, monkeypatch):
    monkeypatch.setattr(remembering, "_MAX_ENTRIES", 3)
    for number in range(5):
        book(path, str(number)).keep(OLD)
    assert list(json.loads(path.read_bytes())["known"]) == ["2", "3", "4"]
    assert len(remembering._of_this_process) == 3


def test_nothing_but_the_file_is_left_and_only_the_user_reads_it(path):
    book(path).keep(OLD)
    book(path).keep(OLD)
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failure_to_replace_the_file_leaves_nothing_behind(path, monkeypatch):
    book(path).keep(OLD)
    before = path.read_bytes()

    def fail(_self, _target):
        raise OSError("no")

    monkeypatch.setattr(remembering.Path, "replace", fail)
    book(path, "other").keep(OLD)
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == before


def keys_in(folder):
    path = folder / "decisions.json"
    return list(json.loads(path.read_bytes())["known"]) if path.exists() else []


def test_a_command_is_known_by_a_digest_of_its_words_and_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path))
    for transport in (
        StdioTransport(["server", "--token", "secret"]),
        StdioTransport(["server", "--token", "secret"]),
        StdioTransport(["server --token", "secret"]),
        StdioTransport(["server", "--token", "secret"], cwd=tmp_path),
    ):
        book_for(transport).keep(OLD)
    assert len(keys_in(tmp_path)) == 3
    assert "secret" not in (tmp_path / "decisions.json").read_text()


def test_a_url_is_remembered_in_this_process_only(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path))
    book_for(HttpTransport("http://127.0.0.1:1/mcp")).keep(OLD)
    assert book_for(HttpTransport("http://127.0.0.1:1/mcp")).find() == OLD
    assert book_for(HttpTransport("http://127.0.0.1:1/other")).find() is None
    assert keys_in(tmp_path) == []


def test_a_server_in_this_process_is_not_remembered():
    assert book_for(MemoryTransport(lambda *_: None)) is None


def test_the_folder_is_the_users_own_for_caches(monkeypatch):
    monkeypatch.delenv(CACHE_DIR_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere/cache")
    assert cache_folder().name == "mesero"
