"""Writes much to stderr: legal."""

import sys

from lines import serve

sys.stderr.write("loading\n" * 20_000)
serve()
