"""Reads its input as a Windows code page."""

import sys

from calling import serve

sys.stdin.reconfigure(encoding="cp1252", errors="replace")
serve()
