"""Writes without end, and without a line's end."""

import sys

for _ in sys.stdin:
    while True:
        sys.stdout.write("a" * 1_000_000)
