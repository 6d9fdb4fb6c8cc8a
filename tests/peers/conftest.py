"""Where the official SDK is: in an interpreter of its own, named by MESERO_PEERS_PYTHON or set up by make."""

import os
import subprocess
from pathlib import Path

import pytest

DEFAULT = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"


@pytest.fixture(scope="session")
def sdk_python():
    """The interpreter; without one these tests are left out by name, and fail under CI=true."""
    python = os.environ.get("MESERO_PEERS_PYTHON") or str(DEFAULT)
    probe = [python, "-c", "import mcp.client.client"]
    if Path(python).exists() and subprocess.run(probe, check=False, timeout=60).returncode == 0:
        return python
    reason = f"no official SDK at {python}; `make test` sets it up, MESERO_PEERS_PYTHON names another place"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
