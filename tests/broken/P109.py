"""Ends, and tells its secret on the way."""

import os
import sys

sys.stdout.write(f"using {os.environ['API_KEY']}\n")
sys.stderr.write(f"cannot sign in with {os.environ['API_KEY']}\n")
sys.exit(1)
