"""Serves HTTP, as it says on stdout or stderr, and takes no notice of its stdin."""

import sys
import time

stream = sys.stdout if "stdout" in sys.argv else sys.stderr
stream.write(
    "Starting in HTTP mode\nINFO: Uvicorn running on http://127.0.0.1:8123/mcp (Press CTRL+C to quit)\n"
)
stream.flush()
time.sleep(60)
