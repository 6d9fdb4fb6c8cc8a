from mesero.doctor.local import LOCAL_CHECKS


def test_each_check_has_one_place():
    assert len(set(LOCAL_CHECKS)) == len(LOCAL_CHECKS)
