"""The response cache: reused for as long, and by those, that the server said."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mesero.modern.cache import ResponseCache, cache_key_for
from mesero.modern.methods import (
    LIST_PROMPTS,
    LIST_RESOURCES,
    LIST_TEMPLATES,
    LIST_TOOLS,
    PROGRESS,
    PROMPTS_CHANGED,
    READ_RESOURCE,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
)
from mesero.types import ListToolsResult

TOOLS = cache_key_for("notes", LIST_TOOLS, {})


def result(ttl_ms=1_000, cache_scope="private"):
    return ListToolsResult(tools=[], ttl_ms=ttl_ms, cache_scope=cache_scope)


def cached(*keys):
    cache = ResponseCache()
    for key in keys:
        cache.store(key, "ana", 0, result())
    return cache


def left(cache, *keys):
    return [key in keys and cache.find(key, "ana", 0) is not None for key in keys]


# -- keys --------------------------------------------------------------------------------------------------


def test_the_key_is_the_server_the_method_and_what_affects_the_result():
    assert cache_key_for("s", "m", {"a": 1, "b": 2}) == cache_key_for(
        "s", "m", {"b": 2, "a": 1, "_meta": {"x": 1}}
    )
    assert len({cache_key_for(*key) for key in [("s", "m", {}), ("t", "m", {}), ("s", "n", {})]}) == 3
    assert cache_key_for("s", "m", {"cursor": "a"}) != cache_key_for("s", "m", {"cursor": "b"})


@pytest.mark.parametrize("name", ["inputResponses", "requestState"])
def test_a_retry_has_no_key(name):
    assert cache_key_for("s", READ_RESOURCE, {"uri": "a:1", name: "x"}) is None


# -- freshness ---------------------------------------------------------------------------------------------


def test_a_result_is_reused_until_its_time_is_over_and_then_forgotten():
    cache, kept = ResponseCache(), result(ttl_ms=1_500)
    cache.store(TOOLS, "ana", 10.0, kept)

    assert cache.find(TOOLS, "ana", 10.0) is kept
    assert cache.find(TOOLS, "ana", 11.49) is kept
    assert cache.find(TOOLS, "ana", 11.5) is None
    assert len(cache) == 0


@pytest.mark.parametrize("ttl_ms", [0, -1])
def test_a_result_without_time_is_not_kept_and_ends_what_was(ttl_ms):
    cache = cached(TOOLS)
    cache.store(TOOLS, "ana", 0, result(ttl_ms=ttl_ms))

    assert len(cache) == 0


def test_a_time_that_no_clock_can_count_is_a_long_one():
    cache = ResponseCache()
    cache.store(TOOLS, "ana", 0, result(ttl_ms=10**400))

    assert cache.find(TOOLS, "ana", 10**9) is not None


# -- scope (an exercise of the lesson: who may reuse the answer) --------------------------------------------


def test_exercise_a_private_result_stays_with_its_authorization_context():
    cache = ResponseCache()
    cache.store(TOOLS, "ana", 0, result(cache_scope="private"))

    assert cache.find(TOOLS, "ana", 0) is not None
    assert cache.find(TOOLS, "bob", 0) is None


def test_exercise_a_public_result_is_for_everybody():
    cache = ResponseCache()
    cache.store(TOOLS, "ana", 0, result(cache_scope="public"))

    assert cache.find(TOOLS, "ana", 0) is not None
    assert cache.find(TOOLS, "bob", 0) is not None


def test_a_result_that_became_private_is_no_longer_for_everybody():
    cache = ResponseCache()
    cache.store(TOOLS, "ana", 0, result(cache_scope="public"))
    cache.store(TOOLS, "ana", 0, result(cache_scope="private"))

    assert cache.find(TOOLS, "bob", 0) is None


def test_ones_own_result_goes_before_that_for_everybody():
    cache, mine = ResponseCache(), result(cache_scope="private")
    cache.store(TOOLS, "ana", 0, mine)
    cache.store(TOOLS, "bob", 0, result(cache_scope="public"))

    assert cache.find(TOOLS, "ana", 0) is mine


# -- notifications -----------------------------------------------------------------------------------------

LISTS = [LIST_TOOLS, LIST_PROMPTS, LIST_RESOURCES, LIST_TEMPLATES]


@pytest.mark.parametrize(
    ("notification", "stale"),
    [
        (TOOLS_CHANGED, [LIST_TOOLS]),
        (PROMPTS_CHANGED, [LIST_PROMPTS]),
        (RESOURCES_CHANGED, [LIST_RESOURCES, LIST_TEMPLATES]),
        (PROGRESS, []),
    ],
)
def test_a_notification_drops_every_page_of_the_lists_that_it_is_about(notification, stale):
    keys = {
        method: [cache_key_for("notes", method, {"cursor": cursor}) for cursor in "ab"] for method in LISTS
    }
    cache = cached(*keys[LIST_TOOLS], *keys[LIST_PROMPTS], *keys[LIST_RESOURCES], *keys[LIST_TEMPLATES])

    cache.invalidate("notes", notification, "notes://1")

    assert {method for method in LISTS if left(cache, *keys[method]) == [False, False]} == set(stale)
    assert len(cache) == 2 * (len(LISTS) - len(stale))


def test_an_update_drops_the_resource_that_it_names():
    first, second = (cache_key_for("notes", READ_RESOURCE, {"uri": uri}) for uri in ("a:1", "a:2"))
    cache = cached(first, second, TOOLS)

    cache.invalidate("notes", RESOURCE_UPDATED, "a:1")

    assert left(cache, first, second, TOOLS) == [False, True, True]


def test_an_update_that_names_none_drops_every_resource():
    first, second = (cache_key_for("notes", READ_RESOURCE, {"uri": uri}) for uri in ("a:1", "a:2"))
    cache = cached(first, second, TOOLS)

    cache.invalidate("notes", RESOURCE_UPDATED)

    assert left(cache, first, second, TOOLS) == [False, False, True]


def test_what_one_server_says_is_nothing_to_another():
    cache = cached(TOOLS)
    cache.invalidate("other", TOOLS_CHANGED)
    cache.drop("other", LIST_TOOLS)
    cache.drop("notes", LIST_PROMPTS)

    assert left(cache, TOOLS) == [True]


def test_a_refused_cursor_drops_every_page_of_its_list():
    second = cache_key_for("notes", LIST_TOOLS, {"cursor": "a"})
    cache = cached(TOOLS, second)

    cache.drop("notes", LIST_TOOLS)

    assert len(cache) == 0


# -- size --------------------------------------------------------------------------------------------------


def test_the_least_recently_used_result_goes_first():
    cache = ResponseCache(max_entries=2)
    first, second, third = (cache_key_for("notes", READ_RESOURCE, {"uri": uri}) for uri in "abc")
    cache.store(first, "ana", 0, result())
    cache.store(second, "ana", 0, result())
    cache.find(first, "ana", 0)
    cache.store(third, "ana", 0, result())

    assert left(cache, first, second, third) == [True, False, True]


class CacheMachine(RuleBasedStateMachine):
    """The cache against a plain model: what was stored last for each request, and for whom."""

    keys = st.sampled_from([cache_key_for("notes", READ_RESOURCE, {"uri": uri}) for uri in "ab"])
    people = st.sampled_from(["ana", "bob"])

    def __init__(self):
        super().__init__()
        self.cache = ResponseCache()
        self.now = 0
        self.model = {}

    @rule(key=keys, person=people, ttl_s=st.integers(0, 3), scope=st.sampled_from(["public", "private"]))
    def store(self, key, person, ttl_s, scope):
        kept = result(ttl_ms=ttl_s * 1_000, cache_scope=scope)
        self.cache.store(key, person, self.now, kept)
        self.model.pop((key, person), None)
        self.model.pop((key, None), None)
        self.model[key, None if scope == "public" else person] = (kept, self.now + ttl_s)

    @rule(seconds=st.integers(1, 2))
    def wait(self, seconds):
        self.now += seconds

    @rule(key=keys, person=people)
    def find(self, key, person):
        expected = None
        for owner in (None, person):
            kept, fresh_until = self.model.get((key, owner), (None, 0))
            if self.now < fresh_until:
                expected = kept
        assert self.cache.find(key, person, self.now) is expected

    @invariant()
    def nobody_finds_more_than_was_stored(self):
        assert len(self.cache) <= len(self.model)


CacheMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
TestCache = CacheMachine.TestCase
