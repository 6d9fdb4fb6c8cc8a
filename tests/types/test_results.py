import msgspec
import pytest

from mesero.types import CacheableResult, EmptyResult, PaginatedResult, Result


def test_result_type_is_always_written():
    assert msgspec.json.encode(Result()) == b'{"resultType":"complete"}'


def test_cache_hints_are_always_written():
    assert msgspec.json.decode(msgspec.json.encode(CacheableResult())) == {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
    }


def test_an_absent_result_type_means_complete():
    assert msgspec.json.decode(b"{}", type=EmptyResult).result_type == "complete"


def test_a_result_type_of_an_extension_is_kept():
    assert msgspec.json.decode(b'{"resultType":"x/task"}', type=Result).result_type == "x/task"


def test_absent_cache_hints_mean_stale_and_private():
    read = msgspec.json.decode(b'{"resultType":"complete"}', type=CacheableResult)
    assert (read.ttl_ms, read.cache_scope) == (0, "private")


def test_the_last_page_has_no_cursor_member():
    assert b"nextCursor" not in msgspec.json.encode(PaginatedResult())
    assert b'"nextCursor":"b"' in msgspec.json.encode(PaginatedResult(next_cursor="b"))


def test_a_cache_scope_that_does_not_exist_is_refused():
    with pytest.raises(msgspec.ValidationError, match=r"\$\.cacheScope"):
        msgspec.json.decode(b'{"cacheScope":"shared"}', type=CacheableResult)
