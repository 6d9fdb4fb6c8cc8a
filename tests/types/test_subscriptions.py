import msgspec
import pytest

from mesero import types


def test_a_filter_names_only_what_is_wanted():
    wanted = types.SubscriptionFilter(tools_list_changed=True, resource_subscriptions=["a:b"])
    assert msgspec.json.encode(types.ListenParams(wanted)) == (
        b'{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}'
    )


def test_listening_without_a_filter_is_refused():
    with pytest.raises(msgspec.ValidationError, match="notifications"):
        msgspec.json.decode(b"{}", type=types.ListenParams)


def test_the_end_of_a_subscription_names_it():
    end = types.SubscriptionsListenResult(meta={types.SUBSCRIPTION_ID_KEY: "s"})
    assert msgspec.json.decode(msgspec.json.encode(end)) == {
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/subscriptionId": "s"},
    }
    with pytest.raises(msgspec.ValidationError, match="_meta"):
        msgspec.json.decode(b'{"resultType":"complete"}', type=types.SubscriptionsListenResult)


def test_an_acknowledgement_is_a_notification_with_a_filter():
    text = b'{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}'
    read = msgspec.json.decode(text, type=types.SubscriptionsAcknowledgedParams)
    assert read.notifications == types.SubscriptionFilter()
    assert msgspec.json.encode(read) == text
