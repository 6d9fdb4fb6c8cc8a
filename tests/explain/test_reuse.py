import pytest

from mesero.explain.reuse import duration_text, find_method_for, reuse_of


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (20, "20 ms"),
        (1000, "1 second"),
        (1500, "1.5 seconds"),
        (300_000, "5 minutes"),
        (3_600_000, "1 hour"),
        (86_400_000 * 2, "2 days"),
        (86_400_000 * 5000, "5000 days"),
    ],
)
def test_durations_are_in_the_unit_that_fits(milliseconds, text):
    assert duration_text(milliseconds) == text


def test_a_method_is_found_by_its_result():
    assert find_method_for({"tools": []}) == "tools/list"
    assert find_method_for({"x": 1}) is None


def test_a_fresh_result_says_how_long_and_for_whom():
    hints = {"resultType": "complete", "ttlMs": 60000, "cacheScope": "public"}
    fresh, scope, key = reuse_of(hints, answers="tools/list")
    assert "fresh for 1 minute" in fresh
    assert "Anybody" in scope
    assert "key" in key
    assert "Only the same" in reuse_of({**hints, "cacheScope": "private"}, answers=None)[1]
    assert "missing or unknown" in reuse_of({**hints, "cacheScope": 5}, answers=None)[1]


@pytest.mark.parametrize(
    ("ttl", "why"),
    [({"ttlMs": 0}, "is 0"), ({"ttlMs": -5}, "is -5"), ({"ttlMs": True}, "True"), ({}, "missing")],
)
def test_without_a_time_it_is_stale_at_once(ttl, why):
    text = reuse_of(ttl, answers="tools/list")[0]
    assert "stale at once" in text
    assert why in text


def test_calls_and_questions_are_never_kept():
    assert "not kept" in reuse_of({"content": []}, answers="tools/call")[0]
    assert "not the final" in reuse_of({"resultType": "input_required"}, answers="tools/call")[0]
