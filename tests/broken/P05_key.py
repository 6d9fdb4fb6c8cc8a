"""Ends at once: a key is missing."""

import sys

sys.stderr.write("Error: GITHUB_TOKEN environment variable is required\n")
sys.exit(1)
