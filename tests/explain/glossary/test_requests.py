import pytest

from mesero.explain.glossary.requests import QUESTIONS, REQUESTS
from mesero.revisions import REVISIONS, revision_module_for

SENDERS = {("c2s",): "client", ("s2c",): "server", ("c2s", "s2c"): "both"}


def shapes_of(method):
    found = {revision: revision_module_for(revision).METHODS.get(method) for revision in REVISIONS}
    return {revision: shape for revision, shape in found.items() if shape is not None}


@pytest.mark.parametrize("entry", [*REQUESTS, *QUESTIONS], ids=lambda entry: entry.name)
def test_a_request_is_of_the_revisions_that_define_it(entry):
    shapes = shapes_of(entry.name)
    assert entry.revisions == tuple(shapes)
    assert {SENDERS[shape.directions] for shape in shapes.values()} == {entry.sender}
    assert entry.causes


def test_what_only_servers_ask_is_a_question():
    assert {entry.kind for entry in REQUESTS} == {"request"}
    assert {entry.kind for entry in QUESTIONS} == {"question"}
    assert {shape.kind for entry in QUESTIONS for shape in shapes_of(entry.name).values()} == {
        "request",
        "input",
    }
