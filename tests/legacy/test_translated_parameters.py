"""The translator on notifications, parameters and capabilities."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero import types
from mesero.legacy.translate import Translator
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from tests.legacy.vocabulary import (
    faults_of_request,
    plain,
)
from tests.types.test_agreement import instances_of

OLDEST, MARCH, JUNE, NOVEMBER = HANDSHAKE_REVISIONS


NOTIFICATIONS = {
    "notifications/progress": types.ProgressParams,
    "notifications/message": types.LoggingMessageParams,
    "notifications/cancelled": types.CancelledParams,
    "notifications/resources/updated": types.ResourceUpdatedParams,
    "notifications/tools/list_changed": types.NotificationParams,
}


@pytest.mark.parametrize("method", NOTIFICATIONS)
@given(data=st.data(), revision=st.sampled_from(HANDSHAKE_REVISIONS))
def test_any_notification_fits_its_revision(method, data, revision):
    params = plain(data.draw(instances_of(NOTIFICATIONS[method])))
    losses = []

    name, value = Translator(revision).notification_down(method, params, losses=losses)

    assert name == method
    assert check_message(revision, {"jsonrpc": "2.0", "method": name, "params": value}) == []
    expected = ["$.message"] if revision == OLDEST and "message" in params else []
    assert [loss.path for loss in losses] == expected


@pytest.mark.parametrize(
    ("method", "revisions"),
    [
        ("notifications/elicitation/complete", [NOVEMBER]),
        ("notifications/subscriptions/acknowledged", []),
        ("com.example/changed", []),
        ("tools/list", []),
    ],
)
def test_a_notification_that_does_not_exist_there_is_not_sent(method, revisions):
    found = [one for one in HANDSHAKE_REVISIONS if Translator(one).notification_down(method, {}) is not None]

    assert found == revisions


def test_a_notification_does_not_name_the_subscription_that_there_is_none_of():
    params = {"uri": "a:b", "_meta": {types.SUBSCRIPTION_ID_KEY: 1}}

    found = Translator(OLDEST).notification_down("notifications/resources/updated", params)

    assert found == ("notifications/resources/updated", {"uri": "a:b"})


META = {
    types.PROTOCOL_VERSION_KEY: "2026-07-28",
    types.CLIENT_CAPABILITIES_KEY: {},
    types.CLIENT_INFO_KEY: {},
    types.LOG_LEVEL_KEY: "info",
}


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_parameters_lose_what_a_session_knows(revision):
    params = {"name": "t", "arguments": Raw(b'{"a": 1}'), "_meta": {**META, "progressToken": 1}}
    retried = {"name": "t", "_meta": META, "inputResponses": {}, "requestState": "s"}
    translator = Translator(revision)

    down = translator.params_down("tools/call", params)

    assert down.value == {"name": "t", "arguments": params["arguments"], "_meta": {"progressToken": 1}}
    assert down.losses == ()
    assert faults_of_request(revision, "tools/call", down.value) == []
    assert translator.params_down("tools/call", retried).value == {"name": "t"}
    assert len(META) == 4


@pytest.mark.parametrize(
    ("revision", "lost"),
    [
        (OLDEST, ["$.context", "$.ref.title"]),
        (MARCH, ["$.context", "$.ref.title"]),
        (JUNE, []),
        (NOVEMBER, []),
    ],
)
def test_a_completion_loses_its_context_where_there_was_none(revision, lost):
    params = {
        "ref": types.PromptReference("p", title="P"),
        "argument": types.CompletionArgument("a", "b"),
        "context": types.CompletionContext({"x": "y"}),
    }

    down = Translator(revision).params_down("completion/complete", params)

    assert faults_of_request(revision, "completion/complete", down.value) == []
    assert [loss.path for loss in down.losses] == lost
    assert down.value["ref"]["type"] == "ref/prompt"


def test_parameters_of_an_older_client_pass_without_their_nulls():
    raw = Raw(b'{"name":"t","arguments":null}')

    assert bytes(Translator(OLDEST).params_up("tools/call", raw)) == b'{"name":"t"}'


CAPABILITIES = types.ServerCapabilities(
    experimental={"x": {}},
    logging={},
    completions={},
    prompts=types.PromptsCapability(list_changed=True),
    resources=types.ResourcesCapability(subscribe=True),
    tools=types.ToolsCapability(),
    extensions={"com.example/x": {}},
)


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_server_declares_what_its_revision_has(revision):
    declared = Translator(revision).server_capabilities(CAPABILITIES)

    common = {
        "experimental": {"x": {}},
        "logging": {},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True},
        "tools": {},
    }
    assert declared == (common if revision == OLDEST else {**common, "completions": {}})


@pytest.mark.parametrize(
    ("revision", "declared", "found"),
    [
        (OLDEST, {"elicitation": {"form": {}}, "extensions": {"a/b": {}}}, {}),
        (MARCH, {"elicitation": {}, "experimental": {"x": {}}}, {"experimental": {"x": {}}}),
        (JUNE, {"elicitation": {"form": {}, "url": {}}}, {"elicitation": {}}),
        (JUNE, {"elicitation": {}}, {"elicitation": {}}),
        (JUNE, {"elicitation": {"url": {}}}, {}),
        (NOVEMBER, {"elicitation": {"url": {}}}, {"elicitation": {"url": {}}}),
        (JUNE, {"sampling": {"tools": {}}}, {"sampling": {}}),
        (NOVEMBER, {"sampling": {"tools": {}}}, {"sampling": {"tools": {}}}),
        (OLDEST, {"roots": {}}, {"roots": {"listChanged": True}}),
        (NOVEMBER, {"roots": {"listChanged": False}}, {"roots": {"listChanged": False}}),
    ],
)
def test_a_client_declares_what_its_revision_has(revision, declared, found):
    assert Translator(revision).client_capabilities(declared) == found


PROMPTS = types.ServerCapabilities(prompts=types.PromptsCapability())
RESOURCES = types.ServerCapabilities(resources=types.ResourcesCapability())


@pytest.mark.parametrize(
    ("revision", "capabilities", "may_complete"),
    [
        (OLDEST, PROMPTS, True),
        (OLDEST, RESOURCES, True),
        (OLDEST, types.ServerCapabilities(completions={"x": 1}), True),
        (OLDEST, types.ServerCapabilities(tools=types.ToolsCapability()), False),
        (MARCH, PROMPTS, False),
    ],
)
def test_completion_may_be_asked_for_where_nobody_could_declare_it(revision, capabilities, may_complete):
    found = Translator(revision).capabilities_up(capabilities)

    assert (found.completions is not UNSET) is may_complete
    assert msgspec.structs.replace(found, completions=capabilities.completions) == capabilities
