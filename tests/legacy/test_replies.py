from mesero.jsonrpc import encode_notification
from mesero.legacy.replies import TranslatedReply
from mesero.legacy.translate import Translator


class Channel:
    def __init__(self):
        self.said = []
        self.is_answered = False

    async def notify(self, raw):
        self.said.append(raw)

    async def answer(self, raw, *, status=200, headers=()):
        self.is_answered = True
        self.said.append((raw, status, headers))


def translated():
    channel = Channel()
    return channel, TranslatedReply(channel, Translator("2024-11-05"))


async def test_a_notification_loses_what_the_revision_has_no_member_for():
    channel, reply = translated()
    params = {"progressToken": 1, "progress": 2, "message": "half"}
    await reply.notify(encode_notification("notifications/progress", params))
    assert channel.said == [
        encode_notification("notifications/progress", {"progressToken": 1, "progress": 2})
    ]


async def test_a_notification_that_the_revision_does_not_have_is_dropped():
    channel, reply = translated()
    await reply.notify(encode_notification("notifications/elicitation/complete", {"elicitationId": "1"}))
    assert channel.said == []


async def test_questions_and_answers_pass_as_they_are():
    channel, reply = translated()
    question = b'{"jsonrpc":"2.0","id":1,"method":"roots/list"}'
    await reply.notify(question)
    await reply.notify(encode_notification("notifications/roots"))
    assert not reply.is_answered
    await reply.answer(b"{}", status=403, headers=(("a", "b"),))
    assert reply.is_answered
    assert channel.said[0] == question
    assert channel.said[-1] == (b"{}", 403, (("a", "b"),))
