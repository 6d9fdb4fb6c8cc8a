import pytest

from mesero.errors import UsageError
from mesero.server.registration import (
    check_cache_hints,
    prompt_entry_from,
    resource_entry_from,
    template_entry_from,
    tool_entry_from,
)
from mesero.server.threads import WorkerThreads

THREADS = WorkerThreads()


def documented(topic: str = "x") -> str:
    """Say something.

    Args:
        topic: About what.
    """
    return topic


def bare():
    return "x"


def test_names_and_descriptions_come_from_the_function_or_from_the_options():
    tool = tool_entry_from(documented, THREADS).tool
    assert (tool.name, tool.description) == ("documented", "Say something.")
    tool = tool_entry_from(documented, THREADS, name="say", description="Says.").tool
    assert (tool.name, tool.description) == ("say", "Says.")
    assert prompt_entry_from(documented, THREADS, name="say").prompt.name == "say"
    assert prompt_entry_from(documented, THREADS).prompt.arguments[0].description == "About what."
    resource = resource_entry_from(bare, "a:b", THREADS).resource
    assert (resource.name, resource.description) == ("bare", tool_entry_from(bare, THREADS).tool.description)
    assert template_entry_from(documented, "a:{topic}", THREADS).template.description == "Say something."


@pytest.mark.parametrize("name", ["a b", "a,b", "ü", "x" * 129, "a/b", "a\n"])
def test_a_tool_name_is_one_that_every_client_accepts(name):
    with pytest.raises(UsageError, match="is no tool name"):
        tool_entry_from(bare, THREADS, name=name)


@pytest.mark.parametrize("name", ["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", "x" * 128])
def test_the_specifications_own_examples_are_tool_names(name):
    assert tool_entry_from(bare, THREADS, name=name).tool.name == name


def test_a_function_without_a_name_needs_one():
    with pytest.raises(UsageError, match="<lambda>"):
        tool_entry_from(lambda: None, THREADS)


@pytest.mark.parametrize(("ttl_ms", "scope"), [(0, "private"), (10, "public")])
def test_cache_hints_are_checked(ttl_ms, scope):
    check_cache_hints(ttl_ms, scope)
    with pytest.raises(UsageError, match="is no time to live"):
        check_cache_hints(-1, scope)
    with pytest.raises(UsageError, match="is no cache scope"):
        check_cache_hints(ttl_ms, "everybody")
