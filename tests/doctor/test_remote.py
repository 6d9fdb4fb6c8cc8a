from mesero.doctor.remote import REMOTE_CHECKS


def test_each_check_has_one_place():
    assert len(set(REMOTE_CHECKS)) == len(REMOTE_CHECKS)
