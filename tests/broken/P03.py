"""Needs HOME, and ends without it."""

import sys

sys.stderr.write("KeyError: 'HOME'\n")
sys.exit(3)
