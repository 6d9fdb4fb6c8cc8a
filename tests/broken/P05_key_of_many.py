"""Ends at once: a key is missing, and only the help that follows says how it is called."""

import sys

sys.stderr.write(
    "Error: No access token was provided.\n\nEnvironment variables:\n  NOTES_SKILLS  what it can\n"
    "  NOTES_ACCESS_TOKEN  the token\n" + "  more help\n" * 30
)
sys.exit(1)
