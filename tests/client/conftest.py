"""What tests of the client share."""

import pytest

from tests.client.older_servers import OlderServer


@pytest.fixture
def older(tmp_path):
    """Makes a server of a script that says how it takes the probe."""
    return lambda body: OlderServer(tmp_path, body)
