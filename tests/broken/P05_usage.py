"""Ends at once: it prints its usage."""

import sys

sys.stdout.write("usage: server [-h] {serve,login}\n")
