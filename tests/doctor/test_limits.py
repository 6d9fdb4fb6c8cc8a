import pytest

from mesero.doctor.limits import Limits


@pytest.mark.parametrize("total_s", [1.0, 5.0, 30.0, 600.0])
def test_the_steps_of_a_silent_server_fit_into_the_whole(total_s):
    limits = Limits(total_s)

    # Connecting, closing in both steps, and two looks at the silent process.
    assert limits.connect_s + 2 * limits.close_s + 2 * limits.probe_s < total_s
