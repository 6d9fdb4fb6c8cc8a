"""Which requests on one byte stream are served by a session, and which without one."""

import pytest

import mesero
from mesero.errors import UsageError
from tests.legacy.session_talk import in_session, notes_server, notification


async def test_a_request_by_no_way_in_is_refused_with_both():
    async with in_session(notes_server(), is_open=False) as talk:
        error = await talk.error("tools/list")
        assert error["code"] == -32602
        for way in ("params._meta", "2026-07-28", "'initialize'", "2025-11-25"):
            assert way in error["message"]
        await talk.open()
        assert "tools" in await talk.result("tools/list")


async def test_a_request_that_declares_its_revision_is_served_beside_a_session():
    async with in_session(notes_server()) as talk:
        stateless = talk.stateless_request("tools/list")
        talk.send(stateless, talk.request("ping"))
        answer = await talk.answer_to(stateless)
        assert answer["result"]["resultType"] == "complete"
        assert "resultType" not in await talk.result("tools/list")


async def test_a_session_can_be_opened_after_requests_that_needed_none():
    async with in_session(notes_server(), is_open=False) as talk:
        stateless = talk.stateless_request("server/discover")
        talk.send(stateless)
        assert "supportedVersions" in (await talk.answer_to(stateless))["result"]
        await talk.open()
        assert "tools" in await talk.result("tools/list")


@pytest.mark.parametrize("is_open", [False, True])
async def test_initialize_that_declares_a_revision_is_an_unknown_method(is_open):
    async with in_session(notes_server(), is_open=is_open) as talk:
        request = talk.stateless_request("initialize")
        talk.send(request)
        assert (await talk.answer_to(request))["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen"])
async def test_a_method_that_only_needs_no_session_fails_for_its_metadata(method):
    async with in_session(notes_server()) as talk:
        error = await talk.error(method)
        assert error["code"] == -32602
        assert "_meta" in error["message"]


async def test_the_key_of_the_revision_in_the_arguments_of_a_call_opens_nothing():
    async with in_session(notes_server()) as talk:
        key = "io.modelcontextprotocol/protocolVersion"
        params = {"name": "add", "arguments": {"a": 1, "b": 2, "_meta": {key: "2026-07-28"}}}
        result = await talk.result("tools/call", params)
        assert result["isError"] is True
        assert "resultType" not in result


async def test_a_cancellation_finds_the_calls_of_both_kinds():
    server = notes_server()
    async with in_session(server) as talk:
        stateless = talk.stateless_request("tools/call", {"name": "wait", "arguments": {}})
        session = talk.request("tools/call", {"name": "wait"})
        talk.send(stateless, session)
        await talk.result("ping")
        talk.cancel(stateless)
        talk.cancel(session)
        await talk.result("ping")
        assert server.ended == ["cancelled", "cancelled"]


async def test_an_id_is_used_once_across_both_kinds():
    server = notes_server()
    async with in_session(server) as talk:
        talk.send(talk.stateless_request("tools/call", {"name": "wait", "arguments": {}}, id="twin"))
        assert (await talk.error("ping", id="twin"))["code"] == -32600
        server.gate.set()
        await talk.until(lambda said: [one for one in said if one.get("id") == "twin" and "result" in one])


async def test_a_server_without_handshakes_names_what_it_speaks():
    async with in_session(notes_server(revisions=["2026-07-28"]), is_open=False) as talk:
        request = talk.initialize_request()
        talk.send(request)
        error = (await talk.answer_to(request))["error"]
        assert "2026-07-28" in error["message"]
        assert error["data"] == {"supported": ["2026-07-28"]}
        stateless = talk.stateless_request("tools/list")
        talk.send(stateless)
        assert "result" in await talk.answer_to(stateless)


async def test_a_server_with_handshakes_only_refuses_what_declares_another_revision():
    async with in_session(notes_server(revisions=["2025-06-18"]), "2025-06-18", is_open=False) as talk:
        probe = talk.stateless_request("server/discover")
        talk.send(probe)
        error = (await talk.answer_to(probe))["error"]
        assert error["code"] not in {-32020, -32021, -32022}
        assert "2025-06-18" in error["message"]
        await talk.open("2025-06-18")
        assert "tools" in await talk.result("tools/list")


@pytest.mark.parametrize("revisions", [[], ["2020-01-01"], ["2026-07-28", "soon"]])
def test_a_server_speaks_revisions_that_exist(revisions):
    with pytest.raises(UsageError, match="2026-07-28"):
        mesero.Server("wrong", revisions=revisions)


async def test_the_end_of_the_input_ends_nothing_that_can_still_end_by_itself():
    server = notes_server()
    async with in_session(server) as talk:
        call = talk.request("tools/call", {"name": "wait"})
        talk.send(call, notification("notifications/dance"))
        talk.connection.receive_eof()
        server.gate.set()
        assert "result" in await talk.answer_to(call)
