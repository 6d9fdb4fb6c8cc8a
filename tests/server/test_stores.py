"""State behind opaque handles."""

import sqlite3
import stat
import sys
import threading

import pytest

from mesero.server.stores import MemoryStore, SqliteStore


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path, clock):
    kept = (
        MemoryStore(clock=clock)
        if request.param == "memory"
        else SqliteStore(str(tmp_path / "s.db"), clock=clock)
    )
    yield kept
    kept.close()


def test_a_value_is_found_under_its_handle(store):
    handle = store.create({"a": [1, None, "x"]})
    assert store.find(handle) == {"a": [1, None, "x"]}


def test_handles_are_long_random_and_never_the_same(store):
    handles = {store.create(0) for _ in range(200)}
    assert len(handles) == 200
    assert min(map(len, handles)) >= 22


def test_a_foreign_handle_looks_unknown(store):
    handle = store.create("secret", owner="alice")
    assert store.find(handle, owner="bob") is None
    assert store.find(handle) is None
    assert not store.update(handle, "changed", owner="bob")
    assert not store.delete(handle, owner="bob")
    assert store.items(owner="bob") == []
    assert store.find(handle, owner="alice") == "secret"


def test_a_value_expires(store, clock):
    short, long = store.create("short", ttl_s=10), store.create("long")
    clock.now += 10
    assert store.find(short) is None
    assert not store.update(short, "again")
    assert store.items() == [(long, "long")]


def test_updating_and_deleting_say_whether_there_was_one(store):
    handle = store.create(1)
    assert store.update(handle, 2)
    assert store.find(handle) == 2
    assert store.delete(handle)
    assert not store.delete(handle)
    assert store.find(handle) is None


def test_items_come_in_the_order_of_their_creation(store):
    created = [store.create(number) for number in range(5)]
    assert store.items() == list(zip(created, range(5), strict=True))


def test_many_threads_may_use_one_store(store):
    def work():
        for number in range(50):
            store.delete(store.create(number))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert store.items() == []


def test_two_stores_share_one_file(tmp_path):
    path = str(tmp_path / "shared.db")
    first, second = SqliteStore(path), SqliteStore(path)
    handle = first.create("here")
    assert second.find(handle) == "here"
    first.close()
    second.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no such modes")
def test_a_new_file_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "state.db"
    SqliteStore(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_made_is_told_in_the_words_of_sqlite(tmp_path):
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        SqliteStore(str(tmp_path / "missing" / "state.db"))
