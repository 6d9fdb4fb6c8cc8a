"""The handshake: its table for both roles, negotiation, and what its messages hold in each revision."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero.errors import (
    InvalidParamsError,
    InvalidRequestError,
    InvalidResultError,
    NoCommonRevisionError,
    ProtocolError,
    UsageError,
)
from mesero.legacy.handshake import (
    MOVES,
    Event,
    Handshake,
    Phase,
    check_agreed,
    initialize_params,
    initialize_result,
    negotiate,
    read_initialize_params,
    read_initialize_result,
)
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from mesero.types import Icon, Implementation, ResourcesCapability, ServerCapabilities

INITIALIZED = "notifications/initialized"
INFO = Implementation(
    "notes",
    "1.2",
    title="Notes",
    description="Keeps notes",
    website_url="https://example.com",
    icons=[Icon("https://example.com/i.png")],
)


def opened(role, phase):
    """A handshake that was led to a phase by messages."""
    handshake = Handshake(role)
    steps = {
        "server": [
            lambda: handshake.receive_request("initialize"),
            lambda: handshake.record_result("2025-06-18"),
            lambda: handshake.receive_notification(INITIALIZED),
            handshake.close,
        ],
        "client": [
            lambda: handshake.record_request("initialize"),
            lambda: handshake.receive_result("2025-06-18"),
            lambda: handshake.record_notification(INITIALIZED),
            handshake.close,
        ],
    }
    for step in steps[role][: list(Phase).index(phase)]:
        step()
    return handshake


@pytest.mark.parametrize("role", ["client", "server"])
@pytest.mark.parametrize("phase", Phase)
def test_the_messages_of_the_handshake_lead_through_its_phases(role, phase):
    handshake = opened(role, phase)

    assert handshake.phase is phase
    assert handshake.is_ready is (phase is Phase.READY)
    assert handshake.revision == ("" if phase in (Phase.NEW, Phase.INITIALIZING) else "2025-06-18")


# What each event is for each role: how it is said to the handshake, and what comes of it out of order.
DROPPED = "dropped"
SAID = {
    ("server", Event.INITIALIZE): (lambda one: one.receive_request("initialize"), InvalidRequestError),
    ("server", Event.RESULT): (lambda one: one.record_result("2025-11-25"), UsageError),
    ("server", Event.REFUSAL): (lambda one: one.record_refusal(), UsageError),
    ("server", Event.INITIALIZED): (lambda one: one.receive_notification(INITIALIZED), DROPPED),
    ("server", Event.PING): (lambda one: one.receive_request("ping"), InvalidRequestError),
    ("server", Event.LOG): (lambda one: one.record_notification("notifications/message"), UsageError),
    ("server", Event.REQUEST): (lambda one: one.receive_request("tools/list"), InvalidRequestError),
    ("server", Event.NOTIFICATION): (
        lambda one: one.receive_notification("notifications/roots/list_changed"),
        DROPPED,
    ),
    ("server", Event.END): (lambda one: one.close(), None),
    ("client", Event.INITIALIZE): (lambda one: one.record_request("initialize"), UsageError),
    ("client", Event.RESULT): (lambda one: one.receive_result("2025-11-25"), ProtocolError),
    ("client", Event.REFUSAL): (lambda one: one.receive_refusal(), ProtocolError),
    ("client", Event.INITIALIZED): (lambda one: one.record_notification(INITIALIZED), UsageError),
    ("client", Event.PING): (lambda one: one.record_request("ping"), UsageError),
    ("client", Event.LOG): (lambda one: one.receive_notification("notifications/message"), DROPPED),
    ("client", Event.REQUEST): (lambda one: one.receive_request("roots/list"), InvalidRequestError),
    ("client", Event.NOTIFICATION): (
        lambda one: one.record_notification("notifications/roots/list_changed"),
        UsageError,
    ),
    ("client", Event.END): (lambda one: one.close(), None),
}


@pytest.mark.parametrize("role", ["client", "server"])
@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("event", Event)
def test_every_event_in_every_phase_moves_or_is_refused(role, phase, event):
    handshake = opened(role, phase)
    say, refusal = SAID[role, event]

    if (phase, event) in MOVES:
        assert say(handshake) in (None, True)
        assert handshake.phase is MOVES[phase, event]
    elif refusal is DROPPED:
        assert say(handshake) is False
        assert handshake.phase is phase
    else:
        with pytest.raises(refusal, match=phase.value):
            say(handshake)
        assert handshake.phase is phase


@given(st.lists(st.sampled_from(Event), max_size=12))
def test_both_sides_see_the_same_phases_whatever_is_said(events):
    server, client, seen = Handshake("server"), Handshake("client"), []
    for event in events:
        for one in (server, client):
            say, refusal = SAID[one.role, event]
            if isinstance(refusal, type):
                try:
                    say(one)
                except refusal:
                    continue
            else:
                say(one)
        assert server.phase is client.phase
        seen.append(server.phase)
    # Nobody gets into a session but through its door.
    if Phase.READY in seen:
        before = seen[: seen.index(Phase.READY)]
        assert Phase.ANSWERED in before
        assert Phase.INITIALIZING in before


def test_what_may_be_sent_is_known_without_sending_it():
    server, client = opened("server", Phase.ANSWERED), opened("client", Phase.NEW)

    assert server.may_request("ping")
    assert not server.may_request("roots/list")
    assert server.may_notify("notifications/message")
    assert not server.may_notify("notifications/tools/list_changed")
    assert client.may_request("initialize")
    assert not client.may_request("tools/list")
    assert not client.may_notify(INITIALIZED)
    assert (server.phase, client.phase) == (Phase.ANSWERED, Phase.NEW)


def test_a_second_initialize_is_refused_and_the_session_goes_on():
    handshake = opened("server", Phase.READY)

    with pytest.raises(InvalidRequestError, match="once, at the start"):
        handshake.receive_request("initialize")
    handshake.receive_request("tools/list")


def test_a_client_is_no_server_for_initialize():
    handshake = opened("client", Phase.READY)

    handshake.receive_request("initialize")

    assert handshake.phase is Phase.READY


@pytest.mark.parametrize(
    ("offered", "supported", "answer"),
    [
        ("2025-03-26", HANDSHAKE_REVISIONS, "2025-03-26"),
        ("2024-10-07", HANDSHAKE_REVISIONS, "2025-11-25"),
        ("2026-07-28", HANDSHAKE_REVISIONS, "2025-11-25"),
        ("2025-11-25", ("2024-11-05", "2025-03-26"), "2025-03-26"),
    ],
)
def test_the_offered_revision_is_answered_when_it_is_spoken_and_else_the_newest(offered, supported, answer):
    assert negotiate(offered, supported) == answer


def test_another_revision_than_the_offered_one_is_fine_if_we_speak_it_and_a_clear_error_if_not():
    check_agreed("2024-11-05", HANDSHAKE_REVISIONS)

    with pytest.raises(NoCommonRevisionError, match=r"we speak 2025-03-26; the server speaks 2024-11-05"):
        check_agreed("2024-11-05", ("2025-03-26",))


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_both_messages_fit_the_schema_of_each_revision(revision):
    params = initialize_params(revision, {"roots": {"listChanged": True}}, INFO)
    result = initialize_result(revision, {"tools": {}}, INFO, "Ask first.")

    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = {"jsonrpc": "2.0", "id": 1, "result": result}
    assert check_message(revision, request) == []
    assert check_message(revision, answer, answers="initialize") == []
    assert result["instructions"] == "Ask first."


@pytest.mark.parametrize(
    ("revision", "members"),
    [
        ("2024-11-05", {"name", "version"}),
        ("2025-03-26", {"name", "version"}),
        ("2025-06-18", {"name", "version", "title"}),
        ("2025-11-25", {"name", "version", "title", "description", "websiteUrl", "icons"}),
    ],
)
def test_an_introduction_has_the_members_of_its_revision(revision, members):
    assert initialize_params(revision, {}, INFO)["clientInfo"].keys() == members
    assert initialize_result(revision, {}, INFO)["serverInfo"].keys() == members
    assert "instructions" not in initialize_result(revision, {}, INFO)


def test_what_one_side_writes_the_other_reads():
    params = initialize_params("2025-11-25", {"elicitation": {"url": {}}}, INFO)
    result = initialize_result("2025-11-25", {"resources": {"subscribe": True}}, INFO, "Ask first.")

    asked = read_initialize_params(Raw(msgspec.json.encode(params)))
    answered = read_initialize_result(msgspec.json.encode(result))

    assert (asked.protocol_version, asked.client_info) == ("2025-11-25", INFO)
    assert asked.capabilities.elicitation.may_url
    assert answered.server_info == INFO
    assert answered.capabilities == ServerCapabilities(resources=ResourcesCapability(subscribe=True))
    assert answered.instructions == "Ask first."


def test_whatever_is_malformed_beside_the_revision_counts_as_absent():
    raw = b'{"protocolVersion":"2024-11-05","capabilities":{"tools":true,"logging":{},"x":1},"serverInfo":7}'
    asked = read_initialize_params(b'{"protocolVersion":"2024-11-05","clientInfo":{"name":"a","icons":3}}')

    answered = read_initialize_result(raw)

    assert answered.capabilities == ServerCapabilities(logging={})
    assert answered.server_info == Implementation("", "")
    assert answered.instructions is None
    assert asked.client_info == Implementation("a", "")
    assert asked.capabilities.roots is UNSET


@pytest.mark.parametrize("raw", [UNSET, b"{}", b'{"protocolVersion":1}'])
def test_an_initialize_without_a_revision_is_refused(raw):
    with pytest.raises(InvalidParamsError, match="protocolVersion"):
        read_initialize_params(raw)


def test_an_answer_without_a_revision_is_no_answer():
    with pytest.raises(InvalidResultError, match=r"protocolVersion.*It sent: '\{\}'"):
        read_initialize_result(b"{}")
