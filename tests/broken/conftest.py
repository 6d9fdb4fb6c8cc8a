"""What holds for every broken server."""

import pytest


@pytest.fixture(autouse=True)
def _no_proxy_of_this_machine(monkeypatch):
    """Where the tests run behind a proxy, they are not about that one."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
