"""Ends at once: a port is taken."""

import sys

sys.stderr.write("Error: listen EADDRINUSE: address already in use :::3000\n")
sys.exit(1)
