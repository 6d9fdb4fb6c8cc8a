from mesero.explain import entry_text, explain_message, explanation_text, find_entries
from tests.explain.messages import message, request


def test_an_entry_has_meaning_era_sender_causes_and_link():
    text = entry_text(find_entries("-32022")[0])
    assert text.startswith("-32022 · error code · Unsupported protocol version\n")
    assert "sent by   the server" in text
    assert "revisions 2026-07-28" in text
    assert "What is usually behind it:\n  - the client is newer" in text
    assert text.endswith("#protocol-version-negotiation")
    assert all(len(line) <= 120 for line in text.splitlines())


def test_an_entry_of_no_revision_says_so():
    text = entry_text(find_entries("-32001")[0])
    assert "no revision of the specification defines it" in text
    assert "revisions " not in text
    assert "nobody: the host made it up" in text


def test_an_entry_without_causes_or_page_is_short():
    assert "usually" not in entry_text(find_entries("tracestate")[0])
    assert "https" not in entry_text(find_entries("502")[0])


def test_an_explanation_shows_where_it_stops_and_the_answer():
    text = explanation_text(explain_message(request("tools/list", meta=None), headers=[]))
    assert "  STOP metadata" in text
    assert "  ..   route\n" in text
    assert "It stops at 'metadata'. The answer that it must get: HTTP 400, " in text
    assert '\n  {"jsonrpc":"2.0","error":{"code":-32602' in text


def test_an_explanation_of_what_passes_says_what_comes_next():
    text = explanation_text(explain_message(request("tools/list")))
    assert "  --   headers" in text
    assert text.rstrip().endswith("answers with the result.")


def test_a_notification_has_no_answer():
    text = explanation_text(explain_message(message(method="notifications/initialized"), headers=[]))
    assert "Answer: none; a notification is never answered, whatever is wrong with it; HTTP 202" in text


def test_a_session_has_a_note_beside_the_answer():
    text = explanation_text(explain_message(message(id=1, method="ping", params=[])))
    assert "(the text of the message is free;" in text


def test_violations_and_reuse_have_their_own_part():
    text = explanation_text(explain_message(message(id=1, result={"resultType": "complete", "tools": 5})))
    assert "It does not fit the JSON Schema of 2026-07-28\n  - $.result" in text
    assert "\nReuse\n" in text
