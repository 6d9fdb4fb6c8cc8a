"""Runs, has trouble with something else than its client, says so on stderr, and never comes to answer."""

import sys
import time

sys.stderr.write("loading\n2026-11-30 16:56:40 | ERROR | model:download - Could not download, sleeping\n")
sys.stderr.flush()
time.sleep(60)
