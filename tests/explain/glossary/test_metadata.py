import json

from mesero.explain.glossary.metadata import META_KEYS
from mesero.revisions import REVISIONS, definitions_for

RESERVED = "io.modelcontextprotocol/"


def test_every_key_that_a_schema_reserves_is_explained():
    names = {entry.name for entry in META_KEYS}
    for revision in REVISIONS:
        for definition in definitions_for(revision).values():
            text = json.dumps(definition)
            used = {part.split('"', 1)[0] for part in text.split(f'"{RESERVED}')[1:]}
            assert {f"{RESERVED}{key}" for key in used} <= names
    assert {"progressToken", "traceparent", "tracestate", "baggage"} <= names


def test_all_are_keys():
    assert {entry.kind for entry in META_KEYS} == {"_meta key"}
