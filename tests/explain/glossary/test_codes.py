from mesero.explain.glossary.codes import CODES, STATUSES
from mesero.revisions import REVISIONS, revision_module_for


def test_every_code_that_a_schema_defines_is_explained():
    explained = {int(entry.name): entry for entry in CODES}
    for revision in REVISIONS:
        for code in revision_module_for(revision).ERRORS:
            assert revision in explained[code].revisions


def test_codes_that_no_revision_defines_say_so():
    made_up = [entry for entry in CODES if not entry.revisions]
    assert {entry.name for entry in made_up} == {"-32000", "-32001", "-32003", "-32004"}
    assert all("No revision" in entry.meaning for entry in made_up)


def test_statuses_are_three_digits():
    assert all(entry.name.isdigit() and len(entry.name) == 3 for entry in STATUSES)
    assert {"200", "202", "400", "401", "403", "404", "405", "406"} <= {entry.name for entry in STATUSES}
