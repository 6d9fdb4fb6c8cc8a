import random

import pytest

from tests.server.talking import quiet_server, talking

LISTS = {
    "tools/list": ("tools", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
    "prompts/list": ("prompts", "name"),
}


def stocked_server(order, **options):
    server = quiet_server(**options)
    for number in order:
        server.tool(name=f"tool-{number:02}")(lambda: None)
        server.resource(f"notes://{number:02}")(lambda: "x")
        server.resource(f"notes://{number:02}/{{key}}")(lambda key: "x")
        server.prompt(name=f"prompt-{number:02}")(lambda: "x")
    return server


@pytest.mark.parametrize("method", LISTS)
async def test_a_list_keeps_its_order_when_the_registry_is_shuffled(method):
    member, key = LISTS[method]
    order = list(range(20))
    seen = []
    for seed in range(3):
        random.Random(seed).shuffle(order)
        async with talking(stocked_server(order)) as talk:
            seen.append((await talk.result(method))[member])
    assert seen[0] == seen[1] == seen[2]
    assert [one[key] for one in seen[0]] == sorted(one[key] for one in seen[0])
    assert len(seen[0]) == 20


@pytest.mark.parametrize("method", LISTS)
async def test_pages_hold_everything_once_with_the_same_cache_hints(method):
    member, key = LISTS[method]
    options = {"page_size": 7, "list_ttl_ms": 60_000, "list_cache_scope": "public"}
    keys, params = [], {}
    for _ in range(3):
        # A server of its own for each page: a cursor needs nobody's memory.
        async with talking(stocked_server(range(20), **options)) as talk:
            page = await talk.result(method, params)
        assert (page["ttlMs"], page["cacheScope"], page["resultType"]) == (60_000, "public", "complete")
        keys += [one[key] for one in page[member]]
        params = {"cursor": page.get("nextCursor")}
    assert params == {"cursor": None}
    assert keys == sorted(set(keys))
    assert len(keys) == 20


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "\u00fc", None, 5, "a" * 5000])
async def test_a_cursor_that_was_not_given_out_is_an_error(method, cursor):
    async with talking(stocked_server(range(3))) as talk:
        assert (await talk.error(method, {"cursor": cursor}))["code"] == -32602


async def test_a_page_exactly_full_is_the_last_one():
    async with talking(stocked_server(range(7), page_size=7)) as talk:
        assert "nextCursor" not in await talk.result("tools/list")


async def test_lists_are_private_and_stale_at_once_unless_said_otherwise():
    async with talking(stocked_server([1])) as talk:
        for method in (*LISTS, "server/discover"):
            result = await talk.result(method)
            assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


async def test_discover_tells_what_the_server_is_and_can():
    server = stocked_server([1], instructions="Be kind.", title="Shop")
    server.completion("prompt-01", "x")(lambda value: [])
    async with talking(server) as talk:
        result = await talk.result("server/discover")
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["instructions"] == "Be kind."
    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "completions": {},
        "logging": {},
    }
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {
        "name": "testing",
        "version": "1.2.3",
        "title": "Shop",
    }


async def test_what_is_not_registered_is_neither_declared_nor_found():
    server = quiet_server()
    async with talking(server) as talk:
        result = await talk.result("server/discover")
        assert result["capabilities"] == {"logging": {}}
        assert "instructions" not in result
        for method in (
            *LISTS,
            "tools/call",
            "resources/read",
            "prompts/get",
            "completion/complete",
            "initialize",
        ):
            assert (await talk.error(method))["code"] == -32601
        server.tool(name="first")(lambda: None)
        assert len((await talk.result("tools/list"))["tools"]) == 1
        server.tools.remove("first")
        # It was declared, so it stays: a list may be empty.
        assert (await talk.result("tools/list"))["tools"] == []
        assert "tools" in (await talk.result("server/discover"))["capabilities"]


async def test_a_template_alone_makes_resources():
    server = quiet_server()
    server.resource("notes://{key}")(lambda key: key)
    async with talking(server) as talk:
        assert (await talk.result("resources/list"))["resources"] == []
        assert "resources" in (await talk.result("server/discover"))["capabilities"]


async def test_every_result_is_complete_and_carries_the_servers_identity():
    server = stocked_server([1])
    server.completion("prompt-01", "x")(lambda value: [])
    requests = [
        *((method, {}) for method in LISTS),
        ("server/discover", {}),
        ("tools/call", {"name": "tool-01"}),
        ("resources/read", {"uri": "notes://01"}),
        ("prompts/get", {"name": "prompt-01"}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "prompt-01"}, "argument": {"name": "x", "value": ""}},
        ),
    ]
    async with talking(server) as talk:
        for method, params in requests:
            result = await talk.result(method, params)
            assert result["resultType"] == "complete"
            assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "testing"
