"""Ends when its key is the literal text of a variable."""

import os
import sys

from lines import serve

if os.environ["API_KEY"].startswith("${"):
    sys.stderr.write("invalid token\n")
    sys.exit(1)
serve()
