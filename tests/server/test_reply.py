import inspect

import pytest

from mesero.server.reply import Reply
from mesero.server.stream import StreamReply
from mesero.transports.http_server import HttpReply


@pytest.mark.parametrize("kind", [StreamReply, HttpReply])
def test_every_transport_replies_in_the_same_words(kind):
    assert hasattr(kind, "is_answered")
    for name in ("notify", "answer"):
        ours, theirs = getattr(Reply, name), getattr(kind, name)
        assert inspect.iscoroutinefunction(theirs)
        assert list(inspect.signature(theirs).parameters) == list(inspect.signature(ours).parameters)
