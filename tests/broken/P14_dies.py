"""Reads its input in an encoding that has no other letters."""

import sys

from calling import serve

sys.stdin.reconfigure(encoding="ascii")
serve()
