from typing import get_args

import msgspec
import pytest

from mesero import types


def test_the_levels_are_ordered_by_severity():
    assert list(types.LEVEL_ORDER) == list(get_args(types.LoggingLevel))
    assert list(types.LEVEL_ORDER.values()) == sorted(types.LEVEL_ORDER.values())
    assert types.LEVEL_ORDER["debug"] < types.LEVEL_ORDER["emergency"]


@pytest.mark.parametrize("token", [0, "0", ""])
def test_a_progress_token_keeps_its_type(token):
    params = types.ProgressParams(token, 1, total=2)
    assert msgspec.json.decode(msgspec.json.encode(params), type=types.ProgressParams).progress_token == token


@pytest.mark.parametrize("token", [b"1.5", b"null", b"true"])
def test_a_progress_token_is_a_text_or_an_integer(token):
    text = b'{"progress":1,"progressToken":' + token + b"}"
    with pytest.raises(msgspec.ValidationError, match=r"\$\.progressToken"):
        msgspec.json.decode(text, type=types.ProgressParams)


def test_a_log_entry_may_hold_null():
    entry = msgspec.json.decode(b'{"level":"info","data":null}', type=types.LoggingMessageParams)
    assert entry.data is None
    assert msgspec.json.encode(entry) == b'{"level":"info","data":null}'


def test_metadata_of_a_notification_is_kept():
    text = b'{"requestId":"1","_meta":{"io.modelcontextprotocol/subscriptionId":3}}'
    read = msgspec.json.decode(text, type=types.CancelledParams)
    assert read.meta == {types.SUBSCRIPTION_ID_KEY: 3}
    assert msgspec.json.encode(read) == text


def test_a_list_changed_notification_needs_nothing():
    assert msgspec.json.encode(types.NotificationParams()) == b"{}"
    assert msgspec.json.encode(types.ResourceUpdatedParams("a:b")) == b'{"uri":"a:b"}'
