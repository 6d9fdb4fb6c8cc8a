"""What holds for every test."""

import os
import signal
import sys
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# An example is judged by what it does; how long it takes depends on who else uses the machine.
settings.register_profile("mesero", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mesero")

# A shell ignores Ctrl-C for what it starts in the background, and whoever is started by that would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What clients learn of servers stays with the tests.
_CACHE = tempfile.TemporaryDirectory(prefix="mesero-tests-")
os.environ["MESERO_CACHE_DIR"] = _CACHE.name


@pytest.fixture(autouse=True)
def _no_server_is_remembered_from_another_test():
    yield
    remembering = sys.modules.get("mesero.client.remembering")
    if remembering is not None:
        remembering.forget_this_process()
