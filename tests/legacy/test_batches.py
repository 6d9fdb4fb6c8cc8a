import asyncio
import json

import pytest

from mesero.errors import InvalidRequestError
from mesero.jsonrpc import Notification, Request
from mesero.legacy.batches import MAX_BATCH, BatchedReply, read_batch
from tests.legacy.http_talk import HttpTalk, build_server
from tests.legacy.session_talk import HANDSHAKE_REVISIONS, in_session, notes_server, notification

MARCH = "2025-03-26"


def send_array(talk, *messages):
    for message in messages:
        if isinstance(message, dict) and "method" in message and "id" in message:
            talk.methods[message["id"]] = message["method"]
    talk.send_bytes(json.dumps(messages).encode() + b"\n")


async def array_said_by(talk):
    return (await talk.until(lambda said: [one for one in said if isinstance(one, list)]))[0]


def adding(talk, a, b):
    return talk.request("tools/call", {"name": "add", "arguments": {"a": a, "b": b}})


def answers_by_id(array):
    return {answer.get("id"): answer for answer in array}


async def test_an_array_is_answered_with_an_array_of_the_answers():
    async with in_session(notes_server(), MARCH) as talk:
        first, second = adding(talk, 1, 2), adding(talk, 3, 4)
        send_array(talk, first, notification("notifications/roots/list_changed"), second)
        answers = answers_by_id(await array_said_by(talk))
        assert answers[first["id"]]["result"]["content"] == [{"type": "text", "text": "3"}]
        assert answers[second["id"]]["result"]["content"] == [{"type": "text", "text": "7"}]
        assert len(answers) == 2


async def test_an_array_in_which_no_answer_is_owed_is_not_answered():
    async with in_session(notes_server(), MARCH) as talk:
        send_array(
            talk, notification("notifications/roots/list_changed"), {"jsonrpc": "2.0", "id": 1, "result": {}}
        )
        assert await talk.result("ping") == {}
        assert len(talk.said) == 2


async def test_each_member_that_is_wrong_is_refused_by_itself():
    async with in_session(notes_server(), MARCH) as talk:
        good = adding(talk, 1, 2)
        send_array(
            talk, 5, {"jsonrpc": "1.0", "id": 8, "method": "ping"}, good, talk.initialize_request(id=9)
        )
        array = await array_said_by(talk)
        answers = answers_by_id(array)
        assert "result" in answers[good["id"]]
        assert {answers[owner]["error"]["code"] for owner in (None, 8, 9)} == {-32600}
        talk.said.remove(array)  # An error without an id has no place in that revision's schema of arrays.


@pytest.mark.parametrize("array", [[], [{}] * (MAX_BATCH + 1)])
async def test_an_array_of_nothing_or_too_much_is_refused_as_a_whole(array):
    async with in_session(notes_server(), MARCH) as talk:
        send_array(talk, *array)
        (refusal,) = await talk.until(lambda said: said[1:])
        assert refusal["error"]["code"] == -32600
        talk.said.remove(refusal)


@pytest.mark.parametrize("revision", [one for one in HANDSHAKE_REVISIONS if one != MARCH])
async def test_other_revisions_have_no_arrays_and_the_session_goes_on(revision):
    async with in_session(notes_server(), revision) as talk:
        send_array(talk, talk.request("ping"))
        (refusal,) = await talk.until(lambda said: said[1:])
        assert refusal["error"]["code"] == -32600
        assert "batches" in refusal["error"]["message"]
        talk.said.remove(refusal)
        assert await talk.result("ping") == {}


async def test_a_member_can_be_cancelled_while_the_others_go_on():
    server = notes_server()
    async with in_session(server, MARCH) as talk:
        waiting = talk.request("tools/call", {"name": "wait"})
        added = adding(talk, 1, 2)
        send_array(talk, waiting, added)
        async with asyncio.timeout(10):
            await server.has_begun.wait()
        talk.cancel(waiting)
        assert [one["id"] for one in await array_said_by(talk)] == [added["id"]]


async def test_progress_of_a_member_does_not_wait_for_the_array():
    server = notes_server()
    async with in_session(server, MARCH) as talk:
        work = talk.request("tools/call", {"name": "work"}, metadata={"progressToken": 1})
        send_array(talk, work, talk.request("tools/call", {"name": "wait"}))
        await talk.until(
            lambda said: [one for one in said if not isinstance(one, list) and "progress" in str(one)]
        )
        assert not [one for one in talk.said if isinstance(one, list)]
        server.gate.set()
        await array_said_by(talk)


# --- by themselves ---


def test_the_members_of_an_array_are_read_one_by_one():
    members = read_batch(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},[]]')
    assert members[:2] == [Request(1, "ping"), Notification("x")]
    assert members[2][0] is None


@pytest.mark.parametrize("raw", [b"{}", b"[", b"[1,]", b"[" * 10_000])
def test_what_is_no_array_is_refused(raw):
    with pytest.raises(InvalidRequestError):
        read_batch(raw)


class Channel:
    def __init__(self):
        self.said = []
        self.is_answered = False

    async def notify(self, raw):
        self.said.append(raw)


async def test_an_answer_of_a_member_is_kept_once_and_ends_its_notifications():
    channel, answers = Channel(), []
    reply = BatchedReply(channel, answers)
    await reply.notify(b"1")
    await reply.answer(b"2")
    await reply.answer(b"3", status=500)
    await reply.notify(b"4")
    assert (channel.said, answers, reply.is_answered) == ([b"1"], [b"2"], True)


async def test_a_member_that_occurs_twice_is_refused_in_arrays_over_http_as_well():
    talk = HttpTalk(build_server().asgi(legacy_sessions=False))
    exchange = await talk.send(b'[{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}]')

    assert exchange.status == 400
    assert "twice" in exchange.json["error"]["message"]
