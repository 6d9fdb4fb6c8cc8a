"""Writes to stdout without end, and no message among it."""

import sys

while True:
    sys.stdout.write("still working\n" * 1000)
