from mesero.explain.glossary.entries import ALL, HANDSHAKE, STATELESS, Entry


def entry(**fields):
    return Entry(**{"name": "x", "kind": "field", "title": "X", "meaning": "M", "sender": "both", **fields})


def test_the_era_follows_from_the_revisions():
    assert entry(revisions=ALL).era.startswith("both")
    assert entry(revisions=HANDSHAKE).era.startswith("handshake")
    assert entry(revisions=STATELESS).era.startswith("stateless")
    assert entry(revisions=()).era.startswith("none")


def test_a_page_is_of_the_newest_revision_unless_it_names_one():
    site = "https://modelcontextprotocol.io/specification"
    assert entry(spec="basic/index#meta").link == f"{site}/2026-07-28/basic/index#meta"
    assert entry(spec="2025-11-25/basic/lifecycle").link == f"{site}/2025-11-25/basic/lifecycle"
    assert entry().link == ""
