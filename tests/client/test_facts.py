"""What a client knows of its server."""

from mesero.client.facts import Progress, ServerFacts
from mesero.types import Implementation


def test_a_server_that_does_not_introduce_itself_has_empty_names():
    facts = ServerFacts(era="modern", revision="2026-07-28", verdict="assumed")
    assert (facts.name, facts.version, facts.title) == ("", "", "")


def test_the_title_is_the_name_where_there_is_none():
    facts = ServerFacts(era="modern", revision="r", verdict="v", info=Implementation("notes", "1.2"))
    assert (facts.name, facts.version, facts.title) == ("notes", "1.2", "notes")


def test_the_title_is_for_people():
    info = Implementation("notes", "1.2", title="My notes")
    assert ServerFacts(era="modern", revision="r", verdict="v", info=info).title == "My notes"


def test_progress_may_come_without_a_total():
    assert Progress(0.5) == Progress(0.5, None, None)
