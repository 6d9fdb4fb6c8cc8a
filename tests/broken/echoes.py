"""Gives back each line that it gets, as a terminal in between does."""

import sys

for line in sys.stdin:
    sys.stdout.write(line)
    sys.stdout.flush()
