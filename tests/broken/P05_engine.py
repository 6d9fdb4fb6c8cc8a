"""Ends at once: the interpreter is too old for it."""

import sys

sys.stderr.write("npm ERR! code EBADENGINE: Unsupported engine: wanted node >=22, current v16.20.2\n")
sys.exit(1)
