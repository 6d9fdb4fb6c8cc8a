from mesero.doctor.refusals.names import NAMES


def test_the_facts_about_names_are_told_by_their_own_diagnoses():
    assert {each.code for each in NAMES} == {"MODEL-2", "MODEL-8", "MODEL-9", "LIST-4", "LIST-6"}
