"""The demo server, used as a client uses it."""

import asyncio

import pytest

import mesero
from mesero.demo.notes import notes, server
from mesero.types import ElicitFormParams


@pytest.fixture(autouse=True)
def _no_notes_yet():
    for handle in [handle for handle, _ in notes.items()]:
        notes.delete(handle)


async def agree(_: ElicitFormParams) -> dict[str, bool]:
    return {"sure": True}


async def refuse(_: ElicitFormParams) -> None:
    return None


async def test_a_note_that_was_added_is_found_and_can_be_read():
    async with mesero.Client(server) as client:
        added = (
            await client.call_tool("notes_add", {"title": "Milk", "body": "two litres"})
        ).structured_content
        found = (await client.call_tool("notes_search", {"query": "MILK"})).structured_content
        read = await client.read_resource(f"notes://{added['id']}")
    assert found == [added]
    assert read.contents[0].text == "# Milk\n\ntwo litres\n"
    assert read.contents[0].mime_type == "text/markdown"


async def test_deleting_asks_first_and_deletes_when_the_user_agrees():
    async with mesero.Client(server, elicit=agree) as client:
        added = (await client.call_tool("notes_add", {"title": "Milk", "body": ""})).structured_content
        assert (await client.call_tool("notes_delete", {"id": added["id"]})).text == "Deleted 'Milk'."
        assert (await client.call_tool("notes_search")).structured_content == []


async def test_deleting_keeps_the_note_when_the_user_declines():
    async with mesero.Client(server, elicit=refuse) as client:
        added = (await client.call_tool("notes_add", {"title": "Milk", "body": ""})).structured_content
        assert (await client.call_tool("notes_delete", {"id": added["id"]})).text == "Kept 'Milk'."
        assert len((await client.call_tool("notes_search")).structured_content) == 1


async def test_a_client_that_cannot_ask_its_user_is_told_which_capability_is_missing():
    async with mesero.Client(server) as client:
        added = (await client.call_tool("notes_add", {"title": "Milk", "body": ""})).structured_content
        with pytest.raises(mesero.RpcError) as caught:
            await client.call_tool("notes_delete", {"id": added["id"]})
    assert caught.value.code == -32021
    assert caught.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


async def test_importing_reports_progress_for_each_line_and_logs_at_the_end():
    seen, logged = [], asyncio.Queue()
    async with mesero.Client(server, on_log=logged.put_nowait) as client:
        result = await client.call_tool("notes_import", {"lines": ["a: 1", "b: 2"]}, on_progress=seen.append)
        message = await asyncio.wait_for(logged.get(), 10)
    assert result.structured_content == 2
    assert [(item.progress, item.total) for item in seen] == [(1, 2), (2, 2)]
    assert message.data == "2 notes imported"


async def test_an_import_that_is_given_up_stops_between_two_lines():
    async with mesero.Client(server) as client:
        started = asyncio.Event()
        lines = [f"{number}: x" for number in range(20_000)]
        call = asyncio.create_task(
            client.call_tool("notes_import", {"lines": lines}, on_progress=lambda _: started.set())
        )
        await asyncio.wait_for(started.wait(), 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await client.call_tool("notes_search", {"query": "x", "limit": 1})).structured_content
    assert 0 < len(notes.items()) < len(lines)


async def test_whoever_watches_a_note_hears_that_it_was_deleted():
    async with mesero.Client(server, elicit=agree) as client:
        added = (await client.call_tool("notes_add", {"title": "Milk", "body": ""})).structured_content
        uri = f"notes://{added['id']}"
        async with client.listen(resources=[uri]) as changes:
            await client.call_tool("notes_delete", {"id": added["id"]})
            change = await asyncio.wait_for(anext(changes), 10)
    assert (change.kind, change.uri) == ("resource", uri)


async def test_a_note_that_does_not_exist_is_an_unknown_resource_and_a_tool_error():
    async with mesero.Client(server, elicit=agree) as client:
        with pytest.raises(mesero.RpcError) as caught:
            await client.read_resource("notes://nothing")
        failed = await client.call_tool("notes_delete", {"id": "nothing"})
    assert (caught.value.code, caught.value.data) == (-32602, {"uri": "notes://nothing"})
    assert failed.is_error
    assert "notes_search" in failed.text


async def test_the_prompt_holds_the_note_and_its_arguments_are_completed():
    async with mesero.Client(server) as client:
        added = (
            await client.call_tool("notes_add", {"title": "Milk", "body": "two litres"})
        ).structured_content
        prompt = await client.get_prompt("notes.summarize", {"id": added["id"], "tone": "cheerful"})
        tones = await client.complete("tone", "ch", prompt="notes.summarize")
        ids = await client.complete("id", added["id"][:3], template="notes://{id}")
        index = await client.read_resource("notes://index")
    assert "cheerful" in prompt.messages[0].content.text
    assert "two litres" in prompt.messages[0].content.text
    assert tones.values == ["cheerful"]
    assert ids.values == [added["id"]]
    assert added["id"] in index.contents[0].text


async def test_the_notebook_is_mirrored_in_a_header():
    async with mesero.Client(server) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    assert tools["notes_add"].input_schema["properties"]["notebook"]["x-mcp-header"] == "Notebook"
