"""Asks a person something before it starts, on stderr or on stdout, and waits."""

import sys
import time

stream, question = sys.argv[1:]
print("Need to install the following packages:", file=sys.stderr)
getattr(sys, stream).write(question)
getattr(sys, stream).flush()
time.sleep(60)
