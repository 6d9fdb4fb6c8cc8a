"""Writes more than any message has, without a line's end."""

import sys
import time

sys.stdin.readline()
for _ in range(80):
    sys.stdout.write("a" * 1_000_000)
sys.stdout.flush()
time.sleep(60)
