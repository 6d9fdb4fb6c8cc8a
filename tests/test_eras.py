"""Both tables, row by row and in their order, and what holds for every row."""

import importlib.util
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero import eras
from mesero.eras import (
    LEGACY_REVISIONS,
    MODERN_REVISIONS,
    WAYS_IN,
    Discovered,
    Initialized,
    Observation,
    OtherResult,
    Refused,
    Verdict,
    choose_on_client,
    choose_on_server,
    era_of,
    find_adapter,
    has_adapter,
)
from mesero.jsonrpc import ErrorResponse, Notification, ResultResponse, decode_message

KEY = "io.modelcontextprotocol/protocolVersion"
NEWEST = LEGACY_REVISIONS[0]
MODERN = MODERN_REVISIONS[0]


# -- the client's table ------------------------------------------------------------------------------------


def step_for(transport="http", **seen):
    verdict = choose_on_client(Observation(transport=transport, **seen))
    return verdict.step, verdict.revision


ANY = pytest.mark.parametrize("transport", ["stdio", "http"])


@pytest.mark.parametrize("status", [401, 403, 407, 429])
@pytest.mark.parametrize("answer", [None, Discovered((MODERN,)), Refused(-32601)])
def test_a_status_that_asks_for_something_first_is_no_verdict_whatever_is_in_the_body(status, answer):
    assert step_for(status=status, probe=answer) == ("outage", "")


@ANY
def test_a_discover_result_is_modern_with_the_newest_common_revision(transport):
    theirs = ("2024-11-05", MODERN, "2031-01-01")
    assert step_for(transport, probe=Discovered(theirs)) == ("modern", MODERN)


def test_the_order_of_ours_counts_not_of_theirs():
    seen = Observation(transport="http", probe=Discovered(("a", "b")))
    assert choose_on_client(seen, modern=("b", "a")).revision == "b"


@ANY
def test_a_discover_result_with_older_revisions_only_leads_to_the_newest_of_those(transport):
    theirs = ("2024-11-05", "2025-03-26")
    assert step_for(transport, probe=Discovered(theirs)) == ("initialize", "2025-03-26")


@ANY
def test_a_discover_result_without_a_revision_of_ours_stops(transport):
    assert step_for(transport, probe=Discovered(("2031-01-01",))) == ("stop", "")


@ANY
def test_a_refused_revision_with_a_common_one_is_tried_again_even_if_it_is_the_same(transport):
    answer = Refused(-32022, ("2031-01-01", MODERN))
    assert step_for(transport, probe=answer) == ("probe", MODERN)


@ANY
def test_a_revision_is_tried_again_once(transport):
    answer = Refused(-32022, (MODERN,))
    assert step_for(transport, probe=answer, was_repeated=True) == ("report", "")


@ANY
def test_a_refused_revision_with_older_ones_only_leads_to_the_newest_of_those(transport):
    answer = Refused(-32022, ("2025-06-18", "2024-11-05"))
    assert step_for(transport, probe=answer) == ("initialize", "2025-06-18")


@ANY
@pytest.mark.parametrize("supported", [(), ("2031-01-01",)])
def test_a_refused_revision_with_nothing_in_common_stops(transport, supported):
    assert step_for(transport, probe=Refused(-32022, supported)) == ("stop", "")


@ANY
@pytest.mark.parametrize("code", [-32020, -32021])
def test_other_errors_of_the_newer_era_are_reported_and_nothing_else_is_tried(transport, code):
    assert step_for(transport, probe=Refused(code)) == ("report", "")


@ANY
@pytest.mark.parametrize(
    "answer", [Refused(-32601), Refused(-32602), Refused(0), Refused(-32022), OtherResult()]
)
def test_any_other_answer_leads_to_the_handshake(transport, answer):
    assert step_for(transport, probe=answer) == ("initialize", NEWEST)


def test_silence_on_a_pipe_has_the_handshake_sent_beside_the_probe():
    assert step_for("stdio", happening="silent") == ("both", NEWEST)


BOTH = {"transport": "stdio", "sent": ("probe", "initialize")}


@pytest.mark.parametrize("probe", [None, Discovered((MODERN,)), Refused(-32601), Refused(-32022, (MODERN,))])
def test_with_both_sent_a_session_that_was_opened_is_kept_whatever_the_probe_brought(probe):
    assert step_for(**BOTH, probe=probe, initialize=Initialized("2025-03-26")) == ("session", "2025-03-26")


def test_with_both_sent_a_discover_result_and_an_error_for_the_handshake_is_modern():
    assert step_for(**BOTH, probe=Discovered((MODERN,)), initialize=Refused(-32601)) == ("modern", MODERN)


@pytest.mark.parametrize("probe", [None, Discovered((MODERN,)), Refused(-32601), OtherResult()])
def test_with_both_sent_the_answer_to_the_handshake_is_waited_for(probe):
    assert step_for(**BOTH, probe=probe)[0] == "wait"


@pytest.mark.parametrize("initialize", [Refused(-32601), Refused(-32022, (MODERN,)), OtherResult()])
def test_with_both_sent_the_answer_to_the_probe_is_waited_for_when_the_handshake_was_refused(initialize):
    assert step_for(**BOTH, initialize=initialize)[0] == "wait"


def test_with_both_sent_a_server_that_discovers_and_then_stays_silent_is_modern():
    assert step_for(**BOTH, probe=Discovered((MODERN,)), happening="silent") == ("modern", MODERN)


def test_with_both_sent_silence_for_both_is_an_outage():
    assert step_for(**BOTH, happening="silent") == ("outage", "")


def test_with_both_sent_two_refusals_are_reported():
    assert step_for(**BOTH, probe=Refused(-32601), initialize=Refused(-32601)) == ("report", "")


def test_with_both_sent_a_probe_refused_for_its_revision_is_sent_again():
    seen = {"probe": Refused(-32022, (MODERN,)), "initialize": Refused(-32601)}
    assert step_for(**BOTH, **seen) == ("probe", MODERN)


@pytest.mark.parametrize("sent", [("probe",), ("probe", "initialize")])
def test_a_pipe_that_ends_after_the_probe_has_the_server_started_again_for_the_handshake(sent):
    assert step_for("stdio", sent=sent, happening="ended") == ("restart", NEWEST)


@pytest.mark.parametrize("sent", [("probe",), ("probe", "initialize")])
def test_a_server_that_refused_the_probe_and_ended_is_started_again_for_the_handshake(sent):
    assert step_for("stdio", sent=sent, probe=Refused(-32600), happening="ended") == ("restart", NEWEST)


def test_a_server_that_answered_nonsense_and_ended_is_told_as_it_is():
    assert step_for(**BOTH, probe=OtherResult(), happening="ended") == ("outage", "")


def test_a_server_is_started_again_once():
    assert step_for("stdio", sent=("initialize",), happening="ended", was_restarted=True) == ("outage", "")
    assert step_for("stdio", happening="ended", was_restarted=True) == ("outage", "")


def test_a_server_that_discovered_and_died_of_the_handshake_is_modern():
    assert step_for(**BOTH, probe=Discovered((MODERN,)), happening="ended") == ("modern", MODERN)


@pytest.mark.parametrize("happening", ["ended", "silent"])
def test_a_server_that_discovered_older_revisions_and_has_no_session_for_them_is_an_outage(happening):
    assert step_for(**BOTH, probe=Discovered((NEWEST,)), happening=happening) == ("outage", "")


def test_a_pipe_that_ends_without_a_probe_is_no_matter_of_the_era():
    assert step_for("stdio", sent=("initialize",), happening="ended") == ("outage", "")


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415, 410, 422])
def test_another_4xx_leads_to_the_handshake(status):
    assert step_for(status=status) == ("initialize", NEWEST)


@pytest.mark.parametrize("status", [400, 404, 405])
@pytest.mark.parametrize("probe_status", [400, 405, None])
def test_a_handshake_that_gets_4xx_too_leads_to_the_oldest_transport(status, probe_status):
    seen = {"sent": ("probe", "initialize"), "status": status, "probe_status": probe_status}
    assert step_for(**seen) == ("sse", NEWEST)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_5xx_leads_to_the_handshake(status):
    assert step_for(status=status) == ("initialize", NEWEST)


@pytest.mark.parametrize(("probe_status", "status"), [(500, 500), (500, 404), (400, 500), (None, 500)])
def test_a_handshake_that_fails_after_or_with_5xx_is_no_verdict(probe_status, status):
    seen = {"sent": ("probe", "initialize"), "status": status, "probe_status": probe_status}
    assert step_for(**seen) == ("outage", "")


def test_a_success_that_answers_nothing_leads_to_the_handshake():
    assert step_for(status=200) == ("initialize", NEWEST)


@pytest.mark.parametrize("sent", [("probe",), ("probe", "initialize"), ("initialize",)])
@pytest.mark.parametrize("happening", ["unreachable", "silent", "ended"])
def test_an_outage_over_http_is_no_verdict(sent, happening):
    assert step_for(sent=sent, happening=happening) == ("outage", "")


def test_the_oldest_transport_has_no_probe():
    assert step_for("sse", sent=()) == ("initialize", NEWEST)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_with_nothing_known_the_probe_comes_first(transport):
    assert step_for(transport, sent=()) == ("probe", MODERN)


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
@pytest.mark.parametrize("supported", [None, (), (MODERN,)])
def test_a_handshake_refused_for_its_revision_has_the_probe_sent_once_more(transport, supported):
    seen = {"sent": ("initialize",), "initialize": Refused(-32022, supported)}
    assert step_for(transport, **seen) == ("probe", MODERN)
    assert step_for(transport, **seen, was_repeated=True) == ("report", "")


def test_a_handshake_that_was_answered_is_finished():
    seen = {"sent": ("probe", "initialize"), "initialize": Initialized("2024-11-05"), "status": 200}
    assert step_for(**seen) == ("session", "2024-11-05")


def test_a_handshake_answered_with_a_revision_that_nobody_speaks_stops():
    assert step_for(sent=("probe", "initialize"), initialize=Initialized("2020-01-01")) == ("stop", "")


def test_a_handshake_that_was_refused_is_reported():
    assert step_for(sent=("probe", "initialize"), initialize=Refused(-32600)) == ("report", "")


WITHOUT_OLDER = [
    ({"probe": Refused(-32601)}, "stop"),
    ({"happening": "silent", "transport": "stdio"}, "wait"),
    ({"happening": "ended", "transport": "stdio"}, "outage"),
    ({"probe": Discovered((MODERN,))}, "modern"),
]


@pytest.mark.parametrize(("seen", "step"), WITHOUT_OLDER)
def test_without_older_revisions_nothing_is_done_for_them(seen, step):
    observation = Observation(**{"transport": "http", **seen})
    assert choose_on_client(observation, legacy=()).step == step


REVISIONS = st.sampled_from(["", "2031-01-01", MODERN, *LEGACY_REVISIONS])
CODES = st.integers(-32100, -31900) | st.integers()
ANSWERS = (
    st.builds(Discovered, st.lists(REVISIONS).map(tuple))
    | st.builds(Refused, CODES, st.none() | st.lists(REVISIONS).map(tuple))
    | st.builds(Initialized, REVISIONS)
    | st.just(OtherResult())
)
OBSERVATIONS = st.builds(
    Observation,
    transport=st.sampled_from(["stdio", "http", "sse"]),
    happening=st.sampled_from(["answered", "silent", "ended", "unreachable"]),
    sent=st.sampled_from([(), ("probe",), ("initialize",), ("probe", "initialize")]),
    probe=st.none() | ANSWERS,
    initialize=st.none() | ANSWERS,
    status=st.none() | st.integers(200, 599),
    probe_status=st.none() | st.integers(200, 599),
    was_repeated=st.booleans(),
    was_restarted=st.booleans(),
)
NEEDS_REVISION = ("modern", "session", "initialize", "both", "probe", "restart", "sse")


@given(OBSERVATIONS)
def test_any_observation_gives_exactly_one_verdict_with_a_revision_where_one_is_used(seen):
    verdict = choose_on_client(seen)
    assert isinstance(verdict, Verdict)
    assert bool(verdict.revision) == (verdict.step in NEEDS_REVISION), verdict
    assert not verdict.revision or verdict.revision in (*MODERN_REVISIONS, *LEGACY_REVISIONS)


@given(OBSERVATIONS)
def test_every_step_is_taken_once_so_that_there_is_an_end(seen):
    step = choose_on_client(seen).step
    if "initialize" in seen.sent:
        assert step not in ("initialize", "both")
    if seen.sent and seen.was_repeated:
        assert step != "probe"
    if seen.was_restarted:
        assert step != "restart"
    if seen.transport == "sse":
        assert step != "sse"


@given(OBSERVATIONS)
def test_the_handshake_is_never_offered_by_whoever_does_not_speak_it(seen):
    if not isinstance(seen.initialize, Initialized):
        steps = {"initialize", "both", "restart", "sse", "session"}
        assert choose_on_client(seen, legacy=()).step not in steps


@given(CODES, st.sampled_from(["stdio", "http"]))
def test_the_way_to_the_handshake_hangs_on_no_error_code(code, transport):
    expected = "report" if code in (-32020, -32021) else "initialize"
    assert step_for(transport, probe=Refused(code))[0] == expected


@given(st.integers(200, 599))
def test_the_way_to_the_handshake_hangs_on_no_status(status):
    expected = "outage" if status in (401, 403, 407, 429) else "initialize"
    assert step_for(status=status)[0] == expected


# -- the server's table ------------------------------------------------------------------------------------


def request(method, **params):
    return decode_message(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    )


def selected(message, header=None, *, has_session=False):
    return choose_on_server(message, version_header=header, has_session=has_session)


EVERYWHERE = pytest.mark.parametrize("has_session", [False, True])


@EVERYWHERE
@pytest.mark.parametrize("header", [None, "2025-06-18", MODERN])
@pytest.mark.parametrize("method", ["tools/list", "initialize", "ping", "server/discover", "x"])
def test_a_request_that_declares_its_revision_is_modern_whatever_the_method(method, header, has_session):
    message = request(method, _meta={KEY: MODERN})
    assert selected(message, header, has_session=has_session) == "modern"


@pytest.mark.parametrize("value", [None, 7, "", "2025-06-18", {"a": [1]}])
def test_the_key_counts_not_its_value(value):
    assert selected(request("initialize", _meta={KEY: value})) == "modern"


@EVERYWHERE
@pytest.mark.parametrize("header", [MODERN, "2031-01-01", "", "rubbish"])
@pytest.mark.parametrize("method", ["tools/list", "initialize"])
def test_a_header_that_names_none_of_the_older_revisions_is_modern(method, header, has_session):
    assert selected(request(method), header, has_session=has_session) == "modern"


@EVERYWHERE
@pytest.mark.parametrize("header", [None, "2025-06-18"])
@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen"])
def test_a_method_that_only_newer_revisions_have_is_modern(method, header, has_session):
    assert selected(request(method), header, has_session=has_session) == "modern"


@EVERYWHERE
@pytest.mark.parametrize("header", [None, *LEGACY_REVISIONS])
def test_initialize_opens_a_session(header, has_session):
    assert selected(request("initialize"), header, has_session=has_session) == "opens"


@EVERYWHERE
@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/initialized", "x"])
@pytest.mark.parametrize("params", [b"{}", b'{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}'])
def test_a_message_without_an_id_is_a_notification(method, params, has_session):
    raw = b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (method.encode(), params)
    message = decode_message(raw)
    assert isinstance(message, Notification)
    assert selected(message, has_session=has_session) == "notification"


@EVERYWHERE
@pytest.mark.parametrize("message", [ResultResponse(1, b"{}"), ErrorResponse(None, -1, "no")])
def test_a_response_goes_to_the_session_that_asked(message, has_session):
    assert selected(message, has_session=has_session) == "response"


@pytest.mark.parametrize("header", [None, *LEGACY_REVISIONS])
@pytest.mark.parametrize("method", ["tools/list", "ping", "x"])
def test_anything_else_belongs_to_the_session(method, header):
    assert selected(request(method), header, has_session=True) == "legacy"


@pytest.mark.parametrize("header", [None, *LEGACY_REVISIONS])
@pytest.mark.parametrize("method", ["tools/list", "ping", "x"])
def test_anything_else_without_a_session_is_refused(method, header):
    assert selected(request(method), header) == "refused"


@pytest.mark.parametrize(
    "params", [b'{"_meta":7}', b'{"_meta":[]}', b'{"_meta":null}', b'{"_meta":{}}', b"{}"]
)
def test_metadata_without_the_key_declares_nothing(params):
    message = decode_message(b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":%b}' % params)
    assert selected(message) == "refused"
    assert selected(message, has_session=True) == "legacy"


def test_the_refusal_names_both_ways_in():
    for revision in (*MODERN_REVISIONS, *LEGACY_REVISIONS):
        assert revision in WAYS_IN
    assert "initialize" in WAYS_IN
    assert KEY in WAYS_IN


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["_meta", KEY, "x"]), inner, max_size=2)
    ),
    max_leaves=6,
)
METHODS = st.sampled_from(["initialize", "server/discover", "tools/call", "ping", ""])


@given(
    METHODS,
    st.dictionaries(st.sampled_from(["_meta", KEY, "x"]), JSON),
    st.none() | st.sampled_from([*LEGACY_REVISIONS, MODERN, ""]),
    st.booleans(),
)
def test_any_request_is_served_in_exactly_one_way(method, params, header, has_session):
    meta = params.get("_meta")
    found = selected(request(method, **params), header, has_session=has_session)
    assert found in ("modern", "legacy", "opens", "refused")
    if isinstance(meta, dict) and KEY in meta:
        assert found == "modern"


# -- what else is in here ------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", LEGACY_REVISIONS)
def test_the_four_older_revisions_are_the_older_era(revision):
    assert era_of(revision) == "legacy"


@pytest.mark.parametrize("revision", [MODERN, "2031-01-01", ""])
def test_every_other_revision_is_the_newer_era(revision):
    assert era_of(revision) == "modern"


def test_the_adapter_is_found_where_it_is():
    assert find_adapter().__name__ == "mesero.legacy"
    assert find_adapter("handshake").Handshake
    assert has_adapter("handshake")
    assert find_adapter("nonesuch") is None


def test_the_adapter_may_be_missing(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        eras.importlib.util, "find_spec", lambda name: None if name == "mesero.legacy" else find_spec(name)
    )
    assert not has_adapter()
    assert find_adapter() is None
    assert find_adapter("handshake") is None
