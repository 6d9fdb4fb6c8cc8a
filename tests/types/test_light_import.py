import subprocess
import sys

PROBE = """
import sys
import mesero.types
heavy = {"asyncio", "aiohttp", "typer", "rich", "jsonschema_rs", "cryptography", "uvicorn"} & set(sys.modules)
print(sorted(heavy))
"""


def test_importing_the_vocabulary_costs_msgspec_only():
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
