import json

import pytest

from mesero.explain.glossary.fields import FIELDS
from mesero.revisions import definitions_for


@pytest.mark.parametrize("entry", FIELDS, ids=lambda entry: entry.name)
def test_a_field_is_in_the_schema_of_each_of_its_revisions(entry):
    name = entry.name.rpartition(".")[2]
    for revision in entry.revisions:
        assert f'"{name}"' in json.dumps(definitions_for(revision))


def test_paths_begin_where_messages_do():
    assert {entry.name.partition(".")[0] for entry in FIELDS} == {
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
    }
